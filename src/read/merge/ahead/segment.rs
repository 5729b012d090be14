//! One stream's records between two times.

use crate::base::units::CpuId;
use crate::file::ring_buffer::{PageError, RecordPlace};
use crate::file::trace_dat::{Batch, Correction, CpuStream, FileError, Head, PageCursor, PageHeaders, Sieve};
use crate::read::merge::RecordSource;
use std::ops::Deref;
use std::sync::Arc;

/// The records of a CPU from a place in the first chunk up to `end` in the last one.
pub(super) struct SegmentStream {
    cpu: CpuId,
    correction: Correction,
    pub(super) chunks: Vec<Arc<Unpacked>>,
    /// Place of the first record of the last chunk that is not part of it; `None`: the chunk is part of it to its end.
    pub(super) end: Option<usize>,
    /// All records must be earlier. A damaged page may hold others: then the segment fails, and is read in order.
    until: u64,
    sieve: Option<Arc<Sieve>>,
    /// The first chunk's first page.
    first_page: u64,
    ahead: Ahead,
}

/// Records that were found, and the place to go on from.
struct Ahead {
    cursor: PageCursor,
    /// Records that the cursor has passed and that are not consumed yet.
    batch: Batch,
}

/// Reads a segment's stream. It holds all that each record needs.
pub(super) struct SegmentReader<'s> {
    chunks: &'s [Arc<Unpacked>],
    /// The current chunk, and that of the record given last; there may be others between them, none of whose records pass.
    data: &'s [u8],
    before: &'s [u8],
    /// The current chunk's first page.
    first_page: u64,
    ahead: &'s mut Ahead,
    cpu: CpuId,
    chunk: usize,
    rules: SegmentRules<'s>,
}

/// The correction, sieve and end that hold for all records of a segment.
#[derive(Clone, Copy)]
struct SegmentRules<'s> {
    correction: &'s Correction,
    sieve: Option<&'s Sieve>,
    end: Option<usize>,
    until: u64,
}

impl SegmentStream {
    /// Records of `stream`, which is merged with others: `among` streams in all. There are none yet.
    pub(super) fn new(stream: &CpuStream, among: usize) -> Self {
        SegmentStream {
            cpu: stream.cpu(),
            correction: stream.correction().clone(),
            chunks: Vec::new(),
            end: None,
            until: u64::MAX,
            sieve: stream.sieve(),
            first_page: 0,
            ahead: Ahead { cursor: stream.cursor(), batch: Batch::among(among) },
        }
    }

    /// Becomes the records of `stream` from `cursor` on, in a chunk whose first page is `first_page`, to the end of
    /// `chunks`, or to the time `until`. Its memory is used again.
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
        (self.end, self.until) = (None, until.unwrap_or(u64::MAX));
        self.first_page = first_page;
        self.ahead.cursor = cursor;
        self.ahead.batch.clear();
    }

    /// Its records. Each stream is read once.
    pub(super) fn reader(&mut self) -> SegmentReader<'_> {
        let rules = SegmentRules {
            correction: &self.correction,
            sieve: self.sieve.as_deref(),
            end: self.end,
            until: self.until,
        };
        SegmentReader {
            data: self.chunks.first().map_or(&[], |chunk| chunk),
            chunks: &self.chunks,
            before: &[],
            first_page: self.first_page,
            ahead: &mut self.ahead,
            cpu: self.cpu,
            chunk: 0,
            rules,
        }
    }
}

impl RecordSource for SegmentReader<'_> {
    #[inline]
    fn cpu(&self) -> CpuId {
        self.cpu
    }

    #[inline(always)]
    fn next(&mut self, _spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        match self.ahead.batch.next() {
            Some(head) => Ok(Some(head)),
            None => self.refill(),
        }
    }

    #[inline(always)]
    fn ready(&mut self, limit: u64) -> Option<Head> {
        self.ahead.batch.next_before(limit)
    }

    #[inline]
    fn found(&self) -> (&[RecordPlace], &[u8]) {
        (self.ahead.batch.rest(), self.data)
    }

    #[inline]
    fn advance_by(&mut self, count: usize) -> Option<Head> {
        self.ahead.batch.advance_by(count)
    }

    #[inline]
    fn swapped(&self) -> bool {
        false
    }

    #[inline]
    fn bytes(&self, head: &Head) -> &[u8] {
        let data = if head.page >= self.first_page { self.data } else { self.before };
        &data[head.item.range()]
    }
}

impl SegmentReader<'_> {
    #[inline(never)]
    fn refill(&mut self) -> Result<Option<Head>, FileError> {
        let SegmentRules { correction, sieve, end, until } = self.rules;
        self.before = self.data;
        loop {
            let Ahead { cursor, batch } = &mut *self.ahead;
            if let Some(source) = batch.take_error() {
                return Err(self.error(source));
            }
            if self.chunk == self.chunks.len() {
                return Ok(None);
            }
            let first = cursor.fill(self.data, sieve, batch);
            let Some(mut first) = first.map_err(|source| self.error(source))? else {
                if self.next_chunk() {
                    continue;
                }
                return Ok(None);
            };
            let batch = &mut self.ahead.batch;
            if self.chunk + 1 == self.chunks.len()
                && let Some(end) = end
                && batch.cut(|item| item.start() >= end).is_some()
            {
                self.chunk = self.chunks.len();
            }
            correction.apply_to(batch.items_mut());
            first.item.timestamp = correction.apply(first.item.timestamp);
            if let Some(late) = batch.cut(|item| item.timestamp >= until) {
                batch.end_with(PageError::OutOfOrder { offset: late.start() });
            }
            if batch.is_empty() {
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
        self.ahead.cursor.enter(next.len());
        self.first_page = self.ahead.cursor.page();
        self.data = next;
        true
    }

    #[cold]
    fn error(&self, source: PageError) -> FileError {
        FileError::Page { buffer: String::new(), cpu: self.cpu, page: self.ahead.cursor.page(), what: source }
    }
}

/// A chunk's bytes, and what they hold.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    pub(super) headers: PageHeaders,
}

impl Deref for Unpacked {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}
