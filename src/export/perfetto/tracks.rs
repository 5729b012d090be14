//! Tracks of a user's own beside the events: intervals as slices, fields as counters. Packets are sorted by the engine, so
//! these may stand after all others.
//! Requests as slices: one for each, and below it one for each of its parts.

use super::proto::{CLEARED, NEEDS, SEQUENCE_FLAGS, TIMESTAMP, bytes, message, packet, text, uint};
use crate::answer::analysis::{KeptPair, TimedRequest};
use crate::base::abi::Abi;
use crate::base::units::{Pid, counted};
use crate::export::Exporter;
use crate::kernel::event::{Common, Consumed, Lost, Record, TypedField, Value};
use crate::kernel::format::EventFormat;
use crate::read::merge::ahead::Commit;
use std::collections::HashMap;

/// The sequence of packets that tracks stand on.
pub(super) const TRACKS_SEQUENCE: u64 = 3;
pub(super) const TRACK_EVENT: u32 = 11;
pub(super) const TRACK_DESCRIPTOR: u32 = 60;

// `TrackEvent.Type`.
pub(super) const SLICE_BEGIN: u64 = 1;
pub(super) const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
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
    buffers: Vec<TrackCounters>,
    machines: usize,
}

struct TrackCounters {
    /// Its file, and so its machine.
    machine: usize,
    abi: Abi,
    common: Common,
    /// By event id: the counters, and their fields.
    events: HashMap<u16, Vec<(usize, TypedField)>>,
}

impl PerfettoCounters {
    /// For records whose [`Record::buffer`] is an index into `buffers`, which are formats, ABI and number of each one's file.
    pub fn new<'f>(
        fields: Vec<CounterField>,
        buffers: impl IntoIterator<Item = (Vec<&'f EventFormat>, Abi, usize)>,
    ) -> Self {
        let buffer = |(formats, abi, machine): (Vec<&EventFormat>, Abi, usize)| {
            let common = formats.first().map(|format| Common::of(format)).unwrap_or_default();
            let mut events: HashMap<u16, Vec<(usize, TypedField)>> = HashMap::new();
            for format in formats {
                let name = format!("{}:{}", format.system, format.name);
                for (number, counter) in fields.iter().enumerate().filter(|(_, counter)| counter.event == name) {
                    let Some(field) = format.field(&counter.field) else { continue };
                    events.entry(format.id.0).or_default().push((number, TypedField::new(format, field)));
                }
            }
            TrackCounters { machine, abi, common, events }
        };
        let buffers: Vec<TrackCounters> = buffers.into_iter().map(buffer).collect();
        let machines = buffers.iter().map(|buffer| buffer.machine + 1).max().unwrap_or(1);
        PerfettoCounters { buffers, fields, machines }
    }

    /// True if an event of some buffer has this field.
    pub fn has(&self, counter: &CounterField) -> bool {
        let number = self.fields.iter().position(|field| field == counter);
        let mut all = self.buffers.iter().flat_map(|buffer| buffer.events.values().flatten());
        all.any(|(of, _)| Some(*of) == number)
    }
}

/// Appends the mark of events that were lost on `cpu` before `time`; `is_first`: the CPU's first one.
pub(super) fn perfetto_loss(out: &mut Vec<u8>, machine: usize, (cpu, time): (u32, u64), lost: Lost, is_first: bool) {
    // No other kind has it.
    let track = uuid(machine, 0, cpu as usize);
    if is_first {
        describe(out, machine, track, &format!("Lost events on CPU {cpu}"), false);
    }
    let name = match lost {
        Lost::Count(count) => format!("{} lost", counted(count, "event")),
        _ => "events lost".to_owned(),
    };
    track_event(out, machine, (time, INSTANT, track), |out| text(out, 23, name.as_bytes()));
}

/// The number of a track: `kind` apart from all others of this trace.
pub(super) fn uuid(machine: usize, kind: u64, number: usize) -> u64 {
    ((0x7274 + machine as u64) << 32 | kind << 24) + number as u64
}

/// The machine's number in packets, as all others have it.
pub(super) fn of_machine(machine: usize) -> Option<u64> {
    (machine > 0).then_some(machine as u64)
}

/// Appends the name of a track, which is a counter or one of slices.
pub(super) fn describe(out: &mut Vec<u8>, machine: usize, track: u64, name: &str, is_counter: bool) {
    packet(out, of_machine(machine), TRACKS_SEQUENCE, |out| {
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

/// Appends an event of a track: time, type, track.
fn track_event(
    out: &mut Vec<u8>,
    machine: usize,
    (time, kind, track): (u64, u64, u64),
    more: impl FnOnce(&mut Vec<u8>),
) {
    packet(out, of_machine(machine), TRACKS_SEQUENCE, |out| {
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
        for machine in 0..self.machines {
            for (number, counter) in self.fields.iter().enumerate() {
                let name = format!("{}.{}", counter.event, counter.field);
                describe(out, machine, uuid(machine, 1, number), &name, true);
            }
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
            let track = uuid(buffer.machine, 1, *number);
            track_event(out, buffer.machine, (record.timestamp.0, COUNTER, track), |out| uint(out, 30, value));
        }
        Consumed::One
    }

    fn fork(&self, _: &(), _: Option<()>) {}

    fn commit(&self, _: &mut (), _: &mut (), _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }
}

/// Appends intervals as slices, each named by its key. Those that overlap stand on tracks beside each other, all called
/// `name`; the numbers are those of the machine, as files have them, and of this kind of interval.
pub fn perfetto_slices(name: &str, of: (usize, usize), pairs: &mut [KeptPair], out: &mut Vec<u8>) {
    let (machine, number) = of;
    pairs.sort_by_key(|pair| (pair.begin, pair.end));
    // By track, the end of its last slice.
    let mut tracks: Vec<u64> = Vec::new();
    for pair in pairs {
        let track = match tracks.iter().position(|end| *end <= pair.begin) {
            Some(track) => track,
            None => {
                describe(out, machine, uuid(machine, 2 + number as u64, tracks.len()), name, false);
                tracks.push(0);
                tracks.len() - 1
            }
        };
        tracks[track] = pair.end;
        let track = uuid(machine, 2 + number as u64, track);
        track_event(out, machine, (pair.begin, SLICE_BEGIN, track), |out| text(out, 23, &pair.key));
        track_event(out, machine, (pair.end, SLICE_END, track), |_| ());
    }
}

/// Appends a counter that is given by its values, each with its time; `of` are the numbers of the machine, as files have them,
/// of the table, and of the entry in it.
pub fn perfetto_counter(
    name: &str,
    of: (usize, usize, usize),
    values: impl Iterator<Item = (u64, u64)>,
    out: &mut Vec<u8>,
) {
    // Beyond the kinds of counters and intervals.
    const TABLES: u64 = 128;
    let (machine, table, entry) = of;
    let track = uuid(machine, TABLES + table as u64, entry);
    describe(out, machine, track, name, true);
    for (time, value) in values {
        track_event(out, machine, (time, COUNTER, track), |out| uint(out, 30, value));
    }
}

// ```text
//   | order 17                                       |
//   | run | io |queued| wait |          run          |    task: "worker [412]"
// ```

/// Number of the track's kind, beyond those of pairs, before those of calls and tables.
const REQUESTS: u64 = 124;

/// `TrackEvent.debug_annotations`; of each its name and a text.
const ANNOTATION: u32 = 4;
const ANNOTATION_NAME: u32 = 10;
const ANNOTATION_TEXT: u32 = 6;

/// Appends requests, each named by its key, on as many tracks as overlap, all called `name`. `task` names the thread of a part.
pub fn perfetto_requests<T: AsRef<[u8]>>(
    name: &str,
    machine: usize,
    mut requests: Vec<TimedRequest>,
    task: impl Fn(Pid) -> T,
    out: &mut Vec<u8>,
) {
    requests.sort_by(|a, b| (a.begin, a.end, &a.key).cmp(&(b.begin, b.end, &b.key)));
    // By track, the end of its last request.
    let mut tracks: Vec<u64> = Vec::new();
    for request in &requests {
        let place = tracks.iter().position(|end| *end <= request.begin).unwrap_or(tracks.len());
        let track = uuid(machine, REQUESTS, place);
        if place == tracks.len() {
            describe(out, machine, track, name, false);
            tracks.push(0);
        }
        tracks[place] = request.end;
        track_event(out, machine, (request.begin, SLICE_BEGIN, track), |out| text(out, 23, &request.key));
        for piece in &request.pieces {
            track_event(out, machine, (piece.begin, SLICE_BEGIN, track), |out| {
                if let Some(pid) = piece.task {
                    message(out, ANNOTATION, |out| {
                        bytes(out, ANNOTATION_NAME, b"task");
                        text(out, ANNOTATION_TEXT, task(pid).as_ref());
                    });
                }
                text(out, 23, piece.part.name().as_bytes());
            });
            track_event(out, machine, (piece.end, SLICE_END, track), |_| ());
        }
        track_event(out, machine, (request.end, SLICE_END, track), |_| ());
    }
}
