//! Runs that are no measure of their side: set aside, and named.
//!
//! One run in sixty that lost events, or whose program ended halfway, makes nothing of the other runs unknown. But a side of which
//! half of the runs are so is that way: then they stay, and decide.

use super::summary::{SavedRun, SavedRuns};
use crate::base::units::{counted, seconds};
use serde::Serialize;
use std::time::Duration;

/// Greatest ratio of two durations that still agree.
pub(super) const DURATIONS: f64 = 1.5;

/// A run that no metric is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// Its side: `base` or `new`.
    pub side: &'static str,
    /// File of the run.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// The runs of both sides that count, and those that do not: they lack events, or are of another length than the median of their
/// side, of which five or more are left.
/// Of pairs both go.
pub(super) fn split(sides: [&[SavedRun]; 2], paired: bool) -> ([Vec<&SavedRun>; 2], Vec<SetAside>) {
    let mut reasons = sides.map(|runs| {
        let median = median(runs.iter());
        let lacking: Vec<Option<String>> = runs.iter().map(lacks).collect();
        let both = lacking.iter().zip(runs).map(|(lacking, run)| lacking.clone().or_else(|| is_odd(run, median)));
        let both: Vec<Option<String>> = both.collect();
        // On a busy machine lengths vary: as many runs stay as it takes to say how much they do.
        let left = both.iter().filter(|reason| reason.is_none()).count();
        if left >= SavedRuns::RUNS { both } else { lacking }
    });
    if paired && sides[0].len() == sides[1].len() {
        let [base, new] = &mut reasons;
        for (one, other) in base.iter_mut().zip(new) {
            match (one.is_some(), other.is_some()) {
                (true, false) => *other = Some("the other run of its pair is set aside".to_owned()),
                (false, true) => *one = Some("the other run of its pair is set aside".to_owned()),
                _ => {}
            }
        }
    }
    let many = |side: &[Option<String>]| 2 * side.iter().flatten().count() >= side.len();
    let both = paired && reasons.iter().any(|side| many(side));
    reasons.iter_mut().filter(|side| both || many(side)).for_each(|side| side.fill(None));
    let mut aside = Vec::new();
    let mut kept = [Vec::new(), Vec::new()];
    for (side, word) in [(0, "base"), (1, "new")] {
        for (run, reason) in sides[side].iter().zip(&reasons[side]) {
            match reason {
                None => kept[side].push(run),
                Some(reason) => aside.push(SetAside { side: word, file: run.file.clone(), reason: reason.clone() }),
            }
        }
    }
    (kept, aside)
}

/// The reason why events of a run are missing.
fn lacks(run: &SavedRun) -> Option<String> {
    let lost = run.lost.saturating_add(run.gaps).max(run.dropped);
    if run.unfinished {
        return Some("it is unfinished".to_owned());
    }
    if run.damaged > 0 {
        return Some("the file is damaged".to_owned());
    }
    if run.has_losses() {
        let or_more = if run.gaps > 0 { " or more" } else { "" };
        return Some(format!("{}{or_more} lost", counted(lost, "event")));
    }
    None
}

/// The length of a run, if it is not that of its side.
fn is_odd(run: &SavedRun, median: u64) -> Option<String> {
    let shown = |time: u64| seconds(Duration::from_nanos(time));
    (!agree(run.duration, median))
        .then(|| format!("it lasted {}, the median of its side {}", shown(run.duration), shown(median)))
}

/// True if neither is much longer than the other.
pub(super) fn agree(one: u64, other: u64) -> bool {
    let (least, most) = (one.min(other), one.max(other));
    most as f64 <= least as f64 * DURATIONS
}

/// The middle duration of some runs, of an even number the mean of the two in the middle.
pub(super) fn median<'r>(runs: impl Iterator<Item = &'r SavedRun>) -> u64 {
    let mut all: Vec<u64> = runs.map(|run| run.duration).collect();
    all.sort_unstable();
    let middle = |at: usize| all.get(at).copied().unwrap_or(0);
    middle(all.len().saturating_sub(1) / 2).midpoint(middle(all.len() / 2))
}
