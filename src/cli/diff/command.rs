//! Arguments of `rtrace diff`, and what it does.

use super::args::{CompareArgs, FailOn};
use super::input::summaries;
use super::print::print;
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use std::path::PathBuf;

/// Compare recordings: better, worse, the same, or indeterminate
///
/// Each side is one or several recordings of the same load, or saved summaries (`rtrace baseline save`). Where one side has
/// five runs or more, the runs' values are compared; else blocks of time are, and `--run-spread` must say how much runs differ:
/// else all is indeterminate. Exit codes with `--fail-on worse`: 0 if all
/// metrics are the same or better, 3 if one is worse, 4 if none is worse and one is indeterminate. Without: 0, or 4 if nothing
/// could be compared. `rtrace help comparisons` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace diff old.dat new.dat --run-spread 10%
  rtrace diff --metric 'p99(wait(nginx))' --fail-on worse old?.dat -- new?.dat
  rtrace diff --markdown base.json -- new.dat
  rtrace diff --paired old?.dat -- new?.dat
  rtrace diff --metric 'mean(syscall(openat))' --min-effect 2% --json old?.dat -- new?.dat | jq .verdict")]
pub(crate) struct DiffArgs {
    /// Recordings or saved summaries to compare with; of two files without `--` the second one is NEW
    #[arg(value_name = "BASE", required = true, value_hint = clap::ValueHint::FilePath)]
    base: Vec<PathBuf>,
    /// Recordings or saved summaries that are new
    #[arg(value_name = "NEW", last = true, value_hint = clap::ValueHint::FilePath)]
    new: Vec<PathBuf>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Outcome that ends with 3: a metric that is worse, or one that changed at all; what is indeterminate then ends with 4
    #[arg(long, value_name = "OUTCOME", value_enum, default_value_t = FailOn::Never)]
    fail_on: FailOn,
}

pub(crate) fn run(args: &DiffArgs) -> Result<Exit, Failure> {
    let (base, new) = match (args.base.as_slice(), args.new.as_slice()) {
        ([base, new], []) => (std::slice::from_ref(base), std::slice::from_ref(new)),
        (_, []) => {
            let error = anyhow!("NEW is missing: which recordings are to be compared with these?");
            let failure = Failure::new(Exit::Usage, error);
            return Err(
                failure.hint("`rtrace diff BASE NEW` compares two files, `rtrace diff BASE... -- NEW...` several.")
            );
        }
        both => both,
    };
    let (base, new) = summaries(base, new, &args.compare)?;
    print(&base, &new, &args.compare, args.fail_on)
}
