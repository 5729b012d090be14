//! One event with its fields and its text.

use super::Recording;
use crate::base::units::{CpuId, EventId, Lost, Pid, Timestamp};
use crate::kernel::event::{DecodeOptions, EventTypes, PrintState, Record, RecordHead, TypedEvent, TypedField, Value};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::OnceLock;

/// The event types of a [`Recording`], by which its records are [`Event`]s. Any number of threads may share it.
pub struct Decoder<'r> {
    recording: &'r Recording,
    types: EventTypes<'r>,
    /// The fields of each event type, by event id, resolved when they are first needed.
    layouts: Vec<OnceLock<TypedEvent>>,
}

/// A field of one event type, found once for many events: [`Recording::field`], [`Event::value`].
#[derive(Clone, Debug)]
pub struct EventField {
    id: EventId,
    field: TypedField,
}

impl Recording {
    /// The field of an event type, by the names in its format: `field("sched_switch", "next_pid")`, or
    /// `sched:sched_switch` where several systems have an event of that name. `None` if the recording has no format of the
    /// event, or that no such field.
    pub fn field(&self, event: &str, name: &str) -> Option<EventField> {
        let (system, event) = event.split_once(':').map_or((None, event), |(system, event)| (Some(system), event));
        let is_it = |format: &&EventFormat| format.name == event && system.is_none_or(|system| format.system == system);
        let format = self.trace.formats().find(is_it)?;
        let typed = TypedEvent::new(format);
        let field = typed.fields.into_iter().chain(typed.common).find(|field| field.name == name)?;
        Some(EventField { id: format.id, field })
    }
}

impl<'r> Decoder<'r> {
    /// The types of `recording`, with print formats compiled as `options` ask when they are first needed.
    pub fn new(recording: &'r Recording, options: &DecodeOptions) -> Self {
        let types = recording.types(options);
        let ids = types.formats().map(|format| usize::from(format.id.0) + 1).max().unwrap_or(0);
        Decoder { recording, types, layouts: std::iter::repeat_with(OnceLock::new).take(ids).collect() }
    }

    /// The event types.
    pub fn types(&self) -> &EventTypes<'r> {
        &self.types
    }

    /// A record of the recording as an event. Its [`Record::buffer`] is an index into the recording's buffers; `state` is
    /// what earlier events left (see [`Recording::state`]).
    pub fn event<'e>(&'e self, record: Record<'e>, state: &'e RefCell<PrintState>) -> Event<'e> {
        let head = self.types.common().head(self.recording.trace.abi, record.data);
        Event { record, head, decoder: self, state }
    }
}

/// An event of a [`Recording`], with its fields and its text. Nothing is decoded before it is asked for.
pub struct Event<'e> {
    record: Record<'e>,
    head: RecordHead,
    decoder: &'e Decoder<'e>,
    state: &'e RefCell<PrintState>,
}

impl Event<'_> {
    /// The trace clock's reading: nanoseconds, unless the clock counts something else.
    pub fn timestamp(&self) -> Timestamp {
        self.record.timestamp
    }

    /// Events of its CPU that the kernel dropped before it, after the event that was handed out before.
    pub fn lost(&self) -> Lost {
        self.record.lost
    }

    /// The CPU it happened on.
    pub fn cpu(&self) -> CpuId {
        self.record.cpu
    }

    /// The instance that recorded it; empty for the top buffer.
    pub fn buffer(&self) -> &str {
        self.decoder.recording.trace.buffers.get(self.record.buffer).map_or("", |buffer| &buffer.name)
    }

    /// The number of its type, in this recording.
    pub fn id(&self) -> EventId {
        EventId(self.head.id)
    }

    /// The system of its type; empty if the recording lacks the type's format.
    pub fn system(&self) -> &str {
        self.decoder.types.get(self.head.id).map_or("", |event| &event.format.system)
    }

    /// The name of its type; empty if the recording lacks the type's format.
    pub fn name(&self) -> &str {
        self.decoder.types.get(self.head.id).map_or("", |event| &event.format.name)
    }

    /// The task it happened in.
    pub fn pid(&self) -> Pid {
        self.head.pid
    }

    /// The process of that task, if the recording holds it (trace option `record-tgid`).
    pub fn tgid(&self) -> Option<Pid> {
        self.decoder.recording.tgid(self.head.pid)
    }

    /// The task's name; `<...>` if the recording does not hold it.
    pub fn comm(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.decoder.recording.symbols.comms.name(self.head.pid))
    }

    /// The value of a field, by the name in the event's format (`common_` fields too); `None` if the event has no such
    /// field, or its record is too short.
    pub fn field(&self, name: &str) -> Option<Value<'_>> {
        let event = self.decoder.types.get(self.head.id)?;
        let layout = self.decoder.layouts.get(usize::from(self.head.id))?;
        let layout = layout.get_or_init(|| TypedEvent::new(&event.format));
        let field = layout.fields.iter().chain(&layout.common).find(|field| field.name == name)?;
        field.value(self.decoder.recording.trace.abi, self.record.data)
    }

    /// The value of a field of the same recording; `None` if this is an event of another type, or its record is too short.
    /// Quicker than [`Event::field`], which looks for the name each time.
    pub fn value(&self, field: &EventField) -> Option<Value<'_>> {
        let is_its = field.id.0 == self.head.id;
        is_its.then(|| field.field.value(self.decoder.recording.trace.abi, self.record.data)).flatten()
    }

    /// The return addresses of a kernel stack trace (event `ftrace:kernel_stack`), innermost first, each with the
    /// function's name if the recording has it; empty for other events.
    pub fn stack(&self) -> Vec<(u64, Option<Cow<'_, str>>)> {
        let Some(event) = self.decoder.types.get(self.head.id) else { return Vec::new() };
        if (event.format.system.as_str(), event.format.name.as_str()) != ("ftrace", "kernel_stack") {
            return Vec::new();
        }
        let Some(caller) = event.format.fields.iter().find(|field| field.name == "caller") else { return Vec::new() };
        let recording = self.decoder.recording;
        let (abi, kallsyms) = (recording.trace.abi, &recording.symbols.kallsyms);
        let size = usize::from(abi.long_size).max(1);
        let words = self.record.data.get(caller.offset..).unwrap_or_default().chunks_exact(size);
        let addresses = words.map(|word| abi.uint(word, 0, size).unwrap_or(0));
        // A word of all ones ends the traces of old kernels; younger ones fill the record up with zeros.
        let addresses = addresses.take_while(|address| *address != 0 && *address != u64::MAX >> (64 - 8 * size.min(8)));
        addresses.map(|a| (a, kallsyms.lookup(a).map(|found| String::from_utf8_lossy(found.name)))).collect()
    }

    /// Appends the event's text as trace-cmd words it, without time and task. Calls of the function_graph tracer are
    /// written as an entry and an exit even where nothing was called in between.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let Some(event) = self.decoder.types.get(self.head.id) else { return };
        let recording = self.decoder.recording;
        let cx =
            Context { data: self.record.data, abi: recording.trace.abi, symbols: &recording.symbols, lists: false };
        let _ = event.text(&cx, &self.record, None, &mut self.state.borrow_mut(), out);
    }

    /// The text of [`Event::write_text`]; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        self.write_text(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The record's bytes, `common_type` first.
    pub fn data(&self) -> &[u8] {
        self.record.data
    }
}
