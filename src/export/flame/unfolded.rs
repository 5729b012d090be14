//! Events that are in no call stack.

/// Events that are in no call stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfolded {
    /// Events that are neither function_graph's, nor stack traces, nor switches between tasks while
    /// functions are open.
    pub others: u64,
    /// Stack traces of a recording with function_graph, which gives times.
    pub stacks: u64,
    /// Returns from functions whose entry is not in the recording.
    pub returns: u64,
}
