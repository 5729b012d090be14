//! Chrome's trace event format, as JSON: calls of function_graph as slices of their tasks, with the values returned where
//! they were recorded; all other events as instants with their fields.

use super::names::{FlameBuffer, Reader};
use super::{Unfolded, names};
use crate::answer::analysis::stacks::{StackChange, StackFrame, StackWalk, TaskStack, WalkedRecord};
use crate::base::sys::Tail;
use crate::base::text::literal::Literal;
use crate::base::text::{json, num};
use crate::export::Exporter;
use crate::export::json::JsonMembers;
use crate::export::rendered::TaskCache;
use crate::kernel::event::{Consumed, Lost, Record, TypedEvent, TypedField};
use crate::kernel::format::{ById, EventFormat};
use std::collections::BTreeSet;

/// Writes each event when it comes.
pub struct Chrome<'t> {
    buffers: Vec<Reader<'t>>,
    /// By buffer and event id: the events as instants.
    types: Vec<ById<ChromeType>>,
}

/// An event type.
struct ChromeType {
    /// `,"s":"t","cat":CATEGORY,"name":NAME,"args":{"common_cpu":`
    head: Literal,
    /// The fields of the event, compiled.
    members: JsonMembers,
    /// The field of a return's value.
    returned: Option<TypedField>,
}

/// State after the events so far.
#[derive(Debug)]
pub struct ChromeState {
    walk: StackWalk,
    /// The tasks that have a line.
    tasks: BTreeSet<TaskStack>,
    ids: TaskCache,
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
    #[inline]
    fn open<'a>(
        &self,
        lines: &mut ChromeLines<'_>,
        phase: &[u8; 1],
        task: TaskStack,
        time: u64,
        out: &'a mut Vec<u8>,
    ) -> Tail<'a> {
        let ChromeLines { tasks, ids, begun } = lines;
        let comma = usize::from(std::mem::replace(&mut **begun, true));
        let tail = Tail::new(out).piece(b",", comma).all(b"\n{\"ph\":\"").all(phase);
        // Microseconds; viewers take the fraction.
        ids.write(task.key(), tail, |out| {
            tasks.insert(task);
            let (process, thread) = self.ids(task);
            out.extend_from_slice(b"\",\"pid\":");
            num::dec(out, process);
            out.extend_from_slice(b",\"tid\":");
            num::dec(out, thread);
        })
        .all(b",\"ts\":")
        .wide(time / 1000)
        .all(b".")
        .piece(&num::THREE[(time % 1000) as usize], 3)
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

    fn change(
        &self,
        lines: &mut ChromeLines<'_>,
        task: TaskStack,
        change: StackChange,
        (time, record): (u64, Option<&Record<'_>>),
        out: &mut Vec<u8>,
    ) {
        let out = match change {
            StackChange::Open(frame) | StackChange::Away(frame) => {
                let out = self.open(lines, b"B", task, time, out).done();
                let mut name = Vec::new();
                names::frame(&self.buffers[task.buffer].what, frame, &mut name);
                out.extend_from_slice(b",\"cat\":\"function_graph\",\"name\":");
                json::string(out, &name);
                out
            }
            StackChange::Close(_) => {
                let out = self.open(lines, b"E", task, time, out).done();
                record.into_iter().for_each(|record| self.returned(record, out));
                out
            }
            StackChange::Ended(_) => self.open(lines, b"E", task, time, out).done(),
        };
        out.push(b'}');
    }

    /// Appends the value that a function returns, if it was recorded.
    fn returned(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        let abi = self.buffers[record.buffer].what.abi;
        let id = self.buffers[record.buffer].events.head(record).id;
        let field = self.types[record.buffer].get(id).and_then(|of| of.returned.as_ref());
        let Some(bytes) = field.and_then(|field| field.bytes(abi, record.data)) else { return };
        let Some(value) = abi.int(bytes, 0, bytes.len()) else { return };
        out.extend_from_slice(b",\"args\":{\"retval\":");
        returned_value(value, out);
        out.push(b'}');
    }

    /// Appends the mark of events that were lost before `record`.
    fn loss(&self, lines: &mut ChromeLines<'_>, task: TaskStack, record: &Record<'_>, out: &mut Vec<u8>) {
        let out = self.open(lines, b"i", task, record.timestamp.0, out).done();
        out.extend_from_slice(b",\"s\":\"g\",\"cat\":\"loss\",\"name\":\"lost events\",\"args\":{\"common_cpu\":");
        num::dec(out, record.cpu.0.into());
        if let Lost::Count(count) = record.lost {
            out.extend_from_slice(b",\"lost\":");
            num::dec(out, count);
        }
        out.extend_from_slice(b"}}");
    }

    #[inline]
    fn instant(
        &self,
        lines: &mut ChromeLines<'_>,
        task: TaskStack,
        record: &Record<'_>,
        stack: Option<&[u64]>,
        out: &mut Vec<u8>,
    ) -> bool {
        let reader = &self.buffers[record.buffer];
        let id = reader.events.head(record).id;
        let Some(kind) = self.types[record.buffer].get(id) else { return false };
        let mut tail = self.open(lines, b"i", task, record.timestamp.0, out);
        tail = tail.literal(&kind.head).dec(record.cpu.0.into());
        if let Some(label) = &reader.what.label {
            tail = tail.with(|out| {
                out.extend_from_slice(b",\"common_buffer\":");
                json::string(out, label.as_bytes());
            });
        }
        tail = match stack {
            Some(stack) => tail.with(|out| frames(&reader.what, stack, out)),
            None => kind.members.write(reader.what.abi, record.data, tail),
        };
        tail.all(b"}}").done();
        true
    }
}

/// Appends the functions of a stack.
fn frames(buffer: &FlameBuffer<'_>, stack: &[u64], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"stack\":[");
    for (index, address) in stack.iter().enumerate() {
        let mut name = Vec::new();
        names::frame(buffer, StackFrame::Function(*address), &mut name);
        out.extend_from_slice(if index > 0 { b"," } else { b"" });
        json::string(out, &name);
    }
    out.push(b']');
}

/// Appends what a function returned: a number, or a string of one of more bits than JavaScript's numbers have.
fn returned_value(value: i64, out: &mut Vec<u8>) {
    if value.unsigned_abs() < 1 << 53 {
        return num::signed(out, value);
    }
    out.extend_from_slice(b"\"0x");
    num::hex(out, value as u64);
    out.push(b'"');
}

/// The part of a state that an event's line changes.
struct ChromeLines<'s> {
    tasks: &'s mut BTreeSet<TaskStack>,
    ids: &'s mut TaskCache,
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
        let (walk, tasks, ids) = (StackWalk::default(), BTreeSet::new(), TaskCache::new());
        ChromeState { walk, tasks, ids, begun: false, unknown: 0 }
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
        let ChromeState { walk, tasks, ids, begun, unknown } = state;
        let mut lines = ChromeLines { tasks, ids, begun };
        let (task, rest) = walk.record(&self.buffers[record.buffer].events, record, |task, change, time| {
            self.change(&mut lines, task, change, (time, Some(record)), out);
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
        let ChromeState { walk, tasks, ids, begun, .. } = state;
        let mut lines = ChromeLines { tasks, ids, begun };
        walk.end(|task, change, time| self.change(&mut lines, task, change, (time, None), out));
        for task in lines.tasks.clone() {
            let buffer = &self.buffers[task.buffer].what;
            let process = task.first_of(buffer.process(task.pid));
            for (what, of) in [("thread_name", task), ("process_name", process)] {
                let (process, thread) = self.ids(task);
                let comma = if std::mem::replace(lines.begun, true) { "," } else { "" };
                let head = format!("{comma}\n{{\"ph\":\"M\",\"pid\":{process},\"tid\":{thread},\"name\":\"{what}\",");
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(b"\"args\":{\"name\":");
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
    let type_of = |format: &&EventFormat| {
        let mut head = b",\"s\":\"t\",\"cat\":".to_vec();
        json::string(&mut head, format.system.as_bytes());
        head.extend_from_slice(b",\"name\":");
        json::string(&mut head, format.name.as_bytes());
        head.extend_from_slice(b",\"args\":{\"common_cpu\":");
        let event = TypedEvent::new(format);
        let is_return = (&*format.system, &*format.name) == ("ftrace", "funcgraph_exit");
        let returned = event.fields.iter().find(|field| is_return && field.name == "retval").cloned();
        (format.id, ChromeType { head: Literal::new(&head), members: JsonMembers::new(&event), returned })
    };
    buffer.formats.iter().map(type_of).collect()
}
