//! The answer about tasks and CPUs.

use super::flows::SchedFlows;
use super::quota_bounds::{ProvenThrottle, ThrottledTime};
use super::spans::{CpuSpan, TaskSpan, TimeIn};
use super::task::{LongestWait, TaskTimes};
use crate::answer::analysis::span_log::SpanLog;
use crate::answer::analysis::{Cells, Durations, Missing};
use crate::base::units::{CpuId, Pid};

/// Time of tasks and CPUs. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct SchedReport {
    /// The first and the last event of the scheduler: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Tasks, those that ran longest first. A pid that was given again is another task.
    pub tasks: Vec<TaskSched>,
    /// CPUs that have events, in order.
    pub cpus: Vec<CpuSched>,
    /// Waits of all tasks, from wakeup to CPU.
    pub waits: Durations,
    /// Waits of all tasks that were preempted.
    pub preempted: Durations,
    /// Time in which at least one CPU was idle although a task waited for one.
    pub idle_while_waited: u64,
    /// Events and intervals that fit nowhere.
    pub counts: SchedCounts,
    /// False if no event that begins a wait is recorded: then waits are unknown time.
    pub has_wakeups: bool,
    /// False if `sched_stat_iowait` is not recorded: then its times are all 0.
    pub has_io_wait: bool,
    /// Times for which quotas kept tasks off their CPUs, by the kernel's throttled time.
    pub proven: Vec<ProvenThrottle>,
    /// Wakeups by waker, and moves, if they were counted.
    pub flows: SchedFlows,
}

/// Events that fit to no state, and intervals that are not counted among the durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedCounts {
    /// Switches.
    pub switches: u64,
    /// Wakeups of tasks that were asleep.
    pub wakeups: u64,
    /// Wakeups of tasks that were awake: nothing waits for them.
    pub awake: u64,
    /// Tasks that came to a CPU from sleep without a wakeup: when they began to wait is unknown.
    pub missed_wakeups: u64,
    /// Switches that contradict what was known: an event is missing, or clocks of CPUs differ.
    pub contradictions: u64,
    /// Intervals that began before the window, end after it, or have losses within: their time counts, but they are none of
    /// the durations.
    pub censored: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// A task's time.
#[derive(Clone, Debug)]
pub struct TaskSched {
    /// Thread id of the task.
    pub pid: Pid,
    /// Number of the task in the order in which tasks were met. One that is told as several, by its cgroups, has the same in all.
    pub number: usize,
    /// Last name of the task.
    pub comm: Vec<u8>,
    /// True if all of its events were recorded, but for what filters and CPUs leave out; else its times are unknown.
    pub covered: bool,
    /// From when to when it is known: its fork or the window's begin, its last switch or the window's end.
    pub life: (u64, u64),
    times: [u64; 6],
    /// Time on a CPU by cell, if it was kept so.
    pub run_cells: Option<Cells>,
    /// Waits from wakeup to CPU.
    pub waits: Durations,
    /// The longest of them.
    pub longest_wait: Option<LongestWait>,
    /// Waits after it was preempted.
    pub preempted: Durations,
    /// Intervals that are none of these durations, as an event at one end is missing.
    pub missing: Missing,
    /// Waits, after a wakeup or preempted, that were on where events were lost.
    pub cut: u64,
    /// The state that it is in at the window's end, and for how long, if its begin was seen.
    pub goes_on: Option<(TimeIn, u64)>,
    /// Times on a CPU, from switch to switch.
    pub slices: Durations,
    /// Switches in which it gave its CPU away: asleep, blocked, ended.
    pub voluntary: u64,
    /// Switches in which its CPU was taken.
    pub involuntary: u64,
    /// Times that it came to another CPU than it ran on last.
    pub migrations: u64,
    /// Wakeups from sleep.
    pub wakeups: u64,
    /// Of the blocked time, what the kernel says was waiting for I/O (`sched_stat_iowait`).
    pub io_wait: u64,
    /// Events about it that contradict what was known.
    pub contradictions: u64,
    /// Of its time in [`TimeIn::Wait`] and [`TimeIn::Preempted`], that for which a quota kept it from CPUs, if it can be in a cgroup
    /// that has one.
    pub throttled: ThrottledTime,
    /// Number of stays on a CPU that have time in this account.
    pub stays: u64,
    /// Its states as intervals in order, as far as a [`SpanPlan`](super::SpanPlan) keeps them.
    pub spans: SpanLog<TaskSpan>,
}

/// A CPU's time.
#[derive(Clone, Debug)]
pub struct CpuSched {
    /// Number of the CPU.
    pub cpu: CpuId,
    /// With a task other than its idle task.
    pub busy: u64,
    /// The same by cell, if it was kept so.
    pub busy_cells: Option<Cells>,
    /// With its idle task.
    pub idle: u64,
    /// Not known.
    pub unknown: u64,
    /// Of the idle time, that in which a task waited for any CPU.
    pub idle_while_waited: u64,
    /// Switches on it.
    pub switches: u64,
    /// Wakeups from sleep whose task was to run on it.
    pub wakeups: u64,
    /// Time during which 0, 1, 2 … tasks waited for it, the running one not counted.
    pub queue: Vec<u64>,
    /// Its tasks, as intervals in order, as far as a [`SpanPlan`](super::SpanPlan) keeps them.
    pub spans: SpanLog<CpuSpan>,
}

impl TaskSched {
    /// Time spent in a state.
    pub fn time(&self, state: TimeIn) -> u64 {
        self.times[state as usize]
    }

    /// `are_whole`: no timer of a quota is missing.
    pub(super) fn of(number: usize, task: TaskTimes, are_whole: bool) -> Self {
        let awake = task.time(TimeIn::Wait).saturating_add(task.time(TimeIn::Preempted));
        let free = if are_whole { task.free } else { task.spared };
        TaskSched {
            throttled: ThrottledTime { most: awake.saturating_sub(free), ..task.throttled },
            pid: task.pid,
            number,
            covered: task.covered,
            life: (task.begin, task.end),
            times: TimeIn::ALL.map(|state| task.time(state)),
            comm: task.comm,
            run_cells: task.run_cells,
            waits: task.waits,
            longest_wait: task.longest_wait,
            preempted: task.preempted,
            missing: task.missing,
            cut: task.cut,
            goes_on: task.goes_on,
            slices: task.slices,
            voluntary: task.voluntary,
            involuntary: task.involuntary,
            migrations: task.migrations,
            wakeups: task.wakeups,
            io_wait: task.io_wait,
            contradictions: task.contradictions,
            stays: task.stays,
            spans: task.log.map(|log| log.spans.shrink()).unwrap_or_default(),
        }
    }
}

impl CpuSched {
    /// Number of waiting tasks, averaged over time.
    pub fn mean_queue(&self) -> f64 {
        let time: u64 = self.queue.iter().sum();
        let sum: f64 = self.queue.iter().enumerate().map(|(length, time)| length as f64 * *time as f64).sum();
        if time == 0 { 0.0 } else { sum / time as f64 }
    }

    /// The most tasks that waited for it at a time, however short.
    pub fn longest_queue(&self) -> usize {
        self.queue.iter().rposition(|time| *time > 0).unwrap_or(0)
    }
}
