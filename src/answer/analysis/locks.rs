//! Waits for contended locks of the kernel.
//! Begin and end of waits, and the stacks of those that wait, out of records.
//! Following waits from begin to end.
//!
//! ```text
//! contention_begin: 00000000a3f0a7d2 (flags=MUTEX)        contention_end: 00000000a3f0a7d2 (ret=0)
//! ```

use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::stacks::addresses;
use crate::answer::analysis::{Durations, InOrder, KnownPart, Needs, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::hash::Hash;
use std::ops::Deref;

/// A lock's kind and what it was wanted for, as flags (`LCB_F_*`, include/trace/events/lock.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockKind(pub u32);

impl LockKind {
    const SPIN: u32 = 1;
    const READ: u32 = 2;
    const WRITE: u32 = 4;
    const RT: u32 = 8;
    const PER_CPU: u32 = 0x10;
    const MUTEX: u32 = 0x20;

    /// The kinds and accesses that the kernel has (kernel/locking).
    pub const ALL: [LockKind; 12] = [
        LockKind(Self::MUTEX),
        LockKind(Self::SPIN),
        LockKind(Self::SPIN | Self::READ),
        LockKind(Self::SPIN | Self::WRITE),
        LockKind(Self::READ),
        LockKind(Self::WRITE),
        LockKind(Self::RT),
        LockKind(Self::RT | Self::READ),
        LockKind(Self::RT | Self::WRITE),
        LockKind(Self::PER_CPU | Self::READ),
        LockKind(Self::PER_CPU | Self::WRITE),
        LockKind(0),
    ];

    /// `mutex`, `spinlock`, `rwsem:W`: the kind, and whether it was wanted to read (R) or to write (W).
    pub fn name(self) -> String {
        let LockKind(flags) = self;
        let access = match flags & (Self::READ | Self::WRITE) {
            Self::READ => ":R",
            Self::WRITE => ":W",
            _ => "",
        };
        let kind = match (flags, access) {
            _ if flags & Self::MUTEX != 0 => "mutex",
            _ if flags & Self::PER_CPU != 0 => "percpu-rwsem",
            (_, "") if flags & Self::RT != 0 => "rtmutex",
            _ if flags & Self::RT != 0 => "rt-rwlock",
            (_, "") if flags & Self::SPIN != 0 => "spinlock",
            _ if flags & Self::SPIN != 0 => "rwlock",
            (_, "") => "semaphore",
            _ => "rwsem",
        };
        format!("{kind}{access}")
    }
}

/// The event of a record.
#[derive(Clone, Debug)]
pub(super) enum LockEvent {
    Begin {
        lock: u64,
        kind: LockKind,
    },
    End {
        lock: u64,
        result: i64,
    },
    /// Return addresses, innermost first.
    Stack(Vec<u64>),
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct LockEvents(ByEvent<LockEventKind>);

#[derive(Clone, Copy, Debug)]
enum LockEventKind {
    Begin { lock: RecordNumber, flags: RecordNumber },
    End { lock: RecordNumber, result: RecordNumber },
    Stack { offset: usize },
}

impl LockEventKind {
    fn of(format: &EventFormat) -> Option<LockEventKind> {
        let number = |field| RecordNumber::of(format, field);
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("lock", "contention_begin") => {
                LockEventKind::Begin { lock: number("lock_addr")?, flags: number("flags")? }
            }
            ("lock", "contention_end") => LockEventKind::End { lock: number("lock_addr")?, result: number("ret")? },
            ("ftrace", "kernel_stack") => LockEventKind::Stack { offset: format.field("caller")?.offset },
            _ => return None,
        })
    }
}

/// The ids and the common fields of its events.
impl Deref for LockEvents {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl LockEvents {
    pub(in crate::answer::analysis) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        LockEvents(ByEvent::new(formats, abi, LockEventKind::of))
    }

    /// True if waits end, without which nothing has a duration.
    pub(in crate::answer::analysis) fn have_ends(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, LockEventKind::End { .. }))
    }

    pub(in crate::answer::analysis) fn event(&self, record: &Record<'_>) -> Option<LockEvent> {
        let (abi, data) = (self.0.abi, record.data);
        Some(match *self.0.of(record)? {
            LockEventKind::Begin { lock, flags } => {
                LockEvent::Begin { lock: lock.read(abi, data), kind: LockKind(flags.read(abi, data) as u32) }
            }
            LockEventKind::End { lock, result } => {
                LockEvent::End { lock: lock.read(abi, data), result: result.read_signed(abi, data) }
            }
            LockEventKind::Stack { offset } => LockEvent::Stack(addresses(abi, data, offset).collect()),
        })
    }
}

/// Waits for contended locks; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Locks {
    events: LockEvents,
    /// Tasks whose waits count.
    counted: TaskSet,
    window: Option<(u64, u64)>,
    /// The waits that each task, or CPU's idle task, is in: an interrupt may wait while its task does.
    open: Map<(Pid, Option<CpuId>), Vec<OpenWait>>,
    locks: Map<(u64, LockKind), LockWaits>,
    kinds: Map<LockKind, LockWaits>,
    tasks: Map<Pid, LockWaits>,
    stacks: Map<Vec<u64>, LockWaits>,
    counts: LockCounts,
}

/// A wait that goes on.
#[derive(Clone, Debug)]
struct OpenWait {
    lock: u64,
    kind: LockKind,
    at: u64,
    stack: Option<Vec<u64>>,
}

impl Locks {
    /// For records of a file with these formats; waits of these tasks count.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, of: TaskSet) -> Self {
        Locks {
            events: LockEvents::new(formats, abi),
            counted: of,
            window: None,
            open: Map::default(),
            locks: Map::default(),
            kinds: Map::default(),
            tasks: Map::default(),
            stacks: Map::default(),
            counts: LockCounts::default(),
        }
    }

    /// True if the formats have `contention_end` (since Linux 5.19), without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.events.have_ends()
    }

    fn lose(&mut self) {
        self.counts.losses += 1;
        let open: usize = self.open.values().map(Vec::len).sum();
        self.counts.censored = self.counts.censored.saturating_add(open as u64);
        self.open.clear();
    }

    fn begin(&mut self, task: (Pid, Option<CpuId>), lock: u64, kind: LockKind, at: u64) {
        let open = self.open.entry(task).or_default();
        // Spinning for a mutex and then sleeping for it are one wait.
        if !open.iter().any(|wait| wait.lock == lock) {
            open.push(OpenWait { lock, kind, at, stack: None });
        }
    }

    fn end(&mut self, task: (Pid, Option<CpuId>), lock: u64, failed: bool, (at, cpu): (u64, CpuId)) {
        let open = self.open.get_mut(&task);
        let wait = open.and_then(|open| open.iter().rposition(|wait| wait.lock == lock).map(|nth| open.remove(nth)));
        if !self.counted.contains(task.0, at) {
            return;
        }
        let Some(wait) = wait else {
            self.counts.without_begin += 1;
            return;
        };
        let time = at.saturating_sub(wait.at);
        let longest = LongestLockWait { time, at: wait.at, pid: task.0, cpu };
        self.locks.entry((lock, wait.kind)).or_default().add(longest, failed);
        self.kinds.entry(wait.kind).or_default().add(longest, failed);
        self.tasks.entry(task.0).or_default().add(longest, failed);
        if let Some(stack) = wait.stack {
            self.stacks.entry(stack).or_default().add(longest, failed);
        }
    }
}

impl LockWaits {
    fn add(&mut self, wait: LongestLockWait, failed: bool) {
        self.times.add(wait.time);
        self.failed += u64::from(failed);
        if self.longest.is_none_or(|longest| longest.time < wait.time) {
            self.longest = Some(wait);
        }
    }
}

impl InOrder for Locks {
    type Finding = LockReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        let (at, cpu) = (record.timestamp.0, record.cpu);
        if record.lost != Lost::None {
            self.lose();
        }
        let Some(event) = self.events.event(record) else { return };
        let pid = self.events.task(record);
        let task = (pid, (pid.0 == 0).then_some(cpu));
        let counts = self.counted.may_contain(pid);
        if !matches!(event, LockEvent::Stack(_)) {
            let begin = self.window.map_or(at, |window| window.0);
            self.window = Some((begin, at));
        }
        match event {
            _ if !counts => {}
            LockEvent::Begin { lock, kind } => self.begin(task, lock, kind, at),
            LockEvent::End { lock, result } => self.end(task, lock, result < 0, (at, cpu)),
            LockEvent::Stack(addresses) => {
                let innermost = self.open.get_mut(&task).and_then(|open| open.last_mut());
                if let Some(wait) = innermost {
                    wait.stack.get_or_insert(addresses);
                }
            }
        }
    }

    fn finish(self) -> LockReport {
        let mut counts = self.counts;
        let end = self.window.map_or(0, |window| window.1);
        let mut going_on = Vec::new();
        for ((pid, _), waits) in self.open.iter().filter(|((pid, _), _)| self.counted.contains(*pid, end)) {
            going_on.extend(waits.iter().map(|wait| {
                let time = end.saturating_sub(wait.at);
                ((wait.lock, wait.kind), OngoingLockWait { at: wait.at, time, pid: *pid })
            }));
        }
        going_on.sort_unstable_by_key(|(_, wait)| (wait.at, wait.pid));
        counts.unfinished = going_on.len() as u64;
        LockReport {
            going_on,
            window: self.window,
            locks: sorted(self.locks),
            kinds: sorted(self.kinds),
            tasks: sorted(self.tasks),
            stacks: sorted(self.stacks),
            counts,
        }
    }
}

/// Waits by lock, the longest total first.
fn sorted<K: Clone + Eq + Hash + Ord>(of: Map<K, LockWaits>) -> Vec<(K, LockWaits)> {
    let mut all: Vec<(K, LockWaits)> = of.into_iter().collect();
    all.sort_by(|a, b| (Reverse(a.1.times.total()), &a.0).cmp(&(Reverse(b.1.times.total()), &b.0)));
    all
}

// The answer about waits for locks.

/// The events that its numbers need, by the names of `rtrace analyze locks --json`. A task's waits are told by its own events.
pub const LOCK_NEEDS: &[Needs] = &[
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["kinds.waits", "kinds.failed", "kinds.longest"], &["lock:contention_*"])
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["locks.waits", "locks.failed", "locks.longest"], &["lock:contention_*"])
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["tasks.waits", "tasks.failed", "tasks.longest"], &["lock:contention_*"])
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["stacks.waits", "stacks.failed", "stacks.longest"], &["lock:contention_*"])
    },
];

/// Waits of one buffer. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct LockReport {
    /// The first and the last begin or end of a wait: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Waits by lock and kind, those that were waited for longest, all waits together, first.
    pub locks: Vec<((u64, LockKind), LockWaits)>,
    /// By kind.
    pub kinds: Vec<(LockKind, LockWaits)>,
    /// By task.
    pub tasks: Vec<(Pid, LockWaits)>,
    /// By stack, innermost first; of the waits that have one.
    pub stacks: Vec<(Vec<u64>, LockWaits)>,
    /// Waits that go on at the window's end, by lock and kind.
    pub going_on: Vec<((u64, LockKind), OngoingLockWait)>,
    /// Events that are no part of a wait, and losses.
    pub counts: LockCounts,
}

/// A wait that goes on at the window's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OngoingLockWait {
    /// Begin of the wait, in clock units.
    pub at: u64,
    /// From there to the window's end.
    pub time: u64,
    /// The task that waits.
    pub pid: Pid,
}

/// Some waits.
#[derive(Clone, Debug, Default)]
pub struct LockWaits {
    /// From the first `contention_begin` to `contention_end`.
    pub times: Durations,
    /// Waits that ended without the lock.
    pub failed: u64,
    /// The longest; of several the first to end.
    pub longest: Option<LongestLockWait>,
}

/// The longest of some waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestLockWait {
    /// Duration, in the clock's unit.
    pub time: u64,
    /// Begin of the wait, in clock units.
    pub at: u64,
    /// The task that waited.
    pub pid: Pid,
    /// The CPU on which it ended.
    pub cpu: CpuId,
}

/// Events that are no part of a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockCounts {
    /// Waits that go on at the window's end.
    pub unfinished: u64,
    /// Ends of waits that began before the window.
    pub without_begin: u64,
    /// Waits that went on when the kernel dropped events.
    pub censored: u64,
    /// Places where it dropped some.
    pub losses: u64,
}

#[cfg(test)]
mod tests;
