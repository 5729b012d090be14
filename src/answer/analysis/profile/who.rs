//! Whom events are put down to.

use crate::base::units::{CpuId, Pid};

/// Whom something is put down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// No task in particular.
    Global,
    /// A CPU.
    Cpu(CpuId),
    /// All tasks of a name.
    Group,
    /// A task.
    Task(Pid),
}
