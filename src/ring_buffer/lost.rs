//! Lost events, as a sub-buffer's header counts them.

/// How many events the kernel dropped.
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
