//! States of a task, and the wakers that end a sleep.

use crate::base::units::{CpuId, Pid};

/// States whose time is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeIn {
    /// On a CPU; interrupts within count too.
    Run,
    /// From its wakeup to its CPU.
    Wait,
    /// From the switch that took its CPU although it could go on, to the next one.
    Preempted,
    /// Off its CPU, in any state but D (S, T, t, I, P), or new and not woken yet.
    Sleep,
    /// Off its CPU in state D.
    Blocked,
    /// Not known.
    Unknown,
}

impl TimeIn {
    /// All of them.
    pub const ALL: [TimeIn; 6] =
        [TimeIn::Run, TimeIn::Wait, TimeIn::Preempted, TimeIn::Sleep, TimeIn::Blocked, TimeIn::Unknown];
}

/// The task that was running where another one was woken; an interrupt may have done it in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waker {
    /// Its id; 0 is an idle task.
    pub pid: Pid,
    /// The CPU it ran on.
    pub cpu: CpuId,
}
