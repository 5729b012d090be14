//! A compiled print format: a flat list of operations that write into the output buffer.
//!
//! The names of allocation flags, which `%pGg` prints from a table within the kernel (`gfpflag_names`, mm/debug.c). Their
//! bits differ from kernel to kernel, but the events of `kmem` and `vmscan` carry the same table in their print formats.

use super::expr::{Ex, Load, RecordBytes, fit};
use super::flags::NameTable;
use super::pointer::Pointer;
use super::spec::MAX_WIDTH;
use super::text::TextExpr;
use super::{Context, Semantics, flags, pointer};
use crate::base::sys::Tail;
use crate::base::text::literal::Literal;
use crate::base::text::plain::until_nul;
use crate::base::text::printf::{Flags, Radix};
use crate::base::text::{num, plain, printf};

/// The compiled print format of one event.
#[derive(Clone, Debug)]
pub struct PrintProgram {
    pub(super) steps: Vec<PrintStep>,
    pub(super) semantics: Semantics,
    /// For the raw layout: which operation prints a field all by itself.
    pub(super) fields: Vec<FieldOp>,
}

/// A literal and what follows it.
#[derive(Clone, Debug)]
pub(super) struct PrintStep {
    pub(super) literal: Literal,
    pub(super) op: PrintOp,
}

/// The operation of step `op` prints exactly the scalar field at `offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldOp {
    pub(super) op: u32,
    pub(super) offset: u32,
    /// True if the literal in front of it ends with `0x`.
    pub(super) has_0x: bool,
}

/// One step. The first ones are what most arguments of most events need; the last ones take anything.
#[derive(Clone, Debug)]
pub(super) enum PrintOp {
    /// The end, after the last literal.
    Nothing,
    DecI32(u32),
    DecU32(u32),
    DecU64(u32),
    Hex64(u32),
    /// Hexadecimal, zero-filled.
    HexPad {
        value: Load,
        width: u8,
    },
    Dec(Ex),
    DecSigned(Ex),
    Hex(Ex),
    /// `%s` of a field of 16 bytes, which is what a task's name has.
    Comm(u32),
    /// `%s` without width.
    Str(RecordBytes),
    Symbolic(Box<(Ex, NameTable)>),
    Text(Box<TextExpr>),
    /// Any `%s`.
    TextSpec(Box<TextSpec>),
    /// Any integer conversion.
    Int(Box<IntSpec>),
    Char(Ex),
    Symbol(Ex, Pointer),
    Address(Box<AddressSpec>),
    /// A `%p` extension that shows bytes; the number is the width given with `*`.
    Bytes(Box<(Pointer, RecordBytes, Option<Ex>)>),
}

#[derive(Clone, Debug)]
pub(super) struct TextSpec {
    pub(super) text: TextExpr,
    pub(super) left: bool,
    pub(super) width: Ex,
    pub(super) precision: Option<Ex>,
}

#[derive(Clone, Debug)]
pub(super) struct IntSpec {
    pub(super) value: Ex,
    pub(super) size: u8,
    pub(super) radix: Radix,
    pub(super) flags: Flags,
    pub(super) width: Ex,
    pub(super) precision: Option<Ex>,
}

#[derive(Clone, Debug)]
pub(super) struct AddressSpec {
    pub(super) value: Ex,
    pub(super) kind: PaddedValue,
    pub(super) flags: Flags,
    pub(super) width: Ex,
    /// The longest text, in bytes; of an address the least number of digits.
    pub(super) precision: Option<Ex>,
}

/// A value that is filled to a width.
#[derive(Clone, Copy, Debug)]
pub(super) enum PaddedValue {
    Char,
    Pointer(Pointer),
    Bytes(Pointer, RecordBytes),
}

impl PrintProgram {
    /// Appends the event's text.
    #[inline]
    pub fn render(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let mut tail = Tail::new(out);
        for step in &self.steps {
            tail = tail.literal(&step.literal);
            tail = match &step.op {
                PrintOp::Nothing => tail,
                PrintOp::DecI32(offset) => tail.signed((cx.u32(*offset as usize) as i32).into()),
                PrintOp::DecU32(offset) => tail.dec(cx.u32(*offset as usize).into()),
                PrintOp::DecU64(offset) => tail.dec(cx.u64(*offset as usize)),
                PrintOp::Dec(Ex::Load(load)) => tail.dec(load.get(cx)),
                PrintOp::DecSigned(Ex::Load(load)) => tail.signed(load.get(cx) as i64),
                PrintOp::Hex64(offset) => tail.hex(cx.u64(*offset as usize)),
                PrintOp::Hex(Ex::Load(load)) => tail.hex(load.get(cx)),
                PrintOp::HexPad { value, width: width @ ..=16 } => {
                    let value = value.get(cx);
                    tail.hex_digits(value, num::hex_len(value).max(usize::from(*width)))
                }
                PrintOp::Comm(offset) => match cx.data.get(*offset as usize..).and_then(|d| d.first_chunk()) {
                    Some(field) => tail.text16(field),
                    None => tail.with(|out| self.run(&step.op, cx, out)),
                },
                op => tail.with(|out| self.run(op, cx, out)),
            };
        }
        tail.done();
    }

    /// Appends the field that starts at `offset` as this program prints it; `false` if it prints it nowhere by itself.
    /// `next` is the operation the search begins with, and is moved after the one found: once that was the last one,
    /// nothing is found any more (this is how libtraceevent searches, and its raw layout shows it).
    pub(crate) fn render_field(&self, offset: usize, next: &mut usize, cx: &Context<'_>, out: &mut Vec<u8>) -> bool {
        if *next >= self.steps.len() {
            return false;
        }
        let here = |f: &&FieldOp| f.offset as usize == offset;
        let after = self.fields.iter().filter(here).find(|f| f.op as usize >= *next);
        let Some(field) = after.or_else(|| self.fields.iter().find(here)) else { return false };
        let Some(PrintStep { op, .. }) = self.steps.get(field.op as usize) else { return false };
        *next = (field.op as usize).saturating_add(1);
        if field.has_0x {
            plain::all(out, b"0x");
        }
        let PrintOp::Symbol(ex, Pointer::Symbol | Pointer::SymbolOffset) = op else {
            self.run(op, cx, out);
            return true;
        };
        let address = ex.eval(cx);
        if cx.symbols.kallsyms.lookup(address).is_some() {
            self.run(op, cx, out);
        }
        plain::all(out, b" (0x");
        num::hex(out, address);
        out.push(b')');
        true
    }

    #[inline(never)]
    fn run(&self, op: &PrintOp, cx: &Context<'_>, out: &mut Vec<u8>) {
        match op {
            PrintOp::Nothing => {}
            PrintOp::DecI32(offset) => num::signed(out, (cx.u32(*offset as usize) as i32).into()),
            PrintOp::DecU32(offset) => num::dec(out, cx.u32(*offset as usize).into()),
            PrintOp::DecU64(offset) => num::dec(out, cx.u64(*offset as usize)),
            PrintOp::Hex64(offset) => num::hex(out, cx.u64(*offset as usize)),
            PrintOp::HexPad { value, width } => num::hex_pad(out, value.get(cx), usize::from(*width)),
            PrintOp::Dec(ex) => num::dec(out, ex.eval(cx)),
            PrintOp::DecSigned(ex) => num::signed(out, ex.eval(cx) as i64),
            PrintOp::Hex(ex) => num::hex(out, ex.eval(cx)),
            PrintOp::Comm(offset) => match cx.data.get(*offset as usize..).and_then(|d| d.first_chunk()) {
                Some(field) => plain::text16(out, field),
                None => out.extend_from_slice(until_nul(cx.data.get(*offset as usize..).unwrap_or(b""))),
            },
            PrintOp::Str(bytes) => out.extend_from_slice(until_nul(bytes.get(cx))),
            PrintOp::Symbolic(of) => flags::symbolic(out, &of.1, of.0.eval(cx), None),
            PrintOp::Text(text) => text.write(out, cx, self.semantics, None),
            PrintOp::TextSpec(spec) => spec.write(out, cx, self.semantics),
            PrintOp::Int(spec) => spec.write(out, cx),
            PrintOp::Char(ex) => out.push(ex.eval(cx) as u8),
            PrintOp::Symbol(ex, kind) => pointer::address(out, cx, *kind, ex.eval(cx), self.semantics),
            PrintOp::Address(spec) => spec.write(out, cx, self.semantics),
            PrintOp::Bytes(of) => {
                // a width below 0 is one that fills on the right (lib/vsprintf.c, `format_decode()`)
                let len = of.2.as_ref().map(|ex| ((ex.eval(cx) as i32).unsigned_abs() as usize).min(MAX_WIDTH));
                pointer::bytes(out, of.0, of.1.get(cx), len, cx, self.semantics);
            }
        }
    }
}

/// Fills what was written since `start` to `width` columns; a negative width fills on the right.
fn pad(out: &mut Vec<u8>, start: usize, left: bool, width: i32) {
    let columns = (width.unsigned_abs() as usize).min(MAX_WIDTH);
    let written = out.len().saturating_sub(start);
    let Some(fill) = columns.checked_sub(written).filter(|f| *f > 0) else { return };
    out.resize(out.len().saturating_add(fill), b' ');
    if !left && width > 0 {
        out.get_mut(start..).unwrap_or_default().rotate_right(fill);
    }
}

impl AddressSpec {
    fn write(&self, out: &mut Vec<u8>, cx: &Context<'_>, semantics: Semantics) {
        let start = out.len();
        let (value, width) = (self.value.eval(cx), self.width.eval(cx) as i32);
        let precision = self.precision.as_ref().and_then(|ex| usize::try_from(ex.eval(cx) as i32).ok());
        match self.kind {
            PaddedValue::Char => out.push(value as u8),
            // lib/vsprintf.c, pointer_string(): a number, without zeros where a width is given
            PaddedValue::Pointer(Pointer::Hex | Pointer::Plain | Pointer::Elsewhere)
                if semantics == Semantics::Kernel =>
            {
                return hex(out, value, self.flags, width, precision);
            }
            PaddedValue::Pointer(kind) => pointer::address(out, cx, kind, value, semantics),
            PaddedValue::Bytes(kind, bytes) => pointer::bytes(out, kind, bytes.get(cx), None, cx, semantics),
        }
        if let Some(most) = precision {
            out.truncate(start.saturating_add(most).min(out.len()));
        }
        pad(out, start, self.flags.left, width);
    }
}

fn hex(out: &mut Vec<u8>, value: u64, mut flags: Flags, width: i32, precision: Option<usize>) {
    flags.left |= width < 0;
    let width = (width.unsigned_abs() as usize).min(MAX_WIDTH);
    printf::printf(out, value, Radix::Hex, flags, width, precision.map(|p| p.min(MAX_WIDTH)));
}

impl TextSpec {
    fn write(&self, out: &mut Vec<u8>, cx: &Context<'_>, semantics: Semantics) {
        let width = self.width.eval(cx) as i32;
        let precision = self.precision.as_ref().map(|ex| ex.eval(cx) as i32);
        let cut = precision.and_then(|p| usize::try_from(p).ok());
        let part = |out: &mut Vec<u8>, text: &[u8]| {
            let start = out.len();
            out.extend_from_slice(text.get(..cut.unwrap_or(text.len())).unwrap_or(text));
            pad(out, start, self.left, width);
        };
        match semantics {
            Semantics::TraceCmd => self.text.write(out, cx, semantics, Some(&part)),
            Semantics::Kernel => {
                let start = out.len();
                self.text.write(out, cx, semantics, None);
                if let Some(cut) = cut {
                    out.truncate(start.saturating_add(cut).min(out.len()));
                }
                pad(out, start, self.left, width);
            }
        }
    }
}

impl IntSpec {
    fn write(&self, out: &mut Vec<u8>, cx: &Context<'_>) {
        let value = fit(self.value.eval(cx), self.size, self.radix == Radix::Signed);
        let width = self.width.eval(cx) as i32;
        let precision = self.precision.as_ref().map(|ex| ex.eval(cx) as i32);
        let mut flags = self.flags;
        flags.left |= width < 0;
        let width = (width.unsigned_abs() as usize).min(MAX_WIDTH);
        let precision = precision.and_then(|p| usize::try_from(p).ok()).map(|p| p.min(MAX_WIDTH));
        printf::printf(out, value, self.radix, flags, width, precision);
    }
}

/// True if a print format has `%pGg`.
pub(crate) fn wanted(print_fmt: &str) -> bool {
    print_fmt.contains("%pGg")
}

/// True if a print format has the table.
pub(crate) fn offered(print_fmt: &str) -> bool {
    print_fmt.contains("\"GFP_KERNEL\"")
}

impl PrintProgram {
    /// Lets `%pGg` have the names in `other`'s table.
    pub(crate) fn name_allocation_flags(&mut self, other: &PrintProgram) {
        let Some(table) = other.steps.iter().find_map(|step| table_of(&step.op)) else { return };
        for step in &mut self.steps {
            if let PrintOp::Bytes(of) = &step.op
                && let (Pointer::AllocationFlags, bytes, _) = **of
                && let Some(offset) = bytes.fixed_offset()
            {
                let flags = Ex::Load(Load { offset, size: 4, signed: false });
                step.op = PrintOp::Text(Box::new(TextExpr::Flags(Box::new((flags, table.clone(), b"|".to_vec())))));
            }
        }
    }
}

fn table_of(op: &PrintOp) -> Option<&NameTable> {
    match op {
        PrintOp::Text(text) => in_text(text),
        _ => None,
    }
}

fn in_text(text: &TextExpr) -> Option<&NameTable> {
    match text {
        TextExpr::Flags(of) if of.1.has_name(b"GFP_KERNEL") => Some(&of.1),
        TextExpr::Choice(of) => in_text(&of.1).or_else(|| in_text(&of.2)),
        _ => None,
    }
}
