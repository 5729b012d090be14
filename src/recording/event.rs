//! One event, lent to a query's consumer.

use super::Recording;
use crate::event::{EventTypes, Record, RecordHead, State, TypedEvent, Value};
use crate::print_fmt::Context;
use crate::units::{CpuId, EventId, Pid, Timestamp};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

/// An event of a [`Recording`], with its fields and its text. Nothing is decoded before it is asked for.
pub struct Event<'e> {
    pub(super) record: Record<'e>,
    pub(super) head: RecordHead,
    pub(super) recording: &'e Recording,
    pub(super) types: &'e EventTypes<'e>,
    pub(super) layouts: &'e Layouts,
    pub(super) state: &'e RefCell<State>,
}

/// The fields of each event type, by event id, resolved when they are first needed.
pub(super) struct Layouts(Vec<OnceCell<TypedEvent>>);

impl Layouts {
    pub(super) fn of(types: &EventTypes<'_>) -> Self {
        let ids = types.formats().map(|format| usize::from(format.id.0) + 1).max().unwrap_or(0);
        Layouts(std::iter::repeat_with(OnceCell::new).take(ids).collect())
    }
}

impl Event<'_> {
    /// The trace clock's reading: nanoseconds, unless the clock counts something else.
    pub fn timestamp(&self) -> Timestamp {
        self.record.timestamp
    }

    /// The CPU it happened on.
    pub fn cpu(&self) -> CpuId {
        self.record.cpu
    }

    /// The instance that recorded it; empty for the top buffer.
    pub fn buffer(&self) -> &str {
        self.recording.trace.buffers.get(self.record.buffer).map_or("", |buffer| &buffer.name)
    }

    /// The number of its type, in this recording.
    pub fn id(&self) -> EventId {
        EventId(self.head.id)
    }

    /// The system of its type; empty if the recording lacks the type's format.
    pub fn system(&self) -> &str {
        self.types.get(self.head.id).map_or("", |event| &event.format.system)
    }

    /// The name of its type; empty if the recording lacks the type's format.
    pub fn name(&self) -> &str {
        self.types.get(self.head.id).map_or("", |event| &event.format.name)
    }

    /// The task it happened in.
    pub fn pid(&self) -> Pid {
        self.head.pid
    }

    /// The task's name; `<...>` if the recording does not hold it.
    pub fn comm(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.recording.symbols.comms.name(self.head.pid))
    }

    /// The value of a field, by the name in the event's format (`common_` fields too); `None` if the event has no such
    /// field, or its record is too short.
    pub fn field(&self, name: &str) -> Option<Value<'_>> {
        let event = self.types.get(self.head.id)?;
        let layout = self.layouts.0.get(usize::from(self.head.id))?;
        let layout = layout.get_or_init(|| TypedEvent::new(&event.format));
        let field = layout.fields.iter().chain(&layout.common).find(|field| field.name == name)?;
        field.value(self.recording.trace.abi, self.record.data)
    }

    /// Appends the event's text as trace-cmd words it, without time and task. Calls of the function_graph tracer are
    /// written as an entry and an exit even where nothing was called in between.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let Some(event) = self.types.get(self.head.id) else { return };
        let cx = Context { data: self.record.data, abi: self.recording.trace.abi, symbols: &self.recording.symbols };
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
