//! The settings of a worker that drains a CPU's ring, and the counters that all workers share.

use super::limits::Budget;
use crate::file::ring_buffer::Lost;
use crate::file::trace_dat::ChunkScan;
use crate::file::trace_dat::Compression;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// A ring buffer's geometry and the format in which its data is stored.
#[derive(Clone, Copy, Debug)]
pub struct Drain {
    /// Bytes per sub-buffer.
    pub sub_buffer: usize,
    /// Bytes of sub-buffers per chunk, a multiple of `sub_buffer`.
    pub chunk: usize,
    /// Compression of the chunks.
    pub compression: Compression,
    /// Scans each chunk for the index, if set.
    pub scan: Option<ChunkScan>,
    /// read(2) instead of splice(2) from the start.
    pub no_splice: bool,
    /// Whole sub-buffers that are there whenever poll(2) reports the ring readable: `buffer_percent` of the ring. Only
    /// read(2) needs it, which would also take half-filled ones.
    pub ready_at_wake: usize,
    /// Bytes of the whole ring; 0 if that is not known, and then it never seems full.
    pub ring: usize,
    /// The thread's real-time priority, if it shall have one (SCHED_FIFO, 1 to 99).
    pub priority: Option<i32>,
    /// The ring is looked at this often, and its reader never waits for it: the kernel then sends no wake-ups, which
    /// interrupt the traced CPU. Without it the kernel says when the ring is full enough.
    pub poll_every: Option<Duration>,
    /// Events known to be lost before the first sub-buffer of the ring. Noted in that one's header; needs [`Drain::scan`].
    pub lost_before: Lost,
}

impl Drain {
    /// Chunks of `chunk` bytes, compressed as by default; nothing special.
    pub fn new(sub_buffer: usize, chunk: usize) -> Self {
        let compression = Compression::default();
        Drain {
            sub_buffer,
            chunk,
            compression,
            scan: None,
            no_splice: false,
            ready_at_wake: 1,
            ring: 0,
            priority: None,
            poll_every: None,
            lost_before: Lost::None,
        }
    }
}

/// Counters that all draining threads add to, and the budget that they share.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes taken from the rings.
    pub raw: AtomicU64,
    /// Bytes given to the spools.
    pub written: AtomicU64,
    /// The budget that may still be written.
    pub budget: Budget,
    /// Tracing could not be switched off: of what the rings still give, no more than they hold is taken at the end.
    pub still_on: AtomicBool,
}
