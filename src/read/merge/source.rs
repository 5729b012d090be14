//! Sources of a merge.

use crate::base::units::CpuId;
use crate::file::ring_buffer::RecordPlace;
use crate::file::trace_dat::{CpuStream, FileError, Head};

/// A CPU's records in order, lent from a buffer that may be exchanged for `spare`.
pub trait RecordSource {
    /// The CPU.
    fn cpu(&self) -> CpuId;

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// [`FileError`] where data is damaged; calling again goes on after it.
    fn next(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError>;

    /// The next record, if it is buffered and earlier than `limit`: then the bytes of the one before stay where they are.
    fn ready(&mut self, limit: u64) -> Option<Head>;

    /// The record given last and those after it that are buffered, with the data they lie in.
    fn found(&self) -> (&[RecordPlace], &[u8]);

    /// Gives `count` of them at once: the last, if there are that many.
    fn advance_by(&mut self, count: usize) -> Option<Head>;

    /// True if the last [`RecordSource::next`] changed buffers with `spare`, where the record before it is found since.
    fn swapped(&self) -> bool;

    /// The bytes of a record that [`RecordSource::next`] gave last, or the time before that.
    fn bytes(&self, head: &Head) -> &[u8];
}

impl RecordSource for CpuStream {
    #[inline]
    fn cpu(&self) -> CpuId {
        self.cpu()
    }

    #[inline(always)]
    fn next(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        self.next(spare)
    }

    #[inline(always)]
    fn ready(&mut self, limit: u64) -> Option<Head> {
        self.ready(limit)
    }

    #[inline]
    fn found(&self) -> (&[RecordPlace], &[u8]) {
        self.found()
    }

    #[inline]
    fn advance_by(&mut self, count: usize) -> Option<Head> {
        self.advance_by(count)
    }

    #[inline]
    fn swapped(&self) -> bool {
        self.swapped()
    }

    #[inline]
    fn bytes(&self, head: &Head) -> &[u8] {
        self.bytes(head)
    }
}
