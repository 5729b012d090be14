//! Assertions held against a saved summary.

use super::verdicts::{Judged, Verdicts};
use crate::cli::query::ClockUnit;
use rtrace::analysis::Extent;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::comparison::SavedRuns;
use std::path::Path;

/// The verdicts about each run of the summary at `path`; of several runs each is named.
pub(super) fn judge<'a>(
    named: Vec<(String, Assertion)>,
    min_samples: u64,
    path: &'a Path,
    summary: &'a SavedRuns,
) -> Verdicts<'a> {
    let runs = &summary.runs;
    let mut results = Vec::new();
    for (name, assertion) in named {
        for (number, run) in runs.iter().enumerate() {
            let name = match runs.len() {
                1 => name.clone(),
                count => format!("{name} (run {} of {count}, {})", number + 1, run.file),
            };
            results.push(Judged { name, checked: run.judge(&assertion, min_samples), context: Vec::new() });
        }
    }
    let sum = |of: fn(&rtrace::internal::comparison::SavedRun) -> u64| runs.iter().map(of).fold(0, u64::saturating_add);
    let mut extent = Extent::default();
    (extent.events, extent.lost, extent.gaps) = (sum(|run| run.events), sum(|run| run.lost), sum(|run| run.gaps));
    let (buffer, clock) = runs.first().map_or(("", ""), |run| (&run.buffer, &run.clock));
    let unit = ClockUnit::of(runs.iter().any(|run| run.in_ticks));
    let unfinished = runs.iter().any(|run| run.unfinished);
    Verdicts { path, buffer, clock, unit, unfinished, extent, host: None, began: None, results }
}
