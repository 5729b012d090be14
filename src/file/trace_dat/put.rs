//! Numbers and texts to the file's bytes.

use crate::base::abi::{Abi, Endian};

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
