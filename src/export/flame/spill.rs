//! A file for what a profile has too much of for memory.

use crate::file::trace_dat::{ReadAt, read_full};
use std::io::{self, Write};

/// Bytes that are added at the end of a file, and read at any place.
pub struct Spill {
    to: Box<dyn Write + Send>,
    from: Box<dyn ReadAt>,
    end: u64,
    /// No more bytes are added.
    is_closed: bool,
}

impl Spill {
    /// Bytes that are written to `to` are then read from `from`, whose first they are.
    pub fn new(to: impl Write + Send + 'static, from: impl ReadAt + 'static) -> Self {
        Spill { to: Box::new(to), from: Box::new(from), end: 0, is_closed: false }
    }

    /// Adds bytes; gives their place.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.is_closed {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.to.write_all(bytes)?;
        let at = self.end;
        self.end += bytes.len() as u64;
        Ok(at)
    }

    /// Takes no more: what failed may have been written in part.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Reads the bytes at a place.
    pub(super) fn read(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        match read_full(&*self.from, to, at)? {
            len if len == to.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
