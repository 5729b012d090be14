//! One stream's records between two times.

use crate::merge::Source;
use crate::ring_buffer::PageError;
use crate::trace_dat::{Correction, FileError, Head, PageCursor};
use crate::units::CpuId;
use std::sync::Arc;

/// The records of a CPU from `start` in the first chunk up to `end` in the last one.
#[derive(Clone)]
pub(super) struct SegmentStream {
    pub(super) cpu: CpuId,
    pub(super) correction: Correction,
    pub(super) chunks: Vec<Arc<Vec<u8>>>,
    pub(super) cursor: PageCursor,
    /// Where the first record of the last chunk lies that is not part of it; `None`: the chunk is part of it to its end.
    pub(super) end: Option<usize>,
    /// All records must be earlier. A damaged page may hold others: then the segment fails, and is read in order.
    pub(super) until: u64,
    pub(super) chunk: usize,
    /// The current chunk's first page.
    pub(super) first_page: u64,
}

impl Source for SegmentStream {
    #[inline]
    fn cpu(&self) -> CpuId {
        self.cpu
    }

    #[inline(always)]
    fn next(&mut self, _spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        loop {
            let Some(chunk) = self.chunks.get(self.chunk) else { return Ok(None) };
            match self.cursor.step(chunk).map_err(|source| self.error(source))? {
                Some(head) if self.is_end(&head) => {
                    self.chunk = self.chunks.len();
                    return Ok(None);
                }
                Some(mut head) => {
                    head.item.timestamp = self.correction.apply(head.item.timestamp);
                    if head.item.timestamp >= self.until {
                        return Err(self.error(PageError::OutOfOrder { offset: head.item.start }));
                    }
                    return Ok(Some(head));
                }
                None if self.next_chunk() => {}
                None => return Ok(None),
            }
        }
    }

    #[inline]
    fn swapped(&self) -> bool {
        false
    }

    #[inline]
    fn bytes(&self, head: &Head) -> &[u8] {
        let last = self.chunk.min(self.chunks.len() - 1);
        let chunk = if head.page >= self.first_page { last } else { last - 1 };
        &self.chunks[chunk][head.item.start..head.item.start + head.item.len]
    }
}

impl SegmentStream {
    /// Goes to the next chunk; `false` if there is none.
    #[inline(never)]
    fn next_chunk(&mut self) -> bool {
        let Some(next) = self.chunks.get(self.chunk + 1) else { return false };
        self.chunk += 1;
        self.cursor.enter(next.len());
        self.first_page = self.cursor.page();
        true
    }

    #[cold]
    fn error(&self, source: PageError) -> FileError {
        FileError::Page { buffer: String::new(), cpu: self.cpu, page: self.cursor.page(), source }
    }

    #[inline]
    fn is_end(&self, head: &Head) -> bool {
        self.chunk + 1 == self.chunks.len() && self.end.is_some_and(|end| head.item.start >= end)
    }
}
