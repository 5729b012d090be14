//! Fields that analyses read, found once per event type.

use crate::base::abi::Abi;
use crate::base::text::nul::until_nul;
use crate::kernel::event::{FieldPlace, TypedField};
use crate::kernel::format::EventFormat;

/// A number in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordNumber {
    offset: usize,
    size: usize,
}

impl RecordNumber {
    pub(crate) fn of(format: &EventFormat, field: &str) -> Option<Self> {
        format.field(field).map(|field| RecordNumber { offset: field.offset, size: field.size })
    }

    /// Without regard to its sign; of what is not a number, 0.
    #[inline]
    pub(crate) fn read(self, abi: Abi, data: &[u8]) -> u64 {
        if self.is_number() { abi.uint(data, self.offset, self.size).unwrap_or(0) } else { 0 }
    }

    /// With its sign, whatever the field's type says.
    #[inline]
    pub(crate) fn read_signed(self, abi: Abi, data: &[u8]) -> i64 {
        match self.size {
            1 => i64::from(self.read(abi, data) as i8),
            2 => i64::from(self.read(abi, data) as i16),
            4 => i64::from(self.read(abi, data) as i32),
            _ => self.read(abi, data) as i64,
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self.size, 1 | 2 | 4 | 8)
    }
}

/// A text in a record, of a fixed length or `__data_loc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordText(FieldPlace);

impl RecordText {
    pub(crate) fn of(format: &EventFormat, field: &str) -> Option<Self> {
        format.field(field).map(|field| RecordText(TypedField::new(format, field).place))
    }

    /// Up to its NUL.
    #[inline]
    pub(crate) fn read(self, abi: Abi, data: &[u8]) -> &[u8] {
        until_nul(self.0.bytes(abi, data).unwrap_or_default())
    }
}
