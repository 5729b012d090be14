//! Finding the chunks of a time window without reading the others.
//!
//! A CPU's records are in the order of time, so its chunks can be searched like a sorted table, if only one can find a
//! chunk near any offset: uncompressed sub-buffers lie at multiples of their size; a compressed chunk is recognised by
//! its header and the first bytes of its frame, and by the header of the next chunk standing where it says. The start
//! of a chunk is known from the first few bytes of its decompression. A file of 10 GB takes some twenty such
//! probes per CPU, and nothing has to be kept.
//!
//! The first and the last record of a CPU.

use super::super::file::buffer::ChunkStarts;
use super::batch::Head;
use super::chunks::{COUNT, Chunk, HEADER};
use super::stream::CpuStream;
use crate::base::abi::Abi;
use crate::base::units::Timestamp;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::codec::unpack_start;
use crate::file::trace_dat::read_at::read_full;
use crate::file::trace_dat::{
    Buffer, Codec, Correction, CpuData, DataLayout, FileError, KeptChunks, MAX_CHUNK, ReadAt, TimeOptions, Trace,
};
use std::ops::Range;
use std::sync::Arc;

/// Size of one step of the search for a chunk's header, in bytes.
const WINDOW: usize = 64 << 10;
/// A stretch of at most this many bytes is walked from header to header.
const WALK: u64 = 1 << 20;
/// The most that a compressor emits before the first sub-buffer's header can be unpacked, in bytes.
const FIRST_BLOCK: u64 = 160 << 10;
/// The first bytes of a chunk's data, by which its codec is known.
const FRAME: usize = 4;
/// Size of a chunk's header and those bytes.
const START: usize = HEADER as usize + FRAME;
/// The sizes that trace-cmd 3.1 states do not count the 4 bytes of the chunk count.
const SLACK: u64 = 4;

/// Searches one CPU's data by time.
pub struct Seek {
    io: Arc<dyn ReadAt>,
    data: CpuData,
    codec: Codec,
    abi: Abi,
    page: PageLayout,
    correction: Correction,
    starts: Option<Arc<ChunkStarts>>,
}

impl Trace {
    /// A search through the data of the CPU that is number `cpu` of `buffer.cpus`, by corrected time stamps.
    ///
    /// # Errors
    /// [`FileError`] if the CPU's data cannot be opened.
    pub fn seek(&self, buffer: &Buffer, cpu: usize, time: &TimeOptions) -> Result<Seek, FileError> {
        let (data, io) = self.cpu_data(buffer, cpu);
        Ok(Seek {
            io,
            data,
            codec: self.prefix.codec,
            abi: self.abi,
            page: self.page_layout(buffer),
            correction: self.correction(data.cpu, time),
            starts: self.chunk_starts(buffer, cpu),
        })
    }
}

impl Seek {
    /// The part of the file that holds all chunks with records from `since` to `until`, both included: what
    /// [`Trace::stream_of_chunks`] takes. It holds records outside of that time too.
    pub fn range(&self, since: Option<Timestamp>, until: Option<Timestamp>) -> Range<u64> {
        let start = match since {
            // A chunk that begins before holds what follows, up to the next chunk's beginning.
            Some(since) => self.partition(|first| first < since.0, false).0,
            None => self.data.offset,
        };
        let end = match until {
            Some(until) => self.partition(|first| first <= until.0, true).1,
            None => u64::MAX,
        };
        let start = if start <= self.start() { self.data.offset } else { start };
        start..end.max(start)
    }

    /// The time of the first chunk that starts in the last `bytes` of the stored data; `None` if that is all chunks, or
    /// there is none whose time can be read.
    pub fn time_near_end(&self, bytes: u64) -> Option<Timestamp> {
        let from = self.end().checked_sub(bytes).filter(|from| *from > self.start())?;
        let chunks = self.walk(from, self.end().min(from.saturating_add(WALK)));
        chunks.iter().find_map(|c| self.first_time(c)).map(Timestamp)
    }

    /// Offset of the first chunk.
    fn start(&self) -> u64 {
        self.data.offset.saturating_add(if self.data.layout == DataLayout::Pages { 0 } else { COUNT })
    }

    fn end(&self) -> u64 {
        self.data.offset.saturating_add(self.data.size).max(self.start())
    }

    /// The last chunk whose first time `before` holds for, and the first one for which it does not: offsets, or the
    /// data's start and end. Chunks whose time cannot be read count as `unknown`.
    fn partition(&self, before: impl Fn(u64) -> bool, unknown: bool) -> (u64, u64) {
        if let Some(known) = self.starts.as_ref().and_then(|starts| self.indexed(starts, &before)) {
            return known;
        }
        let holds = |chunk: &Chunk| self.first_time(chunk).map_or(unknown, &before);
        let (mut low, mut high) = (self.start(), self.end());
        while high.saturating_sub(low) > WALK {
            let middle = low.midpoint(high);
            match self.chunk_at(middle, high) {
                Some(chunk) if holds(&chunk) => low = chunk.offset,
                _ => high = middle,
            }
        }
        // Chunks that start at or after `high` are known not to hold it, or not to be there.
        let chunks = self.walk(low, high);
        let count = chunks.partition_point(holds);
        let last = count.checked_sub(1).and_then(|i| chunks.get(i)).map_or(low, |c| c.offset);
        let first = chunks.get(count).map(|c| c.offset).or_else(|| self.chunk_at(high, self.end()).map(|c| c.offset));
        (last, first.unwrap_or(u64::MAX))
    }

    /// The same of the file's index; `None` if no chunks are where it says.
    fn indexed(&self, starts: &ChunkStarts, before: impl Fn(u64) -> bool) -> Option<(u64, u64)> {
        let count = starts.partition_point(|(_, first)| before(self.correction.apply(*first)));
        let last = count.checked_sub(1).and_then(|last| starts.get(last)).map_or(self.start(), |start| start.0);
        let next = starts.get(count).map_or(u64::MAX, |start| start.0);
        let is_there = |at: u64| at == self.start() || at == u64::MAX || self.is_chunk(at);
        (is_there(last) && is_there(next)).then_some((last, next))
    }

    /// The chunks that start in `from..to`. `from` need not be the start of one.
    fn walk(&self, from: u64, to: u64) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut next = self.chunk_at(from, to);
        while let Some(chunk) = next {
            chunks.push(chunk);
            let at = self.after(&chunk);
            next = match self.header(at) {
                Some(chunk) if at < to => Some(chunk),
                _ => self.chunk_at(at, to),
            };
        }
        chunks
    }

    fn after(&self, chunk: &Chunk) -> u64 {
        match self.data.layout {
            DataLayout::Pages => chunk.offset.saturating_add(chunk.stored.into()),
            _ => chunk.end(),
        }
    }

    /// The first chunk that starts in `from..to`.
    fn chunk_at(&self, from: u64, to: u64) -> Option<Chunk> {
        let mut at = from.max(self.start());
        if self.data.layout == DataLayout::Pages {
            let size = self.page.size as u64;
            let pages = at.saturating_sub(self.data.offset).checked_next_multiple_of(size)?;
            let offset = self.data.offset.checked_add(pages)?;
            let stored = size.min(self.end().saturating_sub(offset)) as u32;
            return (offset < to && stored > 0).then_some(Chunk { offset, stored, size: stored });
        }
        if at == self.start()
            && let Some(chunk) = self.header(at).filter(|_| at < to)
        {
            return Some(chunk);
        }
        let mut window = vec![0; WINDOW];
        while at < to {
            let got = read_full(&*self.io, &mut window, at).ok()?;
            let starts = window.get(..got)?.windows(START);
            let next = at.saturating_add(starts.len() as u64);
            for (start, offset) in starts.zip(at..to) {
                let frame = start.last_chunk::<FRAME>().is_some_and(|frame| self.codec.is_frame(frame));
                if frame && self.is_chunk(offset) {
                    return self.header(offset);
                }
            }
            if got < window.len() {
                return None;
            }
            at = next;
        }
        None
    }

    /// True if a chunk starts at `offset`: its header is sound, and so is what follows it.
    fn is_chunk(&self, offset: u64) -> bool {
        let mut at = offset;
        for _ in 0..3 {
            let Some(chunk) = self.header(at) else { return false };
            at = self.after(&chunk);
            if at >= self.end() {
                return true;
            }
            let mut frame = [0; FRAME];
            if !matches!(read_full(&*self.io, &mut frame, at.saturating_add(HEADER)), Ok(FRAME))
                || !self.codec.is_frame(&frame)
            {
                return self.data.layout == DataLayout::Spool; // torn, or room not yet written
            }
        }
        true
    }

    /// The header at `offset`, if it is sound.
    fn header(&self, offset: u64) -> Option<Chunk> {
        if self.data.layout == DataLayout::Pages {
            return self.chunk_at(offset, self.end());
        }
        let mut bytes = [0; 8];
        if !matches!(read_full(&*self.io, &mut bytes, offset), Ok(8)) {
            return None;
        }
        let (stored, size) = (self.abi.uint(&bytes, 0, 4)? as u32, self.abi.uint(&bytes, 4, 4)? as u32);
        let chunk = Chunk { offset, stored, size };
        let fits = chunk.end() <= self.end().saturating_add(SLACK);
        let whole_pages = (size as usize).is_multiple_of(self.page.size);
        (stored > 0 && (1..=MAX_CHUNK as u32).contains(&size) && whole_pages && fits).then_some(chunk)
    }

    /// The time that the chunk begins with; `None` if it cannot be read or the first sub-buffer is empty.
    fn first_time(&self, chunk: &Chunk) -> Option<u64> {
        let mut first = [0; 16];
        let body =
            if self.data.layout == DataLayout::Pages { chunk.offset } else { chunk.offset.saturating_add(HEADER) };
        match (self.data.layout, self.codec) {
            (DataLayout::Pages, _) | (_, Codec::None) => {
                read_full(&*self.io, &mut first, body).ok().filter(|n| *n == 16)?;
            }
            (_, codec) => {
                let mut packed = vec![0; u64::from(chunk.stored).min(FIRST_BLOCK) as usize];
                let got = read_full(&*self.io, &mut packed, body).ok()?;
                let mut start = Vec::with_capacity(first.len());
                unpack_start(codec, packed.get(..got)?, first.len(), &mut start);
                first = *start.first_chunk()?;
            }
        }
        let timestamp = self.abi.uint(&first, 0, 8)?;
        let commit = self.abi.uint(&first, 8, self.abi.long_size.into())?;
        (timestamp != 0 || commit != 0).then(|| self.correction.apply(timestamp))
    }
}

/// The times of a first and a last record, if there are any.
type Ends = Option<(Timestamp, Timestamp)>;

impl Trace {
    /// The times of the first and the last record of a CPU; `None` if it has none that can be read.
    ///
    /// Of sound data the first and the last chunk are read, and the headers of those between. Where any of these is damaged,
    /// all data is read: each damage goes to `damaged`.
    ///
    /// # Errors
    /// As [`Trace::stream`].
    pub fn span(
        &self,
        buffer: &Buffer,
        cpu: usize,
        time: &TimeOptions,
        damaged: &mut dyn FnMut(FileError),
    ) -> Result<Ends, FileError> {
        match self.sound_ends(buffer, cpu, time)? {
            Some(ends) => Ok(ends),
            None => Ok(ends(self.stream(buffer, cpu, time)?, damaged)),
        }
    }

    /// The same of the first and the last chunks that the file's index names, where it is right: the headers of the others are
    /// not read. `None` without an index, and if there is no record in the one or the other, or damage. The first chunk is
    /// kept for those who read on.
    ///
    /// # Errors
    /// As [`Trace::stream`].
    pub fn indexed_span(
        &self,
        buffer: &Buffer,
        cpu: usize,
        time: &TimeOptions,
        kept: &Arc<KeptChunks>,
    ) -> Result<Ends, FileError> {
        let starts = self.chunk_starts(buffer, cpu).unwrap_or_default();
        let (Some((begin, _)), Some((last, _))) = (starts.first(), starts.last()) else { return Ok(None) };
        let next = starts.get(1).map_or(u64::MAX, |(next, _)| *next);
        let mut stream = self.stream_of_chunks(buffer, cpu, time, *begin..next)?;
        stream.keep_chunks(Arc::clone(kept));
        let Ok(Some(Head { item: first, .. })) = stream.next(&mut Vec::new()) else { return Ok(None) };
        let first = Timestamp(first.timestamp);
        let mut is_sound = true;
        let ends = ends(self.stream_of_chunks(buffer, cpu, time, *last..u64::MAX)?, &mut |_| is_sound = false);
        Ok(ends.filter(|_| is_sound).map(|(_, last)| (first, last)))
    }

    /// The same without looking at all data; `None` if some of what was looked at is damaged.
    fn sound_ends(&self, buffer: &Buffer, cpu: usize, time: &TimeOptions) -> Result<Option<Ends>, FileError> {
        let mut is_sound = true;
        let chunks = self.chunks(buffer, cpu, &mut |_| is_sound = false);
        if !is_sound {
            return Ok(None);
        }
        let mut first = None;
        let mut next = u64::MAX;
        // Chunks may hold no records.
        let mut ends_of = |range: Range<u64>| {
            let ends = ends(self.stream_of_chunks(buffer, cpu, time, range)?, &mut |_| is_sound = false);
            Ok::<Ends, FileError>(ends)
        };
        for (chunk, next) in chunks.iter().zip(chunks.iter().skip(1).map(|chunk| chunk.offset).chain([u64::MAX])) {
            first = ends_of(chunk.offset..next)?.map(|ends| ends.0);
            if first.is_some() {
                break;
            }
        }
        let mut last = None;
        for chunk in chunks.iter().rev().take_while(|_| first.is_some()) {
            last = ends_of(chunk.offset..next)?.map(|ends| ends.1);
            next = chunk.offset;
            if last.is_some() {
                break;
            }
        }
        Ok(is_sound.then_some(first.zip(last)))
    }
}

/// The first and the last record of what is left of `stream`.
fn ends(mut stream: CpuStream, damaged: &mut dyn FnMut(FileError)) -> Ends {
    let mut spare = Vec::new();
    let mut ends: Ends = None;
    loop {
        match stream.next(&mut spare) {
            Ok(Some(Head { item, .. })) => {
                let time = Timestamp(item.timestamp);
                ends = Some((ends.map_or(time, |ends| ends.0), time));
            }
            Ok(None) => return ends,
            Err(error) => damaged(error),
        }
    }
}
