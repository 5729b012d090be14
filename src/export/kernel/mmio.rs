//! The mmiotrace tracer's lines, which have columns of their own (kernel/trace/trace_mmiotrace.c).

use super::put;
use crate::base::text::num;
use crate::kernel::event::{NumberField, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

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
            put::seconds(out, record.timestamp.0, 0);
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
