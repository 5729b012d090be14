//! ftrace:function and ftrace:func_repeats: the function tracer.
//! ftrace:kernel_stack, ftrace:user_stack and ftrace:raw_data.
//! ftrace:bprint: trace_printk with a constant format string, whose arguments lie packed in the record.

use super::{NumberField, args, put_arguments};
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::base::units::Pid;
use crate::kernel::event::{DecodeOptions, FunctionOptions, PrintState, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{BinaryFormat, Context};
use crate::kernel::symbols::{Symbols, UserSymbol};
use std::collections::HashMap;

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

/// A stack: one line per return address.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct KernelStack {
    offset: usize,
}

impl KernelStack {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        event.fields.iter().find(|f| f.name == "caller").map(|f| KernelStack { offset: f.offset })
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

/// A stack in user space: the process, and its return addresses after the one where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserStack {
    /// Whose addresses they are; kernels before 3.1 tell the task only.
    process: NumberField,
    offset: usize,
}

/// Entries of a user stack (`FTRACE_STACK_ENTRIES`, kernel/trace/trace.h).
const USER_ENTRIES: usize = 8;

impl UserStack {
    pub(crate) fn new(event: &EventFormat) -> Option<Self> {
        if (event.system.as_str(), event.name.as_str()) != ("ftrace", "user_stack") {
            return None;
        }
        let process = NumberField::field(event, "tgid").or_else(|| {
            let pid = event.common.iter().find(|f| f.name == "common_pid")?;
            Some(NumberField::word(pid))
        })?;
        event.fields.iter().find(|f| f.name == "caller").map(|f| UserStack { process, offset: f.offset })
    }

    /// Hands `each` the addresses and what lies there, innermost first.
    pub(crate) fn each(&self, cx: &Context<'_>, mut each: impl FnMut(u64, Option<UserSymbol<'_>>)) {
        let size = usize::from(cx.abi.long_size);
        let process = Pid(self.process.get(cx) as i32);
        let words = cx.data.get(self.offset..).unwrap_or(&[]).chunks_exact(size).take(USER_ENTRIES);
        for (index, word) in words.enumerate() {
            let address = cx.abi.uint(word, 0, size).unwrap_or(0);
            if address == 0 {
                break;
            }
            let found = cx.symbols.user.as_ref().and_then(|user| user.find(process, address, index > 0));
            each(address, found);
        }
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<user stack trace>\n");
        self.each(cx, |address, found| {
            out.extend_from_slice(b"=> ");
            match found {
                Some(symbol) => symbol.write(out),
                None => num::hex(out, address),
            }
            out.push(b'\n');
        });
    }
}

/// A write to trace_marker_raw: a number and bytes.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct RawData {
    id: NumberField,
    buf: usize,
}

impl RawData {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        let buf = event.fields.iter().find(|f| f.name == "buf")?.offset;
        Some(RawData { id: NumberField::field(event, "id")?, buf })
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
