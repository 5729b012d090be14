//! Stays of tasks on CPUs, each as it ends: the scheduler's history, in memory for the living tasks only.
//! The scheduler's map: stays of tasks on all CPUs, in the order of their begins.

use super::covered::SchedCoverage;
use super::report::SchedReport;
use super::spans::{CpuSpan, TimeIn};
use super::steps::{Left, SchedStep, Steps};
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::span_log::SpanIter;
use crate::answer::analysis::spells::LossSpells;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::iter::Peekable;

/// A stay of a task on a CPU, which ends at `at`. Times are in the clock's unit, `None` if no event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuStay<'r> {
    /// The switch from it.
    pub at: u64,
    /// The CPU.
    pub cpu: CpuId,
    /// The task; 0 is the CPU's idle task.
    pub pid: Pid,
    /// Its name in the switch from it.
    pub comm: &'r [u8],
    /// Off-CPU time since the task was last switched out.
    pub wait: Option<u64>,
    /// The end of that time: from its first wakeup to the switch to it. `None` also if it was preempted, or is idle.
    pub delay: Option<u64>,
    /// The stay: from the switch to the task to the one from it.
    pub run: Option<u64>,
    /// True if it was preempted before.
    pub preempted: Option<bool>,
}

/// Follows the records of one buffer, by rising time.
#[derive(Clone, Debug)]
pub struct TimeHistory {
    steps: Steps,
    coverage: SchedCoverage,
    running: BTreeMap<CpuId, Stay>,
    /// Tasks that do not run.
    off: Map<Pid, Off>,
    /// The last switch from each CPU's idle task.
    idle: BTreeMap<CpuId, u64>,
    spells: LossSpells,
}

#[derive(Clone, Copy, Debug)]
struct Stay {
    pid: Pid,
    since: Option<u64>,
    wait: Option<u64>,
    delay: Option<u64>,
    preempted: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Off {
    since: Option<u64>,
    preempted: Option<bool>,
    woken: Option<u64>,
}

impl TimeHistory {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        TimeHistory {
            steps: Steps::new(formats, abi),
            coverage: SchedCoverage::default(),
            running: BTreeMap::new(),
            off: Map::default(),
            idle: BTreeMap::new(),
            spells: LossSpells::default(),
        }
    }

    /// For a recording of a part of what happened: times whose events were not all recorded are unknown.
    pub fn covering(self, coverage: &Coverage) -> Self {
        TimeHistory { coverage: SchedCoverage::of(coverage), ..self }
    }

    /// For a recording that lacks events in these times: of a task that comes to a CPU meanwhile nothing earlier is known, as it
    /// may have been on another one.
    pub fn losing(self, spells: LossSpells) -> Self {
        TimeHistory { spells, ..self }
    }

    /// True if the formats have `sched_switch`, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.steps.have_switches()
    }

    /// Takes the next record; gives the stay that it ends.
    pub fn record<'r>(&mut self, record: &Record<'r>) -> Option<CpuStay<'r>> {
        let (cpu, at) = (record.cpu, record.timestamp.0);
        if record.lost != Lost::None {
            self.lose(cpu);
        } else if !self.steps.knows(record) {
            return None;
        }
        if !self.running.contains_key(&cpu) {
            // Every event says which task is running.
            self.begin(cpu, self.steps.current(record), None);
        }
        match self.steps.step(record)? {
            SchedStep::Switch { prev, prev_comm, left, next, .. } => {
                let ended = self.running.get(&cpu).filter(|stay| stay.pid == prev).copied();
                self.leave(cpu, prev, left, at);
                self.begin(cpu, next, Some(at));
                let stay = ended.unwrap_or(Stay { pid: prev, since: None, wait: None, delay: None, preempted: None });
                let states = self.coverage.states(prev);
                let told = prev.0 == 0 && self.coverage.on_cpu(prev).is_some();
                let run = stay.since.and_then(|since| at.checked_sub(since));
                let run = run.filter(|_| (told || states.has(TimeIn::Run)) && self.coverage.tells_of(cpu));
                let is_known = told || (states.has(TimeIn::Wait) && states.has(TimeIn::Sleep));
                let of = if is_known { stay } else { Stay { wait: None, delay: None, preempted: None, ..stay } };
                let Stay { wait, delay, preempted, .. } = of;
                Some(CpuStay { at, cpu, pid: prev, comm: prev_comm, wait, delay, run, preempted })
            }
            SchedStep::Wake { task, .. } => {
                self.wake(task, at);
                None
            }
            SchedStep::Fork { child, .. } => {
                self.coverage.fork(self.steps.current(record), child);
                self.off.insert(child, Off { preempted: Some(false), ..Off::default() });
                None
            }
            SchedStep::Migrate { .. } | SchedStep::IoWait { .. } => None,
        }
    }

    /// Nothing is known any more but what runs on the other CPUs.
    fn lose(&mut self, cpu: CpuId) {
        self.running.remove(&cpu);
        self.idle.remove(&cpu);
        self.off.clear();
    }

    fn leave(&mut self, cpu: CpuId, task: Pid, left: Left, at: u64) {
        if task.0 == 0 {
            self.idle.insert(cpu, at);
        } else if left == Left::Dead {
            self.off.remove(&task);
        } else {
            let preempted = Some(left == Left::Runnable);
            self.off.insert(task, Off { since: Some(at), preempted, ..Off::default() });
        }
    }

    /// `task` comes to `cpu`: at the switch `at`, or before the first event there.
    fn begin(&mut self, cpu: CpuId, task: Pid, at: Option<u64>) {
        let off = match task.0 {
            0 => self.idle.remove(&cpu).map(|since| Off { since: Some(since), ..Off::default() }),
            _ => self.off.remove(&task),
        };
        if off.is_none() && task.0 != 0 {
            // Where it seems to run on another CPU, an event is missing: since when it does not is unknown.
            for stay in self.running.values_mut().filter(|stay| stay.pid == task) {
                stay.since = None;
            }
        }
        let is_told = at.is_some_and(|at| task.0 == 0 || !self.spells.cover(at, cpu));
        let Off { since, preempted, woken } = off.filter(|_| is_told).unwrap_or_default();
        let from = |begin: Option<u64>| at.and_then(|at| at.checked_sub(begin?));
        let stay = Stay { pid: task, since: at, wait: from(since), delay: from(woken), preempted };
        self.running.insert(cpu, stay);
    }

    fn wake(&mut self, task: Pid, at: u64) {
        let runs = || self.running.values().any(|stay| stay.pid == task);
        if task.0 == 0 || (!self.off.contains_key(&task) && runs()) {
            return;
        }
        let off = self.off.entry(task).or_default();
        if off.preempted != Some(true) && off.woken.is_none() {
            off.woken = Some(at);
        }
    }
}

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
