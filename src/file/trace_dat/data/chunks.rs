//! A CPU's stored data, chunk by chunk, into a buffer that is used again and again.

mod list;

use super::read_ahead::ReadWindow;
use crate::file::trace_dat::codec::{Unpacker, unpack_start};
use crate::file::trace_dat::read_at::read_full;
use crate::file::trace_dat::{ChunkError, Codec, CpuData, DataLayout, ReadAt};
use std::ops::Range;
use std::sync::Arc;

/// Growth of a chunk that does not shrink, beside a 32nd, in bytes.
const STORED_HEADERS: u32 = 4096;
/// Sizes of the chunk count before the first chunk, and of a chunk's header, in bytes.
pub(super) const COUNT: u64 = 4;
pub(super) const HEADER: u64 = 8;

/// A chunk's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Offset of its header in the file (uncompressed data: of its pages).
    pub offset: u64,
    /// Bytes stored, without the header.
    pub stored: u32,
    /// Bytes it unpacks to.
    pub size: u32,
}

impl Chunk {
    /// The first byte after it, if its data comes after a header.
    pub(in crate::file::trace_dat) fn end(&self) -> u64 {
        self.offset.saturating_add(HEADER).saturating_add(self.stored.into())
    }
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
pub(in crate::file::trace_dat) struct Damaged {
    pub(in crate::file::trace_dat) chunk: u64,
    pub(in crate::file::trace_dat) offset: u64,
    pub(in crate::file::trace_dat) what: ChunkError,
}

/// Reads one chunk after the other.
pub(in crate::file::trace_dat) struct ChunkReader {
    io: Arc<dyn ReadAt>,
    data: CpuData,
    codec: Codec,
    unpacker: Unpacker,
    endian: crate::base::abi::Abi,
    page_size: u64,
    /// Size of a chunk of uncompressed data, in bytes: whole sub-buffers.
    unit: u64,
    /// The most that a chunk may unpack to, in bytes.
    most: u32,
    pos: u64,
    end: u64,
    number: u64,
    declared: Option<u32>,
    whole: bool,
    /// Ranges to be passed over, by rising offset.
    skips: Arc<[Range<u64>]>,
    window: ReadWindow,
    /// The end of the file within a chunk, to be reported after the readable part of the chunk.
    torn: Option<Damaged>,
    /// Remaining budget of searches for chunks, for places that turn out not to be one, in bytes to read and to unpack.
    search_budget: u64,
}

impl ChunkReader {
    /// A reader of all chunks of `data`.
    pub(in crate::file::trace_dat) fn new(
        io: Arc<dyn ReadAt>,
        data: CpuData,
        codec: Codec,
        abi: crate::base::abi::Abi,
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
            unit: list::READ_UNIT.next_multiple_of(page_size as u64),
            most: list::MAX_CHUNK,
            pos: data.offset,
            end,
            number: 0,
            declared: None,
            whole: true,
            skips: Arc::default(),
            window: ReadWindow::default(),
            torn: None,
            search_budget: list::budget(data.size),
        }
    }

    /// Takes less uncompressed data for one chunk, and no very large chunks, if there are many readers, whose chunks are all
    /// in memory together.
    pub(super) fn among(mut self, readers: usize) -> Self {
        self.unit = list::unit(readers, self.page_size);
        self.most = list::most_of_chunk(readers, self.page_size);
        self
    }

    /// Restricts it to the chunks that start within `range` of the file (as [`Chunk::offset`] gives them).
    pub(in crate::file::trace_dat) fn restrict(&mut self, range: Range<u64>) {
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
    pub(in crate::file::trace_dat) fn skip_over(&mut self, skips: Vec<Range<u64>>) {
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

    /// The place of the next chunk, if it is packed and looks sound.
    pub(super) fn next_place(&mut self) -> Option<(usize, u64)> {
        if self.data.layout != DataLayout::Chunks || self.torn.is_some() {
            return None;
        }
        let mark = self.mark();
        let place = self.start().ok().and_then(|()| {
            self.pass_over();
            let chunk = self.header().ok()??;
            self.plausible(&chunk, self.pos).then_some((self.data.source, chunk.offset))
        });
        if place.is_none() {
            self.go_to(mark);
        }
        place
    }

    /// Goes past the chunk whose place [`ChunkReader::next_place`] gave.
    pub(super) fn pass(&mut self) {
        if let Ok(Some(chunk)) = self.header() {
            self.advance_to(chunk.end());
        }
    }

    /// The next chunk, unpacked into `to`; `false` at the end. After an error it goes on after the damage.
    pub(in crate::file::trace_dat) fn next(&mut self, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        match self.data.layout {
            DataLayout::Pages => self.next_pages(to),
            DataLayout::Chunks | DataLayout::Spool => self.next_chunk(to),
        }
    }

    fn next_pages(&mut self, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        let len = self.unit.min(self.remain());
        if len == 0 {
            return Ok(false);
        }
        to.resize(len as usize, 0);
        let at = self.pos;
        self.advance_to(at.saturating_add(len));
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
        self.start()?;
        self.pass_over();
        if self.remain() == 0 {
            return self.counted().map(|()| false);
        }
        let Some(chunk) = self.header()? else { return self.cut(HEADER) };
        let last = self.is_last();
        self.allow_short_size(&chunk, last);
        if !self.plausible(&chunk, self.pos) {
            let resume = self.resync();
            let is_last = resume >= self.end;
            if self.data.layout == DataLayout::Spool && is_last && self.is_torn_end() {
                return Ok(self.finish());
            }
            let is_cut = self.is_size(&chunk) && chunk.end() > self.end;
            if self.data.layout == DataLayout::Chunks && is_last && is_cut {
                return self.torn_chunk(&chunk, to);
            }
            let what = ChunkError::Header { stored: chunk.stored, size: chunk.size, resume };
            return Err(self.skip(resume, what));
        }
        self.load(chunk, to)
    }

    /// Reads the number of chunks that stands before the first, if it stands there.
    fn start(&mut self) -> Result<(), Damaged> {
        if self.pos != self.data.offset || self.end <= self.pos {
            return Ok(());
        }
        let mut count = [0; 4];
        if self.remain() < COUNT {
            return self.cut(COUNT).map(drop);
        }
        self.read(&mut count, self.pos)?;
        if self.data.layout == DataLayout::Chunks && self.whole {
            self.declared = Some(self.endian.u32(count));
        }
        self.pos = self.pos.saturating_add(COUNT);
        Ok(())
    }

    /// Ends the data: as many chunks must have been found as are declared.
    fn counted(&mut self) -> Result<(), Damaged> {
        match self.declared.take() {
            Some(declared) if u64::from(declared) != self.number => {
                Err(self.damaged(self.pos, ChunkError::Count { declared, found: self.number }))
            }
            _ => Ok(()),
        }
    }

    /// Reads and unpacks the sound-looking chunk at `pos`.
    fn load(&mut self, chunk: Chunk, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        let stored = chunk.stored as usize;
        let (next, with_next) = (chunk.end(), self.with_next_header(&chunk));
        let read = self.window.fetch(&*self.io, self.pos.saturating_add(HEADER), with_next, self.end);
        let span = match read {
            Ok(span) => span,
            Err(e) => return Err(self.skip(next, ChunkError::Read(e))),
        };
        let Some(packed) = self.window.slice(span, with_next).and_then(|read| read.get(..stored)) else {
            return self.cut(HEADER.saturating_add(with_next as u64));
        };
        let what = match self.unpacker.unpack(packed, chunk.size as usize, to) {
            Ok(()) if to.len() == chunk.size as usize => {
                self.advance_to(next);
                return Ok(true);
            }
            Ok(()) => ChunkError::Size { declared: chunk.size, found: to.len() },
            Err(source) => ChunkError::Codec { stored: chunk.stored, source },
        };
        to.clear();
        let is_spool = self.data.layout == DataLayout::Spool;
        let resume = if self.codec == Codec::None { next } else { self.resync() };
        if is_spool && resume >= self.end && self.is_torn_end() {
            return Ok(self.finish()); // its bytes were allocated but not all written
        }
        Err(self.skip(resume, what))
    }

    /// The stored size of `chunk` together with the header of the next one, which comes along in the same read.
    fn with_next_header(&self, chunk: &Chunk) -> usize {
        let header = self.end.saturating_sub(chunk.end()).min(HEADER);
        (chunk.stored as usize).saturating_add(header as usize)
    }

    fn advance_to(&mut self, next: u64) {
        self.pos = next;
        self.number = self.number.saturating_add(1);
    }

    /// End of all of the data, whatever part of it is read.
    fn data_end(&self) -> u64 {
        self.data.offset.saturating_add(self.data.size)
    }

    /// Offset in the file.
    pub(in crate::file::trace_dat) fn position(&self) -> u64 {
        self.pos
    }

    fn remain(&self) -> u64 {
        self.end.saturating_sub(self.pos)
    }

    /// True if the chunk at `pos` is the last one, as far as that is known.
    fn is_last(&self) -> bool {
        !self.whole || self.declared.map(u64::from) == self.number.checked_add(1)
    }

    /// A mark to come back to.
    pub(in crate::file::trace_dat) fn mark(&self) -> Mark {
        Mark { pos: self.pos, end: self.end, number: self.number, declared: self.declared }
    }

    /// Goes to where `mark` was taken, on a reader of the same chunks.
    pub(in crate::file::trace_dat) fn go_to(&mut self, mark: Mark) {
        Mark { pos: self.pos, end: self.end, number: self.number, declared: self.declared } = mark;
    }

    /// True if all chunks have been given, as many as there should be.
    pub(in crate::file::trace_dat) fn is_done(&self) -> bool {
        let counted = self.declared.is_none_or(|declared| u64::from(declared) == self.number);
        self.pos >= self.end && (counted || self.data.layout == DataLayout::Pages)
    }

    /// The codec of the chunks.
    pub(in crate::file::trace_dat) fn codec(&self) -> Codec {
        if self.data.layout == DataLayout::Pages { Codec::None } else { self.codec }
    }

    /// The header at `pos`; `None` if the data ends within it.
    fn header(&mut self) -> Result<Option<Chunk>, Damaged> {
        let mut bytes = [0; 8];
        match self.window.get(self.pos, 8) {
            Some(known) => bytes.copy_from_slice(known),
            None if self.remain() < HEADER => return Ok(None),
            None => self.read(&mut bytes, self.pos)?,
        }
        Ok(Some(self.parse(bytes, self.pos)))
    }

    fn parse(&self, bytes: [u8; 8], offset: u64) -> Chunk {
        let [a, b, c, d, e, f, g, h] = bytes;
        Chunk { offset, stored: self.endian.u32([a, b, c, d]), size: self.endian.u32([e, f, g, h]) }
    }

    /// trace-cmd 3.1's sizes do not count the count word: its last chunk ends 4 bytes after the declared end.
    fn allow_short_size(&mut self, chunk: &Chunk, last: bool) {
        let end = chunk.end();
        if self.end.checked_add(COUNT) == Some(end) && self.data.layout == DataLayout::Chunks && last {
            self.end = end;
        }
    }

    fn plausible(&self, chunk: &Chunk, at: u64) -> bool {
        let room = self.end.saturating_sub(at.saturating_add(HEADER));
        chunk.stored > 0 && u64::from(chunk.stored) <= room && self.is_size(chunk)
    }

    /// True if a chunk can have these sizes: data that does not shrink grows by little.
    fn is_size(&self, chunk: &Chunk) -> bool {
        let most_stored = chunk.size.saturating_add(chunk.size / 32).saturating_add(STORED_HEADERS);
        chunk.size > 0 && chunk.size <= self.most && chunk.stored <= most_stored
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
        let (at, remain) = (self.pos, self.remain());
        self.finish();
        if self.data.layout == DataLayout::Spool {
            return Ok(false);
        }
        Err(self.damaged(at, ChunkError::Cut { wanted, remain }))
    }

    /// The file ends within `chunk`: what its start unpacks to, as far as it is whole sub-buffers, comes before the error.
    fn torn_chunk(&mut self, chunk: &Chunk, to: &mut Vec<u8>) -> Result<bool, Damaged> {
        let from = self.pos.saturating_add(HEADER);
        let remain = self.end.saturating_sub(from).min(u64::from(chunk.stored));
        let mut packed = vec![0; remain as usize];
        let got = read_full(&*self.io, &mut packed, from).unwrap_or(0);
        packed.truncate(got);
        unpack_start(self.codec, &packed, chunk.size as usize, to);
        let torn_page = to.len().checked_rem(self.page_size as usize).unwrap_or_default();
        to.truncate(to.len().saturating_sub(torn_page));
        match self.cut(HEADER.saturating_add(chunk.stored.into())) {
            Err(torn) if !to.is_empty() => {
                self.torn = Some(torn);
                Ok(true)
            }
            cut => cut,
        }
    }

    fn skip(&mut self, resume: u64, what: ChunkError) -> Damaged {
        let damaged = self.damaged(self.pos, what);
        self.advance_to(resume);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Abi;
    use crate::base::units::CpuId;

    /// The size that trace-cmd 3.1 declares is 4 bytes short. Both ways of reading must see the last chunk, or a reader that
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
