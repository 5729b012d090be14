//! The handler of an event: found by its name, once per type.

use super::{Done, Num, UserStack, bprint, function, futex, graph, hrtimer, kmem, kvm, mac80211, sched, stack, tlb};
use crate::abi::Abi;
use crate::event::{Common, DecodeOptions, PrintState, Record};
use crate::format::EventFormat;
use crate::print_fmt::Context;
use crate::symbols::Symbols;

/// The printer of an event's text.
pub(in crate::event) enum Handler {
    /// Its print format.
    Program,
    /// None: the fields by name.
    Raw,
    FunctionEntry(function::FunctionEntry),
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

impl Handler {
    /// The handler of an event, if it has one and all the fields that it needs.
    pub(in crate::event) fn of(event: &EventFormat, abi: Abi, options: &DecodeOptions) -> Handler {
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
            ("ftrace", "function") => Handler::FunctionEntry(function::FunctionEntry::new(event, options)?),
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
    pub(in crate::event) fn link_exit(&mut self, exit: Option<(u16, graph::Exit)>, common: &Common) {
        if let Handler::GraphEntry(entry) = self {
            match exit {
                Some((id, exit)) => entry.link(id, exit, *common),
                None => *self = Handler::Program,
            }
        }
    }

    /// Gives handlers what they need of the symbols.
    pub(in crate::event) fn link_symbols(&mut self, event: &EventFormat, abi: Abi, symbols: &Symbols) {
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

    /// True if the text depends on other records than its own.
    pub(in crate::event) fn depends_on_order(&self) -> bool {
        matches!(self, Handler::FunctionEntry(_) | Handler::FuncRepeats(_) | Handler::GraphEntry(_))
    }

    /// Appends the text.
    pub(in crate::event) fn write(
        &self,
        cx: &Context<'_>,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        state: &mut PrintState,
        out: &mut Vec<u8>,
    ) -> Done {
        match self {
            Handler::Program | Handler::Raw => return Done::PREFIX,
            Handler::FunctionEntry(h) => h.write(cx, record, state, out),
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
            Handler::GraphEntry(h) => return Done { complete: true, consumed: h.write(cx, record, next, out) },
            Handler::GraphExit(h) => h.write(cx, out),
            Handler::Bprint(h) => h.write(cx, out),
        }
        Done::WHOLE
    }
}

/// The handler of the returns from functions, with the id of their event.
pub(in crate::event) fn graph_exit<'f>(
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
