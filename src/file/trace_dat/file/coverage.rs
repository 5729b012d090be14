//! The part of what happened that a recording would hold: the content of our RTRACE_COVERAGE options, one for each buffer.

use super::{EnabledEvents, SettingChange};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Buffer, OptionId, Trace};
use crate::kernel::events::EventName;
use std::collections::BTreeMap;

/// The part of what happened that one buffer would hold, if nothing of it were lost. What a file does not say is not known, and
/// limits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The events that were enabled, each with its filter; `None` if the file does not say.
    pub events: Option<EnabledEvents>,
    /// The tasks whose events were recorded; `None` if the file does not say.
    pub tasks: Option<CoveredTasks>,
    /// True if those tasks are the recorded command's alone (`record -F`).
    pub of_command: bool,
    /// The CPUs whose events were recorded (`tracing_cpumask`), ascending; `None` if that is all, or the file does not say.
    pub cpus: Option<Vec<CpuId>>,
    /// Number of threads of [`Coverage::tasks`] that came meanwhile, whose first events are missing.
    pub joined: u64,
    /// Of those, the ones of which all events from a time on were recorded, with that time, by the trace clock.
    pub since: Vec<(Pid, u64)>,
    /// Tasks whose events were left out (`set_event_notrace_pid`), and with [`CoveredTasks::Only`]'s `children` those that they fork.
    pub excluded: Vec<Pid>,
    /// The recorder's own threads, if their events were left out.
    pub left_out: Vec<Pid>,
    /// True if what interrupts wrote while those threads ran was left out too.
    pub left_out_interrupts: bool,
    /// CPUs whose oldest events a flight recorder gave up: the others' may begin earlier.
    pub shortened: Vec<CpuId>,
    /// Settings that were changed while it was recorded.
    pub changes: Vec<SettingChange>,
    /// Events of which a copy has but those that a filter lets through, or none (`None`).
    pub copied: Vec<(EventName, Option<String>)>,
    /// CPUs of which events are missing in the file, at their end or anywhere. No option has this; marks of lost events say it.
    pub cut: Vec<CpuId>,
}

/// In place of the filter of events that a copy has none of.
const NONE_COPIED: &str = "0";
/// The most events that a sentence names.
const MOST_NAMES: usize = 6;

/// The tasks whose events were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoveredTasks {
    /// All, but for [`Coverage::excluded`] and [`Coverage::left_out`].
    All,
    /// These and, with `children`, those that they fork (`set_event_pid`, `event-fork`).
    Only {
        /// The first of them.
        pids: Vec<Pid>,
        /// True if their children's are recorded too.
        children: bool,
    },
}

impl Coverage {
    /// The option's text for the buffer `name`: lines `buffer NAME`, `tasks all` or `tasks PID ...`, `children`, `command`, `joined COUNT`,
    /// `not-of PID ...`, `cpus CPU ...`, `left-out PID ...`, `left-out-interrupts`, `shortened CPU ...`, `changed FILE<TAB>FROM<TAB>TO`
    /// for each change, `copied SYSTEM:EVENT FILTER` or `not-copied SYSTEM:EVENT`. The events stand in an option of their own
    /// ([`EnabledEvents`]).
    pub fn to_text(&self, name: &str) -> String {
        let list = |key: &str, numbers: &mut dyn Iterator<Item = String>| {
            format!("{key} {}\n", numbers.collect::<Vec<_>>().join(" "))
        };
        let mut text = format!("buffer {name}\n");
        match &self.tasks {
            None => {}
            Some(CoveredTasks::All) => text.push_str("tasks all\n"),
            Some(CoveredTasks::Only { pids, children }) => {
                text.push_str(&list("tasks", &mut pids.iter().map(ToString::to_string)));
                text.push_str(if *children { "children\n" } else { "" });
                text.push_str(if self.of_command { "command\n" } else { "" });
            }
        }
        if let Some(cpus) = &self.cpus {
            text.push_str(&list("cpus", &mut cpus.iter().map(ToString::to_string)));
        }
        if self.joined > 0 {
            text.push_str(&format!("joined {}\n", self.joined));
        }
        if !self.since.is_empty() {
            text.push_str(&list("since", &mut self.since.iter().map(|(pid, time)| format!("{pid}:{time}"))));
        }
        for (key, pids) in [("not-of", &self.excluded), ("left-out", &self.left_out)] {
            if !pids.is_empty() {
                text.push_str(&list(key, &mut pids.iter().map(ToString::to_string)));
            }
        }
        text.push_str(if self.left_out_interrupts { "left-out-interrupts\n" } else { "" });
        if !self.shortened.is_empty() {
            text.push_str(&list("shortened", &mut self.shortened.iter().map(ToString::to_string)));
        }
        self.changes.iter().for_each(|change| text.push_str(&format!("changed {}\n", change.to_text())));
        for (event, filter) in &self.copied {
            text.push_str(&match filter {
                Some(filter) => format!("copied {event} {}\n", filter.replace('\n', " ")),
                None => format!("not-copied {event}\n"),
            });
        }
        text
    }

    /// The buffer's name and its coverage; unknown lines are left out.
    fn parse(text: &str) -> (String, Self) {
        let (mut name, mut coverage) = (String::new(), Coverage::default());
        let pids = |value: &str| value.split(' ').filter_map(|pid| pid.parse().ok().map(Pid)).collect::<Vec<_>>();
        let cpus = |value: &str| value.split(' ').filter_map(|cpu| cpu.parse().ok().map(CpuId)).collect::<Vec<_>>();
        for line in text.lines() {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("buffer", value) => value.clone_into(&mut name),
                ("tasks", "all") => coverage.tasks = Some(CoveredTasks::All),
                ("tasks", value) => {
                    coverage.tasks = Some(CoveredTasks::Only { pids: pids(value), children: false });
                }
                ("children", _) => {
                    if let Some(CoveredTasks::Only { children, .. }) = &mut coverage.tasks {
                        *children = true;
                    }
                }
                ("command", _) => coverage.of_command = true,
                ("cpus", value) => coverage.cpus = Some(cpus(value)),
                ("shortened", value) => coverage.shortened = cpus(value),
                ("since", value) => {
                    let pairs = value.split(' ').filter_map(|pair| pair.split_once(':'));
                    let pair = |(pid, time): (&str, &str)| Some((Pid(pid.parse().ok()?), time.parse().ok()?));
                    coverage.since = pairs.filter_map(pair).collect();
                }
                ("joined", value) => coverage.joined = value.parse().unwrap_or(0),
                ("not-of", value) => coverage.excluded = pids(value),
                ("changed", value) => coverage.changes.extend(SettingChange::parse(value)),
                ("copied", value) => {
                    let event =
                        value.split_once(' ').and_then(|(event, filter)| Some((EventName::parse(event)?, filter)));
                    coverage.copied.extend(event.map(|(event, filter)| (event, Some(filter.to_owned()))));
                }
                ("not-copied", value) => coverage.copied.extend(EventName::parse(value).map(|event| (event, None))),
                ("left-out-interrupts", _) => coverage.left_out_interrupts = true,
                ("left-out", value) => coverage.left_out = pids(value),
                _ => {}
            }
        }
        (name, coverage)
    }

    /// The CPUs of a mask as `tracing_cpumask` has it (hexadecimal, a comma every 8 digits), if it leaves out one of `cpus`.
    pub fn cpus_of_mask(mask: &str, cpus: impl Iterator<Item = CpuId>) -> Option<Vec<CpuId>> {
        let digits: Vec<u32> = mask.chars().rev().filter_map(|digit| digit.to_digit(16)).collect();
        let has = |cpu: CpuId| digits.get((cpu.0 / 4) as usize).is_some_and(|digit| digit >> (cpu.0 % 4) & 1 == 1);
        let all: Vec<CpuId> = cpus.collect();
        let covered: Vec<CpuId> = all.iter().copied().filter(|cpu| has(*cpu)).collect();
        (covered.len() < all.len()).then_some(covered)
    }

    /// True if only some tasks were recorded.
    pub fn is_of_some_tasks(&self) -> bool {
        matches!(self.tasks, Some(CoveredTasks::Only { .. })) || !self.excluded.is_empty()
    }

    /// True if events of tasks that the recorded ones fork were recorded too.
    pub fn follows_forks(&self) -> bool {
        matches!(self.tasks, Some(CoveredTasks::Only { children: true, .. }))
    }

    /// True if the events of this task were recorded, as far as the file says.
    pub fn is_of_task(&self, pid: Pid) -> bool {
        let among = |pids: &[Pid]| pids.contains(&pid);
        !among(&self.excluded) && !matches!(&self.tasks, Some(CoveredTasks::Only { pids, .. }) if !among(pids))
    }

    /// The events that were recorded or copied with a filter, and it.
    pub fn filtered(&self) -> impl Iterator<Item = (&EventName, &str)> {
        let events = self.events.iter().flat_map(|enabled| &enabled.events);
        let recorded = events.filter_map(|(event, filter)| Some((event, filter.as_deref()?)));
        recorded.chain(self.copied.iter().map(|(event, filter)| (event, filter.as_deref().unwrap_or(NONE_COPIED))))
    }

    /// The filter of an event, if it has just one.
    pub fn filter_of(&self, event: &EventName) -> Option<&str> {
        let mut filters = self.filtered().filter(|(one, _)| *one == event).map(|(_, filter)| filter);
        let filter = filters.next()?;
        filters.next().is_none().then_some(filter)
    }

    /// The events that a copy lacks or has some of, each kind in a sentence.
    fn copied_in_words(&self, reads: impl Fn(&EventName) -> bool) -> Vec<String> {
        let mut kinds: BTreeMap<Option<&str>, Vec<String>> = BTreeMap::new();
        for (event, filter) in self.copied.iter().filter(|(event, _)| reads(event)) {
            kinds.entry(filter.as_deref()).or_default().push(event.to_string());
        }
        let sentence = |(filter, events): (Option<&str>, Vec<String>)| {
            let more = events.len().saturating_sub(MOST_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = events.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            match filter {
                Some(filter) => format!("this is a copy of some events ({filter}): {names}{more}"),
                None => format!("this is a copy without events: {names}{more}"),
            }
        };
        kinds.into_iter().map(sentence).collect()
    }

    /// The limits that matter to whoever reads events that `reads` names, each a sentence.
    pub fn limits(&self, reads: impl Fn(&EventName) -> bool) -> Vec<String> {
        let reads = &reads;
        let filtered = self.events.iter().flat_map(|enabled| &enabled.events).filter(|(event, _)| reads(event));
        let filter = |(event, filter): &(EventName, Option<String>)| {
            filter.as_ref().map(|filter| format!("{event} was recorded with the filter {filter}"))
        };
        let mut limits: Vec<String> = filtered.filter_map(filter).collect();
        limits.extend(self.copied_in_words(reads));
        let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(", ");
        if let Some(CoveredTasks::Only { pids, children }) = &self.tasks {
            let children = if *children { " and what they fork" } else { "" };
            let pids = list(&mut pids.iter().map(ToString::to_string));
            let joined = match self.joined {
                0 => String::new(),
                joined => format!(" and, but for their first events, {joined} that came meanwhile"),
            };
            limits.push(match pids.as_str() {
                "" => format!(
                    "only events of tasks that came meanwhile were recorded, but for their first ones{children}"
                ),
                _ => format!("only events of these tasks were recorded: {pids}{children}{joined}"),
            });
        }
        if !self.excluded.is_empty() {
            let pids = list(&mut self.excluded.iter().map(ToString::to_string));
            limits.push(format!("events of these tasks were not recorded: {pids}"));
        }
        if let Some(cpus) = &self.cpus {
            let cpus = list(&mut cpus.iter().map(ToString::to_string));
            limits.push(format!("only events on these CPUs were recorded: {cpus}"));
        }
        if self.leaves_out_interrupts(reads) {
            limits.push("what interrupts did while rtrace's own threads ran was not recorded".to_owned());
        }
        limits.extend(self.changed(reads));
        limits
    }

    /// The limits by which recordings of different runs differ: as [`Coverage::limits`], but that the tasks of the recorded
    /// command, which have other numbers in each run, are named as such.
    pub fn limits_of_runs(&self, reads: impl Fn(&EventName) -> bool) -> Vec<String> {
        if !self.of_command {
            return self.limits(reads);
        }
        let others = Coverage { tasks: None, ..self.clone() };
        let children = if self.follows_forks() { " and what it forks" } else { "" };
        let own = format!("only events of the command{children} were recorded");
        std::iter::once(own).chain(others.limits(reads)).collect()
    }

    /// True if events that `reads` names, and that interrupts may write, lack those of interrupts of the recorder's threads.
    pub fn leaves_out_interrupts(&self, reads: impl Fn(&EventName) -> bool) -> bool {
        let of_tasks = ["sched", "raw_syscalls", "syscalls", "exceptions"];
        let mut events = self.events.iter().flat_map(|enabled| &enabled.events).map(|(event, _)| event);
        self.left_out_interrupts && events.any(|event| !of_tasks.contains(&event.system.as_str()) && reads(event))
    }

    /// The settings that were changed meanwhile, but for those of events that `reads` does not name, each a sentence.
    pub fn changed(&self, reads: impl Fn(&EventName) -> bool) -> Vec<String> {
        let matters = |change: &&SettingChange| change.event().is_none_or(|event| reads(&event));
        self.changes.iter().filter(matters).map(ToString::to_string).collect()
    }
}

impl Trace {
    /// The changes of settings meanwhile, of each buffer that had some, in one sentence.
    pub(super) fn changes_in_words(&self) -> Vec<String> {
        let all = self.options(OptionId::RTRACE_COVERAGE).map(|option| Coverage::parse(&option.text()));
        // The one that is written at the end stands for those before.
        let of_buffers: BTreeMap<String, Coverage> = all.collect();
        of_buffers.values().filter_map(|coverage| SettingChange::all_in_words(&coverage.changes)).collect()
    }

    /// The part of what happened that `buffer` would hold.
    pub fn coverage(&self, buffer: &Buffer) -> Coverage {
        let all = self.options(OptionId::RTRACE_COVERAGE).map(|option| Coverage::parse(&option.text()));
        let stored = all.filter(|(name, _)| *name == buffer.name).map(|(_, coverage)| coverage).last();
        Coverage { events: self.enabled_events(buffer), ..stored.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let change = |file: &str| SettingChange { file: file.to_owned(), from: "1".to_owned(), to: "0 0".to_owned() };
        let changed = Coverage {
            left_out_interrupts: true,
            shortened: vec![CpuId(1), CpuId(12)],
            changes: vec![change("a"), change("b")],
            copied: vec![(EventName::new("a", "b"), Some("x == 1".to_owned())), (EventName::new("a", "c"), None)],
            ..Coverage::default()
        };
        let of_tasks = |children| CoveredTasks::Only { pids: vec![Pid(7), Pid(9)], children };
        for tasks in [None, Some(CoveredTasks::All), Some(of_tasks(false)), Some(of_tasks(true))] {
            for cpus in [None, Some(vec![]), Some(vec![CpuId(0), CpuId(3)])] {
                for excluded in [vec![], vec![Pid(1), Pid(4000)]] {
                    let (tasks, cpus) = (tasks.clone(), cpus.clone());
                    let coverage = Coverage {
                        of_command: matches!(tasks, Some(CoveredTasks::Only { .. })),
                        tasks,
                        cpus,
                        excluded,
                        joined: 3,
                        since: vec![(Pid(8), 70), (Pid(9), 80)],
                        left_out: vec![Pid(4)],
                        ..changed.clone()
                    };
                    assert_eq!(Coverage::parse(&coverage.to_text("one")), ("one".to_owned(), coverage));
                }
            }
        }
    }

    #[test]
    fn tasks_that_are_left_out_limit_it() {
        let of_all = Coverage { tasks: Some(CoveredTasks::All), ..Coverage::default() };
        assert!(!of_all.is_of_some_tasks() && of_all.is_of_task(Pid(7)) && of_all.limits(|_| true).is_empty());
        let without = Coverage { excluded: vec![Pid(7), Pid(9)], ..of_all };
        assert!(without.is_of_some_tasks() && without.is_of_task(Pid(8)) && !without.is_of_task(Pid(9)));
        assert_eq!(without.limits(|_| true), ["events of these tasks were not recorded: 7, 9"]);
        let some = Some(CoveredTasks::Only { pids: vec![Pid(7), Pid(8)], children: false });
        let some = Coverage { tasks: some, ..without };
        assert_eq!([6, 7, 8].map(|pid| some.is_of_task(Pid(pid))), [false, false, true]);
        assert_eq!(some.limits(|_| true).len(), 2);
    }

    #[test]
    fn runs_of_a_command_have_the_same_limits() {
        let of = |pid: i32, of_command: bool, children: bool| {
            let tasks = Some(CoveredTasks::Only { pids: vec![Pid(pid)], children });
            let coverage = Coverage { tasks, of_command, joined: pid as u64, ..Coverage::default() };
            coverage.limits_of_runs(|_| true)
        };
        assert_eq!(of(7, true, true), ["only events of the command and what it forks were recorded"]);
        assert_eq!(of(7, true, false), of(9, true, false));
        assert_ne!(of(7, true, false), of(7, true, true));
        assert_ne!(of(7, false, false), of(9, false, false));
    }

    #[test]
    fn what_a_copy_lacks_is_a_filter() {
        let (one, other) = (EventName::new("a", "b"), EventName::new("a", "c"));
        let copied = vec![(one.clone(), Some("x == 1".to_owned())), (other.clone(), None)];
        let events = Some(EnabledEvents { events: vec![(one.clone(), None), (other.clone(), None)] });
        let mut coverage = Coverage { copied, events, ..Coverage::default() };
        assert_eq!(coverage.filter_of(&one), Some("x == 1"));
        assert_eq!(coverage.filtered().count(), 2);
        let limits = coverage.limits(|_| true);
        assert_eq!(limits, ["this is a copy without events: a:c", "this is a copy of some events (x == 1): a:b"]);
        assert_eq!(coverage.limits(|event| *event == other).len(), 1);
        // Recorded with another filter.
        coverage.events = Some(EnabledEvents { events: vec![(one.clone(), Some("y == 2".to_owned()))] });
        assert_eq!(coverage.filter_of(&one), None);
    }

    #[test]
    fn masks_of_cpus() {
        let cpus = |mask: &str, count: u32| Coverage::cpus_of_mask(mask, (0..count).map(CpuId));
        assert_eq!(cpus("3", 2), None);
        assert_eq!(cpus("1", 2), Some(vec![CpuId(0)]));
        assert_eq!(cpus("2,00000001", 34), Some(vec![CpuId(0), CpuId(33)]));
        assert_eq!(cpus("ff,ffffffff", 40), None);
    }
}
