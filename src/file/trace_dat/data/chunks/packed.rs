//! Chunks as they are stored: for other threads to unpack, and for copies.

use super::super::read_ahead::PackedChunk;
use super::{ChunkReader, HEADER};
use crate::file::trace_dat::DataLayout;

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
