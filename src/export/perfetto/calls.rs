//! Calls of functions with the values that they returned. Perfetto's messages of function_graph have no place for the value: such
//! events describe themselves, of which the engine makes no slices, and the slices are events of tracks below their tasks'.

use super::proto::{CLEARED, INTERNED_DATA, NEEDS, SEQUENCE_FLAGS, TIMESTAMP, bytes, message, packet, uint};
use super::tracks::{
    SLICE_BEGIN, SLICE_END, TRACK_DESCRIPTOR, TRACK_EVENT, TRACKS_SEQUENCE, describe, of_machine, uuid,
};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Record, TypedField};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;
use std::collections::{HashMap, HashSet};

/// The fields of a call or of its return.
#[derive(Clone, Debug)]
pub(super) struct CallFields {
    function: TypedField,
    /// Of a return.
    value: Option<TypedField>,
}

/// The begin or the end of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallEdge {
    time: u64,
    cpu: CpuId,
    thread: Pid,
    process: Pid,
    function: u64,
    /// The value returned, at the end.
    value: Option<i64>,
}

/// The system of function_graph's events, and its name of returns.
const OF_RETURNS: (&str, &str) = ("ftrace", "funcgraph_exit");

impl CallFields {
    /// True for returns that hold the value.
    pub(super) fn has_value(format: &EventFormat) -> bool {
        (format.system.as_str(), format.name.as_str()) == OF_RETURNS && format.field("retval").is_some()
    }

    /// `None` for events of another kind.
    pub(super) fn of(format: &EventFormat) -> Option<Self> {
        let field = |name| format.field(name).map(|field| TypedField::new(format, field));
        let value = match (format.system.as_str(), format.name.as_str()) {
            OF_RETURNS => Some(field("retval")?),
            ("ftrace", "funcgraph_entry") => None,
            _ => return None,
        };
        Some(CallFields { function: field("func")?, value })
    }

    /// What a record of `thread` says of a call; `None` if it ends before that.
    pub(super) fn edge(&self, abi: Abi, record: &Record<'_>, [thread, process]: [Pid; 2]) -> Option<CallEdge> {
        let number = |field: &TypedField| {
            let bytes = field.bytes(abi, record.data)?;
            abi.int(bytes, 0, bytes.len())
        };
        let value = match &self.value {
            Some(value) => Some(number(value)?),
            None => None,
        };
        let function = abi.uint(self.function.bytes(abi, record.data)?, 0, usize::from(abi.long_size))?;
        Some(CallEdge { time: record.timestamp.0, cpu: record.cpu, thread, process, function, value })
    }
}

/// The packets' sequence: names that one interns are those of all that follow.
const CALLS_SEQUENCE: u64 = 4;
/// Number of interned names at which they begin anew.
const MOST: usize = 1 << 16;
/// The interned name of the argument.
const RETVAL: u64 = 1;

/// The calls of one recording, as far as its packets are written.
#[derive(Default)]
pub(super) struct CallTracks {
    described: HashSet<u64>,
    /// Interned names of functions.
    names: HashMap<u64, u64>,
}

impl CallTracks {
    /// Appends the begin or the end of a slice.
    pub(super) fn write(&mut self, edge: CallEdge, machine: usize, symbols: &Symbols, out: &mut Vec<u8>) {
        let track = self.track(&edge, machine, out);
        if self.names.len() > MOST {
            self.names.clear();
        }
        let is_first = self.names.is_empty();
        let next = self.names.len() as u64 + 1;
        let name = *self.names.entry(edge.function).or_insert(next);
        packet(out, of_machine(machine), CALLS_SEQUENCE, |out| {
            uint(out, TIMESTAMP, edge.time);
            uint(out, SEQUENCE_FLAGS, if is_first { CLEARED } else { NEEDS });
            if name == next {
                message(out, INTERNED_DATA, |out| intern(name, edge.function, symbols, out));
            }
            message(out, TRACK_EVENT, |out| {
                if let Some(value) = edge.value {
                    message(out, 4, |out| {
                        uint(out, 1, RETVAL);
                        uint(out, argument_field(value), value as u64);
                    });
                }
                uint(out, 9, if edge.value.is_some() { SLICE_END } else { SLICE_BEGIN });
                uint(out, 10, name);
                uint(out, 11, track);
            });
        });
    }

    /// The track of a task's calls, which is described before its first. Each CPU has an idle task of its own.
    fn track(&mut self, edge: &CallEdge, machine: usize, out: &mut Vec<u8>) -> u64 {
        // Kinds apart from those of all other tracks.
        const THREADS: u64 = 127;
        const OF_THREADS: u64 = 126;
        const OF_IDLE: u64 = 125;
        let idle = edge.thread.0 <= 0;
        let track = match idle {
            true => uuid(machine, OF_IDLE, edge.cpu.0 as usize),
            false => uuid(machine, OF_THREADS, edge.thread.0 as usize),
        };
        if !self.described.insert(track) {
            return track;
        }
        if idle {
            describe(out, machine, track, &format!("function_graph of swapper/{}", edge.cpu), false);
            return track;
        }
        let thread = uuid(machine, THREADS, edge.thread.0 as usize);
        packet(out, of_machine(machine), TRACKS_SEQUENCE, |out| {
            uint(out, SEQUENCE_FLAGS, CLEARED);
            message(out, TRACK_DESCRIPTOR, |out| {
                uint(out, 1, thread);
                message(out, 4, |out| {
                    uint(out, 1, edge.process.0 as u64);
                    uint(out, 2, edge.thread.0 as u64);
                });
            });
        });
        packet(out, of_machine(machine), TRACKS_SEQUENCE, |out| {
            uint(out, SEQUENCE_FLAGS, CLEARED);
            message(out, TRACK_DESCRIPTOR, |out| {
                uint(out, 1, track);
                bytes(out, 2, b"function_graph");
                uint(out, 5, thread);
            });
        });
        track
    }
}

/// Appends a function's name, and with the first one the argument's.
fn intern(number: u64, function: u64, symbols: &Symbols, out: &mut Vec<u8>) {
    const EVENT_NAMES: u32 = 2;
    const ARGUMENT_NAMES: u32 = 3;
    message(out, EVENT_NAMES, |out| {
        uint(out, 1, number);
        match symbols.kallsyms.lookup(function) {
            Some(symbol) => bytes(out, 2, symbol.name),
            None => bytes(out, 2, format!("{function:#x}").as_bytes()),
        }
    });
    if number == 1 {
        message(out, ARGUMENT_NAMES, |out| {
            uint(out, 1, RETVAL);
            bytes(out, 2, b"retval");
        });
    }
}

/// The field of `DebugAnnotation` for a value: a number with its sign, or, beyond 53 bits, an address.
fn argument_field(value: i64) -> u32 {
    const INT: u32 = 4;
    const POINTER: u32 = 7;
    if value.unsigned_abs() < 1 << 53 { INT } else { POINTER }
}
