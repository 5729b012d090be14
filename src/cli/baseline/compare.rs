//! `rtrace baseline compare`.

use super::save::write;
use crate::cli::diff::{CompareArgs, FailOn, print, report, summaries};
use crate::cli::exit::{Exit, Failure};
use crate::cli::saved_summary::saved;
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::internal::comparison::SavedRuns;
use rtrace::units::counted;
use std::path::PathBuf;

/// Compare recordings with a saved summary
///
/// As `rtrace diff --fail-on worse BASE -- NEW`: ends with 0 if all metrics are the same or better, 3 if one is worse, 4 if
/// none is worse and one is indeterminate.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace baseline compare baseline.json new.dat
  rtrace baseline compare baseline.json new?.dat --metric 'p99(wait(nginx))' --markdown
  rtrace baseline compare baseline.json new?.dat --update")]
pub(super) struct BaselineCompareArgs {
    /// Saved summary
    #[arg(value_name = "BASE", value_hint = clap::ValueHint::FilePath)]
    base: PathBuf,
    /// Recordings or saved summaries that are new
    #[arg(value_name = "NEW", required = true, value_hint = clap::ValueHint::FilePath)]
    new: Vec<PathBuf>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Outcome that ends with 3: a metric that is worse, or one that changed at all
    #[arg(long, value_name = "OUTCOME", value_enum, default_value_t = FailOn::Worse)]
    fail_on: FailOn,
    /// Replace the summary by that of the new side, whatever the outcome; a side without all its events is refused
    #[arg(long)]
    update: bool,
}

pub(super) fn run(args: &BaselineCompareArgs) -> Result<Exit, Failure> {
    if saved(&args.base)?.is_none() {
        let error = anyhow!("{} is not a saved summary", args.base.display());
        let summary = args.new.iter().find(|path| matches!(saved(path), Ok(Some(_))));
        let hint = match summary {
            Some(summary) => format!(
                "the summary comes first: `rtrace baseline compare {} {}`.",
                summary.display(),
                args.base.display()
            ),
            None => "`rtrace diff BASE… -- NEW…` compares recordings.".to_owned(),
        };
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    let (base, new) = summaries(std::slice::from_ref(&args.base), &args.new, &args.compare, &mut |_| Ok(()))?;
    let exit = print(&report(&base, &new, &args.compare, args.fail_on)?, &args.compare)?;
    if args.update {
        if let Some(run) = new.runs.iter().find(|run| run.has_losses()) {
            let error = anyhow!("{} lacks events: {} stays as it is", run.file, args.base.display());
            return Err(Failure::new(Exit::Incomplete, error));
        }
        let runs = counted(new.runs.len() as u64, "recording");
        write(&args.base, SavedRuns::new(new.runs))?;
        note!("rtrace: {} is the summary of {runs} now", args.base.display());
    }
    Ok(exit)
}
