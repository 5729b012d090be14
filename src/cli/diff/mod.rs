//! `rtrace diff`, and what `rtrace baseline` shares with it.

mod args;
mod digest;
mod input;
mod json;
mod markdown;
mod metrics;
mod numbers;
mod summarise;
mod text;

pub(super) use args::{CompareArgs, FailOn, PartArgs, metric};
pub(super) use input::{runs_of, summaries};

use super::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::assertion::Metric;
use rtrace::comparison::{ChangeVerdict, CompareOptions, Comparison, SavedRuns, compare};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Compare recordings: better, worse, the same, or not known
///
/// Each side is one or several recordings of the same load, or saved summaries (`rtrace baseline save`). Where one side has
/// five runs or more, the runs' values are compared; else blocks of time are, and `--run-spread` must say how much runs differ:
/// else all is inconclusive. Exit codes with `--fail-on worse`: 0 if all
/// metrics are the same or better, 3 if one is worse, 4 if none is worse and one is inconclusive. Without: 0, or 4 if nothing
/// could be compared. `rtrace help comparisons` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace diff old.dat new.dat --run-spread 10%
  rtrace diff --metric 'p99(wait(nginx))' --fail-on worse old?.dat -- new?.dat
  rtrace diff --markdown base.json -- new.dat
  rtrace diff --paired old?.dat -- new?.dat
  rtrace diff --metric 'mean(syscall(openat))' --min-effect 2% --json old?.dat -- new?.dat | jq .verdict")]
pub(crate) struct Args {
    /// Recordings or saved summaries to compare with; of two files without `--` the second one is NEW
    #[arg(value_name = "BASE", required = true, value_hint = clap::ValueHint::FilePath)]
    base: Vec<PathBuf>,
    /// Recordings or saved summaries that are new
    #[arg(value_name = "NEW", last = true, value_hint = clap::ValueHint::FilePath)]
    new: Vec<PathBuf>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Outcome that ends with 3: a metric that is worse, or one that changed at all; what is inconclusive then ends with 4
    #[arg(long, value_name = "OUTCOME", value_enum, default_value_t = FailOn::Never)]
    fail_on: FailOn,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
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

/// All that is printed about a comparison.
struct Report<'a> {
    base: &'a SavedRuns,
    new: &'a SavedRuns,
    metrics: Vec<(Metric, bool)>,
    adjust_for: Option<&'a Metric>,
    options: CompareOptions,
    comparison: Comparison,
    fail_on: FailOn,
    /// Metrics of the default choice that have too few samples on both sides.
    left_out: Vec<String>,
}

/// Compares, prints, and gives the exit code.
pub(super) fn print(base: &SavedRuns, new: &SavedRuns, args: &CompareArgs, fail_on: FailOn) -> Result<Exit, Failure> {
    let (metrics, left_out) = metrics::chosen(&args.metrics(), base, new)?;
    if metrics.is_empty() {
        let error = anyhow!("there is nothing to compare: neither side has enough of any event");
        return Err(Failure::new(Exit::Incomplete, error).hint("Name a metric: `--metric 'mean(wait())'`."));
    }
    let options = args.options();
    let comparison = compare(base, new, &metrics, args.adjust_for(), &options);
    let adjust_for = args.adjust_for();
    let report = Report { base, new, metrics, adjust_for, options, comparison, fail_on, left_out };
    let mut out = BufWriter::new(stdout());
    match (args.json, args.markdown) {
        (true, _) => writeln!(out, "{:#}", json::document(&report))?,
        (_, true) => markdown::write(&report, &mut out)?,
        _ => text::write(&report, &mut out)?,
    }
    out.flush()?;
    Ok(report.exit())
}

impl Report<'_> {
    fn count(&self, verdict: ChangeVerdict) -> usize {
        self.comparison.metrics.iter().filter(|one| one.verdict == verdict).count()
    }

    /// The verdict on all together.
    fn verdict(&self) -> ChangeVerdict {
        let has = |verdict| self.count(verdict) > 0;
        match (has(ChangeVerdict::Worse), has(ChangeVerdict::Inconclusive), has(ChangeVerdict::Better)) {
            (true, ..) => ChangeVerdict::Worse,
            (_, true, _) => ChangeVerdict::Inconclusive,
            (_, _, true) => ChangeVerdict::Better,
            _ => ChangeVerdict::Same,
        }
    }

    fn exit(&self) -> Exit {
        let all = self.comparison.metrics.len();
        let (worse, better, unknown) = (
            self.count(ChangeVerdict::Worse),
            self.count(ChangeVerdict::Better),
            self.count(ChangeVerdict::Inconclusive),
        );
        match self.fail_on {
            FailOn::Worse if worse > 0 => Exit::Unmet,
            FailOn::Change if worse + better > 0 => Exit::Unmet,
            FailOn::Worse | FailOn::Change if unknown > 0 => Exit::Incomplete,
            // Nothing is known at all.
            _ if unknown == all => Exit::Incomplete,
            _ => Exit::Success,
        }
    }
}
