//! Firefox Profiler's processed profile format (`preprocessedProfileVersion` 49), a thread for each task: calls of
//! function_graph as samples whose weight is their time, else stack traces as samples; all other events as markers with
//! their fields.

use super::names::{FlameBuffer, Reader};
use super::packed::{BlockPacker, Spill};
use super::thread::{ColumnWriters, FlameThread, MarkerKind, SampleKind, milliseconds};
use super::{Unfolded, names};
use crate::answer::analysis::stacks::{StackChange, StackFrame, StackWalk, TaskStack, WalkedRecord};
use crate::base::sys::Tail;
use crate::base::text::json;
use crate::base::text::literal::{LiteralId, Literals};
use crate::base::units::EventId;
use crate::export::field_read::{FieldRead, ValueForm};
use crate::export::json::{JsonValue, json_value};
use crate::export::rendered::RepeatedFields;
use crate::export::{Exporter, Outflow};
use crate::kernel::event::{Consumed, FieldKind, FieldPlace, Record, TypedEvent, TypedField, Value};
use crate::kernel::format::{ById, EventFormat};
use foldhash::fast::RandomState;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Gathers the tasks' samples and markers, packed, and writes them at the end: without a file for them memory grows as a
/// compressed recording does, by 2 to 5 bytes an event.
pub struct Firefox<'t> {
    buffers: Vec<Reader<'t>>,
    /// The events as markers: by buffer, then by event id.
    types: Vec<TypeColumns>,
    /// By buffer and event id: the kind of marker, which is an index into them.
    kinds: Vec<ById<MarkerKind>>,
    name: String,
    real: Option<i64>,
    /// Taken by the first state.
    spill: Mutex<Option<Spill>>,
}

/// An event type: its name and fields, and which of these are small enough to be numbers.
struct TypeColumns {
    buffer: usize,
    name: String,
    event: TypedEvent,
    is_number: Vec<bool>,
    pool: Literals,
    /// `{"type":NAME,"cpu":`
    head: LiteralId,
    values: Vec<MarkerValue>,
}

/// A field of a marker's data, and how it is written.
struct MarkerValue {
    /// `,"NAME":`, and the quote of a number that is written as a string.
    literal: LiteralId,
    read: FieldRead,
    is_quoted: bool,
    /// The size of records that have it; `None` if that differs.
    end: Option<usize>,
}

/// Values that are no whole numbers, as strings.
struct MarkerText;

impl ValueForm for MarkerText {
    fn missing(tail: Tail<'_>) -> Tail<'_> {
        tail.all(b"null")
    }

    #[inline(always)]
    fn pointer(address: u64, tail: Tail<'_>) -> Tail<'_> {
        JsonValue::pointer(address, tail)
    }

    #[inline(always)]
    fn text<'a>(text: &[u8], tail: Tail<'a>) -> Tail<'a> {
        JsonValue::text(text, tail)
    }

    /// A number, else a string, which holds lists and the like as JSON.
    fn any(value: Value<'_>, out: &mut Vec<u8>) {
        if let Value::Unsigned(_) | Value::Signed(_) | Value::Text(_) | Value::Pointer(_) | Value::Bytes(_) = value {
            return json_value(out, value);
        }
        let mut text = Vec::new();
        json_value(&mut text, value);
        json::string(out, &text);
    }
}

/// Threads gathered so far.
#[derive(Debug, Default)]
pub struct FirefoxState {
    walk: StackWalk,
    threads: HashMap<TaskStack, FlameThread, RandomState>,
    /// By kind: true if there is one.
    marked: Vec<bool>,
    packer: BlockPacker,
    /// The time of the first event.
    start: Option<u64>,
    unknown: u64,
    /// Stack traces that are not shown.
    untimed: u64,
}

/// Indices into `meta.categories`.
const KERNEL: u8 = 0;
const OFF_CPU: u8 = 1;
const EVENT: u8 = 2;

impl<'t> Firefox<'t> {
    /// For records whose [`Record::buffer`] is an index into `buffers`; `name` is the profile's, `real` the nanoseconds to
    /// add to a time to get one since 1970.
    pub fn new(buffers: impl IntoIterator<Item = FlameBuffer<'t>>, name: &str, real: Option<i64>) -> Self {
        let buffers: Vec<Reader<'t>> = buffers.into_iter().map(Reader::new).collect();
        let (mut all, mut kinds) = (Vec::new(), Vec::new());
        for (buffer, reader) in buffers.iter().enumerate() {
            let of_buffer: BTreeMap<EventId, TypeColumns> = types(buffer, &reader.what).collect();
            let numbers = (all.len() as u32..).map(MarkerKind);
            kinds.push(of_buffer.keys().copied().zip(numbers).collect());
            all.extend(of_buffer.into_values());
        }
        Firefox { buffers, types: all, kinds, name: name.to_owned(), real, spill: Mutex::default() }
    }

    /// The same with a file for what is too much for memory, of one export.
    #[must_use]
    pub fn with_spill(self, spill: Spill) -> Self {
        Firefox { spill: Mutex::new(Some(spill)), ..self }
    }

    /// The type of a marker.
    fn kind(&self, kind: MarkerKind) -> Option<&TypeColumns> {
        self.types.get(kind.0 as usize)
    }

    fn marker(&self, state: &mut FirefoxState, task: TaskStack, record: &Record<'_>) -> bool {
        let id = self.buffers[record.buffer].events.head(record).id;
        let Some(kind) = self.kinds[record.buffer].get(id) else { return false };
        let FirefoxState { threads, marked, packer, .. } = state;
        marked.resize(self.types.len(), false);
        marked[kind.0 as usize] = true;
        threads.entry(task).or_default().mark(*kind, record, packer);
        true
    }

    /// Appends a marker's data; `repeats` are those of its buffer.
    fn data(&self, kind: MarkerKind, cpu: u32, record: &[u8], repeats: &mut RepeatedFields, out: &mut Vec<u8>) {
        let Some(of) = self.kind(kind) else { return };
        let abi = self.buffers[of.buffer].what.abi;
        let tail = Tail::new(out).pooled(&of.pool, of.head).dec(cpu.into());
        let id = record.first_chunk().map_or(0, |id| abi.u16(*id));
        let written = repeats.write(id, record, tail, |mut tail| {
            for (value, field) in of.values.iter().zip(&of.event.fields) {
                let is_there = match value.end {
                    Some(end) => record.len() >= end,
                    None => field.bytes(abi, record).is_some(),
                };
                if is_there {
                    tail = value.read.write::<MarkerText>(abi, record, tail.pooled(&of.pool, value.literal));
                    tail = tail.piece(b"\"", usize::from(value.is_quoted));
                }
            }
            tail
        });
        written.all(b"}").done();
    }

    fn meta(&self, state: &FirefoxState, out: &mut Vec<u8>) {
        let real = state.start.map(|start| start as i128 + i128::from(self.real.unwrap_or(0)));
        let real = real.filter(|_| self.real.is_some()).unwrap_or(0).max(0) as u64;
        out.extend_from_slice(
            b"{\"meta\":{\"version\":27,\"preprocessedProfileVersion\":49,\"interval\":1,\"startTime\":",
        );
        milliseconds(real, out);
        out.extend_from_slice(b",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\"product\":");
        json::string(out, self.name.as_bytes());
        out.extend_from_slice(concat!(",\"importedFrom\":\"rtrace ", env!("CARGO_PKG_VERSION"), "\"").as_bytes());
        out.extend_from_slice(
            b",\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},\"categories\":[\
              {\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},\
              {\"name\":\"Off CPU\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\
              {\"name\":\"Event\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],\"markerSchema\":[",
        );
        let mut written = BTreeSet::new();
        for (kind, _) in self.types.iter().zip(&state.marked).filter(|(_, marked)| **marked) {
            if !written.insert(&kind.name) {
                continue;
            }
            out.extend_from_slice(if written.len() > 1 { b",\n{\"name\":" } else { b"\n{\"name\":" });
            json::string(out, kind.name.as_bytes());
            out.extend_from_slice(b",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":[");
            out.extend_from_slice(b"{\"key\":\"cpu\",\"label\":\"cpu\",\"format\":\"integer\"}");
            for (field, is_number) in kind.event.fields.iter().zip(&kind.is_number) {
                out.extend_from_slice(b",{\"key\":");
                json::string(out, key(&field.name).as_bytes());
                out.extend_from_slice(b",\"label\":");
                json::string(out, field.name.as_bytes());
                let format: &[u8] = if *is_number { b",\"format\":\"integer\"}" } else { b",\"format\":\"string\"}" };
                out.extend_from_slice(format);
            }
            out.extend_from_slice(b"]}");
        }
        out.extend_from_slice(b"]},\"libs\":[],\"pages\":[],\"threads\":[");
    }

    fn thread(
        &self,
        task: TaskStack,
        thread: &FlameThread,
        (start, packer): (u64, &BlockPacker),
        repeats: &RefCell<RepeatedFields>,
        out: &mut Outflow<'_>,
    ) -> io::Result<()> {
        let buffer = &self.buffers[task.buffer].what;
        let process = buffer.process(task.pid);
        let mut name = names::task(buffer, task);
        let mut tid = u64::from(task.pid.0 as u32);
        if let Some(cpu) = task.idle_on() {
            name.extend_from_slice(format!(" on CPU {}", cpu.0).as_bytes());
            tid = cpu.0.into();
        }
        out.bytes.extend_from_slice(
            b"\n{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,",
        );
        out.bytes.extend_from_slice(b"\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":");
        json::string(&mut out.bytes, &name);
        out.bytes.extend_from_slice(if process == task.pid {
            b",\"isMainThread\":true"
        } else {
            b",\"isMainThread\":false"
        });
        out.bytes.extend_from_slice(b",\"processName\":");
        json::string(&mut out.bytes, &names::task(buffer, task.first_of(process)));
        // The processes of another file or instance are others.
        out.bytes.extend_from_slice(format!(",\"pid\":\"{}-{}\",\"tid\":{tid}", task.buffer, process.0).as_bytes());
        let named = |frame: StackFrame| {
            let mut name = Vec::new();
            names::frame(buffer, frame, &mut name);
            let off = matches!(frame, StackFrame::OffCpu | StackFrame::Preempted);
            (name, if off { OFF_CPU } else { KERNEL })
        };
        let with = ColumnWriters {
            frame: &named,
            marker: &|kind| self.kind(kind).map_or("", |kind| &kind.name),
            data: &|kind, cpu, record, out| self.data(kind, cpu, record, &mut repeats.borrow_mut(), out),
            category: EVENT,
            packer,
            time: &|time, out| milliseconds(time.saturating_sub(start), out),
        };
        thread.write(&with, out)?;
        out.bytes.push(b'}');
        Ok(())
    }
}

impl FirefoxState {
    /// Events that no format describes, stack traces beside times, and returns from functions that were entered before.
    pub fn unfolded(&self) -> Unfolded {
        Unfolded { others: self.unknown, stacks: self.untimed, returns: self.walk.unmatched() }
    }
}

impl Exporter for Firefox<'_> {
    type State = FirefoxState;

    fn state(&self) -> FirefoxState {
        let spill = self.spill.lock().unwrap_or_else(PoisonError::into_inner).take();
        FirefoxState { packer: BlockPacker::new(spill), ..FirefoxState::default() }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut FirefoxState,
        _: &mut Vec<u8>,
    ) -> Consumed {
        let time = record.timestamp.0;
        state.start.get_or_insert(time);
        let FirefoxState { walk, threads, packer, .. } = state;
        packer.share_among(threads.len());
        let (task, rest) = walk.record(&self.buffers[record.buffer].events, record, |task, change, time| {
            let thread = threads.entry(task).or_default();
            match change {
                StackChange::Open(frame) | StackChange::Away(frame) => thread.open(time, frame, packer),
                StackChange::Close(_) | StackChange::Ended(_) => thread.close(time, packer),
            }
        });
        let written = match rest {
            WalkedRecord::Nothing if self.buffers[record.buffer].events.is_call(record) => true,
            WalkedRecord::Nothing | WalkedRecord::UserStack | WalkedRecord::Other => self.marker(state, task, record),
            WalkedRecord::Stack(stack) => {
                let frames = stack.iter().rev().map(|address| StackFrame::Function(*address));
                threads.entry(task).or_default().trace(time, frames, packer);
                true
            }
        };
        state.unknown += u64::from(!written);
        Consumed::One
    }

    fn end(&self, state: &mut FirefoxState, out: &mut Vec<u8>) {
        let FirefoxState { walk, threads, packer, .. } = state;
        walk.end(|task, change, time| {
            let thread = threads.entry(task).or_default();
            match change {
                StackChange::Open(frame) | StackChange::Away(frame) => thread.open(time, frame, packer),
                StackChange::Close(_) | StackChange::Ended(_) => thread.close(time, packer),
            }
        });
        let kind = if threads.values().any(FlameThread::is_timed) { SampleKind::Time } else { SampleKind::Trace };
        threads.values_mut().for_each(|thread| thread.choose(kind, packer));
        if kind == SampleKind::Time {
            state.untimed = threads.values().map(FlameThread::traces).sum();
        }
        self.meta(state, out);
    }

    fn rest(&self, state: &mut FirefoxState, out: &mut Outflow<'_>) -> io::Result<()> {
        let start = state.start.unwrap_or(0);
        let threads: BTreeMap<TaskStack, FlameThread> = std::mem::take(&mut state.threads).into_iter().collect();
        let repeats = RefCell::<RepeatedFields>::default();
        let mut buffer = 0;
        for (number, (task, thread)) in threads.into_iter().enumerate() {
            out.bytes.extend_from_slice(if number > 0 { b"," } else { b"" });
            if buffer != task.buffer {
                buffer = task.buffer;
                repeats.borrow_mut().forget();
            }
            self.thread(task, &thread, (start, &state.packer), &repeats, out)?;
        }
        out.bytes.extend_from_slice(b"]}\n");
        Ok(())
    }

    fn is_serial(&self) -> bool {
        true
    }
}

/// The key of a field; `type` and `cpu` are taken.
fn key(name: &str) -> String {
    if matches!(name, "type" | "cpu") { format!("field_{name}") } else { name.to_owned() }
}

fn types(number: usize, buffer: &FlameBuffer<'_>) -> impl Iterator<Item = (EventId, TypeColumns)> {
    let type_of = move |format: &&EventFormat| {
        let event = TypedEvent::new(format);
        // JavaScript has whole numbers of 53 bits.
        let is_number = event.fields.iter().map(|field| match (field.kind, field.place) {
            (FieldKind::Signed | FieldKind::Unsigned, FieldPlace::Fixed { len, .. }) => len <= 4,
            _ => false,
        });
        let is_number: Vec<bool> = is_number.collect();
        let name = format!("{}:{}", format.system, format.name);
        let mut pool = Literals::default();
        let mut text = b"{\"type\":".to_vec();
        json::string(&mut text, name.as_bytes());
        text.extend_from_slice(b",\"cpu\":");
        let head = pool.add(&text);
        let value = |(field, is_number): (&TypedField, &bool)| {
            let is_whole = matches!(field.kind, FieldKind::Signed | FieldKind::Unsigned);
            let (mut text, is_quoted) = (b",".to_vec(), is_whole && !is_number);
            json::string(&mut text, key(&field.name).as_bytes());
            text.extend_from_slice(if is_quoted { b":\"" } else { b":" });
            let end = match field.place {
                FieldPlace::Fixed { offset, len } => offset.checked_add(len),
                _ => None,
            };
            let read = FieldRead::new(field);
            MarkerValue { literal: pool.add(&text), read, is_quoted, end }
        };
        let values = event.fields.iter().zip(&is_number).map(value).collect();
        (format.id, TypeColumns { buffer: number, name, event, is_number, pool, head, values })
    };
    buffer.formats.iter().map(type_of)
}
