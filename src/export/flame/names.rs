//! Names of frames and tasks.

use super::reader::FlameBuffer;
use crate::answer::analysis::stacks::{StackFrame, TaskStack};
use crate::base::text::num;

/// Appends the name of a frame.
pub(super) fn frame(buffer: &FlameBuffer<'_>, frame: StackFrame, out: &mut Vec<u8>) {
    match frame {
        StackFrame::Unknown => out.extend_from_slice(b"[unknown]"),
        StackFrame::Preempted => out.extend_from_slice(b"[preempted]"),
        StackFrame::OffCpu => out.extend_from_slice(b"[off-CPU]"),
        StackFrame::Function(address) => match buffer.symbols.kallsyms.lookup(address) {
            Some(symbol) => out.extend_from_slice(symbol.name),
            None => {
                out.extend_from_slice(b"0x");
                num::hex(out, address);
            }
        },
    }
}

/// The name of a task, after the label of its buffer.
pub(super) fn task(buffer: &FlameBuffer<'_>, task: TaskStack) -> Vec<u8> {
    let comm = buffer.symbols.comms.name(task.pid);
    match &buffer.label {
        Some(label) => [label.as_bytes(), b" ", comm].concat(),
        None => comm.to_vec(),
    }
}
