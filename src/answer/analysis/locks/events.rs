//! Begin and end of waits, and the stacks of those that wait, out of records.

use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::stacks::addresses;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

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
pub(in crate::answer::analysis) enum LockEvent {
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
pub(in crate::answer::analysis) struct LockEvents(ByEvent<LockEventKind>);

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

impl LockEvents {
    pub(in crate::answer::analysis) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        LockEvents(ByEvent::new(formats, abi, LockEventKind::of))
    }

    /// True if waits end, without which nothing has a duration.
    pub(in crate::answer::analysis) fn have_ends(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, LockEventKind::End { .. }))
    }

    #[inline]
    pub(in crate::answer::analysis) fn knows(&self, record: &Record<'_>) -> bool {
        self.0.of(record).is_some()
    }

    /// True if events of this type are among them.
    pub(in crate::answer::analysis) fn knows_id(&self, id: u16) -> bool {
        self.0.has(id)
    }

    /// The task that was running.
    #[inline]
    pub(in crate::answer::analysis) fn task(&self, record: &Record<'_>) -> Pid {
        self.0.task(record)
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
