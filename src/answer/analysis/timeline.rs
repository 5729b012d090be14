//! What ran on each CPU, in few enough slices for a picture, and the longest waits for a CPU after a wakeup.

use super::InOrder;
use super::slices::{Slices, Thread, TimeSlice};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// A stay on a CPU, or several short ones beside each other. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineSlice {
    /// Begin of the first.
    pub at: u64,
    /// Time from there to the end of the last.
    pub time: u64,
    /// The part of that in which something ran.
    pub busy: u64,
    /// Index of the task in [`TimelineFinding::threads`]; `None` of several.
    pub task: Option<usize>,
}

/// The slices of one CPU, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineLane {
    /// Stays of tasks; the idle task leaves gaps.
    pub tasks: Vec<TimelineSlice>,
    /// Handlers of interrupts.
    pub interrupts: Vec<TimelineSlice>,
    /// Times of the first events after lost ones.
    pub losses: Vec<u64>,
}

/// A wait for a CPU, from the wakeup to the stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineWait {
    /// Index of the task in [`TimelineFinding::threads`].
    pub task: usize,
    /// Begin, in the clock's unit.
    pub at: u64,
    /// Length, in the clock's unit.
    pub time: u64,
}

/// The answer of [`Timeline`].
#[derive(Clone, Debug)]
pub struct TimelineFinding {
    /// By CPU.
    pub lanes: BTreeMap<CpuId, TimelineLane>,
    /// The tasks that slices and waits name.
    pub threads: Vec<Thread>,
    /// The longest waits that ended, the longest first; one of a task at most.
    pub waits: Vec<TimelineWait>,
    /// Slices shorter than this may be joined.
    pub least: u64,
}

/// The [`Analysis`](super::Analysis) of one buffer.
#[derive(Clone, Debug)]
pub struct Timeline {
    slices: Slices,
    /// Number of the query's source.
    source: usize,
    lanes: BTreeMap<CpuId, TimelineLane>,
    /// By task, its longest wait.
    waits: BTreeMap<usize, TimelineWait>,
    /// Number of slices that are kept at most.
    most: usize,
    kept: usize,
    least: u64,
    last: u64,
}

impl Timeline {
    /// Of the buffer that is `source` of the query, of a file with these formats; in `most` slices.
    pub fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat> + Clone,
        abi: Abi,
        source: usize,
        most: usize,
    ) -> Self {
        Timeline {
            slices: Slices::new(formats, abi, 0),
            source,
            lanes: BTreeMap::new(),
            waits: BTreeMap::new(),
            most,
            kept: 0,
            least: 0,
            last: 0,
        }
    }

    fn take(&mut self) {
        let found: Vec<TimeSlice> = self.slices.take().collect();
        for slice in found {
            match slice {
                TimeSlice::Sched { ts, dur, cpu, utid, .. } => {
                    let task = usize::try_from(utid).unwrap_or_default();
                    if self.slices.threads().get(task).is_some_and(|thread| thread.tid != Pid(0)) {
                        self.add(cpu, |lane| &mut lane.tasks, TimelineSlice::of(ts, dur, Some(task)));
                    }
                }
                TimeSlice::Irq { ts, dur, cpu, .. } | TimeSlice::SoftIrq { ts, dur, cpu, .. } => {
                    self.add(cpu, |lane| &mut lane.interrupts, TimelineSlice::of(ts, dur, None));
                }
                TimeSlice::State { ts, dur, open: false, utid, state: 0, woken: true, .. } => {
                    let wait = TimelineWait { task: usize::try_from(utid).unwrap_or_default(), at: ts, time: dur };
                    let longest = self.waits.entry(wait.task).or_insert(wait);
                    if longest.time < wait.time {
                        *longest = wait;
                    }
                }
                TimeSlice::State { .. } | TimeSlice::Syscall { .. } => {}
            }
        }
    }

    fn add(&mut self, cpu: CpuId, kind: fn(&mut TimelineLane) -> &mut Vec<TimelineSlice>, slice: TimelineSlice) {
        let slices = kind(self.lanes.entry(cpu).or_default());
        let before = slices.len();
        put(slices, slice, self.least);
        self.kept += slices.len() - before;
        while self.kept > self.most {
            self.coarsen();
        }
    }

    /// Joins slices that are shorter than twice as much as before.
    fn coarsen(&mut self) {
        self.least = self.least.saturating_mul(2).max(1);
        self.kept = 0;
        for lane in self.lanes.values_mut() {
            for slices in [&mut lane.tasks, &mut lane.interrupts] {
                let mut joined = Vec::with_capacity(slices.len() / 2);
                slices.drain(..).for_each(|slice| put(&mut joined, slice, self.least));
                *slices = joined;
                self.kept += slices.len();
            }
        }
        if self.least == u64::MAX {
            self.most = usize::MAX; // nothing more can be joined
        }
    }
}

/// Appends a slice; one shorter than `least` is joined with a short one less than `least` before it.
fn put(slices: &mut Vec<TimelineSlice>, slice: TimelineSlice, least: u64) {
    let short = |one: &TimelineSlice| one.task.is_none() || one.time < least;
    match slices.last_mut() {
        Some(last) if slice.time < least && short(last) && slice.at.saturating_sub(last.end()) < least => {
            last.time = slice.end().saturating_sub(last.at);
            last.busy = last.busy.saturating_add(slice.busy);
            last.task = last.task.filter(|task| Some(*task) == slice.task);
        }
        _ => slices.push(slice),
    }
}

impl TimelineSlice {
    fn of(at: u64, time: u64, task: Option<usize>) -> Self {
        TimelineSlice { at, time, busy: time, task }
    }

    fn end(&self) -> u64 {
        self.at.saturating_add(self.time)
    }
}

impl InOrder for Timeline {
    type Finding = TimelineFinding;

    fn reads(&self, id: u16) -> bool {
        InOrder::reads(&self.slices, id)
    }

    fn wants(&self, record: &Record<'_>) -> bool {
        record.buffer == self.source && self.slices.wants(record)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.buffer != self.source {
            return;
        }
        self.last = record.timestamp.0;
        if record.lost != Lost::None {
            self.lanes.entry(record.cpu).or_default().losses.push(record.timestamp.0);
        }
        InOrder::record(&mut self.slices, record);
        self.take();
    }

    fn finish(mut self) -> TimelineFinding {
        self.slices.close(self.last);
        self.take();
        let mut waits: Vec<TimelineWait> = self.waits.into_values().collect();
        waits.sort_by_key(|wait| (std::cmp::Reverse(wait.time), wait.at));
        TimelineFinding { lanes: self.lanes, threads: self.slices.threads().to_vec(), waits, least: self.least }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_slices_beside_each_other_are_joined() {
        let mut slices = Vec::new();
        let all = [(0, 2, 1), (3, 2, 2), (6, 50, 3), (57, 1, 1), (90, 1, 1), (91, 2, 1)];
        for (at, time, task) in all {
            put(&mut slices, TimelineSlice::of(at, time, Some(task)), 10);
        }
        let shown: Vec<_> = slices.iter().map(|slice| (slice.at, slice.time, slice.busy, slice.task)).collect();
        assert_eq!(
            shown,
            [(0, 5, 4, None), (6, 50, 50, Some(3)), (57, 1, 1, Some(1)), (90, 3, 3, Some(1))],
            "long ones and the gaps that can be seen stay"
        );
    }
}
