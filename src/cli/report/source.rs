//! Buffers of all files, as the merge counts them.

use rtrace::trace_dat::TimeOptions;

/// One buffer of one file: what [`rtrace::event::Record::buffer`] counts.
pub(super) struct Source {
    /// Which of the files.
    pub(super) file: usize,
    /// Which of the file's buffers.
    pub(super) buffer: usize,
    /// Which of the buffer's CPUs are wanted: indices.
    pub(super) cpus: Vec<usize>,
    /// Whether its time stamps are not nanoseconds.
    pub(super) in_ticks: bool,
    /// What its time stamps go through.
    pub(super) time: TimeOptions,
}
