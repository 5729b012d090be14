//! Wakeups by waker and task; moves of tasks from CPU to CPU.

use super::spans::{TimeIn, Wake, WakeContext};
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::{Durations, KnownPart, Needs, TaskSet};
use crate::base::units::{CpuId, Pid};
use std::cmp::Reverse;

/// The code that woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WakeSource {
    /// A task, on its own behalf; pid 0 is an idle task.
    Task(Pid),
    /// A soft interrupt, whichever task it interrupted.
    SoftIrq,
    /// A hard interrupt or an NMI, likewise.
    HardIrq,
}

impl WakeSource {
    fn of(wake: &Wake) -> Self {
        match wake.context {
            WakeContext::Task => WakeSource::Task(wake.by.pid),
            WakeContext::SoftIrq => WakeSource::SoftIrq,
            WakeContext::HardIrq => WakeSource::HardIrq,
        }
    }
}

/// The wakeups of one task by one waker. Times are in the clock's unit.
#[derive(Clone, Debug)]
pub struct WakeFlow {
    /// The waker.
    pub waker: WakeSource,
    /// The task that was woken.
    pub task: Pid,
    /// True if all of the woken task's events were recorded, but for what filters and CPUs leave out.
    pub covered: bool,
    /// Wakeups from sleep.
    pub wakeups: u64,
    /// From these wakeups to the task's CPU, as far as both were seen.
    pub delays: Durations,
    /// Number of those that ended on another CPU than the waker's.
    pub elsewhere: u64,
    /// When the longest of them ended; of several the first.
    pub longest_at: Option<u64>,
}

/// Moves from one CPU to another, by what the task did before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCount {
    /// Between a wakeup and the switch that ended its wait.
    pub woken: u64,
    /// While it was preempted: it could have run on.
    pub preempted: u64,
    /// Between a sleep and a switch without a wakeup that was recorded.
    pub asleep: u64,
}

impl std::ops::AddAssign for MoveCount {
    fn add_assign(&mut self, other: MoveCount) {
        self.woken = self.woken.saturating_add(other.woken);
        self.preempted = self.preempted.saturating_add(other.preempted);
        self.asleep = self.asleep.saturating_add(other.asleep);
    }
}

impl MoveCount {
    /// All.
    pub fn all(self) -> u64 {
        self.woken.saturating_add(self.preempted).saturating_add(self.asleep)
    }
}

/// Moves of one task.
#[derive(Clone, Copy, Debug)]
pub struct TaskMoves {
    /// The task.
    pub task: Pid,
    /// True if all of its events were recorded, but for what filters and CPUs leave out.
    pub covered: bool,
    /// Moves by direction and by distance.
    pub moves: MoveCount,
    /// Number of times that it came to a CPU and the one before is known.
    pub arrivals: u64,
}

/// Wakeups and moves, as [`Sched::with_flows`](super::Sched::with_flows) keeps them.
#[derive(Clone, Debug, Default)]
pub struct SchedFlows {
    /// Wakeups by waker and task, the most first.
    pub wakes: Vec<WakeFlow>,
    /// Moves by the CPUs that the tasks came from and went to, the most first.
    pub moves: Vec<((CpuId, CpuId), MoveCount)>,
    /// Moves by task, the most first; also of tasks that stayed where they were.
    pub tasks: Vec<TaskMoves>,
}

/// Wakeups by the names of `rtrace analyze wakers --json`. Those of a task are told by the events about it.
pub const WAKER_NEEDS: &[Needs] = &[
    // After a loss a task of which nothing is known may be woken although it is awake, and have come to its CPU before.
    Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["wakers.wakeups", "wakers.elsewhere"], &["sched:sched_switch", "sched:sched_wak*"])
    },
    Needs::between(&["wakers.delays", "wakers.longest"], &["sched:sched_switch", "sched:sched_wak*"]),
];

/// Moves by the names of `rtrace analyze migrations --json`. A move that a loss hides is none, and never another one.
pub const MOVE_NEEDS: &[Needs] = &[
    Needs {
        filtered: KnownPart::Unknown,
        cpus: KnownPart::Unknown,
        ..Needs::seen(
            &[
                "moves.moves",
                "moves.woken",
                "moves.preempted",
                "moves.asleep",
                "nodes.moves",
                "nodes.woken",
                "nodes.preempted",
                "nodes.asleep",
                "tasks.moves",
                "tasks.woken",
                "tasks.preempted",
                "tasks.asleep",
                "tasks.arrivals",
            ],
            &["sched:sched_switch"],
        )
    },
    // Without wakeups it is not known what a task that leaves its CPU does until it runs again.
    Needs {
        tasks: KnownPart::Whole,
        cpus: KnownPart::Whole,
        lost: KnownPart::Whole,
        ..Needs::seen(&["moves.moves", "nodes.moves", "tasks.moves", "tasks.arrivals"], &["sched:sched_wak*"])
    },
    // A wakeup that a filter left out makes a move one from sleep.
    Needs {
        tasks: KnownPart::Whole,
        cpus: KnownPart::Whole,
        lost: KnownPart::Whole,
        ..Needs::between(
            &["moves.woken", "moves.asleep", "nodes.woken", "nodes.asleep", "tasks.woken", "tasks.asleep"],
            &["sched:sched_wak*"],
        )
    },
];

/// Wakeups and moves while they are counted.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowCounts {
    /// Tasks that move, and wake or are woken.
    of: TaskSet,
    wakes: Map<(WakeSource, Pid), WakeCount>,
    moves: Map<(CpuId, CpuId), MoveCount>,
    tasks: Map<Pid, (MoveCount, u64)>,
}

#[derive(Clone, Debug, Default)]
struct WakeCount {
    wakeups: u64,
    delays: Durations,
    elsewhere: u64,
    longest_at: Option<u64>,
}

impl FlowCounts {
    pub(super) fn of(of: TaskSet) -> Self {
        FlowCounts { of, ..FlowCounts::default() }
    }

    fn has(&self, wake: &Wake, task: Pid) -> bool {
        let is_asked = |task| self.of.contains(task, wake.at);
        is_asked(task) || wake.context == WakeContext::Task && is_asked(wake.by.pid)
    }

    /// `task` is woken.
    pub(super) fn wake(&mut self, wake: &Wake, task: Pid) {
        if !self.has(wake, task) {
            return;
        }
        let count = self.wakes.entry((WakeSource::of(wake), task)).or_default();
        count.wakeups = count.wakeups.saturating_add(1);
    }

    /// The wait of `task` after `wake` ends on `cpu` at `at`.
    pub(super) fn run(&mut self, wake: &Wake, task: Pid, cpu: CpuId, (at, delay): (u64, u64)) {
        if !self.has(wake, task) {
            return;
        }
        let count = self.wakes.entry((WakeSource::of(wake), task)).or_default();
        if count.longest_at.is_none() || count.delays.greatest() < delay {
            count.longest_at = Some(at);
        }
        count.delays.add(delay);
        count.elsewhere = count.elsewhere.saturating_add(u64::from(wake.by.cpu != cpu));
    }

    /// `task` comes to the CPU `to` at `at`, after one of the other states; it ran on `from` last.
    pub(super) fn arrive(&mut self, task: Pid, (from, to): (CpuId, CpuId), after: TimeIn, at: u64) {
        if !self.of.contains(task, at) {
            return;
        }
        let one = |moves: &mut MoveCount| {
            let count = match after {
                TimeIn::Wait => &mut moves.woken,
                TimeIn::Preempted => &mut moves.preempted,
                _ => &mut moves.asleep,
            };
            *count = count.saturating_add(1);
        };
        let (moves, arrivals) = self.tasks.entry(task).or_default();
        *arrivals = arrivals.saturating_add(1);
        if from != to {
            one(moves);
            one(self.moves.entry((from, to)).or_default());
        }
    }

    /// The answer; `covered` says of which tasks all events were recorded.
    pub(super) fn flows(self, covered: impl Fn(Pid) -> bool) -> SchedFlows {
        let wake = |((waker, task), count): ((WakeSource, Pid), WakeCount)| {
            let WakeCount { wakeups, delays, elsewhere, longest_at } = count;
            WakeFlow { waker, task, covered: covered(task), wakeups, delays, elsewhere, longest_at }
        };
        let moves = |(task, (moves, arrivals))| TaskMoves { task, covered: covered(task), moves, arrivals };
        SchedFlows {
            wakes: sorted(self.wakes.into_iter().map(wake), |one| (Reverse(one.wakeups), one.waker, one.task)),
            moves: sorted(self.moves, |(cpus, moves)| (Reverse(moves.all()), *cpus)),
            tasks: sorted(self.tasks.into_iter().map(moves), |one| (Reverse(one.moves.all()), one.task)),
        }
    }
}

fn sorted<T, K: Ord>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    all.sort_unstable_by_key(key);
    all
}
