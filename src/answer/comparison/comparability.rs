//! Comparability of two sides: events, clock, machine, duration and losses.

use super::set_aside::DURATIONS;
use super::summary::SavedRun;
use crate::base::units::{counted, grouped};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// Aspects that the sides have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparability {
    /// The share of aspects that agree, in per cent.
    pub score: u32,
    /// False if nothing can be compared.
    pub possible: bool,
    /// Each aspect.
    pub aspects: Vec<Aspect>,
}

/// An aspect in which runs agree or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aspect {
    /// Name of the fact.
    pub name: &'static str,
    /// True if all runs of both sides agree.
    pub agrees: bool,
    /// True if no comparison is possible because they do not.
    pub prevents: bool,
    /// As the base has it.
    pub base: String,
    /// As the new side has it.
    pub new: String,
}

impl Comparability {
    /// Of these runs.
    pub fn of(base: &[&SavedRun], new: &[&SavedRun]) -> Self {
        let events = |run: &SavedRun| run.enabled.as_ref().map_or("unknown".to_owned(), |events| events.join(", "));
        let part = |run: &SavedRun| match run.buffer.is_empty() {
            true => run.options.clone(),
            false => format!("--buffer {} {}", run.buffer, run.options).trim_end().to_owned(),
        };
        let system = |run: &SavedRun| run.system.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut aspects = vec![
            aspect("events", base, new, events),
            aspect("clock", base, new, |run| run.clock.clone()),
            aspect("CPUs", base, new, |run| run.cpus.to_string()),
            aspect("kernel", base, new, system),
            durations(base, new),
            losses(base, new),
            aspect("part", base, new, part),
        ];
        if base.iter().chain(new).any(|run| !run.limits.is_empty()) {
            aspects.push(aspect("coverage", base, new, |run| match run.limits.as_slice() {
                [] => "all tasks and CPUs, as far as is known".to_owned(),
                limits => limits.join(", "),
            }));
        }
        let in_ticks = base.iter().chain(new).any(|run| run.in_ticks);
        let filters_differ = filters(base) != filters(new);
        for aspect in &mut aspects {
            aspect.prevents = match aspect.name {
                "clock" => !aspect.agrees || in_ticks,
                "coverage" => !aspect.agrees,
                "events" => !aspect.agrees && filters_differ,
                _ => false,
            };
            if aspect.prevents && aspect.agrees {
                aspect.agrees = false; // a clock of ticks
            }
        }
        let agreeing = aspects.iter().filter(|aspect| aspect.agrees).count();
        let score = (100 * agreeing / aspects.len()) as u32;
        Comparability { score, possible: !aspects.iter().any(|aspect| aspect.prevents), aspects }
    }
}

fn texts(runs: &[&SavedRun], of: impl Fn(&SavedRun) -> String) -> BTreeSet<String> {
    runs.iter().copied().map(of).collect()
}

fn joined(texts: &BTreeSet<String>) -> String {
    texts.iter().cloned().collect::<Vec<_>>().join("; ")
}

fn aspect(name: &'static str, base: &[&SavedRun], new: &[&SavedRun], of: impl Fn(&SavedRun) -> String) -> Aspect {
    let (base, new) = (texts(base, &of), texts(new, &of));
    let agrees = base.len() == 1 && base == new;
    Aspect { name, agrees, prevents: false, base: joined(&base), new: joined(&new) }
}

/// Events that were recorded with a filter, with it.
fn filters<'r>(runs: &[&'r SavedRun]) -> BTreeSet<&'r str> {
    let events = runs.iter().filter_map(|run| run.enabled.as_ref()).flatten();
    events.filter(|event| event.contains(' ')).map(String::as_str).collect()
}

fn durations(base: &[&SavedRun], new: &[&SavedRun]) -> Aspect {
    let range = |runs: &[&SavedRun]| {
        let all = runs.iter().map(|run| run.duration);
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    let seconds = |(least, most): (u64, u64)| match least == most {
        true => crate::base::units::seconds(Duration::from_nanos(least)),
        false => format!("{:.3} to {}", least as f64 / 1e9, crate::base::units::seconds(Duration::from_nanos(most))),
    };
    let (base, new) = (range(base), range(new));
    let (least, most) = (base.0.min(new.0), base.1.max(new.1));
    let agrees = least > 0 && most as f64 <= least as f64 * DURATIONS;
    Aspect { name: "duration", agrees, prevents: false, base: seconds(base), new: seconds(new) }
}

fn losses(base: &[&SavedRun], new: &[&SavedRun]) -> Aspect {
    let sum = |runs: &[&SavedRun], of: fn(&SavedRun) -> u64| runs.iter().copied().map(of).fold(0, u64::saturating_add);
    let text = |runs: &[&SavedRun]| {
        let lost = sum(runs, |run| run.lost.saturating_add(run.gaps).max(run.dropped));
        match (sum(runs, |run| run.gaps), sum(runs, |run| run.damaged)) {
            (0, 0) => counted(lost, "event"),
            (_, 0) => format!("{} or more events", grouped(lost)),
            (_, damaged) => format!("{} or more events, {}", grouped(lost), counted(damaged, "damaged place")),
        }
    };
    let agrees = !base.iter().chain(new).any(|run| run.has_losses());
    Aspect { name: "losses", agrees, prevents: false, base: text(base), new: text(new) }
}
