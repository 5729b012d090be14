//! States of tasks, and tasks of CPUs, as intervals of time, for questions about a part of the window.

use super::time_in::{TimeIn, Waker};
use crate::base::units::{CpuId, Pid};
use std::collections::HashSet;
use std::sync::Arc;

/// The intervals to keep: those that have a point of time in common with `from` to `to`. Times are in the clock's unit.
#[derive(Clone, Debug)]
pub struct SpanPlan {
    /// Begin, included.
    pub from: u64,
    /// End, included.
    pub to: u64,
    /// The tasks whose intervals are kept, and no CPU's; `None` for all tasks and CPUs.
    pub only: Option<Arc<HashSet<Pid>>>,
}

impl SpanPlan {
    fn keeps(&self, begin: u64, end: u64) -> bool {
        begin < end && begin <= self.to && end >= self.from
    }
}

/// Context of the code that woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeContext {
    /// In a task, on its own behalf.
    Task,
    /// In a soft interrupt.
    SoftIrq,
    /// In a hard interrupt, or an NMI.
    HardIrq,
}

/// A wakeup that ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Time of its first event.
    pub at: u64,
    /// The task that was running there, and its CPU.
    pub by: Waker,
    /// Context of the waking code: that task's own, or an interrupt's.
    pub context: WakeContext,
}

/// A state of a task from `begin` to `end`, in the clock's unit. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpan {
    /// The state.
    pub state: TimeIn,
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// The CPU that it runs on or waits for, as far as is known; of a sleep the one it ran on last. A wait that is given to
    /// another CPU is cut there; if it ends on another one without an event that says since when, it is `None`.
    pub cpu: Option<CpuId>,
    /// The part of a wait from `sched_waking` to `sched_wakeup`: the task is not in a run queue yet.
    pub waking: bool,
    /// The wakeup that ended a sleep.
    pub wake: Option<Wake>,
}

/// A CPU's occupation from `begin` to `end`, in the clock's unit. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSpan {
    /// Pid 0 is its idle task; `None` if that is not known.
    pub task: Option<Pid>,
    /// From the switch to it.
    pub begin: u64,
    /// To the switch from it.
    pub end: u64,
}

/// The intervals of one task.
#[derive(Clone, Debug)]
pub(super) struct TaskLog {
    plan: SpanPlan,
    /// Up to here the state that is on has been noted.
    noted: u64,
    /// The wakeup that ends the current state.
    wake: Option<Wake>,
    /// The second event of a wakeup has been seen.
    woken: bool,
    /// The last interval is the one that ended last.
    is_last: bool,
    pub(super) spans: Vec<TaskSpan>,
}

impl TaskLog {
    pub(super) fn new(plan: &SpanPlan, pid: Pid) -> Option<Box<Self>> {
        let is_wanted = plan.only.as_ref().is_none_or(|only| only.contains(&pid));
        let log =
            || TaskLog { plan: plan.clone(), noted: 0, wake: None, woken: false, is_last: false, spans: Vec::new() };
        is_wanted.then(|| Box::new(log()))
    }

    /// The state that is on ends with this wakeup.
    pub(super) fn wake(&mut self, wake: Wake) {
        (self.wake, self.woken) = (Some(wake), false);
    }

    /// Notes the state from `since` to `at`, at which it ends.
    pub(super) fn end(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>) {
        // States that an event contradicts, or a loss makes unknown, are taken back.
        let known = if state == TimeIn::Unknown { since } else { at };
        while self.spans.last().is_some_and(|last| last.begin >= known) {
            self.spans.pop();
        }
        if let Some(last) = self.spans.last_mut() {
            last.end = last.end.min(known);
        }
        self.noted = self.noted.min(known);
        let (wake, before) = (self.wake.take(), self.spans.len());
        self.note(state, since, at, cpu, false, wake);
        self.is_last = self.spans.len() > before;
    }

    /// It comes to this CPU: if it is another one than it waited for, that was not known.
    pub(super) fn arrive(&mut self, cpu: CpuId) {
        let is_last = std::mem::take(&mut self.is_last);
        if let Some(last) = self.spans.last_mut().filter(|_| is_last)
            && matches!(last.state, TimeIn::Wait | TimeIn::Preempted)
            && last.cpu != Some(cpu)
        {
            last.cpu = None;
        }
    }

    /// Notes the wait from `since` to `at`, where another CPU begins to be waited for.
    pub(super) fn cut(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>) {
        self.note(state, since, at, cpu, false, None);
    }

    /// Notes the wait from `since` to `at`, where the second event of its wakeup says which CPU it is for.
    pub(super) fn enqueue(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>) {
        if !self.woken {
            self.woken = true;
            self.note(state, since, at, cpu, true, None);
        }
    }

    fn note(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>, waking: bool, wake: Option<Wake>) {
        let begin = since.max(self.noted);
        if self.plan.keeps(begin, at) {
            self.spans.push(TaskSpan { state, begin, end: at, cpu, waking, wake });
        }
        self.noted = self.noted.max(at);
    }
}

/// The spans of one CPU.
#[derive(Clone, Debug)]
pub(super) struct CpuLog {
    plan: SpanPlan,
    pub(super) spans: Vec<CpuSpan>,
}

impl CpuLog {
    pub(super) fn new(plan: &SpanPlan) -> Option<Box<Self>> {
        plan.only.is_none().then(|| Box::new(CpuLog { plan: plan.clone(), spans: Vec::new() }))
    }

    pub(super) fn end(&mut self, task: Option<Pid>, begin: u64, end: u64) {
        if self.plan.keeps(begin, end) {
            self.spans.push(CpuSpan { task, begin, end });
        }
    }
}
