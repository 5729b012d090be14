//! Number expressions, compiled: every type decision is taken, what is left works on 64-bit words.
//! The input of a program that runs.
//! Places of arrays and texts in a record.

use crate::base::abi::{Abi, Endian};
use crate::kernel::symbols::Symbols;

/// An expression with a number as its value.
#[derive(Clone, Debug)]
pub(super) enum Ex {
    Const(u64),
    /// A number directly in the record.
    Load(Load),
    /// An element of an array; beyond its end 0.
    Element {
        bytes: RecordBytes,
        size: u8,
        signed: bool,
        index: Box<Ex>,
    },
    /// The length of an array in bytes.
    Len(RecordBytes),
    /// Cut to `size` bytes, then extended to 64 bits.
    Fit {
        size: u8,
        signed: bool,
        of: Box<Ex>,
    },
    /// The bytes of a number of `size` bytes in the other order.
    Swap {
        size: u8,
        of: Box<Ex>,
    },
    Neg(Box<Ex>),
    Not(Box<Ex>),
    /// 1 if the value is 0, else 0.
    IsZero(Box<Ex>),
    Bin(Bin, Box<[Ex; 2]>),
    And(Box<[Ex; 2]>),
    Or(Box<[Ex; 2]>),
    Choice(Box<[Ex; 3]>),
}

/// Place of a number in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) offset: u32,
    pub(super) size: u8,
    pub(super) signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bin {
    Add,
    Sub,
    Mul,
    DivU,
    DivS,
    RemU,
    RemS,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    ShrU,
    ShrS,
    Eq,
    Ne,
    LtU,
    LtS,
    LeU,
    LeS,
}

impl Load {
    /// The number, extended to 64 bits; what lies beyond the record counts as 0.
    #[inline(always)]
    pub(super) fn get(self, cx: &Context<'_>) -> u64 {
        let offset = self.offset as usize;
        match (self.size, self.signed) {
            (1, false) => cx.data.get(offset).map_or(0, |byte| u64::from(*byte)),
            (4, false) => u64::from(cx.u32(offset)),
            (4, true) => cx.u32(offset) as i32 as u64,
            (8, _) => cx.u64(offset),
            (_, false) => cx.abi.uint(cx.data, offset, usize::from(self.size)).unwrap_or(0),
            (_, true) => cx.abi.int(cx.data, offset, usize::from(self.size)).unwrap_or(0) as u64,
        }
    }
}

/// `value` cut to `size` bytes and extended again.
#[inline]
pub(super) fn fit(value: u64, size: u8, signed: bool) -> u64 {
    match (size, signed) {
        (1, false) => u64::from(value as u8),
        (1, true) => value as i8 as u64,
        (2, false) => u64::from(value as u16),
        (2, true) => value as i16 as u64,
        (4, false) => u64::from(value as u32),
        (4, true) => value as i32 as u64,
        _ => value,
    }
}

impl Ex {
    #[inline(always)]
    pub(super) fn eval(&self, cx: &Context<'_>) -> u64 {
        match self {
            Ex::Load(load) => load.get(cx),
            other => other.composed(cx),
        }
    }

    fn composed(&self, cx: &Context<'_>) -> u64 {
        match self {
            Ex::Const(value) => *value,
            Ex::Load(load) => load.get(cx),
            Ex::Element { bytes, size, signed, index } => {
                let index = index.eval(cx) as usize;
                let data = bytes.get(cx);
                let element = usize::from(*size);
                let value = index.checked_mul(element).and_then(|offset| cx.abi.uint(data, offset, element));
                fit(value.unwrap_or(0), *size, *signed)
            }
            Ex::Len(bytes) => bytes.get(cx).len() as u64,
            Ex::Fit { size, signed, of } => fit(of.eval(cx), *size, *signed),
            Ex::Swap { size, of } => {
                let value = of.eval(cx).swap_bytes();
                value >> u64::BITS.saturating_sub(u32::from((*size).clamp(1, 8)).saturating_mul(8))
            }
            Ex::Neg(of) => of.eval(cx).wrapping_neg(),
            Ex::Not(of) => !of.eval(cx),
            Ex::IsZero(of) => u64::from(of.eval(cx) == 0),
            Ex::And(of) => {
                let [a, b] = &**of;
                u64::from(a.eval(cx) != 0 && b.eval(cx) != 0)
            }
            Ex::Or(of) => {
                let [a, b] = &**of;
                u64::from(a.eval(cx) != 0 || b.eval(cx) != 0)
            }
            Ex::Choice(of) => {
                let [condition, yes, no] = &**of;
                if condition.eval(cx) != 0 { yes.eval(cx) } else { no.eval(cx) }
            }
            Ex::Bin(op, of) => {
                let [a, b] = &**of;
                op.apply(a.eval(cx), b.eval(cx))
            }
        }
    }

    /// The value, if it is the same for every record.
    pub(super) fn constant(&self) -> Option<u64> {
        match self {
            Ex::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// Cut to a type's width and extended by its sign.
    pub(super) fn fitted(self, size: u8, signed: bool) -> Ex {
        match self {
            _ if size >= 8 => self,
            Ex::Const(value) => Ex::Const(fit(value, size, signed)),
            Ex::Load(load) if load.size < size && (signed || !load.signed) => Ex::Load(load),
            Ex::Load(load) if load.size == size => Ex::Load(Load { signed, ..load }),
            other => Ex::Fit { size, signed, of: Box::new(other) },
        }
    }
}

impl Bin {
    /// The result; a division by zero gives 0, and a shift counts modulo 64, as the machines' own.
    #[inline]
    pub(super) fn apply(self, a: u64, b: u64) -> u64 {
        let shift = b as u32;
        match self {
            Bin::Add => a.wrapping_add(b),
            Bin::Sub => a.wrapping_sub(b),
            Bin::Mul => a.wrapping_mul(b),
            Bin::DivU => a.checked_div(b).unwrap_or(0),
            Bin::DivS => (a as i64).checked_div(b as i64).unwrap_or(0) as u64,
            Bin::RemU => a.checked_rem(b).unwrap_or(0),
            Bin::RemS => (a as i64).checked_rem(b as i64).unwrap_or(0) as u64,
            Bin::BitAnd => a & b,
            Bin::BitOr => a | b,
            Bin::BitXor => a ^ b,
            Bin::Shl => a.wrapping_shl(shift),
            Bin::ShrU => a.wrapping_shr(shift),
            Bin::ShrS => (a as i64).wrapping_shr(shift) as u64,
            Bin::Eq => u64::from(a == b),
            Bin::Ne => u64::from(a != b),
            Bin::LtU => u64::from(a < b),
            Bin::LtS => u64::from((a as i64) < b as i64),
            Bin::LeU => u64::from(a <= b),
            Bin::LeS => u64::from(a as i64 <= b as i64),
        }
    }
}

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
