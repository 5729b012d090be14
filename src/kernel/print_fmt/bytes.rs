//! Places of arrays and texts in a record.

use super::Context;

/// A stretch of bytes of the record. Nothing here can reach beyond it: what would, is empty or cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordBytes {
    /// Always the same place.
    Fixed { offset: u32, len: u32 },
    /// All that follows the record's fixed part.
    Rest { offset: u32 },
    /// Found through the `__data_loc` word at `at`.
    DataLoc { at: u32 },
    /// Found through the `__rel_loc` word at `at`.
    RelLoc { at: u32 },
    /// Found through a 2-byte offset (before Linux 2.6.33); reaches to the end of the record.
    OldLoc { at: u32 },
}

impl RecordBytes {
    /// The offset, if it is the same in every record.
    pub(super) fn fixed_offset(self) -> Option<u32> {
        match self {
            RecordBytes::Fixed { offset, .. } => Some(offset),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn get<'a>(self, cx: &Context<'a>) -> &'a [u8] {
        let data = cx.data;
        let cut = |start: usize, len: usize| {
            let rest = data.get(start..).unwrap_or_default();
            rest.get(..len).unwrap_or(rest)
        };
        match self {
            RecordBytes::Fixed { offset, len } => cut(offset as usize, len as usize),
            RecordBytes::Rest { offset } => cut(offset as usize, usize::MAX),
            RecordBytes::DataLoc { at } => {
                let word = cx.u32(at as usize);
                cut((word & 0xffff) as usize, (word >> 16) as usize)
            }
            RecordBytes::RelLoc { at } => {
                let word = cx.u32(at as usize);
                cut(((word & 0xffff) as usize).saturating_add(at as usize).saturating_add(4), (word >> 16) as usize)
            }
            RecordBytes::OldLoc { at } => {
                let start = cx.abi.uint(data, at as usize, 2).unwrap_or(0);
                cut(start as usize, usize::MAX)
            }
        }
    }
}
