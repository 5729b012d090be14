//! Bytes of a file that were read at once, for readers of a few of them at a time.

use crate::file::trace_dat::read_at::read_full;
use crate::file::trace_dat::{Codec, ReadAt, Unpackers};
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Least size of one read, in bytes: chunks of trace-cmd are some 4 KiB.
const WINDOW: usize = 64 << 10;

/// The bytes that were read last, and where they lie in the file.
#[derive(Default)]
pub(in crate::file::trace_dat) struct ReadWindow {
    at: u64,
    bytes: Arc<Vec<u8>>,
}

impl ReadWindow {
    fn span(&self, at: u64, len: usize) -> Option<Range<usize>> {
        let start = usize::try_from(at.checked_sub(self.at)?).ok()?;
        let end = start.checked_add(len)?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    /// The `len` bytes from `at` of the file, if they are here.
    pub(in crate::file::trace_dat) fn get(&self, at: u64, len: usize) -> Option<&[u8]> {
        self.span(at, len).and_then(|span| self.bytes.get(span))
    }

    /// Range in the window of the `len` bytes from `at` of the file; reads them if need be, up to `end` of the file at
    /// most; fewer where the file ends.
    pub(in crate::file::trace_dat) fn fetch(
        &mut self,
        io: &dyn ReadAt,
        at: u64,
        len: usize,
        end: u64,
    ) -> io::Result<Range<usize>> {
        if let Some(span) = self.span(at, len) {
            return Ok(span);
        }
        let most = if len < WINDOW / 4 { WINDOW } else { len };
        let room = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = Arc::into_inner(std::mem::take(self).bytes).unwrap_or_default();
        bytes.resize(most.min(room).max(len), 0);
        let got = read_full(io, &mut bytes, at)?;
        bytes.truncate(got);
        *self = ReadWindow { at, bytes: Arc::new(bytes) };
        Ok(0..got.min(len))
    }

    /// The bytes at `span`, as [`ReadWindow::fetch`] gave it, if it has `len` bytes.
    pub(in crate::file::trace_dat) fn slice(&self, span: Range<usize>, len: usize) -> Option<&[u8]> {
        self.bytes.get(span).filter(|bytes| bytes.len() == len)
    }

    /// The same bytes, to be kept: the next [`ReadWindow::fetch`] reads to others.
    pub(in crate::file::trace_dat) fn share(&self) -> Arc<Vec<u8>> {
        self.bytes.clone()
    }
}

impl Deref for ReadWindow {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A chunk as it is stored.
pub(crate) struct PackedChunk {
    window: Arc<Vec<u8>>,
    span: Range<usize>,
    /// The place of the bytes, if they are stored uncompressed.
    unread: Option<(Arc<dyn ReadAt>, u64)>,
    /// Unpacked size, in bytes.
    pub(crate) size: usize,
}

impl PackedChunk {
    /// The chunk that lies at `span` of `window`.
    pub(in crate::file::trace_dat) fn new(window: Arc<Vec<u8>>, span: Range<usize>, size: usize) -> Self {
        PackedChunk { window, span, unread: None, size }
    }

    /// An uncompressed chunk: the `size` bytes from `at` of the file.
    pub(in crate::file::trace_dat) fn unread(io: Arc<dyn ReadAt>, at: u64, size: usize) -> Self {
        PackedChunk { window: Arc::default(), span: 0..0, unread: Some((io, at)), size }
    }

    /// The stored bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.window.get(self.span.clone()).unwrap_or_default()
    }

    /// Adds a checksum of `data`, which it unpacks to, where its codec has one and it lacks it.
    pub(in crate::file::trace_dat) fn add_checksum(&mut self, codec: Codec, data: &[u8]) {
        if let Some(with) = codec.with_checksum(self.bytes(), data) {
            (self.span, self.window) = (0..with.len(), Arc::new(with));
        }
    }

    /// Replaces `to` by the chunk, unpacked or read; `false` if it is not whole.
    pub(crate) fn load(&self, codec: Codec, unpackers: &mut Unpackers, to: &mut Vec<u8>) -> bool {
        match &self.unread {
            Some((io, at)) => {
                to.resize(self.size, 0);
                read_full(&**io, to, *at).is_ok_and(|got| got == self.size)
            }
            None => unpackers.unpack(codec, self.bytes(), self.size, to).is_ok() && to.len() == self.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct CountedReads(Vec<u8>, AtomicU32);

    impl ReadAt for CountedReads {
        fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read_at(to, at)
        }

        fn size(&self) -> io::Result<u64> {
            self.0.size()
        }
    }

    #[test]
    fn small_pieces_are_read_together_and_large_ones_as_they_are() {
        let file = CountedReads((0..200_000u32).map(|n| n as u8).collect(), AtomicU32::new(0));
        let reads = || file.1.swap(0, Ordering::Relaxed);
        let mut window = ReadWindow::default();
        let mut check = |at: u64, len: usize, end: u64, wanted: usize| {
            let span = window.fetch(&file, at, len, end).unwrap();
            assert_eq!(window[span], file.0[at as usize..at as usize + wanted]);
        };
        for at in (0..16).map(|n| n * 4096) {
            check(at, 4096, 200_000, 4096);
        }
        assert_eq!(reads(), 1);
        check(65_530, 10, 200_000, 10);
        check(70_000, 60_000, 200_000, 60_000);
        assert_eq!(reads(), 1, "both lie in the second window");
        check(131_000, 60_000, 200_000, 60_000);
        check(191_000, 5, 200_000, 5);
        assert_eq!(reads(), 2, "nothing is read along with what is large");
        let mut window = ReadWindow::default();
        assert_eq!(window.fetch(&file, 199_000, 100, 199_100).unwrap(), 0..100);
        assert_eq!(window.get(199_100, 1), None, "nothing after the end is read");
        let kept = window.share();
        let at_end = window.fetch(&file, 199_990, 100, 300_000).unwrap();
        assert_eq!((at_end.len(), kept.len()), (10, 100));
    }
}
