//! Fields compiled once per event type: where a value lies, and how it is written.

use crate::base::abi::Abi;
use crate::base::sys::Tail;
use crate::kernel::event::{FieldKind, FieldPlace, TypedField, Value};

/// Reads and writes a value. The usual ones are spelled out so that each is one load and one store of digits.
#[derive(Clone, Debug)]
pub(super) enum FieldRead {
    U8(usize),
    U16(usize),
    U32(usize),
    U64(usize),
    I32(usize),
    I64(usize),
    /// An address of 4 or 8 bytes.
    Pointer(usize, usize),
    /// `char name[len]` at an offset.
    Chars(usize, usize),
    /// Text at a place to be looked up.
    Text(FieldPlace),
    Any(Box<TypedField>),
}

/// The layout of values that are no whole numbers.
pub(super) trait ValueForm {
    /// Appends the mark of a field that does not lie within its record.
    fn missing(tail: Tail<'_>) -> Tail<'_>;

    /// Appends an address.
    fn pointer(address: u64, tail: Tail<'_>) -> Tail<'_>;

    /// Appends text, which ends at its first NUL.
    fn text<'a>(text: &[u8], tail: Tail<'a>) -> Tail<'a>;

    /// Appends a value of any kind.
    fn any(value: Value<'_>, out: &mut Vec<u8>);
}

impl FieldRead {
    pub(super) fn new(field: &TypedField) -> Self {
        match (field.kind, field.place) {
            (FieldKind::Unsigned, FieldPlace::Fixed { offset, len: 1 }) => FieldRead::U8(offset),
            (FieldKind::Unsigned, FieldPlace::Fixed { offset, len: 2 }) => FieldRead::U16(offset),
            (FieldKind::Unsigned, FieldPlace::Fixed { offset, len: 4 }) => FieldRead::U32(offset),
            (FieldKind::Unsigned, FieldPlace::Fixed { offset, len: 8 }) => FieldRead::U64(offset),
            (FieldKind::Signed, FieldPlace::Fixed { offset, len: 4 }) => FieldRead::I32(offset),
            (FieldKind::Signed, FieldPlace::Fixed { offset, len: 8 }) => FieldRead::I64(offset),
            (FieldKind::Pointer, FieldPlace::Fixed { offset, len }) => FieldRead::Pointer(offset, len),
            (FieldKind::Text, FieldPlace::Fixed { offset, len }) => FieldRead::Chars(offset, len),
            (FieldKind::Text, place) => FieldRead::Text(place),
            _ => FieldRead::Any(Box::new(field.clone())),
        }
    }

    /// The number that this reads, if it is there.
    #[inline]
    pub(super) fn int(&self, abi: Abi, data: &[u8]) -> Option<i64> {
        match self {
            FieldRead::I32(at) => chunk(data, *at).map(|b| (abi.u32(b) as i32).into()),
            FieldRead::Any(field) => match field.value(abi, data) {
                Some(Value::Signed(n)) => Some(n),
                Some(Value::Unsigned(n)) => Some(n as i64),
                _ => None,
            },
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn write<'a, F: ValueForm>(&self, abi: Abi, data: &[u8], tail: Tail<'a>) -> Tail<'a> {
        let plus = |value: u64| (false, value);
        // The usual ones are numbers, whose digits are made in one place.
        let number = match *self {
            FieldRead::U8(at) => data.get(at).map(|&b| plus(b.into())),
            FieldRead::U16(at) => chunk(data, at).map(|b| plus(abi.u16(b).into())),
            FieldRead::U32(at) => chunk(data, at).map(|b| plus(abi.u32(b).into())),
            FieldRead::U64(at) => chunk(data, at).map(|b| plus(abi.u64(b))),
            FieldRead::I32(at) => chunk(data, at).map(|b| abi.u32(b) as i32).map(|n| (n < 0, n.unsigned_abs().into())),
            FieldRead::I64(at) => chunk(data, at).map(|b| abi.u64(b) as i64).map(|n| (n < 0, n.unsigned_abs())),
            FieldRead::Pointer(at, len) => {
                return match abi.uint(data, at, len) {
                    Some(address) => F::pointer(address, tail),
                    None => F::missing(tail),
                };
            }
            FieldRead::Chars(at, len) => {
                return text::<F>(data.get(at..).and_then(|d| d.get(..len)), tail);
            }
            FieldRead::Text(place) => return text::<F>(place.bytes(abi, data), tail),
            FieldRead::Any(ref field) => {
                return match field.value(abi, data) {
                    Some(any) => tail.with(|out| F::any(any, out)),
                    None => F::missing(tail),
                };
            }
        };
        match number {
            // The sign is stored in any case, and overwritten if it is none.
            Some((minus, value)) => tail.piece(b"-", usize::from(minus)).wide(value),
            None => F::missing(tail),
        }
    }
}

#[inline(always)]
fn text<'a, F: ValueForm>(bytes: Option<&[u8]>, tail: Tail<'a>) -> Tail<'a> {
    match bytes {
        Some(bytes) => F::text(bytes, tail),
        None => F::missing(tail),
    }
}

#[inline]
fn chunk<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk().copied()
}
