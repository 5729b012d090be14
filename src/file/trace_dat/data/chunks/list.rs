//! Places of chunks, from their headers alone.

use super::{Chunk, ChunkReader, Damaged, HEADER};
use crate::file::trace_dat::{ChunkError, DataLayout};

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
