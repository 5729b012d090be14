//! Stacks with numbers as folded lines.

use super::names;
use super::reader::Reader;
use crate::answer::analysis::stacks::{StackFrame, StackTree, TaskStack};
use crate::base::text::num;
use std::collections::HashMap;

/// The root of stacks: a buffer, and the task's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FlameRoot {
    buffer: usize,
    comm: Vec<u8>,
}

/// The root of a task's stacks.
pub(super) fn root(buffers: &[Reader<'_>], task: TaskStack) -> FlameRoot {
    let comm = buffers[task.buffer].what.symbols.comms.name(task.pid).to_vec();
    FlameRoot { buffer: task.buffer, comm }
}

/// Appends a line for each stack with a number, in the order of their bytes; those of one text are added up.
pub(super) fn write_lines(buffers: &[Reader<'_>], tree: &StackTree<FlameRoot>, out: &mut Vec<u8>) {
    let mut lines: HashMap<Vec<u8>, u64> = HashMap::new();
    for (root, frames, number) in tree.stacks() {
        let line = lines.entry(line(buffers, root, &frames)).or_default();
        *line = line.saturating_add(number);
    }
    let mut lines: Vec<(Vec<u8>, u64)> = lines.into_iter().collect();
    lines.sort_unstable();
    for (line, number) in lines {
        out.extend_from_slice(&line);
        out.push(b' ');
        num::dec(out, number);
        out.push(b'\n');
    }
}

/// The stack's line without its number.
fn line(buffers: &[Reader<'_>], root: &FlameRoot, frames: &[StackFrame]) -> Vec<u8> {
    let buffer = &buffers[root.buffer].what;
    let mut line = Vec::new();
    if let Some(label) = &buffer.label {
        name(label.as_bytes(), &mut line);
        line.push(b';');
    }
    name(&root.comm, &mut line);
    for frame in frames {
        line.push(b';');
        let mut named = Vec::new();
        names::frame(buffer, *frame, &mut named);
        name(&named, &mut line);
    }
    line
}

/// A name without the characters that divide lines.
fn name(name: &[u8], line: &mut Vec<u8>) {
    line.extend(name.iter().map(|byte| match byte {
        b';' => b':',
        byte if byte.is_ascii_control() => b'?',
        byte => *byte,
    }));
}
