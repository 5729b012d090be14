//! Packets: the fields of the whole trace.

use super::proto::{message, uint};

/// The sequence of packets that bundles stand on.
pub(super) const EVENTS_SEQUENCE: u64 = 1;
/// Sequence of the samples.
pub(super) const STACKS_SEQUENCE: u64 = 2;

// Numbers of `TracePacket`'s fields.
pub(super) const FTRACE_EVENTS: u32 = 1;
pub(super) const PROCESS_TREE: u32 = 2;
pub(super) const CLOCK_SNAPSHOT: u32 = 6;
pub(super) const TIMESTAMP: u32 = 8;
pub(super) const SEQUENCE_ID: u32 = 10;
pub(super) const INTERNED_DATA: u32 = 12;
pub(super) const SEQUENCE_FLAGS: u32 = 13;
pub(super) const FTRACE_STATS: u32 = 34;
pub(super) const SYSTEM_INFO: u32 = 45;
pub(super) const PERF_SAMPLE: u32 = 66;
pub(super) const MACHINE_ID: u32 = 98;
pub(super) const TASK_RENAME: u32 = 120;

/// Values of `SEQUENCE_FLAGS`: what was interned so far is void; this packet needs what was.
pub(super) const CLEARED: u64 = 1;
pub(super) const NEEDS: u64 = 2;

/// Appends a packet: a field of the whole trace.
pub(super) fn packet(out: &mut Vec<u8>, machine: Option<u64>, sequence: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    message(out, 1, |out| {
        uint(out, SEQUENCE_ID, sequence);
        if let Some(machine) = machine {
            uint(out, MACHINE_ID, machine);
        }
        fill(out);
    });
}
