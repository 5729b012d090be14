//! Chrome's trace event format, as JSON: calls of function_graph as slices of their tasks, all other events as instants
//! with their fields.

use super::names::{FlameBuffer, Reader};
use super::{Unfolded, names};
use crate::answer::analysis::stacks::{StackChange, StackFrame, StackWalk, TaskStack, WalkedRecord};
use crate::base::text::{json, num};
use crate::export::Exporter;
use crate::export::json::json_value;
use crate::kernel::event::{Consumed, Lost, Record, TypedEvent};
use crate::kernel::format::{ById, EventFormat};
use std::collections::BTreeSet;

/// Writes each event when it comes.
pub struct Chrome<'t> {
    buffers: Vec<Reader<'t>>,
    /// By buffer and event id: the events as instants.
    types: Vec<ById<ChromeType>>,
}

/// An event type: its name, category and fields.
struct ChromeType {
    name: Vec<u8>,
    category: Vec<u8>,
    event: TypedEvent,
}

/// State after the events so far.
#[derive(Debug, Default)]
pub struct ChromeState {
    walk: StackWalk,
    /// The tasks that have a line.
    tasks: BTreeSet<TaskStack>,
    begun: bool,
    unknown: u64,
}

impl<'t> Chrome<'t> {
    /// For records whose [`Record::buffer`] is an index into `buffers`.
    pub fn new(buffers: impl IntoIterator<Item = FlameBuffer<'t>>) -> Self {
        let buffers: Vec<Reader<'t>> = buffers.into_iter().map(Reader::new).collect();
        let types = buffers.iter().map(|reader| types(&reader.what)).collect();
        Chrome { buffers, types }
    }

    /// Appends `{"ph":...,"pid":...,"tid":...,"ts":...` of an event.
    fn open(&self, state: &mut ChromeLines<'_>, phase: &str, task: TaskStack, time: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(if std::mem::replace(state.begun, true) { b",\n" } else { b"\n" });
        state.tasks.insert(task);
        let (process, thread) = self.ids(task);
        out.extend_from_slice(b"{\"ph\":\"");
        out.extend_from_slice(phase.as_bytes());
        out.extend_from_slice(b"\",\"pid\":");
        num::dec(out, process);
        out.extend_from_slice(b",\"tid\":");
        num::dec(out, thread);
        if phase != "M" {
            // Microseconds; viewers take the fraction.
            out.extend_from_slice(b",\"ts\":");
            num::dec(out, time / 1000);
            out.push(b'.');
            num::dec_pad(out, time % 1000, 3, b'0');
        }
    }

    /// The numbers of a task's process and its own: those of the kernel, of each file in a range of their own. The CPUs'
    /// idle tasks, whose number is 0, are a process above all others.
    fn ids(&self, task: TaskStack) -> (u64, u64) {
        /// No kernel has higher numbers of tasks (`PID_MAX_LIMIT`).
        const TASKS: u64 = 4 << 20;
        let buffer = &self.buffers[task.buffer].what;
        let base = buffer.file as u64 * 2 * TASKS;
        match task.idle_on() {
            Some(cpu) => (base + TASKS, base + TASKS + u64::from(cpu.0)),
            None => (base + u64::from(buffer.process(task.pid).0 as u32), base + u64::from(task.pid.0 as u32)),
        }
    }

    fn change(&self, state: &mut ChromeLines<'_>, task: TaskStack, change: StackChange, time: u64, out: &mut Vec<u8>) {
        match change {
            StackChange::Open(frame) | StackChange::Away(frame) => {
                self.open(state, "B", task, time, out);
                let mut name = Vec::new();
                names::frame(&self.buffers[task.buffer].what, frame, &mut name);
                out.extend_from_slice(b",\"cat\":\"function_graph\",\"name\":");
                json::string(out, &name);
            }
            StackChange::Close(_) | StackChange::Ended(_) => self.open(state, "E", task, time, out),
        }
        out.push(b'}');
    }

    /// Appends the mark of events that were lost before `record`.
    fn loss(&self, state: &mut ChromeLines<'_>, task: TaskStack, record: &Record<'_>, out: &mut Vec<u8>) {
        self.open(state, "i", task, record.timestamp.0, out);
        out.extend_from_slice(b",\"s\":\"g\",\"cat\":\"loss\",\"name\":\"lost events\",\"args\":{\"common_cpu\":");
        num::dec(out, record.cpu.0.into());
        if let Lost::Count(count) = record.lost {
            out.extend_from_slice(b",\"lost\":");
            num::dec(out, count);
        }
        out.extend_from_slice(b"}}");
    }

    fn instant(
        &self,
        state: &mut ChromeLines<'_>,
        task: TaskStack,
        record: &Record<'_>,
        stack: Option<&[u64]>,
        out: &mut Vec<u8>,
    ) -> bool {
        let reader = &self.buffers[record.buffer];
        let id = reader.events.head(record).id;
        let Some(kind) = self.types[record.buffer].get(id) else { return false };
        self.open(state, "i", task, record.timestamp.0, out);
        out.extend_from_slice(b",\"s\":\"t\",\"cat\":");
        out.extend_from_slice(&kind.category);
        out.extend_from_slice(b",\"name\":");
        out.extend_from_slice(&kind.name);
        out.extend_from_slice(b",\"args\":{\"common_cpu\":");
        num::dec(out, record.cpu.0.into());
        if let Some(label) = &reader.what.label {
            out.extend_from_slice(b",\"common_buffer\":");
            json::string(out, label.as_bytes());
        }
        if let Some(stack) = stack {
            out.extend_from_slice(b",\"stack\":[");
            for (index, address) in stack.iter().enumerate() {
                let mut name = Vec::new();
                names::frame(&reader.what, StackFrame::Function(*address), &mut name);
                out.extend_from_slice(if index > 0 { b"," } else { b"" });
                json::string(out, &name);
            }
            out.push(b']');
        } else {
            for field in &kind.event.fields {
                out.push(b',');
                json::string(out, field.name.as_bytes());
                out.push(b':');
                match field.value(reader.what.abi, record.data) {
                    Some(value) => json_value(out, value),
                    None => out.extend_from_slice(b"null"),
                }
            }
        }
        out.extend_from_slice(b"}}");
        true
    }
}

/// The part of a state that an event's line changes.
struct ChromeLines<'s> {
    tasks: &'s mut BTreeSet<TaskStack>,
    begun: &'s mut bool,
}

impl ChromeState {
    /// Events that no format describes, and returns from functions that were entered before.
    pub fn unfolded(&self) -> Unfolded {
        Unfolded { others: self.unknown, stacks: 0, returns: self.walk.unmatched() }
    }
}

impl Exporter for Chrome<'_> {
    type State = ChromeState;

    fn state(&self) -> ChromeState {
        ChromeState::default()
    }

    fn begin(&self, _: &mut ChromeState, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut ChromeState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let ChromeState { walk, tasks, begun, unknown } = state;
        let mut lines = ChromeLines { tasks, begun };
        let (task, rest) = walk.record(&self.buffers[record.buffer].events, record, |task, change, time| {
            self.change(&mut lines, task, change, time, out);
        });
        if record.lost != Lost::None {
            self.loss(&mut lines, task, record, out);
        }
        let written = match &rest {
            WalkedRecord::Nothing if self.buffers[record.buffer].events.is_call(record) => true,
            WalkedRecord::Nothing | WalkedRecord::UserStack | WalkedRecord::Other => {
                self.instant(&mut lines, task, record, None, out)
            }
            WalkedRecord::Stack(stack) => self.instant(&mut lines, task, record, Some(stack), out),
        };
        *unknown += u64::from(!written);
        Consumed::One
    }

    fn end(&self, state: &mut ChromeState, out: &mut Vec<u8>) {
        let ChromeState { walk, tasks, begun, .. } = state;
        let mut lines = ChromeLines { tasks, begun };
        walk.end(|task, change, time| self.change(&mut lines, task, change, time, out));
        for task in lines.tasks.clone() {
            let buffer = &self.buffers[task.buffer].what;
            let process = task.first_of(buffer.process(task.pid));
            for (what, of) in [("thread_name", task), ("process_name", process)] {
                self.open(&mut lines, "M", task, 0, out);
                out.extend_from_slice(format!(",\"name\":\"{what}\",\"args\":{{\"name\":").as_bytes());
                json::string(out, &names::task(buffer, of));
                out.extend_from_slice(b"}}");
            }
        }
        out.extend_from_slice(b"\n]}\n");
    }

    fn is_serial(&self) -> bool {
        true
    }
}

fn types(buffer: &FlameBuffer<'_>) -> ById<ChromeType> {
    let quoted = |text: &str| {
        let mut out = Vec::new();
        json::string(&mut out, text.as_bytes());
        out
    };
    let type_of = |format: &&EventFormat| {
        let (name, category) = (quoted(&format.name), quoted(&format.system));
        (format.id, ChromeType { name, category, event: TypedEvent::new(format) })
    };
    buffer.formats.iter().map(type_of).collect()
}
