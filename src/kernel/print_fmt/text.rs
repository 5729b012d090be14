//! Arguments with a text as their value: what `%s` prints.
//! Format strings of trace_printk, whose arguments lie packed in the record (kernel: `vbin_printf`, lib/vsprintf.c).

use super::expr::{Ex, RecordBytes};
use super::flags::{HexDump, NameTable, Part};
use super::functions::TextFunction;
use super::pointer::Pointer;
use super::spec::{ConversionLength, FormatPiece, MAX_WIDTH, Spec, pieces};
use super::{Context, Semantics, flags, pointer};
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::text::printf::Radix;
use crate::base::text::{num, printf};

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
            TextExpr::Symbolic(of) => flags::symbolic(out, &of.1, of.0.eval(cx), part),
            TextExpr::Flags(of) => flags::flags(out, &of.1, &of.2, of.0.eval(cx), semantics, part),
            TextExpr::Hex { bytes, len, separator } => {
                let data = bytes.get(cx);
                let len = len.as_ref().map_or(data.len(), |l| l.eval(cx) as usize);
                pointer::separated(out, data.get(..len).unwrap_or(data), *separator);
            }
            TextExpr::Array(of) => {
                flags::array(out, of.0.get(cx), of.1.eval(cx) as usize, of.2.eval(cx) as usize, cx);
            }
            TextExpr::WholeArray(of) => flags::array(out, of.0.get(cx), usize::MAX, of.1.eval(cx) as usize, cx),
            TextExpr::HexDump(bytes, len, dump) => {
                let data = bytes.get(cx);
                flags::hex_dump(out, data.get(..len.eval(cx) as usize).unwrap_or(data), dump, cx);
            }
            TextExpr::Layers(of) => flags::layers(out, &of.2, of.0.get(cx), of.1.eval(cx) as usize, cx),
            TextExpr::Bitmask(bytes) => {
                let data = bytes.get(cx);
                let show = if cx.lists { pointer::bit_list } else { pointer::bitmask };
                show(out, data, data.len().saturating_mul(8), cx);
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

/// A constant format string, taken apart.
#[derive(Clone, Debug)]
pub struct BinaryFormat {
    pieces: Vec<FormatPiece>,
    semantics: Semantics,
}

/// The packed arguments not read yet.
struct Args<'a, 'c> {
    data: &'a [u8],
    pos: usize,
    cx: &'c Context<'a>,
    semantics: Semantics,
}

impl<'a> Args<'a, '_> {
    /// A number of `size` bytes. For libtraceevent everything takes at least four bytes and starts at a multiple of 4;
    /// the kernel (lib/vsprintf.c, `vbin_printf()`) packs small numbers by their size.
    fn number(&mut self, size: usize) -> u64 {
        let (size, align) = match self.semantics {
            Semantics::TraceCmd => (size.max(4), 4),
            Semantics::Kernel => (size, size.clamp(1, 4)),
        };
        let at = self.pos.checked_next_multiple_of(align).unwrap_or(self.pos);
        self.pos = at.saturating_add(size);
        self.cx.abi.uint(self.data, at, size).unwrap_or(0)
    }

    /// A text up to its NUL.
    fn text(&mut self) -> &'a [u8] {
        let rest = self.data.get(self.pos..).unwrap_or(&[]);
        let text = until_nul(rest);
        self.pos = self.pos.saturating_add(text.len()).saturating_add(1);
        text
    }
}

impl BinaryFormat {
    /// Takes `format` apart, to be read as libtraceevent does.
    pub fn new(format: &[u8], abi: Abi) -> Self {
        BinaryFormat { pieces: pieces(format, abi.long_size), semantics: Semantics::TraceCmd }
    }

    /// Takes `format` apart, to be read as the kernel does.
    pub fn kernel(format: &[u8], abi: Abi) -> Self {
        BinaryFormat { semantics: Semantics::Kernel, ..Self::new(format, abi) }
    }

    /// Appends the text with the arguments in `data`.
    pub fn render(&self, cx: &Context<'_>, data: &[u8], out: &mut Vec<u8>) {
        let cx = Context { data, ..*cx };
        let mut args = Args { data, pos: 0, cx: &cx, semantics: self.semantics };
        for piece in &self.pieces {
            match piece {
                FormatPiece::Literal(text) => out.extend_from_slice(text),
                FormatPiece::Conversion(spec) => conversion(spec, &mut args, out),
            }
        }
    }
}

fn conversion(spec: &Spec, args: &mut Args<'_, '_>, out: &mut Vec<u8>) {
    let mut count = |count: ConversionLength| match count {
        ConversionLength::Given(n) => n as i64,
        ConversionLength::Argument => i64::from(args.number(4) as i32),
    };
    let width = count(spec.width);
    let precision = spec.precision.map(&mut count).and_then(|p| usize::try_from(p).ok()).map(|p| p.min(MAX_WIDTH));
    let mut flags = spec.flags;
    flags.left |= width < 0;
    flags.kernel = args.semantics == Semantics::Kernel;
    let width = (width.unsigned_abs() as usize).min(MAX_WIDTH);
    let radix = match spec.conversion {
        b'd' | b'i' => Radix::Signed,
        b'u' => Radix::Unsigned,
        b'x' => Radix::Hex,
        b'X' => Radix::HexUpper,
        b'o' => Radix::Octal,
        b'c' => {
            let size = if args.semantics == Semantics::Kernel { 1 } else { 4 };
            let value = args.number(size) as u8;
            return padded(out, &[value], flags.left, width);
        }
        b's' => {
            let text = args.text();
            let text = text.get(..precision.unwrap_or(text.len())).unwrap_or(text);
            return padded(out, text, flags.left, width);
        }
        b'p' => return pointer(spec, args, out, flags.left, width),
        other => return out.extend_from_slice(&[b'%', other]),
    };
    let value = super::expr::fit(args.number(usize::from(spec.size)), spec.size, radix == Radix::Signed);
    printf::printf(out, value, radix, flags, width, precision);
}

fn padded(out: &mut Vec<u8>, text: &[u8], left: bool, width: usize) {
    let fill = width.saturating_sub(text.len());
    if !left {
        out.resize(out.len().saturating_add(fill), b' ');
    }
    out.extend_from_slice(text);
    if left {
        out.resize(out.len().saturating_add(fill), b' ');
    }
}

/// Addresses are stored as they are; all other extensions were rendered when the event was recorded.
fn pointer(spec: &Spec, args: &mut Args<'_, '_>, out: &mut Vec<u8>, left: bool, width: usize) {
    let (kind, used) = Pointer::parse(&spec.extension, args.semantics);
    // lib/vsprintf.c, vbin_printf(); `F` and `f` are `S` and `s` of before Linux 5.5
    let stored = matches!(spec.extension.first(), None | Some(b'S' | b's' | b'x' | b'K' | b'e' | b'F' | b'f'));
    let rendered = !stored && spec.extension.get(..2) != Some(b"fw");
    if rendered {
        out.extend_from_slice(args.text());
    } else {
        let value = args.number(usize::from(args.cx.abi.long_size));
        let cx = *args.cx;
        if args.semantics == Semantics::Kernel && width > 0 {
            let mut text = Vec::new();
            match kind {
                // lib/vsprintf.c, pointer_string(): no zeros where a width is given
                Pointer::Hex | Pointer::Plain => num::hex(&mut text, value),
                _ => pointer::address(&mut text, &cx, kind, value, args.semantics),
            }
            padded(out, &text, left, width);
        } else {
            pointer::address(out, &cx, kind, value, args.semantics);
        }
    }
    // The kernel passes over all letters and digits after the `p`.
    if args.semantics == Semantics::TraceCmd {
        out.extend_from_slice(spec.extension.get(used..).unwrap_or(&[]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::kernel::symbols::Symbols;

    #[test]
    fn packed_arguments() {
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        let symbols = Symbols::default();
        let cx = Context { data: &[], abi, symbols: &symbols, lists: false };
        let mut out = Vec::new();
        let data = [b"\x05\0\0\0hi\0\0".as_slice(), &7u64.to_le_bytes(), b"\xff\xff\xff\xff"].concat();
        BinaryFormat::new(b"%d %s %lx %d%%", abi).render(&cx, &data, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "5 hi 7 -1%");
    }

    /// As Linux 6.12 printed them.
    #[test]
    fn the_kernel_s_widths_and_precisions() {
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        let symbols = Symbols::default();
        let cx = Context { data: &[], abi, symbols: &symbols, lists: false };
        let mut out = Vec::new();
        let data = [0x1234u64.to_le_bytes(), 0x1234u64.to_le_bytes(), 0u64.to_le_bytes()].concat();
        BinaryFormat::kernel(b"[%20px] [%-20px] [%.0d]", abi).render(&cx, &data, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "[                1234] [1234                ] [0]");
    }
}
