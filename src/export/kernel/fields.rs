//! An event as a list of its fields: user events, and all events with the option `fields`
//! (kernel/trace/trace_output.c, `print_event_fields()`, Linux 6.4 and later).

use super::put;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::base::text::plain::until_nul;
use crate::file::trace_dat::KernelView;
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;
use std::ops::Range;

/// The kernel's way to show a field (`enum filter_type`).
enum FieldNotation {
    Text {
        rel: bool,
    },
    FixedText,
    Number,
    Bytes {
        rel: bool,
    },
    /// A text in user space, whose address is all there is.
    Address,
    Nothing,
}

/// An event's fields in the order in which they are shown.
pub(super) struct FieldsPrinter {
    name: String,
    /// True if an address of code is shown by name (Linux 6.15 and later).
    names_code: bool,
    /// Addresses of the kernel, if addresses of its data are shown by name too (Linux 7.0 and later).
    kernel: Range<u64>,
    /// True if a text that is none is shown as bytes too (Linux 7.0 and later).
    shows_bytes: bool,
    fields: Vec<(String, usize, usize, FieldNotation)>,
}

impl FieldsPrinter {
    pub(super) fn new(format: &EventFormat, view: &KernelView, symbols: &Symbols) -> Self {
        let fields = format.fields.iter().map(|f| (f.name.clone(), f.offset, f.size, show(f))).collect();
        let (names_code, shows_bytes) = (!view.is_before(6, 15), !view.is_before(7, 0));
        let address = |name: &str| symbols.kallsyms.address_of(name).filter(|_| shows_bytes).unwrap_or(0);
        let kernel = address("_text")..address("_end");
        FieldsPrinter { name: format.name.clone(), names_code, kernel, shows_bytes, fields }
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        out.push(b':');
        if self.fields.is_empty() {
            out.extend_from_slice(b"No fields found\n");
            return;
        }
        for (name, offset, size, show) in &self.fields {
            out.push(b' ');
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            let Some(bytes) = offset.checked_add(*size).and_then(|end| cx.data.get(*offset..end)) else {
                out.extend_from_slice(b"<OVERFLOW>");
                continue;
            };
            if self.names_code && matches!(show, FieldNotation::Number) && *size == usize::from(cx.abi.long_size) {
                let value = cx.abi.uint(bytes, 0, *size).unwrap_or(0);
                if self.kernel.contains(&value) || cx.symbols.kallsyms.is_code(value) {
                    put::name_offset(out, cx, value);
                    out.extend_from_slice(b" (");
                    num::signed(out, if *size == 4 { (value as i32).into() } else { value as i64 });
                    out.push(b')');
                    continue;
                }
            }
            let start = out.len();
            one(cx, bytes, *offset, show, out);
            if self.shows_bytes && matches!(show, FieldNotation::Text { .. }) {
                show_bytes(start, out);
            }
        }
        out.push(b'\n');
    }
}

/// Appends, after a text from `start` on with bytes that cannot be printed, which become dots: all its bytes, ` (31:0a)`.
fn show_bytes(start: usize, out: &mut Vec<u8>) {
    let is_shown = |byte: &u8| (0x20..0x7f).contains(byte);
    let end = out.len();
    if out[start..].iter().all(is_shown) {
        return;
    }
    out.extend_from_slice(b" (");
    for at in start..end {
        if at > start {
            out.push(b':');
        }
        let byte = out[at];
        num::hex_byte(out, byte);
    }
    out.push(b')');
    out[start..end].iter_mut().filter(|byte| !is_shown(byte)).for_each(|byte| *byte = b'.');
}

fn show(field: &Field) -> FieldNotation {
    let text = field.type_name.contains("char");
    match field.shape {
        Shape::DataLoc { .. } if text => FieldNotation::Text { rel: false },
        Shape::RelLoc { .. } if text => FieldNotation::Text { rel: true },
        Shape::DataLoc { .. } => FieldNotation::Bytes { rel: false },
        Shape::RelLoc { .. } => FieldNotation::Bytes { rel: true },
        Shape::Array { .. } if text => FieldNotation::FixedText,
        Shape::Scalar if matches!(field.type_name.as_str(), "char *" | "const char *") => FieldNotation::Address,
        _ if matches!(field.size, 1 | 2 | 4 | 8) => FieldNotation::Number,
        _ => FieldNotation::Nothing,
    }
}

fn one(cx: &Context<'_>, bytes: &[u8], offset: usize, show: &FieldNotation, out: &mut Vec<u8>) {
    match show {
        FieldNotation::FixedText => out.extend_from_slice(until_nul(bytes)),
        FieldNotation::Text { rel } => match located(cx, bytes, offset, *rel) {
            Some(text) => out.extend_from_slice(until_nul(text)),
            None => out.extend_from_slice(b"<OVERFLOW>"),
        },
        FieldNotation::Bytes { rel } => match located(cx, bytes, offset, *rel) {
            Some(data) => {
                for (i, byte) in data.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    num::hex_byte(out, *byte);
                }
            }
            None => out.extend_from_slice(b"<OVERFLOW>"),
        },
        FieldNotation::Address => {
            out.extend_from_slice(b"(0x");
            num::hex_pad(out, cx.abi.uint(bytes, 0, bytes.len()).unwrap_or(0), 2 * bytes.len());
            out.push(b')');
        }
        FieldNotation::Number => number(cx.abi, bytes, out),
        FieldNotation::Nothing => out.extend_from_slice(b"<INVALID-SIZE>"),
    }
}

fn located<'a>(cx: &Context<'a>, word: &[u8], offset: usize, rel: bool) -> Option<&'a [u8]> {
    let word = cx.abi.uint(word, 0, 4)?;
    let start = (word & 0xffff) as usize + if rel { offset + 4 } else { 0 };
    cx.data.get(start..start.checked_add((word >> 16) as usize)?)
}

fn number(abi: Abi, bytes: &[u8], out: &mut Vec<u8>) {
    let value = abi.uint(bytes, 0, bytes.len()).unwrap_or(0);
    match bytes.len() {
        1 => {
            let byte = value as u8;
            // isprint() of the kernel's Latin-1 table, of a char
            if (0x20..0x7f).contains(&byte) || byte >= 0xa0 {
                out.extend_from_slice(&[b'\'', byte, b'\'']);
            }
            out.push(b'(');
            num::dec(out, value);
            out.push(b')');
        }
        size => {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
            out.extend_from_slice(b" (");
            match size {
                2 => num::dec(out, value),
                4 => num::signed(out, (value as i32).into()),
                _ => num::signed(out, value as i64),
            }
            out.push(b')');
        }
    }
}

/// A record in rows of 16 bytes, as Linux before 6.4 shows user events.
pub(super) fn dump(cx: &Context<'_>, out: &mut Vec<u8>) {
    for (row, bytes) in cx.data.chunks(16).enumerate() {
        num::hex_pad(out, 16 * row as u64, 8);
        out.extend_from_slice(b": ");
        put::left(out, 3 * 16 + 1, |out| {
            for (i, byte) in bytes.iter().enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                num::hex_byte(out, *byte);
            }
        });
        out.extend(bytes.iter().map(|b| if (0x20..0x7f).contains(b) { *b } else { b'.' }));
        out.push(b'\n');
    }
}
