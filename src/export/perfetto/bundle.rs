//! Events of one CPU, gathered to a packet.

use super::gaps::{Occupation, OpenHandlers};
use super::program::name_number;
use super::proto::{
    CLEARED, EVENTS_SEQUENCE, FTRACE_EVENTS, INTERNED_DATA, SEQUENCE_FLAGS, bytes, message, packet, uint,
};
use crate::kernel::symbols::Symbols;
use std::collections::BTreeSet;

/// Size of a bundle's events, in bytes, at which it is written.
const FULL: usize = 64 << 10;

/// Events of one CPU that are not written yet.
#[derive(Default)]
pub(super) struct Bundle<K> {
    /// `FtraceEvent`s, each a field of the bundle.
    events: Vec<u8>,
    /// The types of those that describe themselves.
    described: BTreeSet<K>,
    /// The functions whose names they need, by address.
    functions: BTreeSet<u64>,
    /// True if events were lost before the first.
    lost: bool,
    /// True if events were lost before any, written or not.
    ever_lost: bool,
    /// The task that the CPU runs, as its switches have it.
    pub(super) occupation: Occupation,
    /// The handlers that it is in.
    pub(super) handlers: OpenHandlers,
}

impl<K: Ord + Copy> Bundle<K> {
    /// Adds an event. True if the bundle is to be written.
    #[inline]
    pub(super) fn add(&mut self, event: &[u8], described: Option<K>, function: Option<u64>) -> bool {
        self.events.extend_from_slice(event);
        self.described.extend(described);
        self.functions.extend(function);
        self.events.len() >= FULL
    }

    /// Notes that events were lost before the next; there must be no other before it.
    pub(super) fn lost(&mut self) {
        (self.lost, self.ever_lost) = (true, true);
    }

    /// True if events of the CPU were lost.
    pub(super) fn has_lost(&self) -> bool {
        self.ever_lost
    }

    /// Appends it as a packet, which holds all that its events need, and empties it.
    pub(super) fn write<'d>(
        &mut self,
        cpu: u32,
        machine: Option<u64>,
        symbols: &Symbols,
        descriptor: impl Fn(K) -> Option<&'d [u8]>,
        out: &mut Vec<u8>,
    ) {
        if self.events.is_empty() {
            return;
        }
        packet(out, machine, EVENTS_SEQUENCE, |out| {
            uint(out, SEQUENCE_FLAGS, CLEARED);
            if !self.functions.is_empty() {
                const KERNEL_SYMBOLS: u32 = 26;
                message(out, INTERNED_DATA, |out| {
                    for address in &self.functions {
                        let Some(symbol) = symbols.kallsyms.lookup(*address) else { continue };
                        message(out, KERNEL_SYMBOLS, |out| {
                            uint(out, 1, name_number(*address));
                            bytes(out, 2, symbol.name);
                        });
                    }
                });
            }
            message(out, FTRACE_EVENTS, |out| {
                const LOST_EVENTS: u32 = 3;
                const DESCRIPTORS: u32 = 11;
                uint(out, 1, cpu.into());
                out.extend_from_slice(&self.events);
                if self.lost {
                    uint(out, LOST_EVENTS, 1);
                }
                for descriptor in self.described.iter().filter_map(|key| descriptor(*key)) {
                    bytes(out, DESCRIPTORS, descriptor);
                }
            });
        });
        self.events.clear();
        self.described.clear();
        self.functions.clear();
        self.lost = false;
    }
}
