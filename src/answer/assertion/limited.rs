//! Values of recordings that were restricted to some events, tasks or CPUs: intervals that hold whatever was not recorded.

use super::ast::{DurationSource, EventsExpr, Quantity, Reducer};
use super::interval::Interval;
use super::plan::Need;
use super::quantity::Valued;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::Coverage;
use crate::kernel::events::{EventName, EventSelection};
use crate::language::filter::Filter;

impl Quantity {
    /// True if its value depends on this event, which may be one that its analysis does without.
    fn reads(&self, need: &Need, event: &EventName) -> bool {
        let system = event.system.as_str();
        need.names(event)
            || match self {
                Quantity::Busy | Quantity::Run(_) => system == "sched" && event.name == "sched_switch",
                Quantity::Reduced(_, source) | Quantity::Errors(source) => match source.parts().0 {
                    DurationSource::Wait(_) | DurationSource::Preempted(_) => {
                        system == "sched" && (event.name == "sched_switch" || event.name.starts_with("sched_wak"))
                    }
                    DurationSource::Syscall(_) => matches!(system, "raw_syscalls" | "syscalls"),
                    DurationSource::Irq(_) => matches!(system, "irq" | "irq_vectors"),
                    DurationSource::Io(_) => system == "block",
                    DurationSource::Lock(_) => system == "lock",
                    DurationSource::Life(_) => system == "kmem",
                    DurationSource::Latency(_)
                    | DurationSource::Function(_)
                    | DurationSource::Hist(_)
                    | DurationSource::OfTask(..) => false,
                },
                Quantity::Live(_) => system == "kmem",
                Quantity::Faults(_) => system == "exceptions",
                Quantity::Lost | Quantity::Duration | Quantity::Count(_) | Quantity::Rate(_) => false,
            }
    }

    /// The limits of the recording that leave its value open, each a sentence.
    pub(super) fn limits(&self, need: &Need, coverage: &Coverage) -> Vec<String> {
        match self {
            Quantity::Lost => return Vec::new(),
            // A clock may be among what was changed.
            Quantity::Duration => return coverage.changed(|_| false),
            _ => {}
        }
        let reads = |event: &EventName| self.reads(need, event) && !self.has_filter_of(event, coverage);
        match self.is_of_covered_task(need, coverage) {
            true => Coverage { tasks: None, excluded: Vec::new(), ..coverage.clone() }.limits(reads),
            false => coverage.limits(reads),
        }
    }

    /// True if it is of just those of the events that the filter of the recording lets through.
    fn has_filter_of(&self, event: &EventName, coverage: &Coverage) -> bool {
        if !coverage.changed(|one| one == event).is_empty() {
            return false;
        }
        let Some(recorded) = coverage.filter_of(event).and_then(|filter| Filter::parse(filter).ok()) else {
            return false;
        };
        let all = match self {
            Quantity::Count(events) | Quantity::Rate(events) => vec![events],
            Quantity::Reduced(_, DurationSource::Latency(latency)) => vec![&latency.from, &latency.to],
            Quantity::Reduced(_, DurationSource::Hist(hist)) => vec![&hist.events],
            _ => return false,
        };
        let selects = |events: &&&EventsExpr| {
            EventSelection::new(events.names.value.clone()).select(std::slice::from_ref(event)).is_ok()
        };
        all.iter()
            .filter(selects)
            .all(|events| events.filter.as_ref().is_some_and(|filter| filter.value.text() == recorded.text()))
    }

    /// True if it is about one task, by its number, or those of cgroups, of which all events were recorded.
    fn is_of_covered_task(&self, need: &Need, coverage: &Coverage) -> bool {
        let task = match self {
            Quantity::Run(task) | Quantity::Faults(task) => task,
            Quantity::Reduced(_, DurationSource::Wait(task) | DurationSource::Preempted(task)) => task,
            // All events of a task's calls and waits for locks are its own.
            Quantity::Reduced(_, DurationSource::OfTask(source, task))
            | Quantity::Errors(DurationSource::OfTask(source, task))
                if matches!(**source, DurationSource::Syscall(_) | DurationSource::Lock(_)) =>
            {
                task
            }
            _ => return false,
        };
        let is_of_cgroups = need.is_followed && coverage.since.is_empty();
        is_of_cgroups || task.parse().is_ok_and(|pid| coverage.is_of_task(Pid(pid)))
    }

    /// The value that was found, made wide enough for what was not recorded.
    pub(super) fn limited(&self, found: Valued, need: &Need, coverage: &Coverage) -> Valued {
        if self.limits(need, coverage).is_empty() {
            return found;
        }
        let filtered =
            coverage.filtered().any(|(event, _)| self.reads(need, event) && !self.has_filter_of(event, coverage));
        let filtered = filtered || coverage.leaves_out_interrupts(|event| self.reads(need, event));
        let is_changed = !coverage.changed(|event| self.reads(need, event)).is_empty();
        let (some_tasks, some_cpus) = (coverage.is_of_some_tasks(), coverage.cpus.is_some());
        // What was seen is there whatever else is: intervals both ends of which are recorded, and single events.
        let at_least = match self {
            Quantity::Count(_) | Quantity::Faults(_) | Quantity::Errors(_) => true,
            Quantity::Rate(_) => !is_changed,
            // Where all switches of a CPU are there, what ran on it is known; of cgroups that were followed all but the first moments
            // of tasks that came meanwhile.
            Quantity::Run(_) => !filtered && (!some_tasks || need.is_followed) && !is_changed,
            Quantity::Reduced(Reducer::Count | Reducer::Sum | Reducer::Max, source) => match source.parts().0 {
                DurationSource::Irq(_) => !filtered && !is_changed,
                DurationSource::Syscall(_) => !filtered && !some_cpus && !is_changed,
                DurationSource::Wait(_) | DurationSource::Preempted(_) => {
                    need.is_followed && !filtered && !some_cpus && !is_changed
                }
                // Of a task, or a CPU, whose events were recorded all of them were. Switches and wakeups are written by other tasks, too.
                DurationSource::Latency(latency) => {
                    let by = |key: &str| latency.keys.iter().any(|(from, to)| from.value == key && to.value == key);
                    let by_task = by("common_pid") && need.events.iter().all(|(event, _)| event.system != "sched");
                    !filtered && !is_changed && (!some_tasks || by_task) && (!some_cpus || by("common_cpu"))
                }
                _ => false,
            },
            _ => false,
        };
        let value = found.value.or_more();
        Valued { value: if at_least { value } else { value.or_less() }, ..found }
    }

    /// The value that was found where CPUs begin `late`: what happened on them before that is missing.
    pub(super) fn begun_late(&self, found: Valued, late: &[(CpuId, u64)]) -> Valued {
        let Some(longest) = late.iter().map(|(_, time)| *time as f64).reduce(f64::max) else { return found };
        let total: f64 = late.iter().map(|(_, time)| *time as f64).sum();
        let Interval { least, most, .. } = found.value;
        let value = match self {
            Quantity::Lost | Quantity::Duration | Quantity::Busy => found.value,
            // Tasks may have run there, and intervals may lie there as a whole.
            Quantity::Run(_) => Interval { most: most + total, ..found.value },
            Quantity::Count(_) | Quantity::Rate(_) | Quantity::Errors(_) | Quantity::Faults(_) | Quantity::Live(_) => {
                found.value.or_more()
            }
            Quantity::Reduced(Reducer::Count, _) | Quantity::Reduced(Reducer::Sum, DurationSource::Hist(_)) => {
                found.value.or_more()
            }
            Quantity::Reduced(Reducer::Sum, source) if source.is_of_one_cpu() => found.value.or_more(),
            // Two intervals, of which the end of one and the begin of the next lie there, seem to be one.
            Quantity::Reduced(Reducer::Max, source) if !matches!(source, DurationSource::Hist(_)) => {
                let least = if source.is_of_one_cpu() { least } else { 0.0 };
                Interval { least, most: most.max(longest), ..found.value }
            }
            Quantity::Reduced(Reducer::Min, source) if !matches!(source, DurationSource::Hist(_)) => {
                Interval { least: least.min(0.0), ..found.value }
            }
            Quantity::Reduced(..) => found.value.or_more().or_less(),
        };
        Valued { value, ..found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::assertion::Assertion;
    use crate::answer::assertion::ast::QuantityExpr;
    use crate::answer::assertion::interval::Dimension;
    use crate::base::units::EventId;
    use crate::file::trace_dat::CoveredTasks;

    #[test]
    fn of_cgroups_with_tasks_that_came_late_there_is_at_least_what_was_seen() {
        let only = CoveredTasks::Only { pids: vec![Pid(7)], children: true };
        let coverage = Coverage { tasks: Some(only), joined: 1, since: vec![(Pid(9), 80)], ..Coverage::default() };
        let switch = crate::kernel::events::EventName::new("sched", "sched_switch");
        for (text, followed, expected) in [
            ("run(cgroup:/a) < 5ns", true, (5.0, f64::INFINITY)),
            ("run(cgroup:/a) < 5ns", false, (0.0, f64::INFINITY)),
            ("max(wait(cgroup:/a)) < 5ns", true, (5.0, f64::INFINITY)),
            ("min(wait(cgroup:/a)) < 5ns", true, (0.0, f64::INFINITY)),
        ] {
            let parsed = Assertion::parse(text).unwrap();
            let QuantityExpr::Quantity(quantity) = &parsed.left else { panic!("{text}") };
            let events = vec![(switch.clone(), EventId(1))];
            let need = Need { events, is_followed: followed, ..Need::default() };
            let found = Valued::plain(Interval::exactly(5.0, Dimension::Time));
            let value = quantity.value.limited(found, &need, &coverage).value;
            assert_eq!((value.least, value.most), expected, "{text} {followed}");
        }
    }

    #[test]
    fn what_a_cpu_that_begins_late_may_have_done_is_in_the_value() {
        for (text, dimension, expected) in [
            ("count(a:b) == 5", Dimension::Number, (5.0, f64::INFINITY)),
            ("run(x) < 5ns", Dimension::Time, (5.0, 35.0)),
            ("max(wait()) < 5ns", Dimension::Time, (0.0, 20.0)),
            ("max(irq(softirq:TIMER)) < 5ns", Dimension::Time, (5.0, 20.0)),
            ("sum(irq(softirq)) < 5ns", Dimension::Time, (5.0, f64::INFINITY)),
            ("min(wait()) < 5ns", Dimension::Time, (0.0, 5.0)),
            ("p99(wait()) < 5ns", Dimension::Time, (0.0, f64::INFINITY)),
            ("sum(syscall(read)) < 5ns", Dimension::Time, (0.0, f64::INFINITY)),
            ("count(syscall(read)) < 5", Dimension::Number, (5.0, f64::INFINITY)),
            ("duration < 5ns", Dimension::Time, (5.0, 5.0)),
        ] {
            let parsed = Assertion::parse(text).unwrap();
            let QuantityExpr::Quantity(quantity) = &parsed.left else { panic!("{text}") };
            let found = || Valued::plain(Interval::exactly(5.0, dimension));
            assert_eq!(quantity.value.begun_late(found(), &[]).value, found().value, "{text}");
            let late = quantity.value.begun_late(found(), &[(CpuId(0), 10), (CpuId(2), 20)]).value;
            assert_eq!((late.least, late.most), expected, "{text}");
        }
    }
}
