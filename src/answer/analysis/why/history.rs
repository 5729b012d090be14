//! History of tasks and CPUs around an interval.

use super::reasons::{AwaitedLocks, CompletedRequest, LockHistory, Requests};
use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::{
    CpuSpan, Handler, HandlerSpan, InOrder, Irqs, ProvenThrottle, Sched, SchedCounts, SpanLog, SpanPlan, TaskSpan,
};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Cgroups, Coverage};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Follows all tasks and CPUs, and keeps what they did in an interval; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Histories {
    from: u64,
    to: u64,
    sched: Sched,
    irqs: Irqs,
    priorities: Priorities,
    requests: Requests,
    locks: AwaitedLocks,
    /// Time of the last event of each CPU.
    seen: BTreeMap<CpuId, u64>,
    losses: Vec<LossSpan>,
    /// False if events of the scheduler were recorded in part.
    is_whole: bool,
}

/// Time in which the kernel dropped events of a CPU, in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossSpan {
    /// The CPU.
    pub cpu: CpuId,
    /// Its last event before.
    pub begin: u64,
    /// Its first event after.
    pub end: u64,
}

/// History of tasks and CPUs in an interval.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The first and the last event of the scheduler; `None` without any.
    pub window: Option<(u64, u64)>,
    /// Losses that have a point of time in common with the interval.
    pub losses: Vec<LossSpan>,
    /// Events of the scheduler that fit nowhere, in the whole window.
    pub counts: SchedCounts,
    /// False if no event that begins a wait is recorded.
    pub has_wakeups: bool,
    /// False if no event of interrupts is recorded.
    pub has_handlers: bool,
    pub(super) tasks: Map<Pid, SpanLog<TaskSpan>>,
    /// Names, the last of each task.
    comms: Map<Pid, Vec<u8>>,
    pub(super) cpus: BTreeMap<CpuId, SpanLog<CpuSpan>>,
    pub(super) handler_runs: BTreeMap<CpuId, SpanLog<HandlerSpan>>,
    /// The handlers of the runs, by their numbers.
    pub(super) handlers: Vec<Handler>,
    priorities: PriorityHistory,
    /// By the CPU that completed them.
    pub(super) requests: BTreeMap<CpuId, Vec<CompletedRequest>>,
    pub(super) locks: LockHistory,
    /// True if all events of the scheduler are there, from the window's begin on.
    is_whole: bool,
    /// Times for which quotas kept tasks off their CPUs, by the kernel's throttled time.
    pub(super) proven: Vec<ProvenThrottle>,
}

impl Histories {
    /// For records of a file with these formats; of the time from `from` to `to`.
    pub fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat> + Clone,
        abi: Abi,
        (from, to): (u64, u64),
    ) -> Self {
        Histories {
            from,
            to,
            sched: Sched::new(formats.clone(), abi).with_spans(SpanPlan { from, to, only: None }),
            requests: Requests::new(formats.clone(), abi, (from, to)),
            locks: AwaitedLocks::new(formats.clone(), abi, (from, to)),
            priorities: Priorities::new(formats.clone(), abi, (from, to)),
            irqs: Irqs::new(formats, abi).with_spans(from, to),
            seen: BTreeMap::new(),
            losses: Vec::new(),
            is_whole: true,
        }
    }

    /// Tells what quotas did by the throttled time of `cgroups`. `address` gives that of a function of the kernel; the clock counts
    /// nanoseconds.
    #[must_use]
    pub fn with_quotas<'f>(
        self,
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        cgroups: Cgroups,
        address: impl Fn(&str) -> Option<u64>,
    ) -> Self {
        let sched = self.sched.with_throttling(formats, abi, address).with_quotas(Arc::new(cgroups));
        Histories { sched, ..self }
    }

    /// For a recording of a part of what happened: states whose events were not all recorded are unknown.
    pub fn covering(self, coverage: &Coverage) -> Self {
        let is_whole = coverage.limits(|event| event.system == "sched").is_empty();
        Histories { sched: self.sched.covering(coverage), requests: self.requests.covering(coverage), is_whole, ..self }
    }
}

impl History {
    /// The last name of a task, of those that events of the scheduler name.
    pub fn comm(&self, pid: Pid) -> Option<&[u8]> {
        self.comms.get(&pid).map(Vec::as_slice)
    }

    /// True of a task's time from the window's begin to a wakeup that is the first event to name it: it ran nowhere meanwhile, as no
    /// switch is missing, and so it was asleep or blocked.
    pub(super) fn slept_from_begin(&self, span: &TaskSpan) -> bool {
        let is_first = self.window.is_some_and(|(begin, _)| span.begin == begin);
        self.is_whole && is_first && span.wake.is_some()
    }

    /// A task's priority as the last event up to `at`, a time of the interval, named it.
    pub fn priority(&self, pid: Pid, at: u64) -> Option<Priority> {
        self.priorities.at(pid, at)
    }

    /// Time from `from` to `to` in which each CPU but `cpu` ran its idle task; of those that did, in order of their numbers.
    pub fn idle_elsewhere(&self, cpu: Option<CpuId>, (from, to): (u64, u64)) -> Vec<(CpuId, u64)> {
        let idle = |spans: &SpanLog<CpuSpan>| -> u64 {
            let within = spans.after(from).take_while(|span| span.begin < to);
            let time = |span: CpuSpan| span.end.min(to).saturating_sub(span.begin.max(from));
            within.filter(|span| span.task == Some(Pid(0))).map(time).sum()
        };
        let others = self.cpus.iter().filter(|(other, _)| cpu.is_some_and(|cpu| cpu != **other));
        others.map(|(other, spans)| (*other, idle(spans))).filter(|(_, time)| *time > 0).collect()
    }
}

impl InOrder for Histories {
    type Finding = History;

    fn reads(&self, id: u16) -> bool {
        InOrder::reads(&self.sched, id)
            || InOrder::reads(&self.irqs, id)
            || self.priorities.knows_id(id)
            || self.requests.knows_id(id)
            || self.locks.knows_id(id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        InOrder::wants(&self.sched, record)
            || InOrder::wants(&self.irqs, record)
            || self.priorities.knows(record)
            || self.requests.knows(record)
            || self.locks.knows(record)
    }

    fn record(&mut self, record: &Record<'_>) {
        if !InOrder::wants(self, record) {
            return;
        }
        let (cpu, at) = (record.cpu, record.timestamp.0);
        let seen = self.seen.insert(cpu, at);
        if record.lost != Lost::None {
            let begin = seen.unwrap_or(0).min(at);
            if begin <= self.to && at >= self.from {
                self.losses.push(LossSpan { cpu, begin, end: at });
            }
        }
        InOrder::record(&mut self.sched, record);
        InOrder::record(&mut self.irqs, record);
        self.priorities.record(record);
        self.requests.record(record);
        self.locks.record(record);
    }

    fn finish(self) -> History {
        let has_handlers = self.irqs.has_events();
        let sched = InOrder::finish(self.sched);
        let mut tasks: Map<Pid, SpanLog<TaskSpan>> = Map::default();
        let mut comms: Map<Pid, Vec<u8>> = Map::default();
        let mut lives: Vec<_> = sched.tasks.into_iter().collect();
        lives.sort_by_key(|life| (life.pid, life.life));
        for life in lives {
            let spans = tasks.entry(life.pid).or_default();
            if spans.is_empty() {
                *spans = life.spans;
            } else {
                spans.extend(life.spans.iter());
            }
            if !life.comm.is_empty() {
                comms.insert(life.pid, life.comm);
            }
        }
        let irqs = InOrder::finish(self.irqs);
        History {
            window: sched.window,
            losses: self.losses,
            is_whole: self.is_whole && sched.counts.losses == 0 && sched.has_wakeups,
            counts: sched.counts,
            proven: sched.proven,
            has_wakeups: sched.has_wakeups,
            has_handlers,
            tasks,
            comms,
            cpus: sched.cpus.into_iter().map(|cpu| (cpu.cpu, cpu.spans)).collect(),
            handler_runs: irqs.spans,
            handlers: irqs.handlers,
            priorities: self.priorities.finish(),
            requests: self.requests.finish(),
            locks: self.locks.finish(),
        }
    }
}

// Priorities of tasks over time, as the scheduler's events name them.
//
// ```text
// sched_switch: prev_comm=cc1 prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=audio next_pid=9 next_prio=89
// ```

/// A task's priority by the kernel's number, of which the lesser comes first (include/linux/sched/prio.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Priority(pub i32);

impl Priority {
    /// `deadline`, `realtime`, `normal`; `other` of numbers that no class has.
    pub fn class(self) -> &'static str {
        match self.0 {
            ..0 => "deadline",
            0..100 => "realtime",
            100..140 => "normal",
            _ => "other",
        }
    }

    /// The real-time priority (1 to 99, greater comes first) or nice value (-20 to 19) that it stands for.
    pub fn value(self) -> Option<i32> {
        match self.0 {
            0..100 => Some(99 - self.0),
            100..140 => Some(self.0 - 120),
            _ => None,
        }
    }

    /// `Less` if it has the CPU before the other; `None` of two that share a CPU by their nice values.
    pub fn before(self, other: Self) -> Option<Ordering> {
        match self.class() == "normal" && other.class() == "normal" {
            true => None,
            false => Some(self.0.cmp(&other.0)),
        }
    }
}

impl fmt::Display for Priority {
    /// `real-time 10`, `nice -5`, `deadline`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.class(), self.value()) {
            ("realtime", Some(value)) => write!(f, "real-time {value}"),
            ("normal", Some(value)) => write!(f, "nice {value}"),
            ("deadline", _) => f.write_str("deadline"),
            _ => write!(f, "priority {}", self.0),
        }
    }
}

/// By task: priorities, each with the time of the first event that named it.
#[derive(Clone, Debug, Default)]
struct PriorityHistory(Map<Pid, Vec<(u64, Priority)>>);

/// Priorities while they are collected.
#[derive(Clone, Debug)]
struct Priorities {
    events: ByEvent<PriorityEvent>,
    from: u64,
    to: u64,
    found: PriorityHistory,
}

/// Tasks that an event names, each with its priority.
#[derive(Clone, Copy, Debug)]
struct PriorityEvent {
    first: (RecordNumber, RecordNumber),
    second: Option<(RecordNumber, RecordNumber)>,
}

impl PriorityEvent {
    fn of(format: &EventFormat) -> Option<Self> {
        let pair = |pid, prio| RecordNumber::of(format, pid).zip(RecordNumber::of(format, prio));
        let (first, second) = match (format.system.as_str(), format.name.as_str()) {
            ("sched", "sched_switch") => (pair("prev_pid", "prev_prio")?, Some(pair("next_pid", "next_prio")?)),
            ("sched", "sched_waking" | "sched_wakeup" | "sched_wakeup_new") => (pair("pid", "prio")?, None),
            ("sched", "sched_pi_setprio") => (pair("pid", "newprio")?, None),
            _ => return None,
        };
        Some(PriorityEvent { first, second })
    }
}

impl Priorities {
    /// Those that are known in the time from `from` to `to`.
    fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, (from, to): (u64, u64)) -> Self {
        let events = ByEvent::new(formats, abi, PriorityEvent::of);
        Priorities { events, from, to, found: PriorityHistory::default() }
    }

    fn knows_id(&self, id: u16) -> bool {
        self.events.has(id)
    }

    #[inline]
    fn knows(&self, record: &Record<'_>) -> bool {
        self.events.of(record).is_some()
    }

    fn record(&mut self, record: &Record<'_>) {
        let Some(&PriorityEvent { first, second }) = self.events.of(record) else { return };
        let (at, abi) = (record.timestamp.0, self.events.abi);
        for (pid, prio) in [Some(first), second].into_iter().flatten().filter(|_| at <= self.to) {
            let prio = Priority(prio.read_signed(abi, record.data) as i32);
            let known = self.found.0.entry(Pid(pid.read(abi, record.data) as i32)).or_default();
            if known.last().is_some_and(|(_, last)| *last == prio) {
                continue;
            }
            // Of the time before, the last one is enough.
            if at <= self.from {
                known.clear();
            }
            known.push((at, prio));
        }
    }

    fn finish(self) -> PriorityHistory {
        self.found
    }
}

impl PriorityHistory {
    /// A task's priority as the last event up to `at` named it; none has an idle task.
    fn at(&self, pid: Pid, at: u64) -> Option<Priority> {
        let known = self.0.get(&pid).filter(|_| pid.0 != 0)?;
        let before = known.partition_point(|(since, _)| *since <= at).checked_sub(1)?;
        known.get(before).map(|(_, prio)| *prio)
    }
}
