//! Records to packets.

use super::bundle::Bundle;
use super::calls::{CallEdge, CallFields, CallTracks};
use super::gaps::{GapKind, HandlerEvent, HandlerStep, TaskStep};
use super::header;
use super::header::PerfettoFile;
use super::known::is_atrace;
use super::program::{Function, Origin, PerfettoProgram};
use super::proto::{message, uint};
use super::stacks::{InternedStacks, StackSample};
use super::tracks::perfetto_loss;
use crate::base::units::Pid;
use crate::export::Exporter;
use crate::kernel::event::{Common, Consumed, Lost, PrintState, Record, TypedField, Value};
use crate::kernel::format::{ById, EventFormat};
use crate::read::merge::ahead::Commit;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// One of the buffers whose records come.
#[derive(Clone, Debug)]
pub struct PerfettoBuffer<'t> {
    /// Its file: index into those given to [`Perfetto::new`].
    pub file: usize,
    /// The instance's name; `None` for the top buffer.
    pub instance: Option<&'t str>,
    /// Ids of events that another buffer of the file has too, from which the engine is to build what it builds: here they
    /// describe themselves.
    pub doubles: BTreeSet<u16>,
}

/// Writes Perfetto's trace format.
pub struct Perfetto<'t> {
    files: Vec<PerfettoFile<'t>>,
    buffers: Vec<PerfettoTypes<'t>>,
}

struct PerfettoTypes<'t> {
    what: PerfettoBuffer<'t>,
    common: Common,
    /// By event id.
    types: ById<PerfettoSlot<'t>>,
    /// True if functions' returns hold the values.
    has_values: bool,
    /// Of events that no format describes.
    unknown: PerfettoProgram,
}

/// An event type, compiled when its first record comes.
struct PerfettoSlot<'t> {
    format: &'t EventFormat,
    /// Its field number if it describes itself; their number is bounded.
    number: Option<u32>,
    compiled: OnceLock<Box<PerfettoType>>,
}

struct PerfettoType {
    program: PerfettoProgram,
    /// `ftrace:print`: its text, and the program for markers that the engine does not understand.
    marker: Option<(TypedField, PerfettoProgram)>,
    /// function_graph with the values that functions returned.
    call: Option<CallFields>,
    /// `ftrace:kernel_stack`: offset of its return addresses.
    stack: Option<usize>,
    /// `sched:sched_switch` of which the engine makes slices: the tasks before and after.
    switch: Option<[TypedField; 2]>,
    /// An event of a handler of which the engine makes slices.
    handler: Option<HandlerEvent>,
}

/// An event type's place: buffer, event id, and whether it is a marker's other program.
type Key = (u32, u16, bool);

/// A record that was written ahead of its turn.
struct PacketPiece {
    /// The end of its bytes.
    end: usize,
    file: u32,
    buffer: u32,
    cpu: u32,
    described: Option<Key>,
    function: Function,
    lost: Lost,
    time: u64,
    step: TaskStep,
    handler: Option<HandlerStep>,
    beside: Option<BesidePiece>,
}

/// What is written beside an event's bundle.
enum BesidePiece {
    /// A sample with its return addresses.
    Sample(StackSample, Box<[u64]>),
    Call(CallEdge),
}

/// Bundles that are not full; on threads, the events since the segment began.
#[derive(Default)]
pub struct PerfettoState {
    ahead: bool,
    bytes: Vec<u8>,
    pieces: Vec<PacketPiece>,
    /// By file and CPU.
    bundles: Vec<Vec<Bundle<Key>>>,
    stacks: Vec<InternedStacks>,
    calls: Vec<CallTracks>,
    text: Option<PrintState>,
    left_out: LeftOut,
}

/// Events that the format has no place for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Events of CPUs with higher numbers than the engine takes.
    pub high_cpus: u64,
    /// Fields of events: `system:name`, the field, and the number of events.
    pub fields: BTreeMap<(String, String), u64>,
    /// Gaps between a CPU's switches in which it is not known what ran, but for those with lost events.
    pub gaps: u64,
    /// Handlers of interrupts that end where events were lost, as it is not known when they did.
    pub handlers: u64,
}

/// The engine gives up at a trace with more CPUs.
const CPUS: u32 = 1024;
/// The numbers of events that describe themselves.
const DESCRIBED: std::ops::Range<u32> = 65_536..131_072;

impl<'t> Perfetto<'t> {
    /// For records whose [`Record::buffer`] is an index into `buffers`.
    pub fn new(files: Vec<PerfettoFile<'t>>, buffers: Vec<PerfettoBuffer<'t>>) -> Self {
        let mut numbers = DESCRIBED;
        let buffers =
            buffers.into_iter().filter_map(|what| Some(PerfettoTypes::new(files.get(what.file)?, what, &mut numbers)));
        Perfetto { buffers: buffers.collect(), files }
    }

    /// The machine's number in packets: the first file's needs none.
    fn machine(&self, file: usize) -> Option<u64> {
        (file > 0).then_some(file as u64)
    }

    fn kind(&self, buffer: usize, id: u16) -> Option<&PerfettoType> {
        let of = &self.buffers[buffer];
        let slot = of.types.get(id)?;
        Some(slot.compiled.get_or_init(|| Box::new(of.compile(slot.format, slot.number))))
    }

    fn descriptor(&self, (buffer, id, other): Key) -> Option<&[u8]> {
        let program = match self.kind(buffer as usize, id) {
            Some(kind) if other => &kind.marker.as_ref()?.1,
            Some(kind) => &kind.program,
            None => &self.buffers[buffer as usize].unknown,
        };
        program.descriptor.as_deref()
    }

    /// Adds a record that is written to its bundle, which goes to `out` when it is full.
    fn add(&self, state: &mut PerfettoBundles<'_>, piece: &mut PacketPiece, event: &[u8], out: &mut Vec<u8>) {
        let file = piece.file as usize;
        let symbols = self.files[file].symbols;
        let machine = self.machine(file);
        if state.bundles.len() < self.files.len() {
            state.bundles.resize_with(self.files.len(), Vec::new);
            state.stacks.resize_with(self.files.len(), InternedStacks::default);
            state.calls.resize_with(self.files.len(), CallTracks::default);
        }
        let cpus = &mut state.bundles[file];
        let cpu = piece.cpu as usize;
        if cpus.len() <= cpu {
            cpus.resize_with(cpu + 1, Bundle::default);
        }
        let bundle = &mut cpus[cpu];
        if piece.lost != Lost::None {
            bundle.write(piece.cpu, machine, symbols, |key| self.descriptor(key), out);
            perfetto_loss(out, file, (piece.cpu, piece.time), piece.lost, !bundle.has_lost());
            bundle.lost();
        }
        let gap = bundle.occupation.next(piece.buffer, piece.step, piece.lost != Lost::None, piece.time);
        if let Some(gap) = gap {
            *state.gaps += u64::from(gap.kind == GapKind::NotRecorded);
            let mut made_up = Vec::new();
            gap.write(&mut made_up);
            bundle.add(&made_up, None, None);
        }
        let mut ends = Vec::new();
        let lost = piece.lost != Lost::None;
        *state.handlers += bundle.handlers.next(piece.buffer, piece.handler, lost, piece.time, &mut ends);
        bundle.add(&ends, None, None);
        if bundle.add(event, piece.described, piece.function) {
            bundle.write(piece.cpu, machine, symbols, |key| self.descriptor(key), out);
        }
        match piece.beside.take() {
            Some(BesidePiece::Sample(sample, stack)) => {
                state.stacks[file].write(sample, &stack, machine, symbols, out);
            }
            Some(BesidePiece::Call(edge)) => state.calls[file].write(edge, file, symbols, out),
            None => {}
        }
    }
}

/// The part of a state that [`Perfetto::add`] changes.
struct PerfettoBundles<'s> {
    bundles: &'s mut Vec<Vec<Bundle<Key>>>,
    stacks: &'s mut Vec<InternedStacks>,
    calls: &'s mut Vec<CallTracks>,
    gaps: &'s mut u64,
    handlers: &'s mut u64,
}

impl Exporter for Perfetto<'_> {
    type State = PerfettoState;

    fn state(&self) -> PerfettoState {
        PerfettoState::default()
    }

    fn begin(&self, _: &mut PerfettoState, out: &mut Vec<u8>) {
        for (number, file) in self.files.iter().enumerate() {
            header::begin(file, self.machine(number), out);
        }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut PerfettoState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        if record.cpu.0 >= CPUS {
            state.left_out.high_cpus += 1;
            return Consumed::One;
        }
        let buffer = &self.buffers[record.buffer];
        let file = &self.files[buffer.what.file];
        let head = buffer.common.head(file.trace.abi, record.data);
        let kind = self.kind(record.buffer, head.id);
        let (program, other) = match kind {
            Some(kind) => kind.program_of(file, record.data),
            None => (&buffer.unknown, false),
        };
        let origin = Origin { abi: file.trace.abi, symbols: file.symbols, types: file.types };
        let mut function = None;
        let (bytes, text) = (&mut state.bytes, &mut state.text);
        message(bytes, 2, |out| {
            // In this order the engine reads them fastest.
            uint(out, 1, record.timestamp.0);
            if head.pid != Pid::NONE {
                uint(out, 2, u64::from(head.pid.0 as u32));
            }
            function = program.write(origin, record, text, out);
            // Not `common_flags`: the engine would count them as an event without a name.
        });
        for field in &program.left_out {
            if let Some(format) = buffer.types.get(head.id).map(|slot| slot.format) {
                let key = (format!("{}:{}", format.system, format.name), field.clone());
                *state.left_out.fields.entry(key).or_default() += 1;
            }
        }
        let beside = kind.and_then(|kind| match (kind.stack, &kind.call) {
            (Some(offset), _) => {
                let (sample, stack) = file.sample(offset, record, head.pid)?;
                Some(BesidePiece::Sample(sample, stack))
            }
            (None, Some(call)) => {
                let task = [head.pid, file.process(head.pid)];
                Some(BesidePiece::Call(call.edge(file.trace.abi, record, task)?))
            }
            (None, None) => None,
        });
        let mut piece = PacketPiece {
            end: state.bytes.len(),
            file: buffer.what.file as u32,
            buffer: record.buffer as u32,
            cpu: record.cpu.0,
            described: program.descriptor.is_some().then_some((record.buffer as u32, head.id, other)),
            function,
            lost: record.lost,
            time: record.timestamp.0,
            step: kind.and_then(|kind| kind.step(file, record.data)).unwrap_or(TaskStep::Stay(head.pid)),
            handler: kind.and_then(|kind| kind.handler.as_ref()?.step(file.trace.abi, record.data)),
            beside,
        };
        if state.ahead {
            state.pieces.push(piece);
        } else {
            let PerfettoState { bytes, bundles, stacks, calls, left_out: LeftOut { gaps, handlers, .. }, .. } = state;
            let mut pending = PerfettoBundles { bundles, stacks, calls, gaps, handlers };
            self.add(&mut pending, &mut piece, bytes, out);
            bytes.clear();
        }
        Consumed::One
    }

    fn end(&self, state: &mut PerfettoState, out: &mut Vec<u8>) {
        for (file, cpus) in state.bundles.iter_mut().enumerate() {
            for (cpu, bundle) in cpus.iter_mut().enumerate() {
                let symbols = self.files[file].symbols;
                bundle.write(cpu as u32, self.machine(file), symbols, |key| self.descriptor(key), out);
            }
        }
        for (number, file) in self.files.iter().enumerate() {
            header::end(file, self.machine(number), out);
        }
    }

    fn fork(&self, _: &PerfettoState, used: Option<PerfettoState>) -> PerfettoState {
        let mut state = used.unwrap_or_default();
        state.ahead = true;
        state.bytes.clear();
        state.pieces.clear();
        state.left_out = LeftOut::default();
        state
    }

    /// Adds the segment's events to the bundles as if they had come one after the other.
    fn commit(&self, known: &mut PerfettoState, done: &mut PerfettoState, out: &mut Vec<u8>) -> Commit {
        let mut start = 0;
        let PerfettoState { bundles, stacks, calls, left_out: LeftOut { gaps, handlers, .. }, .. } = known;
        let mut pending = PerfettoBundles { bundles, stacks, calls, gaps, handlers };
        for piece in &mut done.pieces {
            let end = piece.end;
            self.add(&mut pending, piece, &done.bytes[start..end], out);
            start = end;
        }
        known.left_out.high_cpus += done.left_out.high_cpus;
        for (field, count) in &done.left_out.fields {
            *known.left_out.fields.entry(field.clone()).or_default() += count;
        }
        Commit::Accept
    }
}

impl PerfettoState {
    /// Events left out so far.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

impl<'t> PerfettoTypes<'t> {
    fn new(file: &PerfettoFile<'t>, what: PerfettoBuffer<'t>, numbers: &mut std::ops::Range<u32>) -> Self {
        let mut types = ById::default();
        let mut common = None;
        let unknown = PerfettoProgram::unknown(numbers.next());
        for format in file.types.formats() {
            common.get_or_insert_with(|| Common::of(format));
            types.insert(format.id, PerfettoSlot { format, number: numbers.next(), compiled: OnceLock::new() });
        }
        let has_values = file.types.formats().any(CallFields::has_value);
        PerfettoTypes { what, common: common.unwrap_or_default(), types, has_values, unknown }
    }

    fn compile(&self, format: &EventFormat, number: Option<u32>) -> PerfettoType {
        let own = !self.what.doubles.contains(&format.id.0);
        let instance = self.what.instance.filter(|_| !own);
        let known = if own { PerfettoProgram::known(format) } else { None };
        let of_ftrace = |name: &str| format.system == "ftrace" && format.name == name;
        let field = |name: &str| format.field(name).map(|field| TypedField::new(format, field));
        let message = matches!(format.name.as_str(), "bprint" | "bputs") && format.system == "ftrace";
        let marker = if known.is_some() && of_ftrace("print") { field("buf") } else { None };
        let described = |instant| PerfettoProgram::described(format, number, instance, instant);
        let pids = || Some([field("prev_pid")?, field("next_pid")?]);
        let is_switch = known.is_some() && format.system == "sched" && format.name == "sched_switch";
        let call = CallFields::of(format).filter(|_| self.has_values && known.is_some());
        let known = known.filter(|_| call.is_none());
        PerfettoType {
            call,
            handler: known.as_ref().and_then(|_| HandlerEvent::of(format)),
            switch: is_switch.then(pids).flatten(),
            marker: marker.map(|text| (text, described(true))),
            program: known.unwrap_or_else(|| described(message || of_ftrace("print"))),
            stack: format.field("caller").filter(|_| own && of_ftrace("kernel_stack")).map(|field| field.offset),
        }
    }
}

impl PerfettoType {
    /// The tasks of a switch.
    #[inline]
    fn step(&self, file: &PerfettoFile<'_>, data: &[u8]) -> Option<TaskStep> {
        let pid = |field: &TypedField| match field.value(file.trace.abi, data) {
            Some(Value::Signed(pid)) => Some(Pid(pid as i32)),
            _ => None,
        };
        let [from, to] = self.switch.as_ref()?;
        Some(TaskStep::Switch(pid(from)?, pid(to)?))
    }

    /// The program for a record, and whether it is the one for other markers.
    #[inline]
    fn program_of(&self, file: &PerfettoFile<'_>, data: &[u8]) -> (&PerfettoProgram, bool) {
        match &self.marker {
            Some((text, other)) => match text.value(file.trace.abi, data) {
                Some(Value::Text(text)) if is_atrace(text) => (&self.program, false),
                _ => (other, true),
            },
            None => (&self.program, false),
        }
    }
}
