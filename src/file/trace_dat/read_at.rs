//! Positioned reads: all that the reader asks of a file.
//! Numbers and texts to the file's bytes.

use crate::base::abi::{Abi, Endian};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes that can be read at any offset, from several threads at once, without a cursor.
pub trait ReadAt: Send + Sync {
    /// Reads at most `buf.len()` bytes at `offset`; 0 means the end.
    ///
    /// # Errors
    /// The error of the underlying read.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The number of bytes there are now.
    ///
    /// # Errors
    /// The error of the underlying query.
    fn size(&self) -> io::Result<u64>;
}

impl ReadAt for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buf, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|m| m.len())
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|o| self.get(o..)).unwrap_or(&[]);
        let len = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.as_slice().read_at(buf, offset)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        T::read_at(self, buf, offset)
    }

    fn size(&self) -> io::Result<u64> {
        T::size(self)
    }
}

/// Reads until `buf` is full or the data ends; gives the number of bytes read.
pub(crate) fn read_full(io: &dyn ReadAt, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0usize;
    while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let Some(at) = offset.checked_add(done as u64) else { break }; // after the end of any file
        match io.read_at(rest, at) {
            Ok(0) => break,
            Ok(n) => done = done.saturating_add(n),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// Bytes being put together in the file's byte order.
pub(super) struct FileBytes {
    pub(super) bytes: Vec<u8>,
    endian: Endian,
}

impl FileBytes {
    pub(super) fn new(abi: Abi) -> Self {
        FileBytes { bytes: Vec::new(), endian: abi.endian }
    }

    pub(super) fn raw(&mut self, data: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(data);
        self
    }

    pub(super) fn u16(&mut self, n: u16) -> &mut Self {
        self.raw(&if self.endian == Endian::Big { n.to_be_bytes() } else { n.to_le_bytes() })
    }

    pub(super) fn u32(&mut self, n: u32) -> &mut Self {
        self.raw(&if self.endian == Endian::Big { n.to_be_bytes() } else { n.to_le_bytes() })
    }

    pub(super) fn u64(&mut self, n: u64) -> &mut Self {
        self.raw(&if self.endian == Endian::Big { n.to_be_bytes() } else { n.to_le_bytes() })
    }

    /// The text up to its first NUL, and a NUL.
    pub(super) fn cstr(&mut self, text: &str) -> &mut Self {
        self.raw(text.split('\0').next().unwrap_or_default().as_bytes()).raw(b"\0")
    }
}
