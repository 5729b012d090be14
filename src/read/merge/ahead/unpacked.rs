//! An unpacked chunk.

use crate::file::trace_dat::PageHeaders;
use std::ops::Deref;

/// A chunk's bytes, and what they hold.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    pub(super) headers: PageHeaders,
}

impl Deref for Unpacked {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}
