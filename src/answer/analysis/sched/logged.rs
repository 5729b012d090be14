//! States of some tasks as intervals, kept from when they are asked for until they are forgotten.

use super::follow::Sched;
use super::spans::{SpanPlan, TaskLog, TaskSpan};
use crate::answer::analysis::span_log::SpanLog;
use crate::base::units::Pid;

/// The time up to which no later event changes a task's states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer::analysis) enum SettledUntil {
    /// The begin of the state that is on.
    Now(u64),
    /// The task has ended then.
    Gone(u64),
}

impl Sched {
    /// Keeps the states of the living task of `pid` from `from` on; gives its place.
    pub(in crate::answer::analysis) fn log(&mut self, pid: Pid, from: u64) -> usize {
        let place = self.task(pid, b"");
        let task = &mut self.tasks[place];
        if task.log.is_none() && task.state.is_some() {
            task.log = TaskLog::new(&SpanPlan { from, to: u64::MAX, only: None }, pid);
        }
        place
    }

    /// The states of the task in a place that are kept, and the time up to which they are settled.
    pub(in crate::answer::analysis) fn logged(&self, place: usize) -> (Option<&SpanLog<TaskSpan>>, SettledUntil) {
        let Some(task) = self.tasks.get(place) else { return (None, SettledUntil::Gone(0)) };
        let until = if task.state.is_none() { SettledUntil::Gone(task.end) } else { SettledUntil::Now(task.since) };
        (task.log.as_ref().map(|log| &log.spans), until)
    }

    /// Forgets most of the states of that task up to `until`; all of them and those to come without.
    pub(in crate::answer::analysis) fn forget(&mut self, place: usize, until: Option<u64>) {
        let Some(task) = self.tasks.get_mut(place) else { return };
        match (until, &mut task.log) {
            (Some(until), Some(log)) => log.spans.forget(until),
            (_, log) => *log = None,
        }
    }

    /// True if all events of the task are there, but for filters and CPUs.
    pub(in crate::answer::analysis) fn covers(&self, pid: Pid) -> bool {
        self.coverage.has(pid)
    }
}
