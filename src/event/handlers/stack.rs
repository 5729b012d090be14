//! ftrace:kernel_stack and ftrace:raw_data.

use super::Num;
use crate::format::EventFormat;
use crate::print_fmt::{Context, num};

/// A stack: one line per return address.
#[derive(Clone, Copy)]
pub(in crate::event) struct Stack {
    offset: usize,
}

impl Stack {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        event.fields.iter().find(|f| f.name == "caller").map(|f| Stack { offset: f.offset })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<stack trace >\n");
        let size = usize::from(cx.abi.long_size);
        for word in cx.data.get(self.offset..).unwrap_or(&[]).chunks_exact(size) {
            let address = cx.abi.uint(word, 0, size).unwrap_or(0);
            if address == u64::MAX || address as u32 == u32::MAX {
                break;
            }
            out.extend_from_slice(b"=> ");
            if let Some(symbol) = cx.symbols.kallsyms.lookup(address) {
                out.extend_from_slice(symbol.name);
                out.extend_from_slice(b" (");
                num::hex(out, address);
                out.extend_from_slice(b")\n");
            } else {
                num::hex(out, address);
                out.push(b'\n');
            }
        }
    }
}

/// What was written to trace_marker_raw: a number and bytes.
#[derive(Clone, Copy)]
pub(in crate::event) struct RawData {
    id: Num,
    buf: usize,
}

impl RawData {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        let buf = event.fields.iter().find(|f| f.name == "buf")?.offset;
        Some(RawData { id: Num::field(event, "id")?, buf })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"# ");
        num::hex(out, self.id.get(cx));
        for byte in cx.data.get(self.buf..).unwrap_or(&[]) {
            out.push(b' ');
            num::hex_byte(out, *byte);
        }
    }
}
