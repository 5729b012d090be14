//! The printer of an event, decided once per event type.

use super::builtin;
use super::builtin::Builtin;
use super::fields::FieldsPrinter;
use super::graph::{GraphEntry, GraphReturn};
use super::probe::{ProbePrinter, Synth};
use super::put::Mmio;
use super::syscall::Syscall;
use crate::base::abi::Abi;
use crate::file::trace_dat::KernelView;
use crate::kernel::event::BlkEvent;
use crate::kernel::format::EventFormat;
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
