//! Values of one event.
//! The value in one place of a row.

use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{FieldKind, FieldPlace, TypedField};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use crate::language::synth::sql::{Calculation, RowExpr};
use std::sync::Arc;

/// An event whose values are taken.
#[derive(Clone, Copy)]
pub(super) struct RowInput<'e> {
    pub(super) abi: Abi,
    pub(super) data: &'e [u8],
    /// In the clock's unit.
    pub(super) time: u64,
    pub(super) cpu: CpuId,
    pub(super) task: Pid,
    pub(super) comms: &'e Comms,
}

/// A value of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'e> {
    Null,
    Number(i128),
    Text(&'e [u8]),
    /// Return addresses as the record holds them.
    Stack(&'e [u8]),
}

/// A [`RowExpr`] whose fields are resolved.
#[derive(Clone, Debug)]
pub(super) enum ResolvedRowExpr {
    Number { place: FieldPlace, signed: bool },
    Text(FieldPlace),
    Stack(FieldPlace),
    Time,
    Cpu,
    Comm,
    Constant(i128),
    Usecs(Box<ResolvedRowExpr>),
    Log2(Box<ResolvedRowExpr>),
    Binary(Calculation, Box<(ResolvedRowExpr, ResolvedRowExpr)>),
}

/// The greatest number, and the least without its sign.
const MOST: u128 = u64::MAX as u128;

impl ResolvedRowExpr {
    /// Of records of this format; the error is the name of a field that it does not have as a number, text or stack.
    pub(super) fn compile(expr: &RowExpr, format: &EventFormat) -> Result<ResolvedRowExpr, String> {
        let boxed = |inner: &RowExpr| ResolvedRowExpr::compile(inner, format).map(Box::new);
        Ok(match expr {
            RowExpr::Field(name) => {
                let field = format.field(name).ok_or_else(|| name.clone())?;
                let typed = TypedField::new(format, field);
                match typed.kind {
                    FieldKind::Signed => ResolvedRowExpr::Number { place: typed.place, signed: true },
                    FieldKind::Unsigned | FieldKind::Bool | FieldKind::Pointer => {
                        ResolvedRowExpr::Number { place: typed.place, signed: false }
                    }
                    FieldKind::Text => ResolvedRowExpr::Text(typed.place),
                    FieldKind::Numbers { .. } => ResolvedRowExpr::Stack(typed.place),
                    FieldKind::Bits | FieldKind::Bytes => return Err(name.clone()),
                }
            }
            RowExpr::Time => ResolvedRowExpr::Time,
            RowExpr::Cpu => ResolvedRowExpr::Cpu,
            RowExpr::Comm => ResolvedRowExpr::Comm,
            RowExpr::Number(number) => ResolvedRowExpr::Constant(*number),
            RowExpr::Usecs(inner) => ResolvedRowExpr::Usecs(boxed(inner)?),
            RowExpr::Log2(inner) => ResolvedRowExpr::Log2(boxed(inner)?),
            RowExpr::Binary(calculation, both) => {
                let both = (ResolvedRowExpr::compile(&both.0, format)?, ResolvedRowExpr::compile(&both.1, format)?);
                ResolvedRowExpr::Binary(*calculation, Box::new(both))
            }
        })
    }

    /// The value; `undefined` counts calculations that have none.
    #[inline]
    pub(super) fn of<'e>(&self, moment: &RowInput<'e>, undefined: &mut u64) -> Found<'e> {
        match self {
            ResolvedRowExpr::Text(place) => match place.bytes(moment.abi, moment.data) {
                Some(bytes) => Found::Text(until_nul(bytes)),
                None => Found::Null,
            },
            ResolvedRowExpr::Stack(place) => place.bytes(moment.abi, moment.data).map_or(Found::Null, Found::Stack),
            ResolvedRowExpr::Comm if moment.task.0 == 0 => Found::Text(b"swapper"),
            ResolvedRowExpr::Comm => moment.comms.get(moment.task).map_or(Found::Null, Found::Text),
            number => number.number(moment, undefined).map_or(Found::Null, Found::Number),
        }
    }

    #[inline]
    fn number(&self, moment: &RowInput<'_>, undefined: &mut u64) -> Option<i128> {
        let number = match self {
            ResolvedRowExpr::Number { place, signed } => {
                let bytes = place.bytes(moment.abi, moment.data)?;
                if *signed {
                    moment.abi.int(bytes, 0, bytes.len())?.into()
                } else {
                    moment.abi.uint(bytes, 0, bytes.len())?.into()
                }
            }
            ResolvedRowExpr::Time => moment.time.into(),
            ResolvedRowExpr::Cpu => moment.cpu.0.into(),
            ResolvedRowExpr::Constant(number) => *number,
            // `ns2usecs()` of kernel/trace/trace.c
            ResolvedRowExpr::Usecs(inner) => inner.number(moment, undefined)?.saturating_add(500).div_euclid(1000),
            ResolvedRowExpr::Log2(inner) => {
                // As the kernel, which has no negative numbers.
                let number = inner.number(moment, undefined)? as u64;
                number.checked_next_power_of_two().map_or(64, u64::trailing_zeros).into()
            }
            ResolvedRowExpr::Binary(calculation, both) => {
                let (left, right) = (both.0.number(moment, undefined)?, both.1.number(moment, undefined)?);
                let number = match calculation {
                    Calculation::Plus => left.checked_add(right),
                    Calculation::Minus => left.checked_sub(right),
                    Calculation::Times => left.checked_mul(right),
                    Calculation::Over => left.checked_div(right),
                };
                let number = number.filter(|number| number.unsigned_abs() <= MOST);
                if number.is_none() {
                    *undefined = undefined.saturating_add(1);
                }
                return number;
            }
            ResolvedRowExpr::Text(_) | ResolvedRowExpr::Stack(_) | ResolvedRowExpr::Comm => return None,
        };
        Some(number)
    }
}

impl Found<'_> {
    /// Appends bytes that only equal values have.
    #[inline]
    pub(super) fn put(&self, key: &mut Vec<u8>) {
        match self {
            Found::Null => key.push(0),
            Found::Number(number) => {
                key.push(1);
                key.extend_from_slice(&number.to_le_bytes());
            }
            Found::Text(bytes) | Found::Stack(bytes) => {
                key.push(if matches!(self, Found::Text(_)) { 2 } else { 3 });
                key.extend_from_slice(&bytes.len().to_le_bytes());
                key.extend_from_slice(bytes);
            }
        }
    }

    /// The value by itself.
    pub(super) fn cell(&self, abi: Abi) -> RowCell {
        match self {
            Found::Null => RowCell::Null,
            Found::Number(number) => RowCell::Number(*number),
            Found::Text(text) => RowCell::Text((*text).into()),
            Found::Stack(words) => {
                let size = usize::from(abi.long_size).max(1);
                let mut words: Vec<u64> =
                    words.chunks_exact(size).map(|word| abi.uint(word, 0, size).unwrap_or(0)).collect();
                // Synthetic events hold the number of frames before the frames.
                if words.first().is_some_and(|first| *first < words.len() as u64) {
                    words.remove(0);
                }
                RowCell::Stack(words.into())
            }
        }
    }
}

/// The value in one place of a row. No value comes before all others, and numbers before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowCell {
    /// No value.
    Null,
    /// A whole number.
    Number(i128),
    /// A mean in thousandths, rounded to the nearest one, halves away from 0.
    Thousandths(i128),
    /// A text without its NUL.
    Text(Arc<[u8]>),
    /// Return addresses, the innermost first.
    Stack(Arc<[u64]>),
}
