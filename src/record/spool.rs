//! A file that one CPU's sub-buffers go to while recording.
//!
//! Its bytes are those of the CPU's data in the finished file. Compressed: a `u32` chunk count, then the chunks; the
//! count is zero while recording, so whoever finds a spool without its recorder counts the chunks. Uncompressed: the
//! sub-buffers. [`trace_dat::Writer::finish`](crate::trace_dat::Writer::finish) takes it from here.

use nix::fcntl::{SpliceFFlags, splice};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// One CPU's growing file.
#[derive(Debug)]
pub struct Spool {
    file: File,
    chunked: bool,
    chunks: u32,
    /// Where the next chunk goes; everything before is complete.
    end: u64,
}

const COUNT: u64 = size_of::<u32>() as u64;

impl Spool {
    /// Creates the spool at `path`, which must not exist: nobody else's file is overwritten.
    ///
    /// # Errors
    /// What the file system says.
    pub fn create(path: &Path, chunked: bool) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        if chunked {
            file.write_all(&0u32.to_ne_bytes())?;
        }
        Ok(Spool { file, chunked, chunks: 0, end: if chunked { COUNT } else { 0 } })
    }

    #[cfg(test)]
    pub(crate) fn open_for_test(path: &str) -> io::Result<Self> {
        Ok(Spool { file: OpenOptions::new().write(true).open(path)?, chunked: true, chunks: 0, end: COUNT })
    }

    /// Appends a chunk. When that fails half-way, the spool is cut back to its last complete chunk.
    ///
    /// # Errors
    /// What the file system says, above all `ENOSPC`.
    pub fn append(&mut self, chunk: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all_at(chunk, self.end) {
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end += chunk.len() as u64;
        self.chunks += 1;
        Ok(())
    }

    /// Moves `len` bytes out of `pipe` to the spool's end, without a copy where the file system can.
    ///
    /// # Errors
    /// What the file system says; the spool is cut back to a multiple of `sub_buffer`.
    pub fn splice_from(&mut self, pipe: &impl AsFd, len: usize, sub_buffer: u64) -> io::Result<()> {
        let mut left = len;
        while left > 0 {
            let mut offset = self.end as i64;
            match splice(pipe, None, &self.file, Some(&mut offset), left, SpliceFFlags::SPLICE_F_MOVE) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(moved) => {
                    self.end += moved as u64;
                    left -= moved;
                }
                Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => {
                    self.end -= self.end % sub_buffer;
                    let _ = self.file.set_len(self.end);
                    return Err(errno.into());
                }
            }
        }
        Ok(())
    }

    /// Bytes of the section so far, the chunk count included.
    pub fn len(&self) -> u64 {
        self.end
    }

    /// True while nothing but the chunk count is in it.
    pub fn is_empty(&self) -> bool {
        self.end <= if self.chunked { COUNT } else { 0 }
    }

    /// Bytes that count, and the chunks they are; the file stays, its chunk count unwritten.
    pub fn into_counts(self) -> (u64, u32) {
        (self.end, self.chunks)
    }
}
