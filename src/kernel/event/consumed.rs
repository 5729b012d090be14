//! Number of records that one event's output covers.

/// Number of records that one event's output covers. A function_graph entry and its exit are one line if nothing was
/// called in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consumed {
    /// The record alone.
    #[default]
    One,
    /// The following record too: it gets no output of its own.
    Two,
}
