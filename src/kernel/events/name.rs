//! Event names as tracefs has them: a system and an event.

use std::fmt;

/// `sched:sched_switch`. Ordered by system, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventName {
    /// The directory under `events/`.
    pub system: String,
    /// The directory below that.
    pub name: String,
}

impl EventName {
    /// A name from its halves.
    pub fn new(system: impl Into<String>, name: impl Into<String>) -> Self {
        EventName { system: system.into(), name: name.into() }
    }

    /// Parses `system:event` (or `system/event`), both halves non-empty.
    pub fn parse(text: &str) -> Option<Self> {
        let (system, name) = text.trim().split_once([':', '/'])?;
        (!system.is_empty() && !name.is_empty()).then(|| EventName::new(system, name))
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.system, self.name)
    }
}
