//! The metrics of a comparison for which none were chosen.

use crate::cli::exit::Failure;
use anyhow::anyhow;
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::{SavedRun, SavedRuns};
use std::collections::BTreeSet;

/// Least number of samples on one side for a duration to be chosen: ten of them lie above its p99.
const LEAST: u64 = 1000;

/// Metrics, each with true if more of it is better; and the names of those that were left out.
type Chosen = (Vec<(Metric, bool)>, Vec<String>);

/// The metrics asked for, or those of all series that both sides have; and those of the latter that are too rare on both.
pub(super) fn chosen(asked: &[(Metric, bool)], base: &SavedRuns, new: &SavedRuns) -> Result<Chosen, Failure> {
    if !asked.is_empty() {
        return Ok((asked.to_vec(), Vec::new()));
    }
    let runs = || base.runs.iter().chain(&new.runs);
    let names: BTreeSet<&String> = runs().flat_map(|run| run.series.keys()).collect();
    let (mut metrics, mut left_out) = (Vec::new(), Vec::new());
    for name in names {
        // The most of each side: a series that one side has in plenty, and the other has not, is to be seen.
        let most = |runs: &[SavedRun]| {
            runs.iter().filter_map(|run| run.series.get(name)).map(|series| series.total()).max().unwrap_or(0)
        };
        let is_enough = name == "busy" || most(&base.runs).max(most(&new.runs)) >= LEAST;
        for text in of_series(name) {
            if is_enough {
                let metric = Metric::parse(&text).map_err(|error| anyhow!("a series of the summary: {error}"))?;
                metrics.push((metric, false));
            } else {
                left_out.push(text);
            }
        }
    }
    Ok((metrics, left_out))
}

/// The metrics of a series.
fn of_series(name: &str) -> Vec<String> {
    let reduced = |reducers: &[&str]| reducers.iter().map(|reducer| format!("{reducer}({name})")).collect();
    match name {
        "busy" => vec!["busy".to_owned()],
        "wait()" => reduced(&["mean", "p50", "p99"]),
        "preempted()" => reduced(&["mean"]),
        name if name.starts_with("errors(") => vec![name.to_owned()],
        name if name.starts_with("run(") => vec![format!("{name} / duration")],
        name => match name.strip_prefix("count(") {
            Some(events) => vec![format!("rate({events}")],
            None => reduced(&["mean", "p99"]),
        },
    }
}
