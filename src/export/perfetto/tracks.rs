//! Tracks of a user's own beside the events: intervals as slices, fields as counters. Packets are sorted by the engine, so
//! these may stand after all others.

use super::packet::{CLEARED, NEEDS, SEQUENCE_FLAGS, TIMESTAMP, packet};
use super::proto::{message, text, uint};
use crate::abi::Abi;
use crate::analysis::KeptPair;
use crate::event::{Common, Consumed, Record, TypedField, Value};
use crate::export::Exporter;
use crate::format::EventFormat;
use crate::merge::ahead::Commit;
use std::collections::HashMap;

/// The sequence of packets that tracks stand on.
const TRACKS_SEQUENCE: u64 = 3;
const TRACK_EVENT: u32 = 11;
const TRACK_DESCRIPTOR: u32 = 60;

// `TrackEvent.Type`.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const COUNTER: u64 = 4;

/// A field whose values are a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterField {
    /// The event: `system:name`.
    pub event: String,
    /// Its field, a number.
    pub field: String,
}

/// Writes fields of events as counters, a track for each.
pub struct PerfettoCounters {
    fields: Vec<CounterField>,
    /// By buffer.
    buffers: Vec<Counted>,
}

struct Counted {
    abi: Abi,
    common: Common,
    /// By event id: the counters, and their fields.
    events: HashMap<u16, Vec<(usize, TypedField)>>,
}

impl PerfettoCounters {
    /// For records whose [`Record::buffer`] is an index into `buffers`, which are formats and ABI of each one's file.
    pub fn new<'f>(fields: Vec<CounterField>, buffers: impl IntoIterator<Item = (Vec<&'f EventFormat>, Abi)>) -> Self {
        let buffer = |(formats, abi): (Vec<&EventFormat>, Abi)| {
            let common = formats.first().map(|format| Common::of(format)).unwrap_or_default();
            let mut events: HashMap<u16, Vec<(usize, TypedField)>> = HashMap::new();
            for format in formats {
                let name = format!("{}:{}", format.system, format.name);
                for (number, counter) in fields.iter().enumerate().filter(|(_, counter)| counter.event == name) {
                    let Some(field) = format.field(&counter.field) else { continue };
                    events.entry(format.id.0).or_default().push((number, TypedField::new(format, field)));
                }
            }
            Counted { abi, common, events }
        };
        let buffers = buffers.into_iter().map(buffer).collect();
        PerfettoCounters { buffers, fields }
    }

    /// True if an event of some buffer has this field.
    pub fn has(&self, counter: &CounterField) -> bool {
        let number = self.fields.iter().position(|field| field == counter);
        let mut all = self.buffers.iter().flat_map(|buffer| buffer.events.values().flatten());
        all.any(|(of, _)| Some(*of) == number)
    }
}

/// The number of a track: `kind` apart from all others of this trace.
fn uuid(kind: u64, number: usize) -> u64 {
    (0x7274 << 32 | kind << 24) + number as u64
}

fn describe(out: &mut Vec<u8>, track: u64, name: &str, is_counter: bool) {
    packet(out, None, TRACKS_SEQUENCE, |out| {
        uint(out, SEQUENCE_FLAGS, CLEARED);
        message(out, TRACK_DESCRIPTOR, |out| {
            uint(out, 1, track);
            text(out, 2, name.as_bytes());
            if is_counter {
                message(out, 8, |_| ());
            }
        });
    });
}

fn event(out: &mut Vec<u8>, time: u64, kind: u64, track: u64, more: impl FnOnce(&mut Vec<u8>)) {
    packet(out, None, TRACKS_SEQUENCE, |out| {
        uint(out, TIMESTAMP, time);
        uint(out, SEQUENCE_FLAGS, NEEDS);
        message(out, TRACK_EVENT, |out| {
            uint(out, 9, kind);
            uint(out, 11, track);
            more(out);
        });
    });
}

impl Exporter for PerfettoCounters {
    type State = ();

    fn state(&self) {}

    fn begin(&self, _: &mut (), out: &mut Vec<u8>) {
        for (number, counter) in self.fields.iter().enumerate() {
            describe(out, uuid(1, number), &format!("{}.{}", counter.event, counter.field), true);
        }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        _: &mut (),
        out: &mut Vec<u8>,
    ) -> Consumed {
        let buffer = &self.buffers[record.buffer];
        let id = buffer.common.event_id(buffer.abi, record.data);
        for (number, field) in buffer.events.get(&id).into_iter().flatten() {
            let value = match field.value(buffer.abi, record.data) {
                Some(Value::Signed(value)) => value as u64,
                Some(Value::Unsigned(value) | Value::Pointer(value)) => value,
                Some(Value::Bool(value)) => value.into(),
                _ => continue,
            };
            event(out, record.timestamp.0, COUNTER, uuid(1, *number), |out| uint(out, 30, value));
        }
        Consumed::One
    }

    fn fork(&self, _: &(), _: Option<()>) {}

    fn commit(&self, _: &mut (), _: &mut (), _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }
}

/// Appends intervals as slices, each named by its key. Those that overlap stand on tracks beside each other, all called
/// `name`; `number` is that of this kind of interval.
pub fn perfetto_slices(name: &str, number: usize, pairs: &mut [KeptPair], out: &mut Vec<u8>) {
    pairs.sort_by_key(|pair| (pair.begin, pair.end));
    // By track, the end of its last slice.
    let mut tracks: Vec<u64> = Vec::new();
    for pair in pairs {
        let track = match tracks.iter().position(|end| *end <= pair.begin) {
            Some(track) => track,
            None => {
                describe(out, uuid(2 + number as u64, tracks.len()), name, false);
                tracks.push(0);
                tracks.len() - 1
            }
        };
        tracks[track] = pair.end;
        let track = uuid(2 + number as u64, track);
        event(out, pair.begin, SLICE_BEGIN, track, |out| text(out, 23, &pair.key));
        event(out, pair.end, SLICE_END, track, |_| ());
    }
}
