//! The line about what was written.

use super::target::ConvertTarget;
use rtrace::units::ByteSize;

/// The outcome: the number of events, and what could not be, each with its reason.
pub(super) struct Written {
    pub(super) events: u64,
    pub(super) left_out: Vec<String>,
}

impl Written {
    /// `run.csv: 12 events as csv, 1.2 KiB; left out: nothing`.
    pub(super) fn summary(&self, name: &str, target: ConvertTarget, size: u64) -> String {
        let events = if self.events == 1 { "event" } else { "events" };
        let left_out = if self.left_out.is_empty() { "nothing".to_owned() } else { self.left_out.join(", ") };
        format!("{name}: {} {events} as {}, {}; left out: {left_out}", self.events, target.name(), ByteSize(size))
    }
}
