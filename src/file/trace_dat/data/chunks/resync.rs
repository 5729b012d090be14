//! Finding the next chunk after damage.
//!
//! A chunk's start is a frame's magic with a plausible header before it. The bytes of a torn or damaged chunk may look like
//! one, so what a spool is cut by, and what zlib's two bytes of magic announce, has to unpack as well, which checks the
//! checksum of zstd's frames and of zlib's streams. Finished files of zstd frames are searched by the header alone: their
//! end is known.

use super::limits::LEAST_CHUNK;
use super::{Chunk, ChunkReader, HEADER};
use crate::file::trace_dat::read_at::read_full;
use crate::file::trace_dat::{Codec, DataLayout};
use memchr::memchr_iter;

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
