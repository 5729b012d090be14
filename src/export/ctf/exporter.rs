//! Records to the packets of streams.

use super::metadata;
use super::metadata::{CtfFile, CtfVersion};
use super::program::CtfProgram;
use crate::export::Exporter;
use crate::export::frames::frame;
use crate::kernel::event::{Common, Consumed, Lost, Record};
use crate::kernel::format::EventFormat;
use crate::read::merge::ahead::Commit;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// One of the buffers whose records come.
#[derive(Clone, Copy, Debug)]
pub struct CtfBuffer<'t> {
    /// Its recording: index into those given to [`Ctf::new`].
    pub file: usize,
    /// The instance's name; `None` for the top buffer.
    pub instance: Option<&'t str>,
}

/// Writes traces in CTF as pieces that [`Frames`](crate::export::Frames) takes apart.
pub struct Ctf<'t> {
    version: CtfVersion,
    files: Vec<CtfFileState<'t>>,
    buffers: Vec<CtfBuffer<'t>>,
}

struct CtfFileState<'t> {
    what: CtfFile<'t>,
    common: Common,
    /// By event id; compiled when its first record comes.
    types: BTreeMap<u16, (&'t EventFormat, OnceLock<Box<CtfProgram>>)>,
}

/// A stream's place: buffer and CPU.
type Place = (usize, u32);

/// The streams so far.
pub struct CtfState {
    /// Empty ahead of a segment's turn.
    streams: BTreeMap<Place, Packets>,
    /// Events ahead of their turn: their bytes, and where each ends.
    bytes: Vec<u8>,
    events: Vec<CtfEvent>,
    is_known: bool,
    /// The event types that came, by file.
    seen: BTreeSet<(usize, u16)>,
    left_out: CtfLeftOut,
}

#[derive(Clone, Copy, Debug)]
struct CtfEvent {
    place: Place,
    time: u64,
    lost: u64,
    end: usize,
}

/// Counts of events and data that the trace lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CtfLeftOut {
    /// Events that no format describes.
    pub unknown: u64,
    /// Fields that do not lie within their record: they stand as 0 or empty.
    pub absent: u64,
    /// Gaps of an unknown number of events: they count as one event.
    pub gaps: u64,
}

impl CtfState {
    /// Counts of events and data that the trace lacks.
    pub fn left_out(&self) -> CtfLeftOut {
        self.left_out
    }
}

impl<'t> Ctf<'t> {
    /// An exporter for records of these buffers: [`Record::buffer`] is an index into them.
    pub fn new(version: CtfVersion, files: Vec<CtfFile<'t>>, buffers: Vec<CtfBuffer<'t>>) -> Self {
        let file = |what: CtfFile<'t>| CtfFileState {
            common: what.formats.first().map(|format| Common::of(format)).unwrap_or_default(),
            types: what.formats.iter().map(|format| (format.id.0, (*format, OnceLock::new()))).collect(),
            what,
        };
        Ctf { version, files: files.into_iter().map(file).collect(), buffers }
    }

    fn nothing(is_known: bool) -> CtfState {
        CtfState {
            streams: BTreeMap::new(),
            bytes: Vec::new(),
            events: Vec::new(),
            is_known,
            seen: BTreeSet::new(),
            left_out: CtfLeftOut::default(),
        }
    }

    /// Puts the events of a state into packets.
    fn settle(&self, streams: &mut BTreeMap<Place, Packets>, done: &mut CtfState, out: &mut Vec<u8>) {
        let mut start = 0;
        for event in done.events.drain(..) {
            let bytes = done.bytes.get(start..event.end).unwrap_or_default();
            start = event.end;
            let stream = streams.entry(event.place).or_insert_with(|| self.stream(event.place));
            stream.add(event.time, bytes, event.lost, out);
        }
        done.bytes.clear();
    }

    fn stream(&self, (buffer, cpu): Place) -> Packets {
        let CtfBuffer { file, instance } = self.buffers[buffer];
        let what = &self.files[file].what;
        let instance = instance.map_or_else(String::new, |name| {
            let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
            // Numbered, so that two names cannot become one.
            format!("{}{buffer}_", name.chars().map(plain).take(100).collect::<String>())
        });
        Packets::new(format!("{}{instance}channel0_{cpu}", what.directory), what.uuid, cpu)
    }
}

impl CtfFileState<'_> {
    fn program(&self, id: u16) -> Option<&CtfProgram> {
        let (format, program) = self.types.get(&id)?;
        Some(program.get_or_init(|| Box::new(CtfProgram::new(format, self.what.abi))))
    }
}

impl Exporter for Ctf<'_> {
    type State = CtfState;

    fn state(&self) -> CtfState {
        Self::nothing(true)
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut CtfState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let file = self.buffers[record.buffer].file;
        let CtfFileState { what, common, .. } = &self.files[file];
        let id = common.event_id(what.abi, record.data);
        let Some(program) = self.files[file].program(id) else {
            state.left_out.unknown += 1;
            return Consumed::One;
        };
        state.seen.insert((file, id));
        let pid = common.pid(what.abi, record.data);
        let bytes = &mut state.bytes;
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(&record.timestamp.0.to_le_bytes());
        bytes.extend_from_slice(&pid.0.to_le_bytes());
        bytes.extend_from_slice(what.comms.get(pid).unwrap_or_default());
        bytes.push(0);
        state.left_out.absent += program.write(what.abi, record.data, bytes);
        let lost = match record.lost {
            Lost::None => 0,
            Lost::Count(count) => count,
            Lost::Unknown => {
                state.left_out.gaps += 1;
                1
            }
        };
        let place = (record.buffer, record.cpu.0);
        state.events.push(CtfEvent { place, time: record.timestamp.0, lost, end: state.bytes.len() });
        if state.is_known {
            let mut streams = std::mem::take(&mut state.streams);
            self.settle(&mut streams, state, out);
            state.streams = streams;
        }
        Consumed::One
    }

    fn end(&self, state: &mut CtfState, out: &mut Vec<u8>) {
        state.streams.values_mut().for_each(|stream| stream.close(out));
        for (number, file) in self.files.iter().enumerate() {
            let ids = state.seen.range((number, 0)..=(number, u16::MAX)).map(|(_, id)| *id);
            let events = ids.filter_map(|id| Some((file.program(id)?, id)));
            let metadata = match self.version {
                CtfVersion::V1 => {
                    let mut text = metadata::tsdl_head(&file.what);
                    events.for_each(|(program, id)| metadata::tsdl_event(program, id, &mut text));
                    text.into_bytes()
                }
                CtfVersion::V2 => {
                    let mut text = Vec::new();
                    metadata::json_head(&file.what, &mut text);
                    events.for_each(|(program, id)| metadata::json_event(program, id, &mut text));
                    text
                }
            };
            frame(out, &format!("{}metadata", file.what.directory), &metadata);
        }
    }

    fn fork(&self, _: &CtfState, used: Option<CtfState>) -> CtfState {
        match used {
            Some(used) if used.events.is_empty() && !used.is_known => {
                CtfState { bytes: used.bytes, events: used.events, ..Self::nothing(false) }
            }
            _ => Self::nothing(false),
        }
    }

    fn commit(&self, known: &mut CtfState, done: &mut CtfState, out: &mut Vec<u8>) -> Commit {
        self.settle(&mut known.streams, done, out);
        known.seen.append(&mut done.seen);
        let more = std::mem::take(&mut done.left_out);
        known.left_out.unknown += more.unknown;
        known.left_out.absent += more.absent;
        known.left_out.gaps += more.gaps;
        Commit::Accept
    }
}

// The packets of one stream.

/// Size at which a packet is closed, in bytes.
const FULL: usize = 64 << 10;
const MAGIC: u32 = 0xC1FC_1FC1;
/// Bytes of the header and context.
const HEAD: usize = 4 + 16 + 4 + 5 * 8 + 4;

/// A stream: the packet that is being filled.
#[derive(Debug)]
struct Packets {
    name: String,
    uuid: [u8; 16],
    cpu: u32,
    events: Vec<u8>,
    span: Option<(u64, u64)>,
    discarded: u64,
}

impl Packets {
    fn new(name: String, uuid: [u8; 16], cpu: u32) -> Self {
        Packets { name, uuid, cpu, events: Vec::new(), span: None, discarded: 0 }
    }

    /// Adds an event. `lost` were lost before it, which readers see between two packets.
    fn add(&mut self, time: u64, event: &[u8], lost: u64, out: &mut Vec<u8>) {
        if lost > 0 || self.events.len() >= FULL {
            self.close(out);
            self.discarded = self.discarded.saturating_add(lost);
        }
        self.events.extend_from_slice(event);
        self.span = Some((self.span.map_or(time, |span| span.0), time));
    }

    /// Closes the packet, if there is anything in it.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some((begin, end)) = self.span.take() else { return };
        let mut packet = Vec::with_capacity(HEAD.saturating_add(self.events.len()));
        packet.extend_from_slice(&MAGIC.to_le_bytes());
        packet.extend_from_slice(&self.uuid);
        packet.extend_from_slice(&0u32.to_le_bytes());
        let bits = (HEAD.saturating_add(self.events.len()) as u64).saturating_mul(8);
        for number in [begin, end, bits, bits, self.discarded] {
            packet.extend_from_slice(&number.to_le_bytes());
        }
        packet.extend_from_slice(&self.cpu.to_le_bytes());
        packet.append(&mut self.events);
        frame(out, &self.name, &packet);
    }
}
