//! The handler of an event: found by its name, once per type.

use super::{BlkEvent, BlkStyle, HandlerResult, NumberField, UserStack, core, graph, kvm, mac80211, tracers};
use crate::base::abi::Abi;
use crate::kernel::event::{Common, DecodeOptions, PrintState, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;

/// The printer of an event's text.
pub(in crate::kernel::event) enum EventHandler {
    /// The event's print format.
    Program,
    /// None: the fields by name.
    Raw,
    FunctionEntry(tracers::FunctionEntry),
    FuncRepeats(tracers::Repeats),
    KernelStack(tracers::KernelStack),
    /// With names, if they are wanted; else its print format is taken.
    UserStack(tracers::UserStack),
    RawData(tracers::RawData),
    SchedSwitch(Box<core::SchedSwitch>),
    SchedWakeup(Box<core::SchedWakeup>),
    Futex(Box<core::Futex>),
    Hrtimer(core::Hrtimer),
    Kmem(NumberField),
    Kvm(Box<kvm::Kvm>),
    Tlb(core::Tlb),
    BssInfo(Box<mac80211::BssInfo>),
    GraphEntry(Box<graph::Entry>),
    GraphExit(Box<graph::GraphExit>),
    Bprint(Box<tracers::Bprint>),
    Blk(Box<BlkEvent>),
}

impl EventHandler {
    /// The handler of an event, if it has one and all the fields that it needs.
    pub(in crate::kernel::event) fn of(event: &EventFormat, abi: Abi, options: &DecodeOptions) -> EventHandler {
        Self::find(event, abi, options).unwrap_or(EventHandler::Program)
    }

    fn find(event: &EventFormat, abi: Abi, options: &DecodeOptions) -> Option<EventHandler> {
        if options.raw {
            return Some(EventHandler::Raw);
        }
        let name = (event.system.as_str(), event.name.as_str());
        match name {
            ("ftrace", "bprint") => return tracers::Bprint::new(event, abi).map(|b| EventHandler::Bprint(b.into())),
            // statements in a print format: what they write is known, in every layout
            ("kvmmmu", _) if event.print_fmt.contains("trace_seq_printf(") => {
                return kvm::Kvm::page(event).map(|k| EventHandler::Kvm(k.into()));
            }
            _ if !options.plugins => return None,
            _ => {}
        }
        Some(match name {
            ("ftrace", "function") => EventHandler::FunctionEntry(tracers::FunctionEntry::new(event, options)?),
            ("ftrace", "func_repeats") => EventHandler::FuncRepeats(tracers::Repeats::new(event, options)?),
            ("ftrace", "kernel_stack") => EventHandler::KernelStack(tracers::KernelStack::new(event)?),
            ("ftrace", "blktrace") => EventHandler::Blk(BlkEvent::new(event)?.into()),
            ("ftrace", "raw_data") => EventHandler::RawData(tracers::RawData::new(event)?),
            ("ftrace", "funcgraph_entry" | "fgraph_entry" | "fgraph_retaddr_entry") => {
                EventHandler::GraphEntry(graph::Entry::new(event, options)?.into())
            }
            ("ftrace", "funcgraph_exit") => EventHandler::GraphExit(graph::GraphExit::new(event, options)?.into()),
            ("sched", "sched_switch") => EventHandler::SchedSwitch(core::SchedSwitch::new(event, abi)?.into()),
            ("sched", "sched_wakeup" | "sched_wakeup_new") => {
                EventHandler::SchedWakeup(core::SchedWakeup::new(event)?.into())
            }
            ("syscalls", "sys_enter_futex") => EventHandler::Futex(core::Futex::new(event)?.into()),
            ("timer", "hrtimer_expire_entry") => EventHandler::Hrtimer(core::Hrtimer::expire(event)?),
            ("timer", "hrtimer_start") => EventHandler::Hrtimer(core::Hrtimer::start(event)?),
            (
                "kmem",
                "kfree" | "kmalloc" | "kmalloc_node" | "kmem_cache_alloc" | "kmem_cache_alloc_node" | "kmem_cache_free",
            ) => EventHandler::Kmem(NumberField::field(event, "call_site")?),
            ("kvm", _) => EventHandler::Kvm(kvm::Kvm::new(event)?.into()),
            ("mac80211", "drv_bss_info_changed") => EventHandler::BssInfo(mac80211::BssInfo::new(event)?.into()),
            ("tlb", "tlb_flush") => EventHandler::Tlb(core::Tlb::new(event)?),
            _ => return None,
        })
    }

    /// Gives the handler of calls that of the returns; without one, calls are printed by their print format.
    pub(in crate::kernel::event) fn link_exit(&mut self, exit: Option<(u16, graph::GraphExit)>, common: &Common) {
        if let EventHandler::GraphEntry(entry) = self {
            match exit {
                Some((id, exit)) => entry.link(id, exit, *common),
                None => *self = EventHandler::Program,
            }
        }
    }

    /// Gives handlers what they need of the symbols.
    pub(in crate::kernel::event) fn link_symbols(&mut self, event: &EventFormat, abi: Abi, symbols: &Symbols) {
        match self {
            EventHandler::Bprint(bprint) => bprint.link(abi, symbols),
            EventHandler::Program if symbols.user.is_some() => {
                if let Some(stack) = UserStack::new(event) {
                    *self = EventHandler::UserStack(stack);
                }
            }
            _ => {}
        }
    }

    /// True if the text depends on other records than its own.
    pub(in crate::kernel::event) fn depends_on_order(&self) -> bool {
        matches!(
            self,
            EventHandler::FunctionEntry(_)
                | EventHandler::FuncRepeats(_)
                | EventHandler::GraphEntry(_)
                | EventHandler::Blk(_)
        )
    }

    /// Appends the text.
    pub(in crate::kernel::event) fn write(
        &self,
        cx: &Context<'_>,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        state: &mut PrintState,
        out: &mut Vec<u8>,
    ) -> HandlerResult {
        match self {
            EventHandler::Program | EventHandler::Raw => return HandlerResult::PREFIX,
            EventHandler::FunctionEntry(h) => h.write(cx, record, state, out),
            EventHandler::FuncRepeats(h) => h.write(cx, record, state, out),
            EventHandler::KernelStack(h) => h.write(cx, out),
            EventHandler::UserStack(h) => h.write(cx, out),
            EventHandler::RawData(h) => h.write(cx, out),
            EventHandler::SchedSwitch(h) => h.write(cx, state, out),
            EventHandler::SchedWakeup(h) => h.write(cx, state, out),
            EventHandler::Futex(h) => return h.write(cx, out),
            EventHandler::Hrtimer(h) => h.write(cx, out),
            EventHandler::Kmem(call_site) => {
                core::call_site(call_site, cx, out);
                return HandlerResult::PREFIX;
            }
            EventHandler::Kvm(h) => return h.write(cx, out),
            EventHandler::Tlb(h) => h.write(cx, out),
            EventHandler::BssInfo(h) => h.write(cx, out),
            EventHandler::GraphEntry(h) => {
                return HandlerResult { complete: true, consumed: h.write(cx, record, next, out) };
            }
            EventHandler::GraphExit(h) => h.write(cx, out),
            EventHandler::Bprint(h) => h.write(cx, out),
            EventHandler::Blk(h) => {
                let pid = h.pid(cx);
                let (name, is_final) = state.name(pid);
                h.write(cx, name, BlkStyle::PLAIN, out);
                if !is_final {
                    state.depends_on_order();
                }
            }
        }
        HandlerResult::WHOLE
    }
}

/// The handler of the returns from functions, with the id of their event.
pub(in crate::kernel::event) fn graph_exit<'f>(
    formats: impl Iterator<Item = &'f EventFormat>,
    abi: Abi,
    options: &DecodeOptions,
) -> Option<(u16, graph::GraphExit)> {
    let mut named = formats.filter(|f| f.system == "ftrace" && f.name == "funcgraph_exit");
    named.find_map(|format| match EventHandler::of(format, abi, options) {
        EventHandler::GraphExit(exit) => Some((format.id.0, *exit)),
        _ => None,
    })
}
