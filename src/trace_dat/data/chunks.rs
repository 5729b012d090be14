//! A CPU's stored data, chunk by chunk, into a buffer that is used again and again.

use super::read_ahead::{Packed, Window};
use crate::trace_dat::codec::{Unpacker, unpack_start};
use crate::trace_dat::read_at::read_full;
use crate::trace_dat::{ChunkError, Codec, CpuData, DataLayout, ReadAt};
use memchr::memmem;
use std::ops::Range;
use std::sync::Arc;

/// The most that one chunk may unpack to, in bytes: a damaged size must not cost memory.
const MAX_CHUNK: u32 = crate::trace_dat::MAX_CHUNK as u32;
/// How much uncompressed data is read at once, in bytes, if sub-buffers are not larger.
const READ_UNIT: u64 = 128 << 10;
/// What the readers of many CPUs read at once altogether, and each of them at least, in bytes.
const ALL_UNITS: u64 = 8 << 20;
const LEAST_UNIT: u64 = 16 << 10;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A chunk's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where its header starts in the file (uncompressed data: where its pages start).
    pub offset: u64,
    /// Bytes stored, without the header.
    pub stored: u32,
    /// Bytes it unpacks to.
    pub size: u32,
}

/// A place in a [`ChunkReader`]'s data, between two chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pos: u64,
    end: u64,
    number: u64,
    declared: Option<u32>,
}

/// A damaged chunk, and where it is.
pub(in crate::trace_dat) struct Damaged {
    pub(in crate::trace_dat) chunk: u64,
    pub(in crate::trace_dat) offset: u64,
    pub(in crate::trace_dat) what: ChunkError,
}

/// Reads one chunk after the other.
pub(in crate::trace_dat) struct ChunkReader {
    io: Arc<dyn ReadAt>,
    data: CpuData,
    codec: Codec,
    unpacker: Unpacker,
    endian: crate::abi::Abi,
    page_size: u64,
    /// How much uncompressed data is one chunk, in bytes: whole sub-buffers.
    unit: u64,
    pos: u64,
    end: u64,
    number: u64,
    declared: Option<u32>,
    whole: bool,
    /// What is passed over, by rising offset.
    skips: Arc<[Range<u64>]>,
    window: Window,
    /// The end of the file within a chunk, to be told after what could be had of the chunk.
    torn: Option<Damaged>,
}

impl ChunkReader {
    /// A reader of all chunks of `data`.
    pub(in crate::trace_dat) fn new(
        io: Arc<dyn ReadAt>,
        data: CpuData,
        codec: Codec,
        abi: crate::abi::Abi,
        page_size: usize,
    ) -> ChunkReader {
        let end = data.offset.saturating_add(data.size);
        ChunkReader {
            io,
            data,
            codec,
            unpacker: Unpacker::new(codec),
            endian: abi,
            page_size: page_size as u64,
            unit: READ_UNIT.next_multiple_of(page_size as u64),
            pos: data.offset,
            end,
            number: 0,
            declared: None,
            whole: true,
            skips: Arc::default(),
            window: Window::default(),
            torn: None,
        }
    }

    /// Takes less uncompressed data for one chunk if there are many readers, whose chunks are all in memory together.
    pub(super) fn among(mut self, readers: usize) -> Self {
        let share = (ALL_UNITS / readers.max(1) as u64).clamp(LEAST_UNIT, READ_UNIT);
        self.unit = share.next_multiple_of(self.page_size);
        self
    }

    /// Restricts it to the chunks that start within `range` of the file (as [`Chunk::offset`] gives them).
    pub(in crate::trace_dat) fn restrict(&mut self, range: Range<u64>) {
        if range.start > self.data.offset {
            self.pos = range.start;
        }
        if range.end < self.end {
            self.end = range.end.max(self.pos);
        }
        self.whole = false;
    }

    /// Passes over the chunks within `skips`: ranges of the file by rising offset, each from the start of a chunk to the
    /// end of one.
    pub(in crate::trace_dat) fn skip_over(&mut self, skips: Vec<Range<u64>>) {
        self.whole &= skips.is_empty();
        self.skips = skips.into();
    }

    /// Goes to the end of the skipped range that it stands in.
    fn pass_over(&mut self) {
        let next = self.skips.partition_point(|range| range.end <= self.pos);
        if let Some(range) = self.skips.get(next).filter(|range| range.contains(&self.pos)) {
            self.pos = range.end.min(self.end);
        }
    }

    /// The next chunk, unpacked into `to`; `false` at the end. After an error it goes on behind the damage.
    pub(in crate::trace_dat) fn next(&mut self, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        match self.data.layout {
            DataLayout::Pages => self.next_pages(to),
            DataLayout::Chunks | DataLayout::Spool => self.next_chunk(to),
        }
    }

    fn next_pages(&mut self, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        let len = self.unit.min(self.end.saturating_sub(self.pos));
        if len == 0 {
            return Ok(false);
        }
        to.resize(len as usize, 0);
        let at = self.pos;
        self.pos += len;
        self.number += 1;
        let got = read_full(&*self.io, to, at).map_err(|e| self.damaged(at, ChunkError::Read(e)))?;
        to.truncate(got);
        if (got as u64) < len {
            self.pos = self.end;
            if got == 0 {
                return Err(self.damaged(at, ChunkError::Cut { wanted: len, remain: 0 }));
            }
        }
        Ok(true)
    }

    fn next_chunk(&mut self, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        if let Some(torn) = self.torn.take() {
            return Err(torn);
        }
        if self.pos == self.data.offset && self.end > self.pos {
            let mut count = [0; 4];
            if self.end - self.pos < 4 {
                return self.cut(4);
            }
            self.read(&mut count, self.pos)?;
            if self.data.layout == DataLayout::Chunks && self.whole {
                self.declared = Some(self.endian.u32(count));
            }
            self.pos += 4;
        }
        self.pass_over();
        let remain = self.end - self.pos;
        if remain == 0 {
            return match self.declared.take() {
                Some(declared) if u64::from(declared) != self.number => {
                    Err(self.damaged(self.pos, ChunkError::Count { declared, found: self.number }))
                }
                _ => Ok(false),
            };
        }
        let Some(chunk) = self.header()? else { return self.cut(8) };
        let last = !self.whole || self.declared == u32::try_from(self.number + 1).ok();
        self.allow_short_size(&chunk, last);
        if !self.plausible(&chunk, self.pos) {
            if self.data.layout == DataLayout::Spool {
                return Ok(self.finish());
            }
            if chunk.size > 0 && chunk.size <= MAX_CHUNK && u64::from(chunk.stored) + 8 > remain && !self.has_more() {
                return self.torn_chunk(&chunk, to);
            }
            let resume = self.resync();
            let what = ChunkError::Header { stored: chunk.stored, size: chunk.size, resume };
            return Err(self.skip(resume, what));
        }
        self.load(chunk, to)
    }

    /// Reads and unpacks the sound-looking chunk at `pos`.
    fn load(&mut self, chunk: Chunk, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        let stored = chunk.stored as usize;
        let next = self.pos + 8 + stored as u64;
        // The header of the next chunk comes along in the same read.
        let with_next = stored + (self.end - next).min(8) as usize;
        let read = self.window.fetch(&*self.io, self.pos + 8, with_next, self.end);
        let span = read.map_err(|e| self.damaged(self.pos, ChunkError::Read(e)))?;
        if span.len() < with_next {
            return self.cut(8 + with_next as u64);
        }
        let packed = &self.window[span][..stored];
        let what = match self.unpacker.unpack(packed, chunk.size as usize, to) {
            Ok(()) if to.len() == chunk.size as usize => {
                self.pos = next;
                self.number += 1;
                return Ok(true);
            }
            Ok(()) => ChunkError::Size { declared: chunk.size, found: to.len() },
            Err(source) => ChunkError::Codec { stored: chunk.stored, source },
        };
        to.clear();
        if self.data.layout == DataLayout::Spool && next == self.end {
            self.finish(); // torn: its bytes were allocated but not all written
            return Ok(false);
        }
        let resume = if self.codec == Codec::Zstd { self.resync() } else { next };
        Err(self.skip(resume, what))
    }

    /// Where it is, to come back to.
    pub(in crate::trace_dat) fn mark(&self) -> Mark {
        Mark { pos: self.pos, end: self.end, number: self.number, declared: self.declared }
    }

    /// Goes to where `mark` was taken, on a reader of the same chunks.
    pub(in crate::trace_dat) fn go_to(&mut self, mark: Mark) {
        Mark { pos: self.pos, end: self.end, number: self.number, declared: self.declared } = mark;
    }

    /// The bytes of the next chunk, as they are stored; `None` if they look damaged, or the data ends: then
    /// [`ChunkReader::next`], from the same place, tells what is wrong.
    pub(in crate::trace_dat) fn next_packed(&mut self) -> Option<Packed> {
        let mark = self.mark();
        let packed = self.sound_packed();
        if packed.is_none() {
            self.go_to(mark);
        }
        packed
    }

    /// Whether all chunks have been given, as many as there should be.
    pub(in crate::trace_dat) fn is_done(&self) -> bool {
        let counted = self.declared.is_none_or(|declared| u64::from(declared) == self.number);
        self.pos >= self.end && (counted || self.data.layout == DataLayout::Pages)
    }

    fn sound_packed(&mut self) -> Option<Packed> {
        if self.data.layout == DataLayout::Pages {
            let (at, remain) = (self.pos, self.end.saturating_sub(self.pos));
            let len = self.unit.min(remain);
            if len == 0 || !remain.is_multiple_of(self.page_size) {
                return None;
            }
            self.pos += len;
            self.number += 1;
            return Some(Packed::unread(self.io.clone(), at, len as usize));
        }
        if self.pos == self.data.offset {
            let mut count = [0; 4];
            self.read(&mut count, self.pos).ok()?;
            if self.data.layout == DataLayout::Chunks && self.whole {
                self.declared = Some(self.endian.u32(count));
            }
            self.pos += 4;
        }
        self.pass_over();
        let chunk = self.header().ok()??;
        let last = !self.whole || self.declared == u32::try_from(self.number + 1).ok();
        self.allow_short_size(&chunk, last);
        // A torn spool is for `next`.
        if !self.plausible(&chunk, self.pos) {
            return None;
        }
        let next = self.pos + 8 + u64::from(chunk.stored);
        let with_next = chunk.stored as usize + (self.end - next).min(8) as usize;
        let read = self.window.fetch(&*self.io, self.pos + 8, with_next, self.end);
        let span = read.ok().filter(|span| span.len() == with_next)?;
        self.pos = next;
        self.number += 1;
        let span = span.start..span.start + chunk.stored as usize;
        Some(Packed::new(self.window.share(), span, chunk.size as usize))
    }

    /// How the chunks are packed.
    pub(in crate::trace_dat) fn codec(&self) -> Codec {
        if self.data.layout == DataLayout::Pages { Codec::None } else { self.codec }
    }

    /// The header at `pos`; `None` if the data ends within it.
    fn header(&mut self) -> Result<Option<Chunk>, Damaged> {
        let mut bytes = [0; 8];
        match self.window.get(self.pos, 8) {
            Some(known) => bytes.copy_from_slice(known),
            None if self.end.saturating_sub(self.pos) < 8 => return Ok(None),
            None => self.read(&mut bytes, self.pos)?,
        }
        Ok(Some(self.parse(bytes, self.pos)))
    }

    fn parse(&self, bytes: [u8; 8], offset: u64) -> Chunk {
        let [a, b, c, d, e, f, g, h] = bytes;
        Chunk { offset, stored: self.endian.u32([a, b, c, d]), size: self.endian.u32([e, f, g, h]) }
    }

    /// trace-cmd 3.1's sizes do not count the count word: its last chunk ends 4 bytes behind the declared end.
    fn allow_short_size(&mut self, chunk: &Chunk, last: bool) {
        let end = chunk.offset + 8 + u64::from(chunk.stored);
        if end == self.end + 4 && self.data.layout == DataLayout::Chunks && last {
            self.end = end;
        }
    }

    fn plausible(&self, chunk: &Chunk, at: u64) -> bool {
        let room = self.end.saturating_sub(at + 8);
        chunk.stored > 0 && u64::from(chunk.stored) <= room && chunk.size > 0 && chunk.size <= MAX_CHUNK
    }

    /// Whether a sound chunk follows anywhere behind `pos`.
    fn has_more(&mut self) -> bool {
        self.resync() < self.end
    }

    /// Where the next sound-looking chunk behind `pos` starts: a zstd frame with a plausible header before it.
    fn resync(&self) -> u64 {
        if self.codec != Codec::Zstd {
            return self.end;
        }
        let mut window = vec![0; 256 << 10];
        let mut at = self.pos + 1;
        while at < self.end {
            let len = (self.end - at).min(window.len() as u64) as usize;
            let Ok(got) = read_full(&*self.io, &mut window[..len], at) else { return self.end };
            for hit in memmem::find_iter(&window[..got], &ZSTD_MAGIC) {
                let Some(bytes) = hit.checked_sub(8).and_then(|h| window[h..].first_chunk::<8>()) else { continue };
                let offset = at + hit as u64 - 8;
                let chunk = self.parse(*bytes, offset);
                if self.plausible(&chunk, offset) && u64::from(chunk.size) % self.page_size == 0 {
                    return offset;
                }
            }
            if got < len || got < 16 {
                break;
            }
            at += got as u64 - 11; // a header and a magic may lie across
            if self.end - at <= 11 {
                break;
            }
        }
        self.end
    }

    fn read(&mut self, to: &mut [u8], at: u64) -> Result<(), Damaged> {
        match read_full(&*self.io, to, at) {
            Ok(got) if got == to.len() => Ok(()),
            Ok(got) => {
                self.pos = self.end;
                Err(self.damaged(at, ChunkError::Cut { wanted: to.len() as u64, remain: got as u64 }))
            }
            Err(e) => {
                self.pos = self.end;
                Err(self.damaged(at, ChunkError::Read(e)))
            }
        }
    }

    /// The data ends within a chunk: an error, but in a spool.
    fn cut(&mut self, wanted: u64) -> Result<bool, Damaged> {
        let (at, remain) = (self.pos, self.end - self.pos);
        self.finish();
        if self.data.layout == DataLayout::Spool {
            return Ok(false);
        }
        Err(self.damaged(at, ChunkError::Cut { wanted, remain }))
    }

    /// The file ends within `chunk`: what its start unpacks to, as far as it is whole sub-buffers, comes before the error.
    fn torn_chunk(&mut self, chunk: &Chunk, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        let from = self.pos + 8;
        let remain = self.end.saturating_sub(from).min(u64::from(chunk.stored));
        let mut packed = vec![0; remain as usize];
        let got = read_full(&*self.io, &mut packed, from).unwrap_or(0);
        unpack_start(self.codec, &packed[..got], chunk.size as usize, to);
        to.truncate(to.len() - to.len() % self.page_size as usize);
        match self.cut(u64::from(chunk.stored) + 8) {
            Err(torn) if !to.is_empty() => {
                self.torn = Some(torn);
                Ok(true)
            }
            cut => cut,
        }
    }

    fn skip(&mut self, resume: u64, what: ChunkError) -> Damaged {
        let damaged = self.damaged(self.pos, what);
        self.number += 1;
        self.pos = resume;
        self.declared = None; // one message is enough
        damaged
    }

    fn finish(&mut self) -> bool {
        self.pos = self.end;
        self.declared = None;
        false
    }

    fn damaged(&self, offset: u64, what: ChunkError) -> Damaged {
        Damaged { chunk: self.number, offset, what }
    }

    /// All chunks from here on, by hopping from header to header; stops at the first that is not sound.
    pub(in crate::trace_dat) fn list(&mut self) -> Result<Vec<Chunk>, Damaged> {
        let mut chunks = Vec::new();
        if self.data.layout == DataLayout::Pages {
            let unit = self.unit;
            while self.pos < self.end {
                let size = unit.min(self.end - self.pos) as u32;
                chunks.push(Chunk { offset: self.pos, stored: size, size });
                self.pos += u64::from(size);
            }
            return Ok(chunks);
        }
        if self.pos == self.data.offset {
            self.pos = (self.pos + 4).min(self.end);
        }
        while let Some(chunk) = self.header()? {
            self.allow_short_size(&chunk, true);
            if !self.plausible(&chunk, self.pos) {
                break;
            }
            self.pos += 8 + u64::from(chunk.stored);
            chunks.push(chunk);
        }
        Ok(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Abi;
    use crate::units::CpuId;

    /// The size that trace-cmd 3.1 declares is 4 bytes short. Both ways of reading must see the last chunk, or whoever
    /// unpacks on several threads would think the data damaged there.
    #[test]
    fn a_size_that_is_short_hides_no_chunk() {
        let pages = [vec![1; 4096], vec![2; 4096]];
        let mut data = 2u32.to_ne_bytes().to_vec();
        for page in &pages {
            let packed = Codec::Zstd.compress(page).unwrap();
            data.extend_from_slice(&(packed.len() as u32).to_ne_bytes());
            data.extend_from_slice(&(page.len() as u32).to_ne_bytes());
            data.extend_from_slice(&packed);
        }
        for short in [0, 4] {
            let size = data.len() as u64 - short;
            let cpu = CpuData { cpu: CpuId(0), source: 0, offset: 0, size, layout: DataLayout::Chunks };
            let mut reader = ChunkReader::new(Arc::new(data.clone()), cpu, Codec::Zstd, Abi::HOST, 4096);
            let start = reader.mark();
            let mut to = Vec::new();
            for page in &pages {
                assert!(reader.next(&mut to).is_ok_and(|more| more));
                assert_eq!(to, *page);
            }
            assert!(reader.next(&mut to).is_ok_and(|more| !more));
            reader.go_to(start);
            assert_eq!(std::iter::from_fn(|| reader.next_packed()).count(), 2);
            assert!(reader.is_done());
        }
    }
}
