//! Priorities of tasks over time, as the scheduler's events name them.
//!
//! ```text
//! sched_switch: prev_comm=cc1 prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=audio next_pid=9 next_prio=89
//! ```

use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::map::Map;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::cmp::Ordering;
use std::fmt;

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
pub(super) struct PriorityHistory(Map<Pid, Vec<(u64, Priority)>>);

/// Priorities while they are collected.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
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
    pub(super) fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        (from, to): (u64, u64),
    ) -> Self {
        let events = ByEvent::new(formats, abi, PriorityEvent::of);
        Priorities { events, from, to, found: PriorityHistory::default() }
    }

    pub(super) fn knows_id(&self, id: u16) -> bool {
        self.events.has(id)
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.events.of(record).is_some()
    }

    pub(super) fn record(&mut self, record: &Record<'_>) {
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

    pub(super) fn finish(self) -> PriorityHistory {
        self.found
    }
}

impl PriorityHistory {
    /// A task's priority as the last event up to `at` named it; none has an idle task.
    pub(super) fn at(&self, pid: Pid, at: u64) -> Option<Priority> {
        let known = self.0.get(&pid).filter(|_| pid.0 != 0)?;
        let before = known.partition_point(|(since, _)| *since <= at).checked_sub(1)?;
        known.get(before).map(|(_, prio)| *prio)
    }
}
