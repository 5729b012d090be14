//! The printer of an event, decided once per event type.

use super::builtin;
use super::builtin::Builtin;
use super::context::OpenFunction;
use super::fields::FieldsPrinter;
use super::graph::{GraphEntry, GraphReturn};
use super::probe::{ProbePrinter, Synth};
use super::put::Mmio;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{BlkEvent, NumberField};
use crate::kernel::format::{EventFormat, Shape};
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;

/// The way from an event to its text.
pub(super) enum EventPrinter {
    /// `name: ` and its print format.
    Event,
    Builtin(Box<builtin::Builtin>),
    Entry(GraphEntry),
    Exit(GraphReturn),
    Syscall(Box<Syscall>),
    Probe(Box<ProbePrinter>),
    Synth(Synth),
    Fields(FieldsPrinter),
    /// A user event of Linux before 6.4.
    Dump,
    Mmio(Mmio),
    Blk(Box<BlkEvent>),
}

impl EventPrinter {
    pub(super) fn new(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Self {
        Self::find(format, view, abi, symbols).unwrap_or(EventPrinter::Event)
    }

    fn find(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Option<Self> {
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("ftrace", "blktrace") => EventPrinter::Blk(BlkEvent::new(format)?.into()),
            ("ftrace", "funcgraph_entry" | "fgraph_retaddr_entry") => EventPrinter::Entry(GraphEntry::new(format)?),
            ("ftrace", "funcgraph_exit") => EventPrinter::Exit(GraphReturn::new(format)?),
            ("ftrace", "mmiotrace_rw" | "mmiotrace_map") => EventPrinter::Mmio(Mmio::new(format)?),
            ("ftrace", _) => EventPrinter::Builtin(Builtin::new(format, symbols, abi)?.into()),
            _ if view.options.fields => EventPrinter::Fields(FieldsPrinter::new(format, view, symbols)),
            ("syscalls", _) => EventPrinter::Syscall(Box::new(Syscall::new(format, abi, symbols)?)),
            ("synthetic", _) => EventPrinter::Synth(Synth::new(format, abi, symbols)),
            (system, _) if system.starts_with("user_events") => {
                if view.is_before(6, 4) {
                    EventPrinter::Dump
                } else {
                    EventPrinter::Fields(FieldsPrinter::new(format, view, symbols))
                }
            }
            _ => EventPrinter::Probe(ProbePrinter::new(format, view, abi, symbols)?.into()),
        })
    }
}

// System calls, which the kernel prints without print formats (kernel/trace/trace_syscalls.c).

/// `sys_read(fd: 3, buf: 0x7ffd0, count: 0x10)` or `sys_read -> 0x10`.
pub(super) struct Syscall {
    name: String,
    args: Vec<SyscallParameter>,
    /// Its result, of an exit.
    ret: Option<NumberField>,
    open: Option<OpenFunction>,
}

struct SyscallParameter {
    type_name: String,
    name: String,
    value: NumberField,
    /// The `__data_loc` field with what it points to in user space (Linux 7.0): `__NAME_val`.
    stored: Option<PointerTarget>,
}

/// The target of a pointer argument.
#[derive(Clone, Copy)]
enum PointerTarget {
    /// A text.
    Text(NumberField),
    /// Bytes, of as many as the number says only the first may be there.
    Data(NumberField, Option<NumberField>),
}

impl Syscall {
    pub(super) fn new(format: &EventFormat, abi: Abi, symbols: &Symbols) -> Option<Self> {
        if let Some(name) = format.name.strip_prefix("sys_exit_") {
            let ret = Some(NumberField::field(format, "ret")?);
            return Some(Syscall { name: format!("sys_{name}"), args: Vec::new(), ret, open: None });
        }
        let name = format.name.strip_prefix("sys_enter_")?;
        // the first one is the call's number
        let fields: Vec<_> = format.fields.iter().skip(1).filter(|f| f.shape == Shape::Scalar).collect();
        let mut args = Vec::new();
        for (nth, field) in fields.iter().enumerate() {
            let Some(value) = NumberField::field(format, &field.name) else { continue };
            let stored = format!("__{}_val", field.name);
            let place = format.fields.iter().find(|f| f.name == stored && matches!(f.shape, Shape::DataLoc { .. }));
            let stored = place.map(|place| {
                if !format.print_fmt.contains(&format!("__print_dynamic_array({stored},")) {
                    return PointerTarget::Text(NumberField::word(place));
                }
                // A buffer's length is the argument after it.
                let len = fields.get(nth + 1).and_then(|len| NumberField::field(format, &len.name));
                PointerTarget::Data(NumberField::word(place), len)
            });
            args.push(SyscallParameter { type_name: field.type_name.clone(), name: field.name.clone(), value, stored });
        }
        let open = if name == "openat" { OpenFunction::new(format, abi, symbols) } else { None };
        Some(Syscall { name: format!("sys_{name}"), args, ret: None, open })
    }

    pub(super) fn write(&self, cx: &Context<'_>, view: &KernelView, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        if let Some(ret) = self.ret {
            out.extend_from_slice(b" -> 0x");
            num::hex(out, ret.get(cx));
            out.push(b'\n');
            return;
        }
        out.push(b'(');
        let open = self.open.as_ref().filter(|_| !view.options.verbose);
        for (nth, argument) in self.args.iter().enumerate() {
            let value = argument.value.get(cx);
            if open.is_some_and(|open| open.leaves_out(nth, cx)) {
                break;
            }
            if nth > 0 {
                out.extend_from_slice(b", ");
            }
            if view.options.verbose {
                out.extend_from_slice(argument.type_name.as_bytes());
                out.push(b' ');
            }
            out.extend_from_slice(argument.name.as_bytes());
            out.extend_from_slice(b": ");
            match open {
                Some(open) => open.write(nth, value, cx, out),
                None => {
                    // Linux 6.18 does so, 6.17 does not.
                    if value >= 10 && !view.is_before(6, 18) {
                        out.extend_from_slice(b"0x");
                    }
                    num::hex(out, value);
                }
            }
            match argument.stored {
                Some(PointerTarget::Text(at)) => {
                    out.extend_from_slice(b" \"");
                    let text = located(cx, at);
                    out.extend_from_slice(&text[..memchr::memchr(0, text).unwrap_or(text.len())]);
                    out.push(b'"');
                }
                Some(PointerTarget::Data(at, len)) => {
                    let data = located(cx, at);
                    let more = !data.is_empty() && len.is_some_and(|len| len.get(cx) > data.len() as u64);
                    put_data(data, more, out);
                }
                None => {}
            }
        }
        out.extend_from_slice(b")\n");
    }
}

/// The bytes that a `__data_loc` word is of.
fn located<'a>(cx: &Context<'a>, at: NumberField) -> &'a [u8] {
    let word = at.get(cx);
    let (start, len) = ((word & 0xffff) as usize, (word >> 16) as usize);
    cx.data.get(start..).map_or(&[], |rest| rest.get(..len).unwrap_or(rest))
}

/// ` (31:0a) "1."`; with `more`, as only the beginning is there: ` (31:0a, ...) "1."...`. Of bytes that are no text at
/// all there is no text.
fn put_data(data: &[u8], more: bool, out: &mut Vec<u8>) {
    let is_shown = |byte: &u8| (0x20..0x7f).contains(byte);
    out.extend_from_slice(b" (");
    for (nth, byte) in data.iter().enumerate() {
        if nth > 0 {
            out.push(b':');
        }
        num::hex_byte(out, *byte);
    }
    out.extend_from_slice(if more { b", ...)" } else { b")" });
    if data.iter().any(is_shown) {
        out.extend_from_slice(b" \"");
        out.extend(data.iter().map(|byte| if is_shown(byte) { *byte } else { b'.' }));
        out.extend_from_slice(if more { b"\"..." } else { b"\"" });
    }
}
