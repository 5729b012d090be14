//! ftrace:bprint: trace_printk with a constant format string, whose arguments lie packed in the record.

use super::NumberField;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{BinaryFormat, Context};
use crate::kernel::symbols::Symbols;
use std::collections::HashMap;

pub(in crate::kernel::event) struct Bprint {
    ip: NumberField,
    fmt: NumberField,
    buf: usize,
    /// All known format strings by their address.
    formats: HashMap<u64, BinaryFormat>,
}

impl Bprint {
    pub(super) fn new(event: &EventFormat, _abi: Abi) -> Option<Self> {
        let buf = event.fields.iter().find(|f| f.name == "buf")?.offset;
        Some(Bprint {
            ip: NumberField::field(event, "ip")?,
            fmt: NumberField::field(event, "fmt")?,
            buf,
            formats: HashMap::new(),
        })
    }

    pub(super) fn link(&mut self, abi: Abi, symbols: &Symbols) {
        self.formats = symbols.printk.iter().map(|(address, text)| (address, BinaryFormat::new(text, abi))).collect();
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let ip = self.ip.get(cx);
        match cx.symbols.kallsyms.lookup(ip) {
            Some(symbol) => out.extend_from_slice(symbol.name),
            None => {
                out.extend_from_slice(b"0x");
                num::hex(out, ip);
            }
        }
        out.extend_from_slice(b": ");
        let fmt = self.fmt.get(cx);
        match self.formats.get(&fmt) {
            Some(format) => format.render(cx, cx.data.get(self.buf..).unwrap_or(&[]), out),
            None => {
                out.extend_from_slice(b"(NO FORMAT FOUND at ");
                num::hex(out, fmt);
                out.push(b')');
            }
        }
    }
}
