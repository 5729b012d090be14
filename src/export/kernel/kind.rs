//! What prints an event, decided once per event type.

use super::builtin;
use super::builtin::Builtin;
use super::fields::Fields;
use super::graph::{Entry, Exit};
use super::mmio::Mmio;
use super::probe::Probe;
use super::synth::Synth;
use super::syscall::Syscall;
use crate::abi::Abi;
use crate::format::EventFormat;
use crate::symbols::Symbols;
use crate::trace_dat::KernelView;

/// How an event comes to its text.
pub(super) enum Kind {
    /// `name: ` and its print format.
    Event,
    Builtin(Box<builtin::Builtin>),
    Entry(Entry),
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

impl Kind {
    pub(super) fn new(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Self {
        Self::find(format, view, abi, symbols).unwrap_or(Kind::Event)
    }

    fn find(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Option<Self> {
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("ftrace", "blktrace") => Kind::Blk,
            ("ftrace", "funcgraph_entry" | "fgraph_retaddr_entry") => Kind::Entry(Entry::new(format)?),
            ("ftrace", "funcgraph_exit") => Kind::Exit(Exit::new(format)?),
            ("ftrace", "mmiotrace_rw" | "mmiotrace_map") => Kind::Mmio(Mmio::new(format)?),
            ("ftrace", _) => Kind::Builtin(Builtin::new(format, symbols, abi)?.into()),
            _ if view.options.fields => Kind::Fields(Fields::new(format, view, symbols)),
            ("syscalls", _) => Kind::Syscall(Box::new(Syscall::new(format, abi, symbols)?)),
            ("synthetic", _) => Kind::Synth(Synth::new(format, abi, symbols)),
            (system, _) if system.starts_with("user_events") => {
                if view.is_before(6, 4) {
                    Kind::Dump
                } else {
                    Kind::Fields(Fields::new(format, view, symbols))
                }
            }
            _ => Kind::Probe(Probe::new(format, view, abi, symbols)?.into()),
        })
    }
}
