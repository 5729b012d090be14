//! Names of frames and tasks.
//! Stacks with numbers as folded lines.
//! The buffers whose call stacks are shown.

use crate::answer::analysis::stacks::{StackEvents, StackFrame, StackTree, TaskStack};
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::{Symbols, UserSymbol};
use std::collections::HashMap;

/// Appends the name of a frame.
pub(super) fn frame(buffer: &FlameBuffer<'_>, frame: StackFrame, out: &mut Vec<u8>) {
    match frame {
        StackFrame::Unknown | StackFrame::User(_) => out.extend_from_slice(b"[unknown]"),
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
pub(super) fn write_lines(buffers: &[Reader<'_>], tree: &StackTree<FlameRoot>, user: &UserFrames, out: &mut Vec<u8>) {
    let mut lines: HashMap<Vec<u8>, u64> = HashMap::new();
    for (root, frames, number) in tree.stacks() {
        let line = lines.entry(line(buffers, root, &frames, user)).or_default();
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
fn line(buffers: &[Reader<'_>], root: &FlameRoot, frames: &[StackFrame], user: &UserFrames) -> Vec<u8> {
    let buffer = &buffers[root.buffer].what;
    let mut line = Vec::new();
    if let Some(label) = &buffer.label {
        name(label.as_bytes(), &mut line);
        line.push(b';');
    }
    name(&root.comm, &mut line);
    for one in frames {
        line.push(b';');
        if let StackFrame::User(number) = one {
            name(user.name(*number), &mut line);
            continue;
        }
        let mut named = Vec::new();
        frame(buffer, *one, &mut named);
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

/// Names of functions of user space, each once: `main`, `[libc.so.6]` where only the file is known, or `[unknown]`.
#[derive(Clone, Debug, Default)]
pub(super) struct UserFrames {
    names: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, u32>,
}

impl UserFrames {
    /// The frames of a stack of user space, innermost first; `None` where nothing has names, so that such a stack says nothing.
    pub(super) fn of(&mut self, reader: &Reader<'_>, record: &Record<'_>) -> Option<Vec<StackFrame>> {
        reader.what.symbols.user.as_ref()?;
        let mut frames = Vec::new();
        reader.events.user_stack(record, reader.what.symbols, |_, found| {
            let name = match found {
                Some(UserSymbol { name: Some(name), .. }) => name.to_owned(),
                Some(UserSymbol { path, .. }) => format!("[{}]", path.rsplit('/').next().unwrap_or(path)),
                None => "[unknown]".to_owned(),
            };
            frames.push(StackFrame::User(self.number(name.into_bytes())));
        });
        Some(frames)
    }

    /// The number of a name.
    pub(super) fn number(&mut self, name: Vec<u8>) -> u32 {
        if let Some(known) = self.known.get(&name) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.known.insert(name, number);
        number
    }

    fn name(&self, number: u32) -> &[u8] {
        self.names.get(number as usize).map_or(b"[unknown]", Vec::as_slice)
    }
}

/// One of the buffers whose records come.
pub struct FlameBuffer<'t> {
    /// The formats of the buffer's file.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// The symbols of the buffer's file.
    pub symbols: &'t Symbols,
    /// Its file: 0 for the first.
    pub file: usize,
    /// Threads and their processes, ascending.
    pub processes: &'t [(Pid, Pid)],
    /// The label of its tasks: the file's, or the instance's, where there are several.
    pub label: Option<String>,
}

impl FlameBuffer<'_> {
    /// The process of a task; the task itself if it is not known.
    pub(super) fn process(&self, pid: Pid) -> Pid {
        let found = self.processes.binary_search_by_key(&pid, |(thread, _)| *thread);
        found.ok().and_then(|at| self.processes.get(at)).map_or(pid, |(_, process)| *process)
    }
}

/// A buffer, and its events that matter.
pub(super) struct Reader<'t> {
    pub(super) what: FlameBuffer<'t>,
    pub(super) events: StackEvents,
}

impl<'t> Reader<'t> {
    pub(super) fn new(what: FlameBuffer<'t>) -> Self {
        let events = StackEvents::new(what.formats.iter().copied(), what.abi);
        Reader { what, events }
    }
}
