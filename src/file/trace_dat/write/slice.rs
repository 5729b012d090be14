//! The parts of a recording that files get: slices by time, by records, by sub-buffers.

use super::NewFile;
use std::ops::Range;

/// A CPU of a buffer: their places in [`Trace::buffers`](crate::file::trace_dat::Trace::buffers) and
/// [`Buffer::cpus`](crate::file::trace_dat::Buffer::cpus).
pub type StreamIndex = (usize, usize);

/// The part of a recording that a file gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopiedPart {
    /// The events of this time, corrected as reports show it.
    Time(Range<u64>),
    /// Of each stream these records, counted from 0, in the order of the streams.
    Records(Vec<Range<u64>>),
    /// Of each stream these sub-buffers, counted from 0.
    Pages(Range<u64>),
}

/// A part being written.
pub struct PartWriter {
    /// The slice.
    pub slice: CopiedPart,
    /// The file.
    pub file: NewFile,
    /// Number of records written.
    pub records: u64,
}

impl PartWriter {
    /// A part that has nothing yet.
    pub fn new(slice: CopiedPart, file: NewFile) -> Self {
        PartWriter { slice, file, records: 0 }
    }
}

/// A sub-buffer within a chunk.
pub(super) struct SlicePage {
    /// Its first record's number in the stream, and the one after its last.
    pub(super) records: Range<u64>,
    /// The corrected times of its records.
    pub(super) times: Vec<u64>,
}

/// True if a slice wants a record of this time, which lies between two others that it wants.
pub(super) fn is_wanted(slice: &CopiedPart, time: u64) -> bool {
    match slice {
        CopiedPart::Time(window) => window.contains(&time),
        CopiedPart::Records(_) | CopiedPart::Pages(_) => true,
    }
}

/// Records of a sub-buffer that a slice wants, counted from the sub-buffer's first.
pub(super) fn wanted(slice: &CopiedPart, stream: usize, page: &SlicePage, at: u64) -> Range<u64> {
    let count = page.times.len() as u64;
    match slice {
        CopiedPart::Time(time) => {
            let first = page.times.iter().position(|t| time.contains(t)).map_or(count, |at| at as u64);
            let end =
                page.times.iter().rposition(|t| time.contains(t)).map_or(first, |at| (at as u64).saturating_add(1));
            first..end
        }
        CopiedPart::Records(of_streams) => {
            let range = of_streams.get(stream).cloned().unwrap_or(0..0);
            let within = |n: u64| n.clamp(page.records.start, page.records.end).saturating_sub(page.records.start);
            within(range.start)..within(range.end)
        }
        CopiedPart::Pages(range) => {
            if range.contains(&at) {
                0..count
            } else {
                0..0
            }
        }
    }
}

/// A place between two records of a stream, counted from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamPlace {
    /// The corrected times of the record before it, and of the one after it.
    pub(super) times: (u64, u64),
    /// Number of records before it.
    pub(super) records: u64,
    /// Number of sub-buffers before it.
    pub(super) pages: u64,
}

impl StreamPlace {
    /// True if records that were at this place can have been ones that `slice` wants.
    pub(super) fn is_in(&self, slice: &CopiedPart, stream: usize) -> bool {
        match slice {
            CopiedPart::Time(time) => self.times.0 < time.end && time.start <= self.times.1,
            CopiedPart::Records(of_streams) => {
                of_streams.get(stream).is_some_and(|range| range.start <= self.records && self.records <= range.end)
            }
            CopiedPart::Pages(range) => range.start <= self.pages && self.pages <= range.end,
        }
    }
}
