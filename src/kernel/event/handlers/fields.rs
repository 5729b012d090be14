//! Fields of a record, read by place and size.
//! Arguments of functions, from registers that a function tracer stored.
//! The part of an event's text that a handler wrote.

use crate::base::text::plain;
use crate::base::text::plain::until_nul;
use crate::kernel::event::{Consumed, Registers, Wording};
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::kernel::print_fmt::Context;

/// A number field of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberField {
    offset: usize,
    size: usize,
    signed: bool,
}

impl NumberField {
    /// The scalar field called `name`.
    pub(crate) fn field(event: &EventFormat, name: &str) -> Option<NumberField> {
        let field = event.fields.iter().find(|f| f.name == name)?;
        (field.shape == Shape::Scalar).then_some(NumberField {
            offset: field.offset,
            size: field.size,
            signed: field.is_signed(),
        })
    }

    /// The first word of any field: of a `__data_loc` field its location.
    pub(crate) fn word(field: &Field) -> NumberField {
        NumberField { offset: field.offset, size: 4, signed: false }
    }

    /// The number without regard to its sign.
    #[inline]
    pub(crate) fn get(self, cx: &Context<'_>) -> u64 {
        match self.size {
            4 => cx.u32(self.offset).into(),
            8 => cx.u64(self.offset),
            size => cx.abi.uint(cx.data, self.offset, size).unwrap_or(0),
        }
    }

    /// The number by its sign.
    #[inline]
    pub(crate) fn signed(self, cx: &Context<'_>) -> i64 {
        if self.signed { cx.abi.int(cx.data, self.offset, self.size).unwrap_or(0) } else { self.get(cx) as i64 }
    }
}

/// A char array or `__data_loc` text field.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel::event) struct TextField {
    offset: usize,
    size: usize,
    dynamic: bool,
}

impl TextField {
    pub(in crate::kernel::event) fn field(event: &EventFormat, name: &str) -> Option<TextField> {
        let field = event.fields.iter().find(|f| f.name == name)?;
        match field.shape {
            Shape::Array { .. } => Some(TextField { offset: field.offset, size: field.size, dynamic: false }),
            Shape::DataLoc { .. } => Some(TextField { offset: field.offset, size: field.size, dynamic: true }),
            _ => None,
        }
    }

    /// Appends the text up to its NUL.
    #[inline]
    pub(in crate::kernel::event) fn put(self, cx: &Context<'_>, out: &mut Vec<u8>) {
        match cx.data.get(self.offset..).and_then(|d| d.first_chunk()) {
            Some(field) if !self.dynamic && self.size == 16 => plain::text16(out, field),
            _ => out.extend_from_slice(self.get(cx)),
        }
    }

    /// The text up to its NUL.
    #[inline]
    pub(in crate::kernel::event) fn get<'a>(self, cx: &Context<'a>) -> &'a [u8] {
        let (start, len) = if self.dynamic {
            let word = cx.u32(self.offset);
            ((word & 0xffff) as usize, (word >> 16) as usize)
        } else {
            (self.offset, self.size)
        };
        let rest = cx.data.get(start..).unwrap_or_default();
        until_nul(rest.get(..len).unwrap_or(rest))
    }
}

/// Offset of the registers in a function tracer's entry, if the kernel can store them (since Linux 6.15).
pub(super) fn args(event: &EventFormat) -> Option<usize> {
    event.fields.iter().find(|f| f.name == "args").map(|f| f.offset)
}

/// Appends the arguments of the function `name` at `address`, by its types or, without any, as bare numbers; nothing if
/// no registers were stored.
pub(super) fn put_arguments(cx: &Context<'_>, func: (u64, &[u8]), at: Option<usize>, out: &mut Vec<u8>) {
    let Some(registers) = at.map(|at| Registers { cx, at }).filter(|registers| registers.count() > 0) else { return };
    cx.symbols.functions.arguments(func, true, |arguments| match arguments {
        Some(arguments) => arguments.write(registers, Wording::TraceCmd, out),
        None => registers.put_all(out),
    });
}

/// The result of a handler.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct HandlerResult {
    /// True if the text is whole; else the print format's text follows.
    pub(in crate::kernel::event) complete: bool,
    pub(in crate::kernel::event) consumed: Consumed,
}

impl HandlerResult {
    pub(super) const WHOLE: HandlerResult = HandlerResult { complete: true, consumed: Consumed::One };
    pub(super) const PREFIX: HandlerResult = HandlerResult { complete: false, consumed: Consumed::One };
}
