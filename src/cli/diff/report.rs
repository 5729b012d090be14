//! A comparison, printed.

use super::args::{CompareArgs, FailOn};
use super::{json, markdown, metrics, text};
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::assertion::Metric;
use rtrace::comparison::{ChangeVerdict, CompareOptions, Comparison, SavedRuns, compare};
use std::io::{BufWriter, Write};

/// All that is printed about a comparison.
pub(super) struct Report<'a> {
    pub(super) base: &'a SavedRuns,
    pub(super) new: &'a SavedRuns,
    pub(super) metrics: Vec<(Metric, bool)>,
    pub(super) adjust_for: Option<&'a Metric>,
    pub(super) options: CompareOptions,
    pub(super) comparison: Comparison,
    pub(super) fail_on: FailOn,
    /// Metrics of the default choice that have too few samples on both sides.
    pub(super) left_out: Vec<String>,
}

/// Compares, prints, and gives the exit code.
pub(in crate::cli) fn print(
    base: &SavedRuns,
    new: &SavedRuns,
    args: &CompareArgs,
    fail_on: FailOn,
) -> Result<Exit, Failure> {
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
    pub(super) fn count(&self, verdict: ChangeVerdict) -> usize {
        self.comparison.metrics.iter().filter(|one| one.verdict == verdict).count()
    }

    /// The verdict on all together.
    pub(super) fn verdict(&self) -> ChangeVerdict {
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
