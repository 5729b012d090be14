//! The printer of an event, decided once per event type.

use super::builtin;
use super::builtin::Builtin;
use super::fields::Fields;
use super::graph::{Exit, GraphEntry};
use super::mmio::Mmio;
use super::probe::Probe;
use super::synth::Synth;
use super::syscall::Syscall;
use crate::abi::Abi;
use crate::format::EventFormat;
use crate::symbols::Symbols;
use crate::trace_dat::KernelView;

/// The way from an event to its text.
pub(super) enum EventPrinter {
    /// `name: ` and its print format.
    Event,
    Builtin(Box<builtin::Builtin>),
    Entry(GraphEntry),
    Exit(Exit),
    Syscall(Box<Syscall>),
    Probe(Box<Probe>),
    Synth(Synth),
    Fields(Fields),
    /// A user event of Linux before 6.4.
    Dump,
    Mmio(Mmio),
    Blk,
}

impl EventPrinter {
    pub(super) fn new(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Self {
        Self::find(format, view, abi, symbols).unwrap_or(EventPrinter::Event)
    }

    fn find(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Option<Self> {
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("ftrace", "blktrace") => EventPrinter::Blk,
            ("ftrace", "funcgraph_entry" | "fgraph_retaddr_entry") => EventPrinter::Entry(GraphEntry::new(format)?),
            ("ftrace", "funcgraph_exit") => EventPrinter::Exit(Exit::new(format)?),
            ("ftrace", "mmiotrace_rw" | "mmiotrace_map") => EventPrinter::Mmio(Mmio::new(format)?),
            ("ftrace", _) => EventPrinter::Builtin(Builtin::new(format, symbols, abi)?.into()),
            _ if view.options.fields => EventPrinter::Fields(Fields::new(format, view, symbols)),
            ("syscalls", _) => EventPrinter::Syscall(Box::new(Syscall::new(format, abi, symbols)?)),
            ("synthetic", _) => EventPrinter::Synth(Synth::new(format, abi, symbols)),
            (system, _) if system.starts_with("user_events") => {
                if view.is_before(6, 4) {
                    EventPrinter::Dump
                } else {
                    EventPrinter::Fields(Fields::new(format, view, symbols))
                }
            }
            _ => EventPrinter::Probe(Probe::new(format, view, abi, symbols)?.into()),
        })
    }
}
