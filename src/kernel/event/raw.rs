//! ` name=value` lists: the raw layout, and what stands in for an unavailable text.
//! The one thing that travels through the decode column.
//! Number of records that one event's output covers.

use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::text::{num, plain};
use crate::base::units::{CpuId, Lost, Timestamp};
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::kernel::print_fmt::{Context, PrintProgram};

/// A field, resolved for printing by itself.
pub(super) struct RawField {
    /// ` name=`
    label: Box<[u8]>,
    offset: usize,
    size: usize,
    kind: RawKind,
}

enum RawKind {
    /// An array: as text if it may be one and is, else as bytes.
    Array {
        text: bool,
        shape: Shape,
    },
    Pointer,
    /// A number; `hex` for `long`s, which mostly hold addresses.
    Number {
        signed: bool,
        hex: bool,
    },
}

pub(super) fn fields(format: &EventFormat, abi: Abi) -> Box<[RawField]> {
    format.fields.iter().map(|f| field(f, abi)).collect()
}

fn field(field: &Field, _abi: Abi) -> RawField {
    let kind = match field.shape {
        Shape::Scalar if field.is_pointer() => RawKind::Pointer,
        // `void data`: nothing, and read as the number 0
        _ if field.size == 0 && field.type_name == "void" => RawKind::Number { signed: false, hex: false },
        Shape::Scalar => RawKind::Number { signed: field.is_signed(), hex: field.type_name.contains("long") },
        shape => RawKind::Array { text: field.is_string(), shape },
    };
    let label = format!(" {}=", field.name).into_bytes().into();
    RawField { label, offset: field.offset, size: field.size, kind }
}

pub(super) fn write(fields: &[RawField], program: Option<&PrintProgram>, cx: &Context<'_>, out: &mut Vec<u8>) {
    let mut next = 0;
    let shown = &mut Vec::new();
    for field in fields {
        out.extend_from_slice(&field.label);
        match &field.kind {
            RawKind::Array { text, shape } => array(field, *text, *shape, cx, out),
            _ if program.is_some_and(|p| p.render_field(field.offset, &mut next, cx, &mut *shown)) => {
                plain::one_line(out, shown.strip_suffix(b"\n").unwrap_or(shown));
                shown.clear();
            }
            RawKind::Pointer => {
                out.extend_from_slice(b"0x");
                num::hex(out, cx.abi.uint(cx.data, field.offset, field.size).unwrap_or(0));
            }
            RawKind::Number { signed, hex } => number(field, *signed, *hex, cx, out),
        }
    }
}

fn array(field: &RawField, text: bool, shape: Shape, cx: &Context<'_>, out: &mut Vec<u8>) {
    let (start, len) = match shape {
        Shape::DataLoc { .. } | Shape::RelLoc { .. } => {
            let word = cx.u32(field.offset);
            let base = if matches!(shape, Shape::RelLoc { .. }) { field.offset.saturating_add(field.size) } else { 0 };
            (base.saturating_add((word & 0xffff) as usize), (word >> 16) as usize)
        }
        _ if field.size == 0 => (field.offset, usize::MAX),
        _ => (field.offset, field.size),
    };
    let rest = cx.data.get(start..).unwrap_or_default();
    let data = rest.get(..len).unwrap_or(rest);
    // libtraceevent does not look into an array that takes the rest of the record
    if text && (field.size == 0 || printable(data)) {
        // the newline that ends a marker ends its line here too
        let text = until_nul(data);
        return plain::one_line(out, if field.size == 0 { text.strip_suffix(b"\n").unwrap_or(text) } else { text });
    }
    out.extend_from_slice(b"ARRAY[");
    for (i, byte) in data.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        num::hex_byte(out, *byte);
    }
    out.push(b']');
}

/// Printable characters and white space up to a NUL or the end.
fn printable(data: &[u8]) -> bool {
    data.iter().take_while(|b| **b != 0).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace() || *b == 0x0b)
}

fn number(field: &RawField, signed: bool, hex: bool, cx: &Context<'_>, out: &mut Vec<u8>) {
    let value = cx.abi.uint(cx.data, field.offset, field.size).unwrap_or(0);
    match (signed, field.size) {
        (true, 4) if hex => {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
        }
        (true, 4) => num::signed(out, i64::from(value as i32)),
        (true, 2) => {
            let value = value as i16;
            if (0..10).contains(&value) {
                out.push(b' ');
            }
            num::signed(out, value.into());
        }
        (true, 1) => num::signed(out, i64::from(value as i8)),
        (true, _) => num::signed(out, value as i64),
        (false, _) if hex => {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
        }
        (false, _) => num::dec(out, value),
    }
}

/// One event as it lies in the ring buffer, lent by the stage that holds its page.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The trace clock's reading after all the file's corrections.
    pub timestamp: Timestamp,
    /// The CPU whose ring buffer held it.
    pub cpu: CpuId,
    /// The buffer of the file: 0 is the top one, the others are instances in file order.
    pub buffer: usize,
    /// Events of this CPU that the kernel dropped just before this one.
    pub lost: Lost,
    /// The record: `common_type` first, up to 3 bytes of padding at the end.
    pub data: &'a [u8],
}

/// Number of records that one event's output covers. A function_graph entry and its exit are one line if nothing was
/// called in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consumed {
    /// The record alone.
    #[default]
    One,
    /// The following record too: it gets no output of its own.
    Two,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::kernel::symbols::Symbols;

    /// `char buf` of size 0 is what kernels before Linux 5.1 call the text of a marker.
    #[test]
    fn texts_stay_on_their_line() {
        for buf in ["char buf", "char buf[]"] {
            let text = format!(
                "name: print\nID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                 \tfield:{buf};\toffset:2;\tsize:0;\tsigned:0;\n\nprint fmt: \"%s\", REC->buf\n"
            );
            let format = EventFormat::parse("ftrace", &text).unwrap();
            let abi = Abi { endian: Endian::Little, long_size: 8 };
            let (symbols, mut out) = (Symbols::default(), Vec::new());
            let cx = Context { data: b"\x05\0one\ntwo\n\0", abi, symbols: &symbols, lists: false };
            write(&fields(&format, abi), None, &cx, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), " buf=one\\ntwo", "{buf}");
        }
    }
}
