//! A part of the tree.

use crate::answer::analysis::{HandlerSpan, Wake};
use crate::base::units::{CpuId, Pid};

/// A part of an interval, and the smaller ones it consists of. Times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalPart {
    /// The kind of the part.
    pub kind: PartKind,
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// Smaller parts, each of which begins where the one before ends, from its begin to its end; or none.
    pub parts: Vec<IntervalPart>,
}

/// Activity of a task or a CPU in a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The task was on the CPU. Its parts are interrupts, and the task's own time between them.
    Run {
        /// The task.
        task: Pid,
        /// CPU of the part.
        cpu: CpuId,
    },
    /// Awake, the task waited for a CPU. The parts are what that CPU ran.
    Wait {
        /// The task.
        task: Pid,
        /// The CPU it waited for; `None` if it came to another one without an event that says when.
        cpu: Option<CpuId>,
        /// From `sched_waking` to `sched_wakeup`: it was not in a run queue yet.
        waking: bool,
    },
    /// The task was preempted and waited for a CPU. The parts are what that CPU ran.
    Preempted {
        /// The task.
        task: Pid,
        /// CPU that was waited for, as of [`PartKind::Wait`].
        cpu: Option<CpuId>,
    },
    /// The task slept. The parts are what its waker did meanwhile, if a task woke it.
    Sleep {
        /// The task.
        task: Pid,
        /// In state D.
        blocked: bool,
        /// The wakeup that ended it; `None` if it went on at the window's end.
        wake: Option<Wake>,
        /// The innermost handler that ran where it was woken, if an interrupt woke it.
        handler: Option<Handler>,
    },
    /// The CPU ran an interrupt, a soft interrupt or a timer. The parts are those within, and its own time between them.
    Interrupt {
        /// The handler.
        handler: Handler,
        /// CPU of the part.
        cpu: CpuId,
    },
    /// The CPU ran its idle task.
    Idle {
        /// The CPU.
        cpu: CpuId,
    },
    /// The task had not begun, or had ended.
    Absent {
        /// The task.
        task: Pid,
    },
    /// No event tells what the task or the CPU did.
    Unknown,
}

/// The handler of an interrupt, as [`HandlerSpan`] names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Kind of the handler.
    pub kind: crate::answer::analysis::HandlerKind,
    /// Number or address.
    pub id: u64,
    /// The name in the event; may be empty.
    pub name: Vec<u8>,
}

impl Handler {
    pub(super) fn of(span: &HandlerSpan) -> Self {
        Handler { kind: span.kind, id: span.id, name: span.name.clone() }
    }
}

impl IntervalPart {
    /// Length, in clock units.
    pub fn time(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// Time of leaves that are unknown, or of which it is not known what the CPU did.
    pub fn unknown(&self) -> u64 {
        match (&self.kind, self.parts.as_slice()) {
            (PartKind::Unknown, _) => self.time(),
            (_, parts) => parts.iter().map(IntervalPart::unknown).sum(),
        }
    }
}
