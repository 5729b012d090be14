//! Synthetic events (kernel/trace/trace_events_synth.c, `print_synth_event()`).

use super::put;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::kernel::print_fmt::{Context, PrintFmtError, PrintProgram, Semantics, compile};
use crate::kernel::symbols::Symbols;

enum FieldText {
    Text,
    FixedText,
    Stack,
    Signed,
    Unsigned,
    Long,
    /// Hexadecimal, and after a blank the flags' names, which the print format holds.
    Gfp(Result<PrintProgram, PrintFmtError>),
}

/// An event with its fields: name, place, size.
pub(super) struct Synth {
    name: String,
    fields: Vec<(String, usize, usize, FieldText)>,
}

impl Synth {
    pub(super) fn new(format: &EventFormat, abi: Abi, symbols: &Symbols) -> Self {
        let value = |f: &Field| match f.shape {
            Shape::DataLoc { .. } if f.type_name.contains("long") => FieldText::Stack,
            Shape::DataLoc { .. } | Shape::RelLoc { .. } => FieldText::Text,
            Shape::Array { .. } => FieldText::FixedText,
            Shape::Scalar => match f.type_name.as_str() {
                "gfp_t" => FieldText::Gfp(flags(format, f, abi, symbols)),
                "s64" => FieldText::Long,
                "long" => FieldText::Long,
                "s32" | "s16" | "s8" | "char" | "int" | "bool" | "pid_t" => FieldText::Signed,
                _ => FieldText::Unsigned,
            },
        };
        let fields = format.fields.iter().map(|f| (f.name.clone(), f.offset, f.size, value(f))).collect();
        Synth { name: format.name.clone(), fields }
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(b": ");
        for (i, (name, offset, size, value)) in self.fields.iter().enumerate() {
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            let last = i + 1 == self.fields.len();
            let text = |text: &[u8], out: &mut Vec<u8>| {
                out.extend_from_slice(&text[..memchr::memchr(0, text).unwrap_or(text.len())]);
            };
            match value {
                FieldText::Stack => {
                    stack(located(cx, *offset), cx, out);
                    continue;
                }
                FieldText::Text => text(located(cx, *offset), out),
                FieldText::FixedText => text(cx.data.get(*offset..).unwrap_or(&[]), out),
                FieldText::Signed => {
                    // A byte or a short comes to the printf unsigned.
                    let number = cx.abi.uint(cx.data, *offset, *size).unwrap_or(0);
                    num::signed(out, (number as i32).into());
                }
                FieldText::Long => num::signed(out, cx.abi.int(cx.data, *offset, *size).unwrap_or(0)),
                FieldText::Unsigned => num::dec(out, cx.abi.uint(cx.data, *offset, *size).unwrap_or(0)),
                FieldText::Gfp(names) => {
                    num::hex(out, cx.abi.uint(cx.data, *offset, *size).unwrap_or(0));
                    if !last {
                        out.push(b' ');
                    }
                    out.extend_from_slice(b" (");
                    if let Ok(program) = names {
                        program.render(cx, out);
                    }
                    out.push(b')');
                    continue;
                }
            }
            if !last {
                out.push(b' ');
            }
        }
        out.push(b'\n');
    }
}

/// The bytes of a `__data_loc` field.
fn located<'a>(cx: &Context<'a>, offset: usize) -> &'a [u8] {
    let word = cx.u32(offset);
    let start = (word & 0xffff) as usize;
    cx.data.get(start..start.saturating_add((word >> 16) as usize).min(cx.data.len())).unwrap_or(&[])
}

/// The first word is the number of entries.
fn stack(data: &[u8], cx: &Context<'_>, out: &mut Vec<u8>) {
    let size = usize::from(cx.abi.long_size);
    out.extend_from_slice(b"STACK:\n");
    for word in data.chunks_exact(size).skip(1) {
        out.extend_from_slice(b"=> ");
        put::name_offset(out, cx, cx.abi.uint(word, 0, size).unwrap_or(0));
        out.push(b'\n');
    }
}

/// A program for `__print_flags(REC->field, ...)` alone.
fn flags(format: &EventFormat, field: &Field, abi: Abi, symbols: &Symbols) -> Result<PrintProgram, PrintFmtError> {
    let call = format!("__print_flags(REC->{}", field.name);
    let start = format.print_fmt.find(&call).ok_or(PrintFmtError::MissingArgument(1))?;
    let call = super::probe::arguments(&format.print_fmt[start..]).into_iter().next().unwrap_or_default();
    let alone = EventFormat { print_fmt: format!("\"%s\", {call}"), ..format.clone() };
    compile(&alone, abi, symbols, Semantics::Kernel)
}
