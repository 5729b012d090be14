//! Arguments with a text as their value: what `%s` prints.

use super::bytes::Bytes;
use super::expr::Ex;
use super::functions::TextFunction;
use super::table::{self, HexDump, Part, Table};
use super::{Context, Semantics, pointer};
use crate::text::nul::until_nul;
use crate::text::num;

/// An expression with a text as its value.
#[derive(Clone, Debug)]
pub(super) enum Text {
    Const(Box<[u8]>),
    /// Bytes of the record up to a NUL.
    Bytes(Bytes),
    Symbolic(Box<(Ex, Table)>),
    Flags(Box<(Ex, Table, Vec<u8>)>),
    /// `__print_hex` (with a separator) and `__print_hex_str`.
    Hex {
        bytes: Bytes,
        len: Option<Ex>,
        separator: Option<u8>,
    },
    /// `__print_array(array, count, size of an element)`.
    Array(Box<(Bytes, Ex, Ex)>),
    /// `__print_dynamic_array(array, size of an element)`.
    WholeArray(Box<(Bytes, Ex)>),
    HexDump(Bytes, Ex, Box<HexDump>),
    /// `__trace_landlock_print_layers(p, array, number of elements, names, ..)`.
    Layers(Box<(Bytes, Ex, Table)>),
    Bitmask(Bytes),
    CpuList(Bytes),
    /// `__get_stacktrace`: return addresses, one per line.
    Stack(Bytes),
    Choice(Box<(Ex, Text, Text)>),
    /// The address of a constant string.
    Pointer(Ex),
    PrintFunction(Box<(TextFunction, Vec<Ex>, Option<Bytes>)>),
}

impl Text {
    /// Writes the text. With `part`, each part that libtraceevent prints by itself goes through it.
    pub(super) fn write(&self, out: &mut Vec<u8>, cx: &Context<'_>, semantics: Semantics, part: Option<Part<'_>>) {
        let put = |out: &mut Vec<u8>, text: &[u8]| match part {
            Some(part) => part(out, text),
            None => out.extend_from_slice(text),
        };
        match self {
            Text::Const(text) => put(out, text),
            Text::Bytes(bytes) => put(out, until_nul(bytes.get(cx))),
            Text::Symbolic(of) => table::symbolic(out, &of.1, of.0.eval(cx), part),
            Text::Flags(of) => table::flags(out, &of.1, &of.2, of.0.eval(cx), semantics, part),
            Text::Hex { bytes, len, separator } => {
                let data = bytes.get(cx);
                let len = len.as_ref().map_or(data.len(), |l| l.eval(cx) as usize);
                pointer::separated(out, data.get(..len).unwrap_or(data), *separator);
            }
            Text::Array(of) => {
                table::array(out, of.0.get(cx), of.1.eval(cx) as usize, of.2.eval(cx) as usize, cx);
            }
            Text::WholeArray(of) => table::array(out, of.0.get(cx), usize::MAX, of.1.eval(cx) as usize, cx),
            Text::HexDump(bytes, len, dump) => {
                let data = bytes.get(cx);
                table::hex_dump(out, data.get(..len.eval(cx) as usize).unwrap_or(data), dump, cx);
            }
            Text::Layers(of) => table::layers(out, &of.2, of.0.get(cx), of.1.eval(cx) as usize, cx),
            Text::Bitmask(bytes) => {
                let data = bytes.get(cx);
                pointer::bitmask(out, data, data.len().saturating_mul(8), cx);
            }
            Text::CpuList(bytes) => {
                let data = bytes.get(cx);
                pointer::bit_list(out, data, data.len().saturating_mul(8), cx);
            }
            Text::Stack(bytes) => stack(out, bytes.get(cx), cx, semantics),
            Text::Choice(of) => {
                let chosen = if of.0.eval(cx) != 0 { &of.1 } else { &of.2 };
                chosen.write(out, cx, semantics, part);
            }
            Text::Pointer(ex) => {
                let address = ex.eval(cx);
                match cx.symbols.printk.get(address) {
                    Some(text) => put(out, text),
                    None => num::hex(out, address),
                }
            }
            Text::PrintFunction(of) => {
                let args: [u64; 4] = std::array::from_fn(|i| of.1.get(i).map_or(0, |ex| ex.eval(cx)));
                of.0.write(out, &args, of.2.map_or(&[], |b| b.get(cx)), &put);
            }
        }
    }
}

fn stack(out: &mut Vec<u8>, data: &[u8], cx: &Context<'_>, semantics: Semantics) {
    let size = usize::from(cx.abi.long_size);
    for word in data.chunks_exact(size) {
        let address = cx.abi.uint(word, 0, size).unwrap_or(0);
        if address == 0 {
            break;
        }
        out.extend_from_slice(b"\n=> ");
        pointer::address(out, cx, pointer::Pointer::SymbolOffset, address, semantics);
    }
}
