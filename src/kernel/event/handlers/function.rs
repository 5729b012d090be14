//! ftrace:function and ftrace:func_repeats: the function tracer.

use super::{NumberField, args, put_arguments};
use crate::base::text::num;
use crate::kernel::event::{DecodeOptions, FunctionOptions, PrintState, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

/// A function call, indented below its caller.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct FunctionEntry {
    ip: NumberField,
    parent: NumberField,
    args: Option<usize>,
    options: FunctionOptions,
}

impl FunctionEntry {
    pub(super) fn new(event: &EventFormat, options: &DecodeOptions) -> Option<Self> {
        let parent = NumberField::field(event, "parent_ip")?;
        Some(FunctionEntry {
            ip: NumberField::field(event, "ip")?,
            parent,
            args: args(event),
            options: options.function,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, record: &Record<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        let (ip, parent) = (self.ip.get(cx), self.parent.get(cx));
        let kallsyms = &cx.symbols.kallsyms;
        let child = kallsyms.lookup(ip);
        let caller = kallsyms.lookup(parent);
        if let (true, Some(caller)) = (self.options.indent, caller) {
            let child = child.map_or(&b""[..], |c| c.name);
            let depth = state.function_depth(record.cpu.0 as usize, caller.name, child);
            out.resize(out.len().saturating_add(depth.saturating_mul(3)), b' ');
        }
        self.name(cx, ip, out);
        if let (Some(args), Some(child)) = (self.args.filter(|at| *at < cx.data.len()), child) {
            out.push(b'(');
            put_arguments(cx, (child.address, child.name), Some(args), out);
            out.push(b')');
        }
        if self.options.parent {
            out.extend_from_slice(b" <-- ");
            self.name(cx, parent, out);
        }
    }

    fn name(&self, cx: &Context<'_>, address: u64, out: &mut Vec<u8>) {
        match cx.symbols.kallsyms.lookup(address) {
            Some(symbol) => {
                out.extend_from_slice(symbol.name);
                if self.options.offset {
                    out.extend_from_slice(b"+0x");
                    num::hex(out, address.saturating_sub(symbol.address));
                    out.push(b' ');
                }
            }
            None => {
                out.extend_from_slice(b"0x");
                num::hex(out, address);
            }
        }
    }
}

/// A call that came several times in a row (option func-no-repeats).
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct Repeats {
    function: FunctionEntry,
    count: NumberField,
    top: NumberField,
    bottom: NumberField,
}

impl Repeats {
    pub(super) fn new(event: &EventFormat, options: &DecodeOptions) -> Option<Self> {
        Some(Repeats {
            function: FunctionEntry::new(event, options)?,
            count: NumberField::field(event, "count")?,
            top: NumberField::field(event, "top_delta_ts")?,
            bottom: NumberField::field(event, "bottom_delta_ts")?,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, record: &Record<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        self.function.write(cx, record, state, out);
        out.extend_from_slice(b" (count: ");
        num::dec(out, self.count.get(cx));
        out.extend_from_slice(b"  last_ts: ");
        let delta = (self.top.get(cx) << 32) | self.bottom.get(cx);
        let micros = record.timestamp.0.wrapping_sub(delta).saturating_add(500) / 1000;
        num::dec_pad(out, micros / 1_000_000, 5, b' ');
        out.push(b'.');
        num::dec_pad(out, micros % 1_000_000, 6, b'0');
        out.push(b')');
    }
}
