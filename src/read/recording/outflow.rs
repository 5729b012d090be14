//! Output in parts.

use std::io;

/// Bytes that are passed on whenever they are many, so that what a format gathered does not lie in memory twice.
pub struct Outflow<'s> {
    /// Bytes to which more are added.
    pub bytes: Vec<u8>,
    sink: &'s mut dyn FnMut(&[u8]) -> io::Result<()>,
}

/// Bytes that are many.
const MANY: usize = 256 << 10;

impl<'s> Outflow<'s> {
    /// Passes bytes on to `sink`.
    pub fn new(sink: &'s mut dyn FnMut(&[u8]) -> io::Result<()>) -> Self {
        Outflow { bytes: Vec::new(), sink }
    }

    /// Passes the bytes on, if they are many.
    ///
    /// # Errors
    /// That of the sink.
    #[inline]
    pub fn relieve(&mut self) -> io::Result<()> {
        if self.bytes.len() < MANY { Ok(()) } else { self.flush() }
    }

    /// Passes the bytes on.
    ///
    /// # Errors
    /// That of the sink.
    pub fn flush(&mut self) -> io::Result<()> {
        let passed = (self.sink)(&self.bytes);
        self.bytes.clear();
        passed
    }
}
