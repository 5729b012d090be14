//! Progress of a conversion: one line on a terminal, nothing elsewhere.

use crate::cli::terminal::TerminalLine;
use rtrace::internal::trace_dat::ReadAt;
use rtrace::units::ByteSize;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(250);

/// A file whose reads are counted.
pub(super) struct CountedFile {
    file: File,
    read: Arc<AtomicU64>,
}

impl CountedFile {
    /// `file`, whose bytes that were read are added to `read`.
    pub(super) fn new(file: File, read: &Arc<AtomicU64>) -> Self {
        CountedFile { file, read: Arc::clone(read) }
    }
}

impl ReadAt for CountedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = ReadAt::read_at(&self.file, buf, offset)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

/// An output that counts its bytes, names itself in errors and shows progress on standard error.
pub(super) struct ProgressOutput<W> {
    out: W,
    /// The output's name in errors; `None` if the output's own errors say that.
    name: Option<String>,
    written: u64,
    read: Arc<AtomicU64>,
    /// Bytes that had been read before.
    before: u64,
    /// Bytes to be read from then on.
    total: u64,
    line: Option<TerminalLine>,
    last: Instant,
}

impl<W: Write> ProgressOutput<W> {
    /// `total` bytes are to be read yet, which `read` counts.
    pub(super) fn new(out: W, name: Option<String>, read: &Arc<AtomicU64>, total: u64) -> Self {
        let before = read.load(Ordering::Relaxed);
        ProgressOutput {
            out,
            name,
            written: 0,
            read: Arc::clone(read),
            before,
            total,
            line: TerminalLine::new(),
            last: Instant::now(),
        }
    }

    /// Number of bytes written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    fn show(&mut self) {
        let Some(line) = &mut self.line else { return };
        if self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        // Some bytes are read twice.
        let read = self.read.load(Ordering::Relaxed).saturating_sub(self.before);
        let share = read.saturating_mul(100).checked_div(self.total).unwrap_or(0).min(99);
        line.set(&format!("{share} % read, {} written", ByteSize(self.written)));
    }

    fn named(&self, error: io::Error) -> io::Error {
        match &self.name {
            Some(name) if error.kind() != io::ErrorKind::Interrupted => {
                io::Error::new(error.kind(), format!("failed to write {name}: {error}"))
            }
            _ => error,
        }
    }
}

impl<W: Write> Write for ProgressOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes).map_err(|error| self.named(error))?;
        self.written += count as u64;
        self.show();
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| self.named(error))
    }
}

impl<W> Drop for ProgressOutput<W> {
    fn drop(&mut self) {
        if let Some(line) = &mut self.line {
            line.clear();
        }
    }
}
