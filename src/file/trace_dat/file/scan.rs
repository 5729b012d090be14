//! A forward reader over a file or a section's data that knows what it is reading and where.

use crate::base::abi::Abi;
use crate::file::trace_dat::read_at::{ReadAt, read_full};
use crate::file::trace_dat::{FileError, FilePart};
use std::borrow::Cow;

/// The largest single item (a section, a kallsyms text) that is read into memory, in bytes.
pub(in crate::file::trace_dat) const MAX_ITEM: u64 = 128 << 20;
const WINDOW: usize = 16 << 10;

/// A buffered position in `io`.
pub(in crate::file::trace_dat) struct Scan<'a> {
    io: &'a dyn ReadAt,
    abi: Abi,
    place: FilePart,
    /// The scanned data, if it is in memory.
    memory: Option<&'a [u8]>,
    unpacked: bool,
    pos: u64,
    end: u64,
    window: Vec<u8>,
    window_at: u64,
}

impl<'a> Scan<'a> {
    /// From `pos` of `io`, which has `end` bytes.
    pub(in crate::file::trace_dat) fn new(io: &'a dyn ReadAt, abi: Abi, place: FilePart, pos: u64, end: u64) -> Self {
        Scan { io, abi, place, memory: None, unpacked: false, pos, end, window: Vec::new(), window_at: 0 }
    }

    /// From the start of a section's decompressed data.
    #[expect(clippy::ptr_arg, reason = "only a sized type turns into `dyn ReadAt`")]
    pub(in crate::file::trace_dat) fn unpacked(data: &'a Vec<u8>, abi: Abi, place: FilePart) -> Self {
        Scan { unpacked: true, memory: Some(data), ..Scan::new(data, abi, place, 0, data.len() as u64) }
    }

    pub(in crate::file::trace_dat) fn pos(&self) -> u64 {
        self.pos
    }

    pub(in crate::file::trace_dat) fn remain(&self) -> u64 {
        self.end.saturating_sub(self.pos)
    }

    pub(in crate::file::trace_dat) fn seek(&mut self, pos: u64) {
        self.pos = pos;
    }

    /// Makes the data end at `end`, if that is not after its end; gives what was the end.
    pub(in crate::file::trace_dat) fn limit(&mut self, end: u64) -> u64 {
        let end = end.min(self.end);
        std::mem::replace(&mut self.end, end)
    }

    /// Takes back a [`Scan::limit`].
    pub(in crate::file::trace_dat) fn set_end(&mut self, end: u64) {
        self.end = end;
    }

    pub(in crate::file::trace_dat) fn set_place(&mut self, place: FilePart) {
        self.place = place;
    }

    pub(in crate::file::trace_dat) fn place(&self) -> FilePart {
        self.place
    }

    /// True if positions count decompressed bytes.
    pub(in crate::file::trace_dat) fn is_unpacked(&self) -> bool {
        self.unpacked
    }

    pub(in crate::file::trace_dat) fn set_abi(&mut self, abi: Abi) {
        self.abi = abi;
    }

    fn short(&self, wanted: u64) -> FileError {
        FileError::Short { place: self.place, offset: self.pos, unpacked: self.unpacked, wanted, remain: self.remain() }
    }

    /// The next `len` bytes.
    pub(in crate::file::trace_dat) fn bytes(&mut self, len: u64) -> Result<Vec<u8>, FileError> {
        if len > self.remain() {
            return Err(self.short(len));
        }
        if len > MAX_ITEM {
            return Err(FileError::TooLong { place: self.place, offset: self.pos, len, limit: MAX_ITEM });
        }
        let mut data = vec![0; len as usize];
        if len <= WINDOW as u64 {
            data.copy_from_slice(self.window(len as usize)?);
        } else {
            let got = read_full(self.io, &mut data, self.pos)
                .map_err(|source| FileError::Read { offset: self.pos, source })?;
            if got < data.len() {
                return Err(self.short(len));
            }
        }
        self.advance(len);
        Ok(data)
    }

    /// The next `len` bytes, borrowed where they are in memory.
    pub(in crate::file::trace_dat) fn borrow(&mut self, len: u64) -> Result<Cow<'a, [u8]>, FileError> {
        let end = self.pos.checked_add(len).filter(|end| *end <= self.end);
        match self.memory.zip(end).and_then(|(memory, end)| memory.get(self.pos as usize..end as usize)) {
            Some(bytes) => {
                self.advance(len);
                Ok(Cow::Borrowed(bytes))
            }
            None => self.bytes(len).map(Cow::Owned),
        }
    }

    /// Makes the window hold the next `len` bytes (at most its size) and returns them. The end counts, even if the
    /// window holds bytes after it.
    fn window(&mut self, len: usize) -> Result<&[u8], FileError> {
        if len as u64 > self.remain() {
            return Err(self.short(len as u64));
        }
        let held = self.pos.checked_sub(self.window_at).and_then(|from| usize::try_from(from).ok());
        let mut from = held.unwrap_or(usize::MAX);
        if from.checked_add(len).is_none_or(|end| end > self.window.len()) {
            let size = self.remain().min(WINDOW as u64) as usize;
            self.window.resize(size, 0);
            let got = read_full(self.io, &mut self.window, self.pos)
                .map_err(|source| FileError::Read { offset: self.pos, source })?;
            self.window.truncate(got);
            self.window_at = self.pos;
            from = 0;
        }
        let short = self.short(len as u64);
        self.window.get(from..from.saturating_add(len)).ok_or(short)
    }

    /// Goes `len` bytes on, which were read.
    fn advance(&mut self, len: u64) {
        self.pos = self.pos.saturating_add(len);
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        let here = |memory: &'a [u8]| memory.get(usize::try_from(self.pos).ok()?..)?.first_chunk::<N>();
        let bytes = match self.memory.and_then(here).filter(|_| self.remain() >= N as u64) {
            Some(bytes) => *bytes,
            None => self.window(N)?.first_chunk::<N>().copied().ok_or_else(|| self.short(N as u64))?,
        };
        self.advance(N as u64);
        Ok(bytes)
    }

    pub(in crate::file::trace_dat) fn u8(&mut self) -> Result<u8, FileError> {
        self.array::<1>().map(|[b]| b)
    }

    pub(in crate::file::trace_dat) fn u16(&mut self) -> Result<u16, FileError> {
        self.array().map(|b| self.abi.u16(b))
    }

    pub(in crate::file::trace_dat) fn u32(&mut self) -> Result<u32, FileError> {
        self.array().map(|b| self.abi.u32(b))
    }

    pub(in crate::file::trace_dat) fn u64(&mut self) -> Result<u64, FileError> {
        self.array().map(|b| self.abi.u64(b))
    }

    /// The text up to the next NUL, at most 4096 bytes, which is consumed and not returned.
    pub(in crate::file::trace_dat) fn cstr(&mut self) -> Result<String, FileError> {
        const MOST: usize = 4096;
        let most = self.remain().min(MOST as u64);
        let bytes = self.window(most as usize)?;
        let Some(text) = memchr::memchr(0, bytes).and_then(|len| bytes.get(..len)) else {
            return Err(self.short(most.saturating_add(1)));
        };
        let (len, text) = (text.len() as u64, String::from_utf8_lossy(text).into_owned());
        self.advance(len.saturating_add(1));
        Ok(text)
    }

    /// Consumes `magic`.
    pub(in crate::file::trace_dat) fn expect(&mut self, magic: &'static str) -> Result<(), FileError> {
        let offset = self.pos;
        let found = self.bytes(magic.len() as u64)?;
        if found == magic.as_bytes() {
            Ok(())
        } else {
            Err(FileError::Magic { place: self.place, offset, expected: magic })
        }
    }
}
