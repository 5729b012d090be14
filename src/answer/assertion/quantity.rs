//! The value of a quantity, from what was found.

use super::ast::{DurationSource, Quantity, Reducer};
use super::conditions;
use super::conditions::{Conditions, Names};
use super::interval::{Dimension, Interval};
use super::measure::Finding;
use crate::answer::analysis::{
    Durations, Extent, HandlerKind, IrqReport, LockKind, MemoryReport, MemorySite, Missing, OngoingSyscall,
    SchedReport, Spot, SyscallReport, TaskSched, TimeIn,
};
use crate::base::units::{CpuId, Pid};
use crate::kernel::events::glob_matches;

/// The value of a quantity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valued {
    pub(crate) value: Interval,
    /// Number of durations it was made of.
    pub(crate) samples: Option<u64>,
    /// Number of durations of which one end is missing.
    pub(crate) missing: u64,
    /// Begin and task of the longest interval, if it goes on at the window's end.
    pub(crate) going_on: Option<(u64, Option<Pid>)>,
    /// The first interval or event beyond the limit if that is known, else the longest.
    pub(crate) spot: Option<Spot>,
}

impl Valued {
    /// One that is made of no durations.
    pub(crate) fn plain(value: Interval) -> Self {
        Valued { value, samples: None, missing: 0, going_on: None, spot: None }
    }
}

/// All that a value depends on beside its finding.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) extent: &'a Extent,
    pub(super) conditions: &'a Conditions<'a>,
    /// The events that the quantity is about may be missing in the recording, and not only have not happened.
    pub(super) unseen: Option<&'a str>,
}

/// Many durations, and where the longest of them is.
pub(super) struct Many {
    pub(super) durations: Durations,
    spot: Option<Spot>,
    /// Durations of which one end is missing although nothing was lost.
    pub(super) missing: Missing,
    /// Those that go on at the window's end, until there.
    pub(super) going_on: Vec<u64>,
    /// The longest of those: its begin and task.
    longest_going_on: Option<(u64, Option<Pid>)>,
    /// Number of those that were on where events were lost.
    cut: u64,
    /// True if all events of one are of one CPU, so that none seems to be made of two where some are lost.
    is_of_cpus: bool,
    /// Of the durations, the ones that failed.
    pub(super) failures: Durations,
    /// True if events of that kind were seen at all.
    pub(super) seen: bool,
}

impl Facts<'_> {
    /// True if events are missing in the window.
    fn has_losses(&self) -> bool {
        self.extent.lost > 0 || self.extent.gaps > 0 || self.conditions.damaged > 0 || self.conditions.dropped > 0
    }

    /// True if a CPU's last events may be missing: those that were dropped are more than later ones tell of.
    fn has_losses_at_the_end(&self) -> bool {
        self.conditions.dropped > self.extent.lost || self.conditions.damaged > 0
    }

    /// The most events that are missing, if that is known.
    fn most_lost(&self) -> Option<u64> {
        let most = self.lost().most;
        most.is_finite().then_some(most as u64)
    }

    /// A number of which losses leave only the part that was seen.
    fn at_least(&self, seen: f64, dimension: Dimension) -> Interval {
        let value = Interval::exactly(seen, dimension);
        if self.has_losses() { value.or_more() } else { value }
    }

    fn duration(&self) -> Result<u64, String> {
        let (begin, end) = self.extent.window.ok_or("no event is in the window")?;
        Ok(end.0.saturating_sub(begin.0))
    }

    /// The value of `quantity`, whose analysis found `finding`.
    ///
    /// # Errors
    /// Why it has none.
    pub(super) fn value(&self, quantity: &Quantity, finding: Option<&Finding>) -> Result<Valued, String> {
        let plain = |value| Ok(Valued::plain(value));
        if self.conditions.in_ticks && quantity.dimension() != Dimension::Number {
            return Err("the recording's clock counts ticks, not time".to_owned());
        }
        match (quantity, finding) {
            (Quantity::Lost, _) => Ok(Valued { spot: self.first_loss(), ..Valued::plain(self.lost()) }),
            (Quantity::Duration, _) => {
                let duration = Interval::exactly(self.duration()? as f64, Dimension::Time);
                // Events without a place may lie after the last one that was seen.
                let is_whole = self.conditions.damaged == 0 && self.conditions.dropped == 0;
                plain(if is_whole { duration } else { duration.or_more() })
            }
            (Quantity::Count(_) | Quantity::Rate(_), Some(Finding::Count(found))) => {
                self.must_be_seen(found.count > 0)?;
                let count = self.at_least(found.count as f64, Dimension::Number);
                let value = match quantity {
                    Quantity::Count(_) => count,
                    _ => {
                        let duration = Interval::exactly(self.duration()? as f64, Dimension::Time);
                        count.over(duration, Dimension::Rate).ok_or("all events are at one moment")?
                    }
                };
                Ok(Valued { spot: found.beyond, ..Valued::plain(value) })
            }
            (Quantity::Busy, Some(Finding::Sched(found))) => {
                self.must_be_seen(found.counts.switches > 0)?;
                let sum =
                    |of: fn(&crate::answer::analysis::CpuSched) -> u64| found.cpus.iter().map(of).sum::<u64>() as f64;
                let (busy, idle, unknown) = (sum(|cpu| cpu.busy), sum(|cpu| cpu.idle), sum(|cpu| cpu.unknown));
                let all = busy + idle + unknown;
                if all <= 0.0 {
                    return Err("the window has no length".to_owned());
                }
                // Until when it is so at the end is not known where a CPU's last events were lost.
                let is_run = |one: &&TaskSched| matches!(one.goes_on, Some((TimeIn::Run, _)));
                let (doubtful, most) = match self.has_losses_at_the_end() {
                    true => (
                        found
                            .tasks
                            .iter()
                            .filter(is_run)
                            .filter_map(|one| one.goes_on)
                            .map(|(_, time)| time)
                            .sum::<u64>(),
                        1.0,
                    ),
                    false => (0, (busy + unknown) / all),
                };
                let (observed, least) = (busy / (busy + idle).max(1.0), (busy - doubtful as f64).max(0.0) / all);
                plain(Interval { observed, least, most, dimension: Dimension::Number })
            }
            (Quantity::Run(task), Some(Finding::Sched(found))) => {
                self.must_be_seen(found.counts.switches > 0)?;
                let (mut run, mut unknown, mut doubtful) = (0u64, 0u64, 0u64);
                for one in tasks(found, task, self.conditions.names) {
                    run = run.saturating_add(one.time(TimeIn::Run));
                    unknown = unknown.saturating_add(one.time(TimeIn::Unknown));
                    // What took it off its CPU may be among the events that no later one tells of.
                    if let Some((TimeIn::Run, lasted)) = one.goes_on.filter(|_| self.has_losses_at_the_end()) {
                        doubtful = doubtful.saturating_add(lasted.min(one.time(TimeIn::Run)));
                    }
                }
                for one in unsure_tasks(found, task, self.conditions.names) {
                    let all = one.time(TimeIn::Run).saturating_add(one.time(TimeIn::Unknown));
                    unknown = unknown.saturating_add(all);
                }
                let value = self.at_least(run as f64, Dimension::Time);
                plain(Interval { least: value.least - doubtful as f64, most: value.most + unknown as f64, ..value })
            }
            (Quantity::Faults(task), Some(Finding::Faults(found))) => {
                self.must_be_seen(!found.tasks.is_empty())?;
                let number = task.parse::<i32>().ok();
                let named = |pid: Pid| {
                    // Of cgroups no others were counted.
                    if conditions::glob_of(task).is_some() {
                        return true;
                    }
                    let name = || self.conditions.names.task(pid);
                    task.is_empty() || number == Some(pid.0) || name().is_some_and(|name| glob_matches(task, &name))
                };
                let faults: u64 = found.tasks.iter().filter(|(pid, _)| named(*pid)).map(|(_, count)| count.all()).sum();
                plain(self.at_least(faults as f64, Dimension::Number))
            }
            (Quantity::Live(pattern), Some(Finding::Memory(found))) => {
                self.must_be_seen(!found.sites.is_empty())?;
                let live: u64 = sites(found, pattern, self.conditions.names).map(|site| site.live_taken).sum();
                let value = Interval::exactly(live as f64, Dimension::Number);
                // A free that is missing leaves an object alive, an allocation that is missing one too few.
                let known = !self.has_losses() && found.counts.replaced == 0;
                plain(if known { value } else { value.or_less().or_more() })
            }
            (Quantity::Errors(source), Some(finding)) => {
                let many = many(source, finding, self.conditions.names);
                self.must_be_seen(many.seen)?;
                plain(self.at_least(many.failures.count() as f64, Dimension::Number))
            }
            (Quantity::Reduced(by, source), Some(finding)) => {
                if let (DurationSource::Wait(_), Finding::Sched(found)) = (source, finding)
                    && !found.has_wakeups
                {
                    return Err("neither sched_waking nor sched_wakeup was recorded: `rtrace record --for sched` does"
                        .to_owned());
                }
                let many = many(source, finding, self.conditions.names);
                self.must_be_seen(many.seen)?;
                if let (DurationSource::Hist(_), Finding::Hist(found)) = (source, finding)
                    && found.sums.iter().any(|sum| *sum < 0)
                {
                    return Err("the sum of an entry is negative".to_owned());
                }
                let mut valued = self.reduced(*by, &many, matches!(source, DurationSource::Hist(_)))?;
                valued.value.dimension = quantity.dimension();
                valued.samples = valued.samples.filter(|_| !matches!(source, DurationSource::Hist(_)));
                Ok(valued)
            }
            _ => Err("it was not measured".to_owned()),
        }
    }

    /// An event that was not seen must have been enabled; else its absence proves nothing.
    fn must_be_seen(&self, seen: bool) -> Result<(), String> {
        match self.unseen {
            Some(why) if !seen => Err(why.to_owned()),
            _ => Ok(()),
        }
    }

    fn lost(&self) -> Interval {
        Interval::lost(self.extent.lost, self.extent.gaps, self.conditions.dropped, self.conditions.damaged)
    }

    fn first_loss(&self) -> Option<Spot> {
        let (at, cpu) = self.extent.first_loss?;
        Some(Spot { begin: at.0, at: at.0, cpu, pid: None })
    }

    fn reduced(&self, by: Reducer, many: &Many, of_entries: bool) -> Result<Valued, String> {
        let Many { durations, missing, going_on, .. } = many;
        let count = durations.count();
        let needed = by.least_count().max(match by {
            Reducer::Count | Reducer::Sum => 0,
            _ => self.conditions.min_samples,
        });
        let (one, more) = if of_entries { ("entry", "entries") } else { ("interval", "intervals") };
        if count < needed {
            let least = by.least_count();
            let whatever = if needed == least && self.conditions.min_samples > 1 && least > 1 {
                ", which --min-samples does not lower"
            } else {
                ""
            };
            return Err(match (count, needed) {
                (0, 1) => format!("there is no such {one}"),
                (0, _) => format!("there is no such {one}; {needed} are needed{whatever}"),
                (1, _) => format!("there is 1 such {one}; {needed} are needed{whatever}"),
                _ if needed == least => {
                    format!(
                        "there are {count} such {more}; {needed} are needed{whatever}, as of fewer it is the greatest, which max() asserts"
                    )
                }
                _ => format!("there are {count} such {more}; {needed} are needed"),
            });
        }
        let (mut value, mut note) = (self.bounds(by, durations, many, of_entries), None);
        if !going_on.is_empty() && matches!(by, Reducer::Max | Reducer::Mean | Reducer::Trimmed | Reducer::Quantile(_))
        {
            let mut all = durations.clone();
            going_on.iter().for_each(|time| all.add(*time));
            let all = self.bounds(by, &all, many, of_entries);
            // As if they had ended there, and as if they were none: an end may also be what is missing.
            value = value.or(all);
            let is_it = by == Reducer::Max && going_on.iter().any(|time| *time > durations.greatest());
            note = many.longest_going_on.filter(|_| is_it);
        }
        Ok(Valued { value, samples: Some(count), missing: missing.count, going_on: note, spot: many.spot })
    }

    /// One number of these durations, with what the missing ones leave of it.
    fn bounds(&self, by: Reducer, durations: &Durations, many: &Many, of_entries: bool) -> Interval {
        let missing = &many.missing;
        let time = |observed: u64, least: f64, most: u64| Interval {
            observed: observed as f64,
            least,
            most: most as f64,
            dimension: Dimension::Time,
        };
        let (count, total) = (durations.count(), durations.total());
        let (least, greatest) = (durations.least(), durations.greatest());
        // The most intervals that losses hide, and the most of these that are none. An event may end one and begin another;
        // the rest are those that were on. Of entries any may be too small.
        let lost = match self.has_losses() {
            false => Some(0),
            true if of_entries => None,
            true => self.most_lost().map(|lost| lost.saturating_mul(2).saturating_add(many.cut)),
        };
        let wrong = if many.is_of_cpus || of_entries { Some(0) } else { lost };
        let more = lost.map(|lost| lost.saturating_add(missing.count));
        let bounded = lost == Some(0) && missing.longest < u64::MAX;
        let value = match by {
            Reducer::Count => {
                let most = count.saturating_add(missing.count) as f64;
                Interval { most, ..Interval::exactly(count as f64, Dimension::Number) }
            }
            // Of two durations of which the events between are lost one seems to be made.
            Reducer::Sum => {
                let left = wrong.map_or(0, |wrong| total.saturating_sub(greatest.saturating_mul(wrong)));
                time(total, left as f64, total.saturating_add(missing.total))
            }
            Reducer::Max => {
                let left = wrong.and_then(|wrong| count.checked_sub(wrong)).filter(|left| *left > 0);
                let left = left.map_or(0, |left| durations.at_rank(left)) as f64;
                let left = if durations.is_exact() || wrong == Some(0) { left } else { left / 1.001 };
                time(greatest, left, greatest.max(missing.longest))
            }
            Reducer::Min => time(least, if missing.count > 0 { 0.0 } else { least as f64 }, least),
            Reducer::Mean => {
                // As if the longest were none, and all that is missing took no time.
                let wrong = wrong.unwrap_or(0).min(count);
                let left = total.saturating_sub(greatest.saturating_mul(wrong)) as f64;
                let of_all = |more: u64| left / count.saturating_sub(wrong).saturating_add(more).max(1) as f64;
                Interval {
                    observed: total as f64 / count as f64,
                    least: more.map_or(0.0, of_all),
                    most: total.saturating_add(missing.total) as f64 / count as f64,
                    dimension: Dimension::Time,
                }
            }
            Reducer::Trimmed => {
                let observed = durations.trimmed_mean();
                // By the histogram's three digits at most 0.1 % too large.
                let least = if durations.is_exact() { observed } else { observed / 1.001 };
                let value = Interval { observed, least, most: observed, dimension: Dimension::Time };
                let known = lost == Some(0) && (missing.count == 0 || of_entries);
                return if known { value } else { value.or_less().or_more() };
            }
            Reducer::Quantile(percent) => {
                let millionths = (percent * 1e4).round() as u32;
                let longest = if bounded { missing.longest } else { u64::MAX };
                let (least, most) = match (more, wrong) {
                    (Some(more), Some(wrong)) => durations.quantile_bounds(millionths, more, wrong, longest),
                    _ => (0, u64::MAX),
                };
                // By the histogram's three digits at most 0.1 % too large.
                let least = if durations.is_exact() { least as f64 } else { least as f64 / 1.001 };
                let observed = durations.quantile(millionths);
                let value = time(observed, least.min(observed as f64), most.max(observed));
                if most == u64::MAX { value.or_more() } else { value }
            }
        };
        match by {
            Reducer::Quantile(_) | Reducer::Trimmed => value,
            _ if bounded => value,
            // The number of those that are missing is known, but not how long they are.
            Reducer::Count if lost == Some(0) => value,
            // After a damaged place at the end of a CPU's data no record says so: an interval may span it, and be two.
            Reducer::Sum | Reducer::Max if self.conditions.damaged > 0 && !of_entries => value.or_less().or_more(),
            Reducer::Count | Reducer::Sum | Reducer::Max | Reducer::Mean => value.or_more(),
            // Events that are missing make an entry smaller than it was.
            Reducer::Min if !of_entries => value.or_less(),
            Reducer::Min => value.or_less().or_more(),
        }
    }
}

pub(super) fn many(source: &DurationSource, finding: &Finding, names: &dyn Names) -> Many {
    let mut durations = Durations::default();
    let (mut spot, mut failures): (Option<Spot>, Durations) = (None, Durations::default());
    let mut missing = Missing::default();
    let (mut cut, mut going_on, mut longest_going_on) = (0u64, Vec::new(), None);
    let mut longest = 0u64;
    let mut goes_on = |begin: u64, time: u64, pid: Option<Pid>| {
        if longest_going_on.is_none() || longest < time {
            (longest, longest_going_on) = (time, Some((begin, pid)));
        }
        going_on.push(time);
    };
    let mut longer = |found: Option<Spot>| {
        if let Some(found) = found
            && spot.is_none_or(|spot| spot.time() < found.time())
        {
            spot = Some(found);
        }
    };
    let seen;
    match (source.parts().0, finding) {
        (DurationSource::Latency(_), Finding::Pairs(found)) => {
            seen = found.times.count() > 0;
            durations = found.times.clone();
            cut = found.censored;
            longer(found.beyond.or(found.longest));
        }
        (DurationSource::Wait(task), Finding::Sched(found)) => {
            seen = found.counts.switches > 0;
            unsure_tasks(found, task, names).for_each(|one| missing.merge(&not_known(&one.waits, one)));
            for one in tasks(found, task, names) {
                durations.merge(&one.waits);
                missing.merge(&one.missing);
                cut = cut.saturating_add(one.cut);
                if let Some((TimeIn::Wait, time)) = one.goes_on {
                    goes_on(one.life.1.saturating_sub(time), time, Some(one.pid));
                }
                longer(one.longest_wait.map(|wait| Spot {
                    begin: wait.at.saturating_sub(wait.time),
                    at: wait.at,
                    cpu: wait.cpu,
                    pid: Some(one.pid),
                }));
            }
        }
        (DurationSource::Preempted(task), Finding::Sched(found)) => {
            seen = found.counts.switches > 0;
            unsure_tasks(found, task, names).for_each(|one| missing.merge(&not_known(&one.preempted, one)));
            for one in tasks(found, task, names) {
                durations.merge(&one.preempted);
                missing.merge(&one.missing);
                cut = cut.saturating_add(one.cut);
                if let Some((TimeIn::Preempted, time)) = one.goes_on {
                    goes_on(one.life.1.saturating_sub(time), time, Some(one.pid));
                }
            }
        }
        (DurationSource::Syscall(name), Finding::Syscalls(found)) => {
            // A recording with the own events of some calls only says nothing about other calls.
            let all_recorded = || found.calls.iter().any(|call| call.name.is_none());
            cut = found.counts.censored;
            let named = |call: &&OngoingSyscall| {
                let is = |one: &str| name.is_empty() || glob_matches(name, one);
                let of_call = call.name.clone().or_else(|| names.syscall(call.number));
                // Those that end their task do not return.
                let ends = matches!(of_call.as_deref(), Some("exit" | "exit_group"));
                !ends && (name.parse() == Ok(call.number) || of_call.as_deref().map_or(name.is_empty(), is))
            };
            found.going_on.iter().filter(named).for_each(|call| goes_on(call.at, call.time, Some(call.pid)));
            seen = calls(found, name, names).next().is_some() || all_recorded();
            for call in calls(found, name, names) {
                durations.merge(&call.times);
                failures.merge(&call.failures);
                longer(
                    call.longest
                        .first()
                        .map(|longest| lasting(longest.at, longest.time, longest.cpu, Some(longest.pid))),
                );
            }
        }
        (DurationSource::Irq(pattern), Finding::Irqs(found)) => {
            // A missing exit may be of any handler, and of any length.
            if found.counts.contradictions > 0 {
                missing = Missing { count: found.counts.contradictions, longest: u64::MAX, total: u64::MAX };
            }
            cut = found.counts.censored;
            let kind = pattern.split(':').next().unwrap_or_default();
            seen = handlers(found, kind, names).next().is_some();
            for handler in handlers(found, pattern, names) {
                durations.merge(&handler.times);
                longer(handler.longest.map(|longest| lasting(longest.at, longest.time, longest.cpu, None)));
            }
        }
        (DurationSource::Io(operation), Finding::Io(found)) => {
            seen = !found.requests.is_empty();
            let wanted = |name: &str| operation.is_empty() || glob_matches(operation, name);
            cut = found.counts.censored;
            let ongoing = found.going_on.iter().filter(|request| wanted(request.operation.name()));
            ongoing.for_each(|request| goes_on(request.at, request.time, None));
            for requests in found.requests.iter().filter(|requests| wanted(requests.operation.name())) {
                durations.merge(&requests.total);
                failures.merge(&requests.failures);
                longer(requests.longest.map(|longest| lasting(longest.at, longest.time, longest.cpu, None)));
            }
        }
        (DurationSource::Function(pattern), Finding::Functions(found)) => {
            seen = !found.functions.is_empty();
            cut = found.counts.unfinished;
            let named = |address: u64| pattern.is_empty() || glob_matches(pattern, &names.function(address));
            for function in found.functions.iter().filter(|function| named(function.address)) {
                durations.merge(&function.whole);
                longer(
                    function.longest.map(|longest| lasting(longest.at, longest.time, longest.cpu, Some(longest.pid))),
                );
            }
        }
        (DurationSource::Lock(pattern), Finding::Locks(found)) => {
            seen = !found.locks.is_empty();
            cut = found.counts.censored;
            let is = |name: &str| glob_matches(pattern, name);
            let wanted = |(address, kind): &(u64, LockKind)| {
                pattern.is_empty() || is(&kind.name()) || is(&names.variable(*address))
            };
            for (_, wait) in found.going_on.iter().filter(|(lock, _)| wanted(lock)) {
                goes_on(wait.at, wait.time, Some(wait.pid));
            }
            for (_, waits) in found.locks.iter().filter(|(lock, _)| wanted(lock)) {
                durations.merge(&waits.times);
                longer(waits.longest.map(|longest| lasting(longest.at, longest.time, longest.cpu, Some(longest.pid))));
            }
        }
        (DurationSource::Life(pattern), Finding::Memory(found)) => {
            seen = !found.sites.is_empty();
            // An object whose free is missing lived for any time.
            if found.counts.replaced > 0 {
                missing = Missing { count: found.counts.replaced, longest: u64::MAX, total: u64::MAX };
            }
            sites(found, pattern, names).for_each(|site| durations.merge(&site.lives));
        }
        (DurationSource::Hist(_), Finding::Hist(found)) => {
            seen = !found.sums.is_empty();
            found.sums.iter().for_each(|sum| durations.add((*sum).max(0) as u64));
        }
        _ => seen = false,
    }
    let is_of_cpus = matches!(source.parts().0, DurationSource::Irq(kind) if !of_work(kind));
    Many { durations, spot, missing, going_on, longest_going_on, cut, is_of_cpus, failures, seen }
}

/// True if handlers of this kind may be work items, whose workers can move between CPUs.
fn of_work(pattern: &str) -> bool {
    let kind = pattern.split(':').next().unwrap_or_default();
    kind.is_empty() || glob_matches(kind, HandlerKind::Work.name())
}

/// An interval from its begin and duration, in the clock's unit.
fn lasting(begin: u64, time: u64, cpu: CpuId, pid: Option<Pid>) -> Spot {
    Spot { begin, at: begin.saturating_add(time), cpu, pid }
}

/// Tasks by cgroups, name (a glob) or id; all by the empty text.
pub(super) fn tasks<'f>(
    found: &'f SchedReport,
    pattern: &str,
    names: &dyn Names,
) -> impl Iterator<Item = &'f TaskSched> {
    let pid = pattern.parse::<i32>().ok();
    let set = conditions::set_of(pattern, names.cgroups().as_ref());
    let pattern = pattern.to_owned();
    found.tasks.iter().filter(move |task| match &set {
        Some(set) => set.has(task.pid, task.life.0) == Some(true),
        None => {
            let is_named = || glob_matches(&pattern, &String::from_utf8_lossy(&task.comm));
            pattern.is_empty() || pid == Some(task.pid.0) || is_named()
        }
    })
}

/// Tasks of which it is not known if they are in cgroups.
fn unsure_tasks<'f>(found: &'f SchedReport, pattern: &str, names: &dyn Names) -> impl Iterator<Item = &'f TaskSched> {
    let set = conditions::set_of(pattern, names.cgroups().as_ref());
    let is_unsure = move |task: &&TaskSched| set.as_ref().is_some_and(|set| set.has(task.pid, task.life.0).is_none());
    found.tasks.iter().filter(is_unsure)
}

/// Durations that may be meant.
fn not_known(durations: &Durations, of: &TaskSched) -> Missing {
    let mut missing = Missing { count: durations.count(), longest: durations.greatest(), total: durations.total() };
    missing.merge(&of.missing);
    missing
}

/// Places that allocate, by their function (a glob).
pub(super) fn sites<'f>(
    found: &'f MemoryReport,
    pattern: &str,
    names: &dyn Names,
) -> impl Iterator<Item = &'f MemorySite> {
    let is = |site: &&MemorySite| pattern.is_empty() || glob_matches(pattern, &names.function(site.site));
    found.sites.iter().filter(is)
}

/// Calls by name (a glob) or number.
pub(super) fn calls<'f>(
    found: &'f SyscallReport,
    pattern: &str,
    names: &dyn Names,
) -> impl Iterator<Item = &'f crate::answer::analysis::SyscallTimes> {
    let number = pattern.parse::<i64>().ok();
    found.calls.iter().filter(move |call| {
        let named = || call.name.clone().or_else(|| names.syscall(call.number));
        pattern.is_empty() || number == Some(call.number) || named().is_some_and(|name| glob_matches(pattern, &name))
    })
}

/// Handlers by kind, or kind and name; both are globs.
pub(super) fn handlers<'f>(
    found: &'f IrqReport,
    pattern: &str,
    names: &dyn Names,
) -> impl Iterator<Item = &'f crate::answer::analysis::IrqSource> {
    let (kind, name) = pattern.split_once(':').map_or((pattern, None), |(kind, name)| (kind, Some(name)));
    found.sources.iter().filter(move |source| {
        (kind.is_empty() || glob_matches(kind, source.kind.name()))
            && name.is_none_or(|name| glob_matches(name, &names.handler(source)))
    })
}
