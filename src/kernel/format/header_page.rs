//! `events/header_page`: the layout of a sub-buffer's header.

use super::{FormatError, parse};
use crate::base::abi::{Abi, Endian};

/// Sizes that the kernel states in `events/header_page`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderPage {
    /// Size of the `commit` word, which is the kernel's `long`: 4 or 8.
    pub long_size: u8,
    /// Offset of a sub-buffer's events, in bytes: 16 on 64-bit kernels, 12 on 32-bit ones.
    pub data_offset: usize,
    /// Size of a whole sub-buffer: header and events.
    pub sub_buffer_size: usize,
}

impl HeaderPage {
    /// Parses the text of `events/header_page`.
    ///
    /// # Errors
    /// [`FormatError`] if a line is malformed, or `commit` or `data` is missing or absurd.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        parse::header_page(text)
    }

    /// The ABI of a kernel with this header page and byte order.
    pub fn abi(&self, endian: Endian) -> Abi {
        Abi { endian, long_size: self.long_size }
    }
}
