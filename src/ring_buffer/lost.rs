//! Lost events, as a sub-buffer's header counts them.

/// Number of events that the kernel dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// None.
    #[default]
    None,
    /// This many.
    Count(u64),
    /// Some; the kernel did not have the room to say how many.
    Unknown,
}

impl Lost {
    /// The sum.
    pub fn plus(self, other: Lost) -> Lost {
        match (self, other) {
            (Lost::None, other) | (other, Lost::None) => other,
            (Lost::Count(a), Lost::Count(b)) => Lost::Count(a.saturating_add(b)),
            _ => Lost::Unknown,
        }
    }
}
