//! A comparison, with all that is printed about it.

use super::args::FailOn;
use crate::cli::exit::Exit;
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::{ChangeVerdict, CompareOptions, Comparison, SavedRuns};

/// All that is printed about a comparison.
pub(in crate::cli) struct Report<'a> {
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

impl Report<'_> {
    pub(super) fn count(&self, verdict: ChangeVerdict) -> usize {
        self.comparison.metrics.iter().filter(|one| one.verdict == verdict).count()
    }

    /// The verdict on all together.
    pub(super) fn verdict(&self) -> ChangeVerdict {
        let has = |verdict| self.count(verdict) > 0;
        match (has(ChangeVerdict::Worse), has(ChangeVerdict::Indeterminate), has(ChangeVerdict::Better)) {
            (true, ..) => ChangeVerdict::Worse,
            (_, true, _) => ChangeVerdict::Indeterminate,
            (_, _, true) => ChangeVerdict::Better,
            _ => ChangeVerdict::Same,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        let all = self.comparison.metrics.len();
        let (worse, better, unknown) = (
            self.count(ChangeVerdict::Worse),
            self.count(ChangeVerdict::Better),
            self.count(ChangeVerdict::Indeterminate),
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
