//! One event on which triggers fire.

use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::symbols::Comms;

/// Frames of a stack in a key or a variable (`HIST_STACKTRACE_DEPTH`).
pub(super) const STACK_DEPTH: usize = 16;

/// An event of the recording, or a synthetic one that a trigger fired.
#[derive(Clone, Copy)]
pub(super) struct TriggerEvent<'e> {
    /// Byte order and word size of its data.
    pub(super) abi: Abi,
    pub(super) data: &'e [u8],
    /// In the clock's unit.
    pub(super) time: u64,
    pub(super) cpu: CpuId,
    /// The task that was running.
    pub(super) task: Pid,
    /// Return addresses recorded with the event, as the record holds them; empty if there are none.
    pub(super) stack: &'e [u8],
    pub(super) comms: &'e Comms,
}

impl TriggerEvent<'_> {
    /// The name of the task; empty if it is not known.
    pub(super) fn comm(&self) -> &[u8] {
        if self.task.0 == 0 { b"swapper" } else { self.comms.get(self.task).unwrap_or_default() }
    }

    /// Appends the recorded return addresses, as [`put_stack`] has them.
    pub(super) fn put_stack(&self, out: &mut Vec<u8>) {
        put_stack(self.abi, self.stack, out);
    }
}

/// Appends return addresses as numbers of 8 bytes, least significant first; ends where a kernel's stack ends.
pub(super) fn put_stack(abi: Abi, words: &[u8], out: &mut Vec<u8>) {
    let size = usize::from(abi.long_size).max(1);
    let end = u64::MAX >> 64u32.saturating_sub(u32::from(abi.long_size).saturating_mul(8)).min(63);
    let addresses = words.chunks_exact(size).map(|word| abi.uint(word, 0, size).unwrap_or(0));
    for address in addresses.take_while(|address| *address != 0 && *address != end).take(STACK_DEPTH) {
        out.extend_from_slice(&address.to_le_bytes());
    }
}
