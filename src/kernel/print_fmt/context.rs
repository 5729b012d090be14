//! The input of a program that runs.

use crate::base::abi::{Abi, Endian};
use crate::kernel::symbols::Symbols;

/// One record and what is known of the machine it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The record, from `common_type` on.
    pub data: &'a [u8],
    /// Byte order and word size of the recorded kernel.
    pub abi: Abi,
    /// Names for addresses.
    pub symbols: &'a Symbols,
    /// Bitmasks as lists of numbers, `0-3,7`: the trace option `bitmask-list` (since Linux 7.0).
    pub lists: bool,
}

impl Context<'_> {
    /// The four bytes at `offset` as a number; 0 beyond the record's end.
    #[inline]
    pub fn u32(&self, offset: usize) -> u32 {
        let Some(&[a, b, c, d]) = self.data.get(offset..).and_then(|s| s.first_chunk()) else { return 0 };
        match self.abi.endian {
            Endian::Little => u32::from_le_bytes([a, b, c, d]),
            Endian::Big => u32::from_be_bytes([a, b, c, d]),
        }
    }

    /// The eight bytes at `offset` as a number; 0 beyond the record's end.
    #[inline]
    pub fn u64(&self, offset: usize) -> u64 {
        let Some(bytes) = self.data.get(offset..).and_then(|s| s.first_chunk::<8>()) else { return 0 };
        match self.abi.endian {
            Endian::Little => u64::from_le_bytes(*bytes),
            Endian::Big => u64::from_be_bytes(*bytes),
        }
    }
}
