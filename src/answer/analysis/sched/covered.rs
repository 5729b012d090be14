//! The states that can be told where a recording holds a part of the scheduler's events.
//! The events that the numbers of a [`SchedReport`](super::SchedReport) need.

use super::spans::TimeIn;
use crate::answer::analysis::{KnownPart, Needs};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Coverage, CoveredTasks};
use std::collections::HashSet;

/// The states that a task's events tell, a bit for each [`TimeIn`]. In all others it is in an unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownStates(u8);

impl KnownStates {
    pub(super) const ALL: Self = KnownStates(u8::MAX);
    const NONE: Self = KnownStates(1 << TimeIn::Unknown as u8);

    fn of(states: &[TimeIn]) -> Self {
        states.iter().fold(Self::NONE, |all, state| KnownStates(all.0 | 1 << *state as u8))
    }

    pub(super) fn has(self, state: TimeIn) -> bool {
        self.0 >> state as u8 & 1 == 1
    }

    /// The state, as far as it can be told.
    pub(super) fn told(self, state: TimeIn) -> TimeIn {
        if self.has(state) { state } else { TimeIn::Unknown }
    }
}

/// The part of the scheduler's events that a recording holds.
#[derive(Clone, Debug)]
pub(super) struct SchedCoverage {
    /// The states of tasks whose events are all there.
    states: KnownStates,
    /// True if switches that others made are missing.
    lacks_switches: bool,
    /// The only tasks; all without.
    only: Option<HashSet<Pid>>,
    children: bool,
    /// Tasks that are among them from a time on: the last one first.
    coming: Vec<(u64, Pid)>,
    left_out: HashSet<Pid>,
    /// CPUs of which events are missing at their end.
    cut: Vec<CpuId>,
    /// Of those, the ones of which events may be missing anywhere.
    doubtful: Vec<CpuId>,
}

impl Default for SchedCoverage {
    fn default() -> Self {
        let none = HashSet::new();
        SchedCoverage {
            states: KnownStates::ALL,
            lacks_switches: false,
            only: None,
            children: false,
            coming: Vec::new(),
            left_out: none,
            cut: Vec::new(),
            doubtful: Vec::new(),
        }
    }
}

impl SchedCoverage {
    pub(super) fn of(coverage: &Coverage) -> Self {
        let filtered = |starts: &str| {
            let mut filtered = coverage.filtered();
            filtered.any(|(event, _)| event.system == "sched" && event.name.starts_with(starts))
        };
        let (only, children) = match &coverage.tasks {
            Some(CoveredTasks::Only { pids, children }) => (Some(pids.iter().copied().collect()), *children),
            _ => (None, false),
        };
        let lacks_switches = filtered("sched_switch");
        let states = match () {
            () if lacks_switches => KnownStates::NONE,
            // A task that leaves its CPU may be woken for another one, run and sleep there.
            () if coverage.cpus.is_some() => KnownStates::of(&[TimeIn::Run]),
            () if filtered("sched_wak") => KnownStates::of(&[TimeIn::Run, TimeIn::Preempted]),
            () => KnownStates::ALL,
        };
        let mut coming: Vec<(u64, Pid)> = coverage.since.iter().map(|(task, since)| (*since, *task)).collect();
        coming.sort_unstable_by(|a, b| b.cmp(a));
        let left_out = coverage.left_out.iter().chain(&coverage.excluded).copied().collect();
        let is_covered = |cpu: &CpuId| coverage.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu));
        let doubtful = coverage.cut.iter().copied().filter(|cpu| !is_covered(cpu)).collect();
        SchedCoverage { states, lacks_switches, only, children, coming, left_out, cut: coverage.cut.clone(), doubtful }
    }

    /// The CPUs of which the last events are missing.
    pub(super) fn cut(&self) -> Vec<CpuId> {
        self.cut.clone()
    }

    /// True if what runs on the CPU is known from one of its events to the next.
    pub(super) fn tells_of(&self, cpu: CpuId) -> bool {
        !self.doubtful.contains(&cpu)
    }

    /// True if all events of the task are there, but for filters and CPUs.
    pub(super) fn has(&self, task: Pid) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&task)) && !self.left_out.contains(&task)
    }

    pub(super) fn states(&self, task: Pid) -> KnownStates {
        if self.has(task) { self.states } else { KnownStates::NONE }
    }

    /// The task that a CPU was given to, if the switch from it to the next one is there.
    pub(super) fn on_cpu(&self, task: Pid) -> Option<Pid> {
        let ends = !self.lacks_switches && self.only.as_ref().is_none_or(|only| only.contains(&task));
        ends.then_some(task)
    }

    /// The next task that is recorded from a time on which is not after `at`, and that time.
    #[inline]
    pub(super) fn come(&mut self, at: u64) -> Option<(u64, Pid)> {
        let (since, task) = self.coming.pop_if(|(since, _)| *since <= at)?;
        self.only.as_mut()?.insert(task).then_some((since, task))
    }

    /// `child` is recorded if `parent` is and its children are.
    pub(super) fn fork(&mut self, parent: Pid, child: Pid) {
        if self.children && self.left_out.contains(&parent) {
            self.left_out.insert(child);
        }
        if let Some(only) = self.only.as_mut().filter(|only| self.children && only.contains(&parent)) {
            only.insert(child);
        }
    }
}

const SWITCH: &str = "sched:sched_switch";
const WAKE: &str = "sched:sched_wak*";
const FORK: &str = "sched:sched_process_fork";

/// By the names of `rtrace analyze sched --json`.
pub const SCHED_NEEDS: &[Needs] = &[
    // A CPU's states are told by its own switches: those of all tasks.
    Needs { cpus: KnownPart::AtLeast, ..Needs::on_cpu(&["cpus.busy", "cpus.idle", "cpus.unknown"], &[SWITCH]) },
    Needs::seen(&["counts.switches", "cpus.switches", "tasks.voluntary", "tasks.involuntary"], &[SWITCH]),
    Needs {
        filtered: KnownPart::Unknown,
        ..Needs::seen(&["tasks.run", "tasks.slices", "tasks.migrations"], &[SWITCH])
    },
    // The first event of a CPU, of whichever kind, says what is running.
    Needs {
        tasks: KnownPart::Whole,
        cpus: KnownPart::Whole,
        lost: KnownPart::Whole,
        ..Needs::seen(&["cpus.busy", "cpus.idle", "cpus.unknown", "tasks.run", "tasks.slices"], &["sched:sched_*"])
    },
    // A task that waits or sleeps may do so on any CPU, or have run there.
    Needs { tasks: KnownPart::AtLeast, ..Needs::between(&["waits"], &[SWITCH, WAKE]) },
    Needs { tasks: KnownPart::AtLeast, ..Needs::between(&["preempted"], &[SWITCH]) },
    Needs::between(&["tasks.preempted", "tasks.preemptions"], &[SWITCH]),
    // It may have been forked by a task that was not recorded, to sleep until it was woken.
    Needs {
        of_others: true,
        joined: false,
        ..Needs::between(&["tasks.begin", "tasks.unknown"], &[SWITCH, WAKE, FORK])
    },
    Needs {
        of_others: true,
        tasks: KnownPart::AtLeast,
        lost: KnownPart::Unknown,
        ..Needs::between(&["tasks.sleep"], &[SWITCH, WAKE, FORK])
    },
    Needs { lost: KnownPart::Unknown, ..Needs::between(&["tasks.blocked"], &[SWITCH, WAKE, FORK]) },
    Needs::between(&["tasks.end", "tasks.wait", "tasks.waits", "tasks.longest_wait"], &[SWITCH, WAKE]),
    // Of a task of which nothing is known a wakeup may be one that it did not need.
    Needs { lost: KnownPart::Unknown, ..Needs::between(&["tasks.wakeups"], &[SWITCH, WAKE]) },
    Needs {
        of_others: true,
        lost: KnownPart::Unknown,
        ..Needs::between(&["counts.wakeups", "cpus.wakeups"], &[SWITCH, WAKE])
    },
    Needs {
        of_others: true,
        lost: KnownPart::Unknown,
        ..Needs::between(
            &["idle_while_waited", "cpus.idle_while_waited", "cpus.queue"],
            &[SWITCH, WAKE, "sched:sched_migrate_task"],
        )
    },
    Needs::between(
        &["counts.awake", "counts.missed_wakeups", "counts.contradictions", "counts.censored"],
        &["sched:sched_*"],
    ),
    Needs { lost: KnownPart::Unknown, ..Needs::between(&["tasks.throttled"], &[SWITCH, WAKE]) },
    Needs::seen(&["tasks.io_wait"], &["sched:sched_stat_iowait"]),
];

/// Stays on CPUs by the names of `rtrace analyze map --json`. What a loss or a filter hides is a stay of an unknown task.
pub const MAP_NEEDS: &[Needs] = &[
    Needs { filtered: KnownPart::Unknown, ..Needs::seen(&["tasks.run", "tasks.stays"], &[SWITCH]) },
    // The first event of a CPU, of whichever kind, says what is running.
    Needs {
        tasks: KnownPart::Whole,
        cpus: KnownPart::Whole,
        lost: KnownPart::Whole,
        ..Needs::seen(&["tasks.run", "tasks.stays"], &["sched:sched_*"])
    },
];
