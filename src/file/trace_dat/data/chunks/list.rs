//! Places of chunks, from their headers alone.
//! Sizes that keep the memory of many readers bounded.
//! Chunks as they are stored: for other threads to unpack, and for copies.
//!
//! Finding the next chunk after damage.
//!
//! A chunk's start is a frame's magic with a plausible header before it. The bytes of a torn or damaged chunk may look like
//! one, so what a spool is cut by, and what zlib's two bytes of magic announce, has to unpack as well, which checks the
//! checksum of zstd's frames and of zlib's streams. Finished files of zstd frames are searched by the header alone: their
//! end is known.

use super::{Chunk, ChunkReader, Damaged, HEADER};
use crate::file::trace_dat::data::read_ahead::PackedChunk;
use crate::file::trace_dat::read_at::read_full;
use crate::file::trace_dat::{ChunkError, Codec, DataLayout};
use memchr::memchr_iter;

impl ChunkReader {
    /// All chunks from here on, by hopping from header to header; stops at the first that is not sound, and says so.
    pub(in crate::file::trace_dat) fn list(&mut self) -> (Vec<Chunk>, Option<Damaged>) {
        let mut chunks = Vec::new();
        let listed = self.list_to(&mut chunks);
        (chunks, listed.err())
    }

    fn list_to(&mut self, chunks: &mut Vec<Chunk>) -> Result<(), Damaged> {
        if self.data.layout == DataLayout::Pages {
            let unit = self.unit;
            while self.pos < self.end {
                let size = unit.min(self.remain()) as u32;
                chunks.push(Chunk { offset: self.pos, stored: size, size });
                self.pos = self.pos.saturating_add(size.into());
            }
            return Ok(());
        }
        self.start()?;
        loop {
            if self.remain() == 0 {
                return self.counted();
            }
            let Some(chunk) = self.header()? else { return self.cut(HEADER).map(drop) };
            let last = self.is_last();
            self.allow_short_size(&chunk, last);
            if !self.plausible(&chunk, self.pos) {
                let what = ChunkError::Header { stored: chunk.stored, size: chunk.size, resume: self.end };
                let torn = self.data.layout == DataLayout::Spool;
                return if torn { Ok(()) } else { Err(self.damaged(self.pos, what)) };
            }
            self.advance_to(chunk.end());
            chunks.push(chunk);
        }
    }
}

/// The most that one chunk may unpack to, in bytes: a damaged size must not cost memory.
pub(super) const MAX_CHUNK: u32 = crate::file::trace_dat::MAX_CHUNK as u32;
/// Size of one read of uncompressed data, in bytes, if sub-buffers are not larger.
pub(super) const READ_UNIT: u64 = 128 << 10;
/// Size of the reads of many CPUs altogether, and least size for each of them, in bytes.
const ALL_UNITS: u64 = 8 << 20;
const LEAST_UNIT: u64 = 16 << 10;
/// Unpacked size of the chunks of many CPUs altogether, as one of each is in memory, and least size for each of them,
/// in bytes: recorders make none of more than 1 MiB, or of more than 10 sub-buffers.
const ALL_CHUNKS: usize = 512 << 20;
const LEAST_CHUNK: usize = 1 << 20;
const LEAST_PAGES: usize = 16;

/// Size of a chunk of uncompressed data for each of `readers`, in bytes: whole sub-buffers.
pub(super) fn unit(readers: usize, page_size: u64) -> u64 {
    let share = ALL_UNITS.checked_div(readers as u64).unwrap_or(ALL_UNITS).clamp(LEAST_UNIT, READ_UNIT);
    share.next_multiple_of(page_size)
}

/// The most that a chunk may unpack to if one of each of `readers` is in memory, in bytes.
pub(super) fn most_of_chunk(readers: usize, page_size: u64) -> u32 {
    let pages = usize::try_from(page_size).unwrap_or(usize::MAX).saturating_mul(LEAST_PAGES);
    let share = ALL_CHUNKS.checked_div(readers).unwrap_or(ALL_CHUNKS);
    let most = share.max(LEAST_CHUNK).max(pages);
    u32::try_from(most).unwrap_or(MAX_CHUNK).min(MAX_CHUNK)
}

impl ChunkReader {
    /// The bytes of the next chunk, as they are stored; `None` if they look damaged, or the data ends: then
    /// [`ChunkReader::next`], from the same place, reports the error.
    pub(in crate::file::trace_dat) fn next_packed(&mut self) -> Option<PackedChunk> {
        let mark = self.mark();
        let packed = self.sound_packed();
        if packed.is_none() {
            self.go_to(mark);
        }
        packed
    }

    fn sound_packed(&mut self) -> Option<PackedChunk> {
        if self.data.layout == DataLayout::Pages {
            let (at, remain) = (self.pos, self.remain());
            let len = self.unit.min(remain);
            if len == 0 || !remain.is_multiple_of(self.page_size) {
                return None;
            }
            self.advance_to(at.saturating_add(len));
            return Some(PackedChunk::unread(self.io.clone(), at, len as usize));
        }
        self.start().ok()?;
        self.pass_over();
        let chunk = self.header().ok()??;
        let last = self.is_last();
        self.allow_short_size(&chunk, last);
        // A torn spool is for `next`.
        if !self.plausible(&chunk, self.pos) {
            return None;
        }
        let with_next = self.with_next_header(&chunk);
        let read = self.window.fetch(&*self.io, self.pos.saturating_add(HEADER), with_next, self.end);
        let span = read.ok().filter(|span| span.len() == with_next)?;
        self.advance_to(chunk.end());
        let span = span.start..span.start.saturating_add(chunk.stored as usize);
        Some(PackedChunk::new(self.window.share(), span, chunk.size as usize))
    }
}

/// The first bytes of a chunk's data, by which its codec is known.
const FRAME: usize = 4;
/// Size of one step of the search, in bytes.
const WINDOW: usize = 256 << 10;
/// More bytes than all but a header with its frame's start need to lie across two windows.
const OVERLAP: u64 = HEADER + FRAME as u64 - 1;

/// Budget of the searches through `size` bytes for places that are no chunk: a hostile file can have one at each byte.
pub(super) fn budget(size: u64) -> u64 {
    const LEAST: u64 = 64 << 20;
    const TIMES: u64 = 4;
    size.saturating_mul(TIMES).saturating_add(LEAST)
}

impl ChunkReader {
    /// Offset of the next sound chunk after `pos`, or the end.
    pub(super) fn resync(&mut self) -> u64 {
        let Some(first_byte) = self.codec.first_byte() else { return self.end };
        let mut window = vec![0; WINDOW];
        let mut at = self.pos.saturating_add(1);
        while at < self.end {
            let len = self.end.saturating_sub(at).min(window.len() as u64) as usize;
            window.truncate(len); // the last time around
            let Ok(got) = read_full(&*self.io, &mut window, at) else { return self.end };
            let read = window.get(..got).unwrap_or_default();
            for hit in memchr_iter(first_byte, read) {
                let Some(start) = hit.checked_sub(HEADER as usize) else { continue };
                let frame = read.get(hit..).and_then(|frame| frame.first_chunk::<FRAME>());
                if !frame.is_some_and(|frame| self.codec.is_frame(frame)) {
                    continue;
                }
                let Some(header) = read.get(start..).and_then(|header| header.first_chunk()) else { continue };
                let chunk = self.parse(*header, at.saturating_add(start as u64));
                if self.is_chunk(&chunk) {
                    return chunk.offset;
                }
            }
            if got < len || got < 16 {
                break;
            }
            at = at.saturating_add((got as u64).saturating_sub(OVERLAP)); // a header and a magic may lie across
            if self.end.saturating_sub(at) <= OVERLAP {
                break;
            }
        }
        self.end
    }

    /// True if what a recorder was writing when it was killed may be all that is left: one chunk.
    pub(super) fn is_torn_end(&self) -> bool {
        let largest = (LEAST_CHUNK as u64).max(self.page_size);
        let stored = largest.saturating_add(largest / 32).saturating_add(super::STORED_HEADERS.into());
        self.end == self.data_end() && self.remain() <= HEADER.saturating_add(stored)
    }

    fn is_chunk(&mut self, chunk: &Chunk) -> bool {
        let is_plausible = self.plausible(chunk, chunk.offset) && u64::from(chunk.size).is_multiple_of(self.page_size);
        is_plausible && (self.is_known_by_header() || self.unpacks(chunk))
    }

    fn is_known_by_header(&self) -> bool {
        self.data.layout == DataLayout::Chunks && self.codec == Codec::Zstd
    }

    /// True if `chunk` unpacks to its size; `false` when the searches have spent too much.
    fn unpacks(&mut self, chunk: &Chunk) -> bool {
        let cost = u64::from(chunk.stored).saturating_add(chunk.size.into());
        if cost > self.search_budget {
            return false;
        }
        let (mut packed, mut unpacked) = (vec![0; chunk.stored as usize], Vec::new());
        let got = read_full(&*self.io, &mut packed, chunk.offset.saturating_add(HEADER)).unwrap_or(0);
        let is_sound = got == packed.len()
            && self.unpacker.unpack(&packed, chunk.size as usize, &mut unpacked).is_ok()
            && unpacked.len() == chunk.size as usize;
        if !is_sound {
            self.search_budget = self.search_budget.saturating_sub(cost);
        }
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_cpus_have_smaller_chunks() {
        let most = |cpus, page_size| most_of_chunk(cpus, page_size) as usize;
        assert_eq!((most(1, 4096), most(16, 4096), most(256, 4096)), (32 << 20, 32 << 20, 2 << 20));
        assert_eq!((most(4096, 4096), most(4096, 128 << 10), most(1, 1 << 40)), (1 << 20, 2 << 20, 32 << 20));
    }
}
