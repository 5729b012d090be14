//! One stream's records between two times.

use super::unpacked::Unpacked;
use crate::merge::Source;
use crate::ring_buffer::{Item, PageError};
use crate::trace_dat::{Batch, Correction, CpuStream, EventIdSet, FileError, Head, PageCursor};
use crate::units::CpuId;
use std::sync::Arc;

/// The records of a CPU from `start` in the first chunk up to `end` in the last one.
pub(super) struct SegmentStream {
    cpu: CpuId,
    correction: Correction,
    pub(super) chunks: Vec<Arc<Unpacked>>,
    cursor: PageCursor,
    /// Place of the first record of the last chunk that is not part of it; `None`: the chunk is part of it to its end.
    pub(super) end: Option<usize>,
    /// All records must be earlier. A damaged page may hold others: then the segment fails, and is read in order.
    until: u64,
    chunk: usize,
    /// Records that the cursor has passed and that are not consumed yet.
    batch: Batch,
    sieve: Option<Arc<EventIdSet>>,
    /// The current chunk's first page.
    first_page: u64,
}

impl Source for SegmentStream {
    #[inline]
    fn cpu(&self) -> CpuId {
        self.cpu
    }

    #[inline(always)]
    fn next(&mut self, _spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        match self.batch.next() {
            Some(head) => Ok(Some(head)),
            None => self.refill(),
        }
    }

    #[inline(always)]
    fn ready(&mut self, limit: u64) -> Option<Head> {
        self.batch.next_before(limit)
    }

    #[inline]
    fn found(&self) -> (&[Item], &[u8]) {
        let chunk = self.chunks.get(self.chunk.min(self.chunks.len() - 1));
        (self.batch.rest(), chunk.map_or(&[], |chunk| chunk))
    }

    #[inline]
    fn give(&mut self, count: usize) -> Option<Head> {
        self.batch.give(count)
    }

    #[inline]
    fn swapped(&self) -> bool {
        false
    }

    #[inline]
    fn bytes(&self, head: &Head) -> &[u8] {
        let last = self.chunk.min(self.chunks.len() - 1);
        let chunk = if head.page >= self.first_page { last } else { last - 1 };
        &self.chunks[chunk][head.item.range()]
    }
}

impl SegmentStream {
    /// Records of `stream`, which is merged with others: `among` streams in all. There are none yet.
    pub(super) fn new(stream: &CpuStream, among: usize) -> Self {
        SegmentStream {
            cpu: stream.cpu(),
            correction: stream.correction().clone(),
            chunks: Vec::new(),
            cursor: stream.cursor(),
            end: None,
            until: u64::MAX,
            chunk: 0,
            batch: Batch::among(among),
            sieve: stream.sieve(),
            first_page: 0,
        }
    }

    /// Becomes the records of `stream` from `cursor` on, in a chunk whose first page is `first_page`, to the end of
    /// `chunks`, or to the time `until`. What it allocated is used again.
    pub(super) fn begin(
        &mut self,
        stream: &CpuStream,
        (cursor, first_page): (PageCursor, u64),
        chunks: impl Iterator<Item = Arc<Unpacked>>,
        until: Option<u64>,
    ) {
        (self.cpu, self.correction, self.sieve) = (stream.cpu(), stream.correction().clone(), stream.sieve());
        self.chunks.clear();
        self.chunks.extend(chunks);
        self.batch.clear();
        (self.cursor, self.first_page, self.chunk) = (cursor, first_page, 0);
        (self.end, self.until) = (None, until.unwrap_or(u64::MAX));
    }

    #[inline(never)]
    fn refill(&mut self) -> Result<Option<Head>, FileError> {
        loop {
            if let Some(source) = self.batch.take_error() {
                return Err(self.error(source));
            }
            let Some(chunk) = self.chunks.get(self.chunk) else { return Ok(None) };
            let first = self.cursor.fill(chunk, self.sieve.as_deref(), &mut self.batch);
            let Some(mut first) = first.map_err(|source| self.error(source))? else {
                if self.next_chunk() {
                    continue;
                }
                return Ok(None);
            };
            if self.chunk + 1 == self.chunks.len()
                && let Some(end) = self.end
                && self.batch.cut(|item| item.start() >= end).is_some()
            {
                self.chunk = self.chunks.len();
            }
            self.correction.apply_to(self.batch.items_mut());
            first.item.timestamp = self.correction.apply(first.item.timestamp);
            let until = self.until;
            if let Some(late) = self.batch.cut(|item| item.timestamp >= until) {
                self.batch.end_with(PageError::OutOfOrder { offset: late.start() });
            }
            if self.batch.is_empty() {
                continue;
            }
            return Ok(Some(first));
        }
    }

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
}
