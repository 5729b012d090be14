//! One stream on its way into segments.

use super::segment::{SegmentStream, Unpacked};
use crate::file::ring_buffer::{PageError, PageLayout, PageOrder};
use crate::file::trace_dat::{Codec, CpuStream, Mark, PackedChunk, PageCursor, PageHeaders};
use std::collections::VecDeque;
use std::sync::Arc;

/// A chunk that is unpacked.
struct ReadyChunk {
    mark: Mark,
    data: Arc<Unpacked>,
    /// The time its first page begins at, corrected.
    start: u64,
    /// The time its last page begins at, corrected. All records before it are in memory.
    last_page: u64,
}

/// A chunk that was handed out to be unpacked.
struct RequestedChunk {
    mark: Mark,
    size: usize,
    /// The unpacked chunk; `None` if it could not be unpacked.
    got: Option<Option<Unpacked>>,
}

/// A stream, the chunks of it that are in memory, and the place up to which it has been made into segments.
pub(super) struct StreamFeed {
    stream: CpuStream,
    ready: VecDeque<ReadyChunk>,
    asked: VecDeque<RequestedChunk>,
    first_asked: u64,
    /// In the first ready chunk.
    cursor: PageCursor,
    first_page: u64,
    /// The order of the sub-buffers that are or were in memory.
    order: PageOrder,
    /// No chunk can be asked for any more: the end, or damage.
    closed: bool,
    /// The data after the ready chunks must be read in order.
    damaged: bool,
}

impl StreamFeed {
    pub(super) fn new(stream: CpuStream) -> Self {
        let cursor = stream.cursor();
        StreamFeed {
            stream,
            ready: VecDeque::new(),
            asked: VecDeque::new(),
            first_asked: 0,
            cursor,
            first_page: 0,
            order: PageOrder::default(),
            closed: false,
            damaged: false,
        }
    }

    pub(super) fn codec(&self) -> Codec {
        self.stream.codec()
    }

    pub(super) fn layout(&self) -> PageLayout {
        self.cursor.layout()
    }

    /// Bytes that are in memory or will be.
    pub(super) fn held(&self) -> usize {
        self.ready.iter().map(|c| c.data.len()).sum::<usize>() + self.asked.iter().map(|a| a.size).sum::<usize>()
    }

    /// Number of chunks that are in memory or will be.
    pub(super) fn chunks(&self) -> usize {
        self.ready.len() + self.asked.len()
    }

    /// True if chunks are being unpacked.
    pub(super) fn is_waiting(&self) -> bool {
        !self.asked.is_empty()
    }

    /// True if there may be chunks to ask for.
    pub(super) fn is_open(&self) -> bool {
        !self.closed
    }

    /// The pages that are in memory and not yet begun: when each begins, and whether it is the first of its chunk.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u64, bool)> {
        let begun = self.cursor.next_page();
        self.ready.iter().enumerate().flat_map(move |(number, chunk)| {
            let first = if number == 0 { begun } else { 0 };
            let starts = chunk.data.headers.starts(first).enumerate();
            starts.map(move |(page, start)| (self.stream.correction().apply(start), first + page == 0))
        })
    }

    /// The next chunk to be unpacked, with its number.
    pub(super) fn ask(&mut self) -> Option<(u64, PackedChunk)> {
        if self.closed {
            return None;
        }
        let mark = self.stream.mark();
        let Some(packed) = self.stream.next_packed() else {
            self.closed = true;
            self.damaged |= !self.stream.is_done();
            return None;
        };
        let number = self.first_asked + self.asked.len() as u64;
        self.asked.push_back(RequestedChunk { mark, size: packed.size, got: None });
        Some((number, packed))
    }

    /// Takes what came of chunk `number`: `None` if it cannot be unpacked.
    pub(super) fn take(&mut self, number: u64, data: Option<Unpacked>) {
        let Some(asked) = number.checked_sub(self.first_asked).and_then(|n| self.asked.get_mut(n as usize)) else {
            return;
        };
        asked.got = Some(data);
        while let Some(RequestedChunk { got: Some(_), .. }) = self.asked.front() {
            let Some(RequestedChunk { mark, size, got: Some(got) }) = self.asked.pop_front() else { break };
            self.first_asked += 1;
            let sound = got.filter(|d| d.len() == size && d.headers.is_in_order(&mut self.order)).and_then(|data| {
                let (start, last_page) = self.span(&data.headers)?;
                Some((data, start, last_page))
            });
            match sound {
                Some((data, start, last_page)) => self.add(ReadyChunk { mark, data: Arc::new(data), start, last_page }),
                None => {
                    // All that was asked for after it is given up: it will be read again, in order.
                    self.first_asked += self.asked.len() as u64;
                    self.asked.clear();
                    self.closed = true;
                    self.damaged = true;
                    self.resume_at(mark);
                }
            }
        }
    }

    /// Times of the first and the last page of the next chunk, corrected; `None` if a page begins before the one before
    /// it: a page of zeros, or a clock that went back, is nothing to cut a trace by.
    fn span(&self, headers: &PageHeaders) -> Option<(u64, u64)> {
        let mut starts = headers.starts(0).map(|start| self.stream.correction().apply(start));
        let first = starts.next()?;
        let rises = self.ready.back().is_none_or(|before| before.last_page <= first);
        let last = starts.try_fold(first, |before, start| (before <= start).then_some(start))?;
        rises.then_some((first, last))
    }

    fn add(&mut self, chunk: ReadyChunk) {
        if self.ready.is_empty() {
            self.cursor.enter(chunk.data.len());
            self.first_page = self.cursor.page();
            let (since, correction) = (self.stream.since(), self.stream.correction());
            // A sub-buffer that cannot be passed is met again when it is read.
            let _ = self.cursor.skip_pages(&chunk.data, &chunk.data.headers, |start| correction.apply(start) < since);
        }
        self.ready.push_back(chunk);
    }

    fn resume_at(&mut self, mark: Mark) {
        self.stream.go_to(mark, self.cursor, false);
    }

    /// The time up to which everything is in memory: `None` if that is all there is.
    pub(super) fn horizon(&self) -> Option<u64> {
        if self.closed && !self.damaged && self.asked.is_empty() {
            return None;
        }
        Some(self.ready.back().map_or(0, |last| last.last_page))
    }

    /// True if what follows the horizon must be read in order.
    pub(super) fn is_damaged(&self) -> bool {
        self.damaged && self.asked.is_empty()
    }

    /// An empty segment, to be merged with the other ones of `among` streams.
    pub(super) fn empty_segment(&self, among: usize) -> SegmentStream {
        SegmentStream::new(&self.stream, among)
    }

    /// Cuts off what lies before `until` (`None`: everything) into `segment`. `false` if nothing is in memory.
    ///
    /// # Errors
    /// [`PageError`] if a page on the way to the cut is damaged; nothing is cut off then.
    pub(super) fn split(&mut self, until: Option<u64>, segment: &mut SegmentStream) -> Result<bool, PageError> {
        if self.ready.is_empty() {
            return Ok(false);
        }
        let last = match until {
            Some(until) => self.ready.iter().rposition(|c| c.start < until).unwrap_or(0),
            None => self.ready.len() - 1,
        };
        let chunks = self.ready.iter().take(last + 1).map(|chunk| chunk.data.clone());
        segment.begin(&self.stream, (self.cursor, self.first_page), chunks, until);
        let Some(until) = until else {
            self.ready.clear();
            return Ok(true);
        };
        let (mut cursor, mut first_page) = (self.cursor, self.first_page);
        for pair in segment.chunks.windows(2) {
            cursor.skip_chunk(&pair[0], &pair[0].headers)?;
            cursor.enter(pair[1].len());
            first_page = cursor.page();
        }
        let data = self.ready[last].data.clone();
        let correction = self.stream.correction();
        cursor.skip_pages(&data, &data.headers, |timestamp| correction.apply(timestamp) < until)?;
        loop {
            let before = cursor;
            match cursor.step(&data)? {
                Some(head) if correction.apply(head.item.timestamp) >= until => {
                    segment.end = Some(head.item.start());
                    self.ready.drain(..last);
                    (self.cursor, self.first_page) = (before, first_page);
                    return Ok(true);
                }
                Some(_) => {}
                None => break,
            }
        }
        self.ready.drain(..=last);
        self.cursor = cursor;
        if let Some(next) = self.ready.front() {
            self.cursor.enter(next.data.len());
            self.first_page = self.cursor.page();
        }
        Ok(true)
    }

    /// The place at which segments end.
    pub(super) fn place(&self) -> FeedPlace {
        let mark = match (self.ready.front(), self.asked.front()) {
            (Some(first), _) => first.mark,
            (None, Some(first)) => first.mark,
            (None, None) => self.stream.mark(),
        };
        FeedPlace { mark, cursor: self.cursor, inside: !self.ready.is_empty() }
    }

    /// The stream, to be read in order from `place` on.
    pub(super) fn into_stream(self, place: FeedPlace) -> CpuStream {
        let mut stream = self.stream;
        stream.go_to(place.mark, place.cursor, place.inside);
        stream
    }
}

/// A position in a stream.
#[derive(Clone, Copy)]
pub(super) struct FeedPlace {
    mark: Mark,
    cursor: PageCursor,
    /// True if the cursor lies in the chunk at `mark`, rather than before it.
    inside: bool,
}
