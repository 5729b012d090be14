//! Kernel stacks as samples with a call stack, which the engine makes flame graphs of.

use super::proto::{
    CLEARED, INTERNED_DATA, NEEDS, PERF_SAMPLE, SEQUENCE_FLAGS, STACKS_SEQUENCE, TIMESTAMP, bytes, message, packet,
    uint,
};
use crate::kernel::symbols::Symbols;
use std::collections::HashMap;

/// Number of interned frames and call stacks at which the tables are reset.
const MOST: usize = 1 << 16;

/// Interned stacks of one recording, as far as its packets are written.
#[derive(Default)]
pub(super) struct InternedStacks {
    frames: HashMap<u64, u64>,
    callstacks: HashMap<Box<[u64]>, u64>,
    begun: bool,
}

/// A stack: when and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackSample {
    pub(super) timestamp: u64,
    pub(super) cpu: u32,
    pub(super) pid: u32,
    pub(super) tid: u32,
}

impl InternedStacks {
    /// Appends a sample with the return addresses `stack`, innermost first.
    pub(super) fn write(
        &mut self,
        sample: StackSample,
        stack: &[u64],
        machine: Option<u64>,
        symbols: &Symbols,
        out: &mut Vec<u8>,
    ) {
        if self.frames.len() > MOST || self.callstacks.len() > MOST {
            *self = InternedStacks::default();
        }
        let mut interned = Vec::new();
        if !self.begun {
            // One mapping for all: function and frame both name it.
            const MAPPING_PATHS: u32 = 17;
            const MAPPINGS: u32 = 19;
            message(&mut interned, MAPPING_PATHS, |out| {
                uint(out, 1, 1);
                bytes(out, 2, b"[kernel.kallsyms]");
            });
            message(&mut interned, MAPPINGS, |out| {
                uint(out, 1, 1);
                uint(out, 7, 1);
            });
        }
        let callstack = match self.callstacks.get(stack) {
            Some(known) => *known,
            None => self.intern(stack, symbols, &mut interned),
        };
        packet(out, machine, STACKS_SEQUENCE, |out| {
            uint(out, TIMESTAMP, sample.timestamp);
            uint(out, SEQUENCE_FLAGS, if self.begun { NEEDS } else { CLEARED });
            if !interned.is_empty() {
                bytes(out, INTERNED_DATA, &interned);
            }
            message(out, PERF_SAMPLE, |out| {
                const KERNEL: u64 = 1;
                uint(out, 1, sample.cpu.into());
                uint(out, 2, sample.pid.into());
                uint(out, 3, sample.tid.into());
                uint(out, 4, callstack);
                uint(out, 5, KERNEL);
                uint(out, 6, 1);
            });
        });
        self.begun = true;
    }

    fn intern(&mut self, stack: &[u64], symbols: &Symbols, interned: &mut Vec<u8>) -> u64 {
        const FUNCTION_NAMES: u32 = 5;
        const FRAMES: u32 = 6;
        const CALLSTACKS: u32 = 7;
        for address in stack {
            let number = self.frames.len() as u64 + 1;
            if *self.frames.entry(*address).or_insert(number) != number {
                continue;
            }
            message(interned, FUNCTION_NAMES, |out| {
                uint(out, 1, number);
                match symbols.kallsyms.lookup(*address) {
                    Some(symbol) => bytes(out, 2, symbol.name),
                    None => bytes(out, 2, format!("{address:#x}").as_bytes()),
                }
            });
            message(interned, FRAMES, |out| {
                uint(out, 1, number);
                uint(out, 2, number);
                uint(out, 3, 1);
                uint(out, 4, *address);
            });
        }
        let number = self.callstacks.len() as u64 + 1;
        self.callstacks.insert(stack.into(), number);
        message(interned, CALLSTACKS, |out| {
            uint(out, 1, number);
            // The outermost frame comes first.
            stack.iter().rev().for_each(|address| uint(out, 2, self.frames[address]));
        });
        number
    }
}
