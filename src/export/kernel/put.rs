//! Pieces of lines: filled numbers, and addresses as the kernel's printf and `seq_print_ip_sym()` write them.
//! The mmiotrace tracer's lines, which have columns of their own (kernel/trace/trace_mmiotrace.c).

use crate::base::text::num;
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{NumberField, Record, Registers, Wording};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

/// Fills what `write` appends with blanks on the left.
pub(super) fn right(out: &mut Vec<u8>, width: usize, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let fill = width.saturating_sub(out.len() - start);
    out.resize(out.len() + fill, b' ');
    out[start..].rotate_right(fill);
}

/// Fills what `write` appends with blanks on the right.
pub(super) fn left(out: &mut Vec<u8>, width: usize, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let fill = width.saturating_sub(out.len() - start);
    out.resize(out.len() + fill, b' ');
}

/// `%Nd`
pub(super) fn signed(out: &mut Vec<u8>, value: i64, width: usize) {
    right(out, width, |out| num::signed(out, value));
}

/// `%Nu`
pub(super) fn unsigned(out: &mut Vec<u8>, value: u64, width: usize) {
    num::dec_pad(out, value, width, b' ');
}

/// `%5u.%06u` of nanoseconds, rounded to the nearest microsecond (`ns2usecs()`).
pub(super) fn seconds(out: &mut Vec<u8>, nanos: u64, width: usize) {
    let micros = nanos.wrapping_add(500) / 1000;
    unsigned(out, micros / 1_000_000, width);
    out.push(b'.');
    num::dec_pad(out, micros % 1_000_000, 6, b'0');
}

/// The result of `kallsyms_lookup()` and `sprint_symbol()`.
fn symbol(out: &mut Vec<u8>, cx: &Context<'_>, address: u64, offset: bool, module: bool) -> bool {
    let Some(symbol) = cx.symbols.kallsyms.lookup_first(address) else { return false };
    out.extend_from_slice(symbol.name);
    if offset {
        out.extend_from_slice(b"+0x");
        num::hex(out, address - symbol.address);
        out.extend_from_slice(b"/0x");
        num::hex(out, symbol.size.unwrap_or(0));
    }
    if module && !symbol.module.is_empty() {
        out.extend_from_slice(b" [");
        out.extend_from_slice(symbol.module);
        out.push(b']');
    }
    true
}

/// `%ps`: the name, and its module.
pub(super) fn name(out: &mut Vec<u8>, cx: &Context<'_>, address: u64) {
    if !symbol(out, cx, address, false, true) {
        out.extend_from_slice(b"0x");
        num::hex(out, address);
    }
}

/// `%pS`: name, offset, size, and its module.
pub(super) fn name_offset(out: &mut Vec<u8>, cx: &Context<'_>, address: u64) {
    if !symbol(out, cx, address, true, true) {
        out.extend_from_slice(b"0x");
        num::hex(out, address);
    }
}

/// An address of the kernel's text (kernel/trace/trace_output.c, `seq_print_ip_sym()`).
pub(super) fn ip(out: &mut Vec<u8>, cx: &Context<'_>, view: &KernelView, address: u64, offset: bool) {
    if address == 0 {
        out.push(b'0');
        return;
    }
    // Without an offset the module is not asked for.
    if !symbol(out, cx, address, offset, offset) {
        out.extend_from_slice(b"0x");
        num::hex_pad(out, address, if offset { 1 } else { 8 });
    }
    if view.options.sym_addr {
        out.push(b' ');
        bracketed(out, cx, address);
    }
}

/// `<ffffffff81000000>`
pub(super) fn bracketed(out: &mut Vec<u8>, cx: &Context<'_>, address: u64) {
    out.push(b'<');
    num::hex_pad(out, address, 2 * usize::from(cx.abi.long_size));
    out.push(b'>');
}

/// `(oldfd=0xb, newfd=0x1)`: what `func` was called with, if the record has registers from `at` on (`false`: it has none).
/// A function without types was called with `()`.
pub(super) fn arguments(out: &mut Vec<u8>, cx: &Context<'_>, view: &KernelView, func: u64, at: Option<usize>) -> bool {
    let Some(registers) = at.map(|at| Registers { cx, at }).filter(|registers| registers.count() > 0) else {
        return false;
    };
    out.push(b'(');
    if let Some(symbol) = cx.symbols.kallsyms.lookup_first(func) {
        let wording =
            Wording::Kernel { unsigned_in_decimal: view.is_before(6, 17), names_values: !view.is_before(7, 0) };
        cx.symbols.functions.arguments((symbol.address, symbol.name), false, |arguments| {
            if let Some(arguments) = arguments {
                arguments.write(registers, wording, out);
            }
        });
    }
    out.push(b')');
    true
}

/// A read or write, or the coming or going of a mapping.
pub(super) struct Mmio {
    phys: NumberField,
    /// Of a read or write: value and program counter; of a mapping: its address and length.
    pair: (NumberField, NumberField),
    map: NumberField,
    opcode: NumberField,
    width: Option<NumberField>,
}

impl Mmio {
    pub(super) fn new(format: &EventFormat) -> Option<Self> {
        let n = |name: &str| NumberField::field(format, name);
        let (first, second, width) = match format.name.as_str() {
            "mmiotrace_rw" => ("value", "pc", Some(n("width")?)),
            "mmiotrace_map" => ("virt", "len", None),
            _ => return None,
        };
        Some(Mmio { phys: n("phys")?, pair: (n(first)?, n(second)?), map: n("map_id")?, opcode: n("opcode")?, width })
    }

    pub(super) fn write(&self, cx: &Context<'_>, record: &Record<'_>, out: &mut Vec<u8>) {
        let (first, second) = (self.pair.0.get(cx), self.pair.1.get(cx));
        let opcode = self.opcode.get(cx);
        let lead = |out: &mut Vec<u8>, word: &[u8], width: Option<NumberField>| {
            out.extend_from_slice(word);
            out.push(b' ');
            if let Some(width) = width {
                num::dec(out, width.get(cx));
                out.push(b' ');
            }
            seconds(out, record.timestamp.0, 0);
            out.push(b' ');
            num::signed(out, (self.map.get(cx) as i32).into());
            out.push(b' ');
        };
        let hex = |out: &mut Vec<u8>, value: u64| {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
            out.push(b' ');
        };
        // enum mm_io_opcode (include/linux/mmiotrace.h)
        match (opcode, self.width) {
            (1 | 2, Some(_)) => {
                lead(out, if opcode == 1 { b"R" } else { b"W" }, self.width);
                hex(out, self.phys.get(cx));
                hex(out, first);
                hex(out, second);
            }
            (5, Some(_)) => {
                lead(out, b"UNKNOWN", None);
                hex(out, self.phys.get(cx));
                for (shift, end) in [(16, b','), (8, b','), (0, b' ')] {
                    num::hex_byte(out, (first >> shift) as u8);
                    out.push(end);
                }
                hex(out, second);
            }
            (3, None) => {
                lead(out, b"MAP", None);
                hex(out, self.phys.get(cx));
                hex(out, first);
                hex(out, second);
                hex(out, 0);
            }
            (4, None) => {
                lead(out, b"UNMAP", None);
                hex(out, 0);
            }
            (_, Some(_)) => {
                out.extend_from_slice(b"rw what?\n");
                return;
            }
            (_, None) => {
                out.extend_from_slice(b"map what?\n");
                return;
            }
        }
        out.extend_from_slice(b"0\n");
    }
}
