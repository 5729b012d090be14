//! The scheduler's map: stays of tasks on all CPUs, in the order of their begins.

use super::report::SchedReport;
use super::spans::CpuSpan;
use crate::answer::analysis::span_log::SpanIter;
use crate::base::units::{CpuId, Pid};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;

/// A stay of a task on a CPU. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedStay {
    /// Begin: the switch to it, or the first event that says what runs.
    pub at: u64,
    /// Length: to the switch from it, or as far as it is known.
    pub time: u64,
    /// CPU that the task ran on.
    pub cpu: CpuId,
    /// The task; 0 is the CPU's idle task, `None` that no event tells.
    pub task: Option<Pid>,
}

/// Stays of all CPUs in the order of time; those that begin together in the order of their CPUs.
pub struct MappedStays<'r> {
    cpus: Vec<(CpuId, Peekable<SpanIter<'r, CpuSpan>>)>,
    /// Begin, and index into `cpus`, of each CPU's next one.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

impl SchedReport {
    /// Stays of tasks on each CPU, if they were kept ([`Sched::with_stays`](super::Sched::with_stays)).
    pub fn stays(&self) -> MappedStays<'_> {
        let mut cpus: Vec<_> = self.cpus.iter().map(|of| (of.cpu, of.spans.iter().peekable())).collect();
        let first = cpus.iter_mut().enumerate().filter_map(|(place, (_, spans))| Some((spans.peek()?.begin, place)));
        let next = first.map(Reverse).collect();
        MappedStays { cpus, next }
    }
}

impl Iterator for MappedStays<'_> {
    type Item = MappedStay;

    fn next(&mut self) -> Option<MappedStay> {
        let Reverse((at, place)) = self.next.pop()?;
        let (cpu, spans) = self.cpus.get_mut(place)?;
        let CpuSpan { task, mut end, .. } = spans.next()?;
        // Two tasks of which nothing is known are one stay.
        while let Some(more) = spans.next_if(|more| task.is_none() && more.task.is_none()) {
            end = more.end;
        }
        if let Some(following) = spans.peek() {
            self.next.push(Reverse((following.begin, place)));
        }
        Some(MappedStay { at, time: end.saturating_sub(at), cpu: *cpu, task })
    }
}
