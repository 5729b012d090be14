//! Knowledge of a recording beside its events.

use crate::analysis::IrqSource;
use crate::trace_dat::EnabledEvents;

/// Names that recordings do not hold by themselves.
pub trait Names {
    /// The name of a system call by its number.
    fn syscall(&self, number: i64) -> Option<String>;
    /// The name of a handler.
    fn handler(&self, source: &IrqSource) -> String;
}

/// Knowledge of a recording beside its events.
pub struct Conditions<'c> {
    /// Number of damaged places: events may be missing there.
    pub damaged: u64,
    /// Events that the rings' counters say were dropped, wherever that was.
    pub dropped: u64,
    /// The events that were enabled, if the file says so.
    pub enabled: Option<EnabledEvents>,
    /// True if the clock counts something else than time.
    pub in_ticks: bool,
    /// Number of durations below which a reducer says nothing.
    pub min_samples: u64,
    /// Names of system calls and handlers.
    pub names: &'c dyn Names,
}
