//! Events with a wording of their own, as trace-cmd's plugins give it.

mod bprint;
mod function;
mod futex;
mod graph;
mod hrtimer;
mod kmem;
mod kvm;
mod mac80211;
mod sched;
mod stack;
mod tlb;

pub(crate) use stack::UserStack;

use super::{Common, DecodeOptions, Record, State};
use crate::abi::Abi;
use crate::event::{Registers, Wording};
use crate::format::{EventFormat, Field, Shape};
use crate::print_fmt::Context;
use crate::symbols::Symbols;
use crate::text::put;

/// What prints an event's text.
pub(super) enum Handler {
    /// Its print format.
    Program,
    /// None: the fields by name.
    Raw,
    Function(function::Function),
    FuncRepeats(function::Repeats),
    KernelStack(stack::Stack),
    /// With names, if they are wanted; else its print format is taken.
    UserStack(stack::UserStack),
    RawData(stack::RawData),
    SchedSwitch(Box<sched::Switch>),
    SchedWakeup(Box<sched::Wakeup>),
    Futex(Box<futex::Futex>),
    Hrtimer(hrtimer::Hrtimer),
    Kmem(Num),
    Kvm(Box<kvm::Kvm>),
    Tlb(tlb::Tlb),
    BssInfo(Box<mac80211::BssInfo>),
    GraphEntry(Box<graph::Entry>),
    GraphExit(Box<graph::Exit>),
    Bprint(Box<bprint::Bprint>),
}

/// Whether an event's text tells of the record after it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It does not.
    Kept,
    /// It does: that record is not to be printed.
    Told,
}

/// What a handler did.
#[derive(Clone, Copy)]
pub(super) struct Done {
    /// Whether the text is whole; else the print format's text follows.
    pub(super) complete: bool,
    pub(super) next: Next,
}

impl Done {
    const WHOLE: Done = Done { complete: true, next: Next::Kept };
    const PREFIX: Done = Done { complete: false, next: Next::Kept };
}

impl Handler {
    /// The handler of an event, if it has one and all the fields that it needs.
    pub(super) fn of(event: &EventFormat, abi: Abi, options: &DecodeOptions) -> Handler {
        Self::find(event, abi, options).unwrap_or(Handler::Program)
    }

    fn find(event: &EventFormat, abi: Abi, options: &DecodeOptions) -> Option<Handler> {
        if options.raw {
            return Some(Handler::Raw);
        }
        let name = (event.system.as_str(), event.name.as_str());
        match name {
            ("ftrace", "bprint") => return bprint::Bprint::new(event, abi).map(|b| Handler::Bprint(b.into())),
            // statements in a print format: what they write is known, in every layout
            ("kvmmmu", _) if event.print_fmt.contains("trace_seq_printf(") => {
                return kvm::Kvm::page(event).map(|k| Handler::Kvm(k.into()));
            }
            _ if !options.plugins => return None,
            _ => {}
        }
        Some(match name {
            ("ftrace", "function") => Handler::Function(function::Function::new(event, options)?),
            ("ftrace", "func_repeats") => Handler::FuncRepeats(function::Repeats::new(event, options)?),
            ("ftrace", "kernel_stack") => Handler::KernelStack(stack::Stack::new(event)?),
            ("ftrace", "raw_data") => Handler::RawData(stack::RawData::new(event)?),
            ("ftrace", "funcgraph_entry" | "fgraph_entry" | "fgraph_retaddr_entry") => {
                Handler::GraphEntry(graph::Entry::new(event, options)?.into())
            }
            ("ftrace", "funcgraph_exit") => Handler::GraphExit(graph::Exit::new(event, options)?.into()),
            ("sched", "sched_switch") => Handler::SchedSwitch(sched::Switch::new(event, abi)?.into()),
            ("sched", "sched_wakeup" | "sched_wakeup_new") => Handler::SchedWakeup(sched::Wakeup::new(event)?.into()),
            ("syscalls", "sys_enter_futex") => Handler::Futex(futex::Futex::new(event)?.into()),
            ("timer", "hrtimer_expire_entry") => Handler::Hrtimer(hrtimer::Hrtimer::expire(event)?),
            ("timer", "hrtimer_start") => Handler::Hrtimer(hrtimer::Hrtimer::start(event)?),
            (
                "kmem",
                "kfree" | "kmalloc" | "kmalloc_node" | "kmem_cache_alloc" | "kmem_cache_alloc_node" | "kmem_cache_free",
            ) => Handler::Kmem(Num::field(event, "call_site")?),
            ("kvm", _) => Handler::Kvm(kvm::Kvm::new(event)?.into()),
            ("mac80211", "drv_bss_info_changed") => Handler::BssInfo(mac80211::BssInfo::new(event)?.into()),
            ("tlb", "tlb_flush") => Handler::Tlb(tlb::Tlb::new(event)?),
            _ => return None,
        })
    }

    /// Gives the handler of calls that of the returns; without one, calls are printed by their print format.
    pub(super) fn link_exit(&mut self, exit: Option<(u16, graph::Exit)>, common: &Common) {
        if let Handler::GraphEntry(entry) = self {
            match exit {
                Some((id, exit)) => entry.link(id, exit, *common),
                None => *self = Handler::Program,
            }
        }
    }

    /// Gives handlers what they need of the symbols.
    pub(super) fn link_symbols(&mut self, event: &EventFormat, abi: Abi, symbols: &Symbols) {
        match self {
            Handler::Bprint(bprint) => bprint.link(abi, symbols),
            Handler::Program if symbols.user.is_some() => {
                if let Some(stack) = UserStack::new(event) {
                    *self = Handler::UserStack(stack);
                }
            }
            _ => {}
        }
    }

    /// Whether the text depends on other records than its own.
    pub(super) fn depends_on_order(&self) -> bool {
        matches!(self, Handler::Function(_) | Handler::FuncRepeats(_) | Handler::GraphEntry(_))
    }

    /// Appends the text.
    pub(super) fn write(
        &self,
        cx: &Context<'_>,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        state: &mut State,
        out: &mut Vec<u8>,
    ) -> Done {
        match self {
            Handler::Program | Handler::Raw => return Done::PREFIX,
            Handler::Function(h) => h.write(cx, record, state, out),
            Handler::FuncRepeats(h) => h.write(cx, record, state, out),
            Handler::KernelStack(h) => h.write(cx, out),
            Handler::UserStack(h) => h.write(cx, out),
            Handler::RawData(h) => h.write(cx, out),
            Handler::SchedSwitch(h) => h.write(cx, state, out),
            Handler::SchedWakeup(h) => h.write(cx, state, out),
            Handler::Futex(h) => return h.write(cx, out),
            Handler::Hrtimer(h) => h.write(cx, out),
            Handler::Kmem(call_site) => {
                kmem::call_site(call_site, cx, out);
                return Done::PREFIX;
            }
            Handler::Kvm(h) => return h.write(cx, out),
            Handler::Tlb(h) => h.write(cx, out),
            Handler::BssInfo(h) => h.write(cx, out),
            Handler::GraphEntry(h) => return Done { complete: true, next: h.write(cx, record, next, out) },
            Handler::GraphExit(h) => h.write(cx, out),
            Handler::Bprint(h) => h.write(cx, out),
        }
        Done::WHOLE
    }
}

/// Where a function tracer's entry has registers, if the kernel can store them (since Linux 6.15).
fn args(event: &EventFormat) -> Option<usize> {
    event.fields.iter().find(|f| f.name == "args").map(|f| f.offset)
}

/// What the function at `address` called `name` was called with, by its types or, without any, as bare numbers; nothing
/// if no registers were stored.
fn put_arguments(cx: &Context<'_>, func: (u64, &[u8]), at: Option<usize>, out: &mut Vec<u8>) {
    let Some(registers) = at.map(|at| Registers { cx, at }).filter(|registers| registers.count() > 0) else { return };
    cx.symbols.functions.arguments(func, true, |arguments| match arguments {
        Some(arguments) => arguments.write(registers, Wording::TraceCmd, out),
        None => registers.put_all(out),
    });
}

/// The handler of the returns from functions, with the id of their event.
pub(super) fn graph_exit<'f>(
    formats: impl Iterator<Item = &'f EventFormat>,
    abi: Abi,
    options: &DecodeOptions,
) -> Option<(u16, graph::Exit)> {
    let mut named = formats.filter(|f| f.system == "ftrace" && f.name == "funcgraph_exit");
    named.find_map(|format| match Handler::of(format, abi, options) {
        Handler::GraphExit(exit) => Some((format.id.0, *exit)),
        _ => None,
    })
}

/// A number field of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Num {
    offset: usize,
    size: usize,
    signed: bool,
}

impl Num {
    /// The scalar field called `name`.
    pub(crate) fn field(event: &EventFormat, name: &str) -> Option<Num> {
        let field = event.fields.iter().find(|f| f.name == name)?;
        (field.shape == Shape::Scalar).then_some(Num {
            offset: field.offset,
            size: field.size,
            signed: field.is_signed(),
        })
    }

    /// The first word of any field: of a `__data_loc` field its location.
    pub(crate) fn word(field: &Field) -> Num {
        Num { offset: field.offset, size: 4, signed: false }
    }

    /// The number without regard to its sign.
    #[inline]
    pub(crate) fn get(self, cx: &Context<'_>) -> u64 {
        match self.size {
            4 => cx.u32(self.offset).into(),
            8 => cx.u64(self.offset),
            size => cx.abi.uint(cx.data, self.offset, size).unwrap_or(0),
        }
    }

    /// The number by its sign.
    #[inline]
    pub(crate) fn signed(self, cx: &Context<'_>) -> i64 {
        if self.signed { cx.abi.int(cx.data, self.offset, self.size).unwrap_or(0) } else { self.get(cx) as i64 }
    }
}

/// A char array or `__data_loc` text field.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextField {
    offset: usize,
    size: usize,
    dynamic: bool,
}

impl TextField {
    pub(super) fn field(event: &EventFormat, name: &str) -> Option<TextField> {
        let field = event.fields.iter().find(|f| f.name == name)?;
        match field.shape {
            Shape::Array { .. } => Some(TextField { offset: field.offset, size: field.size, dynamic: false }),
            Shape::DataLoc { .. } => Some(TextField { offset: field.offset, size: field.size, dynamic: true }),
            _ => None,
        }
    }

    /// Appends the text up to its NUL.
    #[inline]
    pub(super) fn put(self, cx: &Context<'_>, out: &mut Vec<u8>) {
        match cx.data.get(self.offset..).and_then(|d| d.first_chunk()) {
            Some(field) if !self.dynamic && self.size == 16 => put::text16(out, field),
            _ => out.extend_from_slice(self.get(cx)),
        }
    }

    /// The text up to its NUL.
    #[inline]
    pub(super) fn get<'a>(self, cx: &Context<'a>) -> &'a [u8] {
        let (start, len) = if self.dynamic {
            let word = cx.u32(self.offset);
            ((word & 0xffff) as usize, (word >> 16) as usize)
        } else {
            (self.offset, self.size)
        };
        let start = start.min(cx.data.len());
        let bytes = &cx.data[start..start.saturating_add(len).min(cx.data.len())];
        &bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())]
    }
}
