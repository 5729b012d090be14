//! The answer about waits for locks.

use super::events::LockKind;
use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::units::{CpuId, Pid};

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
