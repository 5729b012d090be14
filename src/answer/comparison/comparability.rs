//! Comparability of two sides: events, clock, machine, duration and losses.
//!
//! The changes that a comparison could find, and the runs that it takes to find smaller ones.
//!
//! The error of n pairs is s / √n, where s is the standard deviation of ln(new / base) of a pair; of n runs a side likewise,
//! with s² the sum of both sides' variances. t(q) is the number of errors that an estimate is off by, on either side, with the
//! probability q. A change is called one where its estimate is the least effect e or more, and t(p) errors or more, where p is
//! the part of each metric in the probability of false alarms. In nine of ten comparisons the estimate falls short of the change by
//! t(0.2) errors at most, and in nine of ten it is off by t(0.1) at most. So these find a change, and see that there is none, from
//!
//! ```text
//!   max(e, t(p) s / √n) + t(0.2) s / √n          and          n = ((t(p) + t(0.1)) s / e)²
//! ```
//!
//! on. The degrees of freedom of t grow with n.
//!
//! Runs that are no measure of their side: set aside, and named.
//!
//! One run in sixty that lost events, or whose program ended halfway, makes nothing of the other runs unknown. But a side of which
//! half of the runs are so is that way: then they stay, and decide.

use super::runs::Difference;
use super::statistics::student_quantile;
use super::summary::{SavedRun, SavedRuns};
use crate::base::units::{counted, grouped, seconds};
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

impl Aspect {
    /// The end of a sentence on both sides where these alone do not tell why they disagree.
    pub fn why(&self) -> &'static str {
        match self.name {
            "duration" if !self.agrees => ": of all runs, the longest took more than 1.5 times as long as the shortest",
            _ => "",
        }
    }
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

/// The probability with which a change is missed, or that there is none.
const MISSED: f64 = 0.1;

/// More runs than anybody makes.
const MOST_RUNS: u64 = 1_000_000;

/// The changes that a comparison could find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reach {
    /// The smallest change that comparisons like this one find in nine of ten, as a share of the base.
    pub finds: f64,
    /// The fewest runs a side, or pairs, with which nine of ten comparisons see that there is no change of the least effect.
    pub runs: Option<u64>,
}

impl Reach {
    /// Of a comparison that may call a change what is none with the probability `tail`; `least` is the least effect, in
    /// logarithms.
    pub(super) fn of(difference: &Difference, tail: f64, least: f64) -> Self {
        let Difference { error, freedom, spread, runs, .. } = *difference;
        let limit = (student_quantile(tail, freedom) * error).max(least);
        let finds = limit + student_quantile(2.0 * MISSED, freedom) * error;
        // The number of runs decides on the degrees of freedom, and these on the number.
        let enough = |number: u64| {
            let freedom = (freedom * number as f64 / runs).max(1.0);
            let errors = student_quantile(tail, freedom) + student_quantile(MISSED, freedom);
            errors * spread <= least * (number as f64).sqrt()
        };
        let (mut few, mut many) = (SavedRuns::RUNS as u64 - 1, SavedRuns::RUNS as u64);
        while !enough(many) && many < MOST_RUNS {
            (few, many) = (many, many * 2);
        }
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            if enough(middle) {
                many = middle;
            } else {
                few = middle;
            }
        }
        Reach { finds: finds.exp_m1(), runs: Some(many).filter(|many| *many <= MOST_RUNS) }
    }
}

/// Greatest ratio of two durations that still agree.
const DURATIONS: f64 = 1.5;

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

#[cfg(test)]
mod tests {
    use super::super::{Method, SplitMix64};
    use super::*;

    fn difference(spread: f64, runs: f64) -> Difference {
        let error = spread / runs.sqrt();
        let (freedom, method) = (runs - 1.0, Method::Pairs);
        Difference { change: 0.0, error, freedom, spread, runs, method, slope: None, blocks: [None; 2] }
    }

    /// With many runs t is the normal distribution's: 2.576 for 1 %, 1.645 for 10 %, 1.282 for 20 %.
    #[test]
    fn the_closed_form() {
        let reach = Reach::of(&difference(0.14, 1e6), 0.01, 0.01);
        let needed = ((2.5758 + 1.6449) * 0.14f64 / 0.01).powi(2);
        assert!((reach.runs.unwrap() as f64 / needed - 1.0).abs() < 0.01, "{reach:?} {needed}");
        assert!((reach.finds - (0.01f64 + 1.2816 * 0.14e-3).exp_m1()).abs() < 1e-6, "{reach:?}");
        let none = Reach::of(&difference(0.0, 5.0), 0.01, 0.05);
        assert_eq!((none.finds, none.runs), (0.05f64.exp_m1(), Some(5)));
    }

    /// Comparisons of normal numbers find that change, and are narrow with that many, in nine of ten.
    #[test]
    fn nine_of_ten_are_nine_of_ten() {
        let (tail, least, spread) = (0.01, 0.05, 0.1);
        let mut rng = SplitMix64::new(19);
        let mut draw = |runs: u64, change: f64| {
            let mut normal = || change + spread * ((0..12).map(|_| rng.unit()).sum::<f64>() - 6.0);
            let values: Vec<f64> = (0..runs).map(|_| normal()).collect();
            let mean = values.iter().sum::<f64>() / runs as f64;
            let error = (crate::answer::comparison::side::variance(&values) / runs as f64).sqrt();
            (mean, error * student_quantile(tail, runs as f64 - 1.0))
        };
        for runs in [6, 20, 60] {
            let change = Reach::of(&difference(spread, runs as f64), tail, least).finds.ln_1p();
            let found = (0..2_000).filter(|_| {
                let (mean, half) = draw(runs, change);
                mean >= half && mean >= least
            });
            let found = found.count();
            assert!((1_700..1_960).contains(&found), "{runs}: {found}");
        }
        let needed = Reach::of(&difference(spread, 8.0), tail, least).runs.unwrap();
        let narrow = (0..2_000).filter(|_| {
            let (mean, half) = draw(needed, 0.0);
            mean.abs() + half <= least
        });
        let narrow = narrow.count();
        assert!((1_700..1_960).contains(&narrow), "{needed}: {narrow}");
    }
}
