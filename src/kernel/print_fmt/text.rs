//! Arguments with a text as their value: what `%s` prints.

use super::bytes::RecordBytes;
use super::expr::Ex;
use super::functions::TextFunction;
use super::table::{self, HexDump, NameTable, Part};
use super::{Context, Semantics, pointer};
use crate::base::text::nul::until_nul;
use crate::base::text::num;

/// An expression with a text as its value.
#[derive(Clone, Debug)]
pub(super) enum TextExpr {
    Const(Box<[u8]>),
    /// Bytes of the record up to a NUL.
    Bytes(RecordBytes),
    Symbolic(Box<(Ex, NameTable)>),
    Flags(Box<(Ex, NameTable, Vec<u8>)>),
    /// `__print_hex` (with a separator) and `__print_hex_str`.
    Hex {
        bytes: RecordBytes,
        len: Option<Ex>,
        separator: Option<u8>,
    },
    /// `__print_array(array, count, size of an element)`.
    Array(Box<(RecordBytes, Ex, Ex)>),
    /// `__print_dynamic_array(array, size of an element)`.
    WholeArray(Box<(RecordBytes, Ex)>),
    HexDump(RecordBytes, Ex, Box<HexDump>),
    /// `__trace_landlock_print_layers(p, array, number of elements, names, ..)`.
    Layers(Box<(RecordBytes, Ex, NameTable)>),
    Bitmask(RecordBytes),
    CpuList(RecordBytes),
    /// `__get_stacktrace`: return addresses, one per line.
    Stack(RecordBytes),
    Choice(Box<(Ex, TextExpr, TextExpr)>),
    /// The address of a constant string.
    Pointer(Ex),
    PrintFunction(Box<(TextFunction, Vec<Ex>, Option<RecordBytes>)>),
}

impl TextExpr {
    /// Writes the text. With `part`, each part that libtraceevent prints by itself goes through it.
    pub(super) fn write(&self, out: &mut Vec<u8>, cx: &Context<'_>, semantics: Semantics, part: Option<Part<'_>>) {
        let put = |out: &mut Vec<u8>, text: &[u8]| match part {
            Some(part) => part(out, text),
            None => out.extend_from_slice(text),
        };
        match self {
            TextExpr::Const(text) => put(out, text),
            TextExpr::Bytes(bytes) => put(out, until_nul(bytes.get(cx))),
            TextExpr::Symbolic(of) => table::symbolic(out, &of.1, of.0.eval(cx), part),
            TextExpr::Flags(of) => table::flags(out, &of.1, &of.2, of.0.eval(cx), semantics, part),
            TextExpr::Hex { bytes, len, separator } => {
                let data = bytes.get(cx);
                let len = len.as_ref().map_or(data.len(), |l| l.eval(cx) as usize);
                pointer::separated(out, data.get(..len).unwrap_or(data), *separator);
            }
            TextExpr::Array(of) => {
                table::array(out, of.0.get(cx), of.1.eval(cx) as usize, of.2.eval(cx) as usize, cx);
            }
            TextExpr::WholeArray(of) => table::array(out, of.0.get(cx), usize::MAX, of.1.eval(cx) as usize, cx),
            TextExpr::HexDump(bytes, len, dump) => {
                let data = bytes.get(cx);
                table::hex_dump(out, data.get(..len.eval(cx) as usize).unwrap_or(data), dump, cx);
            }
            TextExpr::Layers(of) => table::layers(out, &of.2, of.0.get(cx), of.1.eval(cx) as usize, cx),
            TextExpr::Bitmask(bytes) => {
                let data = bytes.get(cx);
                pointer::bitmask(out, data, data.len().saturating_mul(8), cx);
            }
            TextExpr::CpuList(bytes) => {
                let data = bytes.get(cx);
                pointer::bit_list(out, data, data.len().saturating_mul(8), cx);
            }
            TextExpr::Stack(bytes) => stack(out, bytes.get(cx), cx, semantics),
            TextExpr::Choice(of) => {
                let chosen = if of.0.eval(cx) != 0 { &of.1 } else { &of.2 };
                chosen.write(out, cx, semantics, part);
            }
            TextExpr::Pointer(ex) => {
                let address = ex.eval(cx);
                match cx.symbols.printk.get(address) {
                    Some(text) => put(out, text),
                    None => num::hex(out, address),
                }
            }
            TextExpr::PrintFunction(of) => {
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
