//! Sources of a test's operand, and the data that the tests look at.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::kernel::symbols::AddressNames;

/// One event, as the filters see it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The record, `common_type` first.
    pub data: &'a [u8],
    /// The CPU it happened on.
    pub cpu: CpuId,
    /// The name of the task it happened in, without NUL.
    pub comm: &'a [u8],
    /// Names of kernel addresses, for text comparisons with pointers in trace-cmd's language.
    pub names: &'a dyn AddressNames,
}

/// A number in the record's fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberAt {
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) signed: bool,
}

impl NumberAt {
    /// The number, sign-extended to 64 bits if it is signed; `None` outside the record or of no number's size.
    #[inline]
    pub(super) fn load(self, data: &[u8], abi: Abi) -> Option<u64> {
        match self.signed {
            true => abi.int(data, self.offset, self.size).map(|v| v as u64),
            false => abi.uint(data, self.offset, self.size),
        }
    }

    /// `value` as it would come out of [`NumberAt::load`] after being stored: cut to the field's size.
    pub(super) fn cut(self, value: u64) -> u64 {
        let Some(shift) = u32::try_from(self.size).ok().and_then(|size| 64u32.checked_sub(size.checked_mul(8)?)) else {
            return value;
        };
        match (shift, self.signed) {
            (64, _) => 0,
            (_, true) => (((value << shift) as i64) >> shift) as u64,
            (_, false) => value << shift >> shift,
        }
    }
}

/// Text in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAt {
    /// These bytes of the fixed part.
    Fixed { offset: usize, size: usize },
    /// A `__data_loc` word is there.
    DataLoc { offset: usize },
    /// A `__rel_loc` word is there.
    RelLoc { offset: usize },
}

impl TextAt {
    /// All bytes of the text field, NUL and what follows included; `None` if they are not in the record.
    #[inline]
    pub(super) fn load(self, data: &[u8], abi: Abi) -> Option<&[u8]> {
        let (start, len) = match self {
            TextAt::Fixed { offset, size: 0 } => (offset, data.len().checked_sub(offset)?),
            TextAt::Fixed { offset, size } => (offset, size),
            TextAt::DataLoc { offset } => location(data, abi, offset, 0)?,
            TextAt::RelLoc { offset } => location(data, abi, offset, offset.checked_add(4)?)?,
        };
        data.get(start..start.checked_add(len)?)
    }
}

/// Offset (from `base`) in the low, length in the high half of the word at `offset`.
fn location(data: &[u8], abi: Abi, offset: usize, base: usize) -> Option<(usize, usize)> {
    let word = abi.uint(data, offset, 4)? as usize;
    Some((base.checked_add(word & 0xffff)?, word >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };

    #[test]
    fn numbers_are_cut_as_the_kernel_does() {
        let at = |size, signed| NumberAt { offset: 0, size, signed };
        assert_eq!(at(4, true).cut(4_294_967_416), 120);
        assert_eq!(at(4, true).cut(u64::MAX), u64::MAX);
        assert_eq!(at(4, false).cut(u64::MAX), u64::from(u32::MAX));
        assert_eq!(at(8, false).cut(u64::MAX), u64::MAX);
        assert_eq!(at(1, true).cut(0x80), (-128i64) as u64);
        assert_eq!(at(48, true).cut(5), 5);
        assert_eq!(at(2, true).load(&[0xff, 0xff], LE), Some(u64::MAX));
        assert_eq!(at(2, true).load(&[0xff], LE), None);
    }

    #[test]
    fn texts() {
        let data = [0, 0, 0, 0, 12, 0, 3, 0, 4, 0, 2, 0, b'h', b'i', 0, 0];
        assert_eq!(TextAt::DataLoc { offset: 4 }.load(&data, LE), Some(&b"hi\0"[..]));
        assert_eq!(TextAt::RelLoc { offset: 8 }.load(&data, LE), None, "runs past the end");
        assert_eq!(TextAt::RelLoc { offset: 4 }.load(&data[..], LE), None);
        assert_eq!(TextAt::Fixed { offset: 12, size: 4 }.load(&data, LE), Some(&b"hi\0\0"[..]));
        assert_eq!(TextAt::Fixed { offset: 12, size: 0 }.load(&data, LE), Some(&b"hi\0\0"[..]));
        assert_eq!(TextAt::Fixed { offset: 12, size: 5 }.load(&data, LE), None);
    }
}
