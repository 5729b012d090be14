//! Records to JSON lines.
//! The first line.
//! `,"pid":1234,"comm":"bash"`, rendered once per task.

use super::{JsonTypes, Style};
use crate::base::sys::Tail;
use crate::base::text::literal::{LiteralId, Literals};
use crate::base::text::{json, num};
use crate::base::units::{CpuId, Pid};
use crate::export::Exporter;
use crate::export::rendered::{RepeatedFields, TaskCache};
use crate::kernel::event::{Consumed, Lost, Record};
use crate::kernel::symbols::Comms;
use crate::read::merge::ahead::Commit;
use serde::Serialize;

/// One of the buffers whose records come: what is the same for all of them.
#[derive(Clone, Copy, Debug)]
pub struct JsonBuffer<'t> {
    /// The event types of the buffer's file.
    pub types: &'t JsonTypes,
    /// The task names of the buffer's file.
    pub comms: &'t Comms,
    /// The value of `source` in its lines: the file's label, when there are several files.
    pub source: Option<&'t str>,
    /// The value of `buffer` in its lines: the instance's name; `None` for the top buffer.
    pub buffer: Option<&'t str>,
}

/// Writes a line per event. It keeps only caches from event to event: records may be dealt out to any number
/// of exporters without a difference in the lines.
#[derive(Clone, Debug)]
pub struct Json<'t> {
    buffers: Vec<JsonColumns<'t>>,
    style: Style,
    pool: Literals,
    open: LiteralId,
    /// The text before the id of an event without a format, and before its bytes.
    unknown: [LiteralId; 2],
    tasks: TaskPieces,
    tasks_of: Option<&'t Comms>,
    /// Events with their fields, of the same file.
    repeats: RepeatedFields,
    header: Option<JsonHeader>,
}

#[derive(Clone, Debug)]
struct JsonColumns<'t> {
    what: JsonBuffer<'t>,
    /// `,"cpu":N,"source":S,"buffer":B` for the CPUs seen so far.
    cpus: Vec<Option<LiteralId>>,
}

/// CPUs whose piece of the line is kept.
const CPUS: usize = 4096;

/// Events do not depend on each other: the state is caches.
impl<'t> Exporter for Json<'t> {
    type State = Json<'t>;

    fn state(&self) -> Json<'t> {
        self.clone()
    }

    fn begin(&self, _: &mut Json<'t>, out: &mut Vec<u8>) {
        self.header.iter().for_each(|header| header.write(out));
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Json<'t>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        Json::event(state, record, out);
        Consumed::One
    }

    fn fork(&self, known: &Json<'t>, used: Option<Json<'t>>) -> Json<'t> {
        used.unwrap_or_else(|| known.clone())
    }

    fn commit(&self, _: &mut Json<'t>, _: &mut Json<'t>, _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }

    fn set_comms(&self, state: &mut Json<'t>, comms: &Comms) {
        state.tasks.set_live(comms.clone());
    }
}

impl<'t> Json<'t> {
    /// An exporter for records of these buffers: [`Record::buffer`] is an index into them. All types are of one style.
    pub fn new(buffers: impl IntoIterator<Item = JsonBuffer<'t>>) -> Self {
        let buffers: Vec<JsonColumns<'t>> =
            buffers.into_iter().map(|what| JsonColumns { what, cpus: Vec::new() }).collect();
        let style = buffers.first().map_or(Style::Json, |b| b.what.types.style);
        let mut pool = Literals::default();
        let open = pool.add(&style.start("event"));
        let event = [&style.key("event", false)[..], b"null", &style.key("id", false)].concat();
        let unknown = [pool.add(&event), pool.add(&style.key("data", false))];
        let tasks = TaskPieces::new(style);
        Json {
            buffers,
            style,
            pool,
            open,
            unknown,
            tasks,
            tasks_of: None,
            repeats: RepeatedFields::default(),
            header: None,
        }
    }

    /// The same, with a first line for readers.
    pub fn with_header(self, header: JsonHeader) -> Self {
        Json { header: Some(header), ..self }
    }

    /// Appends the line of `record`, and before it one about lost events, if there were any.
    ///
    /// # Panics
    /// If the record's buffer is none of those given to [`Json::new`].
    #[inline]
    pub fn event(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        if record.lost != Lost::None {
            self.lost(record, out);
        }
        let JsonBuffer { types, comms, .. } = self.buffers[record.buffer].what;
        if !self.tasks_of.is_some_and(|of| std::ptr::eq(of, comms)) {
            self.tasks.clear();
            self.repeats.forget();
            self.tasks_of = Some(comms);
        }
        let tail = Tail::new(out).pooled(&self.pool, self.open).wide(record.timestamp.0);
        let place = self.buffers[record.buffer].cpus.get(record.cpu.0 as usize);
        let tail = match place {
            Some(&Some(literal)) => tail.pooled(&self.pool, literal),
            _ => tail.with(|out| self.new_place(record.buffer, record.cpu, out)),
        };
        let Some(program) = types.program(record.data) else {
            return self.unknown(record, types, comms, tail.done());
        };
        let abi = types.abi;
        let mut tail = match &program.pid {
            Some(pid) => self.tasks.write(Pid(pid.int(abi, record.data).unwrap_or(0) as i32), comms, tail),
            None => tail,
        };
        for step in &program.common {
            tail = step.write(abi, &types.pool, record.data, tail);
        }
        let id = types.id(record.data);
        self.repeats.write(id, record.data, tail, |tail| program.fields(abi, &types.pool, record.data, tail)).done();
    }

    /// Writes `,"cpu":N` and the labels.
    #[cold]
    fn new_place(&mut self, buffer: usize, cpu: CpuId, out: &mut Vec<u8>) {
        let JsonColumns { what, cpus } = &mut self.buffers[buffer];
        let start = out.len();
        out.extend_from_slice(&self.style.key("cpu", false));
        num::dec(out, cpu.0.into());
        for (name, label) in [("source", what.source), ("buffer", what.buffer)] {
            if let Some(label) = label {
                out.extend_from_slice(&self.style.key(name, false));
                json::string(out, label.as_bytes());
            }
        }
        let index = cpu.0 as usize;
        if index < CPUS {
            if cpus.len() <= index {
                cpus.resize(index + 1, None);
            }
            cpus[index].get_or_insert_with(|| self.pool.add(&out[start..]));
        }
    }

    /// Appends the line about a system call up to its task; what is known of the call follows.
    pub(in crate::export) fn start_of_call(&mut self, record: &Record<'_>, task: Pid, out: &mut Vec<u8>) {
        let JsonBuffer { comms, .. } = self.buffers[record.buffer].what;
        if !self.tasks_of.is_some_and(|of| std::ptr::eq(of, comms)) {
            self.tasks.clear();
            self.repeats.forget();
            self.tasks_of = Some(comms);
        }
        out.extend_from_slice(&self.style.start("syscall"));
        num::dec(out, record.timestamp.0);
        self.new_place(record.buffer, record.cpu, out);
        self.tasks.write(task, comms, Tail::new(out)).done();
    }

    /// Appends the line about events that were lost before `record`.
    #[cold]
    pub(in crate::export) fn lost(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.style.start("lost"));
        num::dec(out, record.timestamp.0);
        self.new_place(record.buffer, record.cpu, out);
        out.extend_from_slice(&self.style.key(if self.style == Style::Json { "count" } else { "lost" }, false));
        match record.lost {
            Lost::Count(count) => num::dec(out, count),
            Lost::Unknown | Lost::None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(self.style.end());
    }

    /// An event that the file has no format of: its number and its bytes.
    #[cold]
    fn unknown(&mut self, record: &Record<'_>, types: &JsonTypes, comms: &Comms, out: &mut Vec<u8>) {
        if let Some(program) = types.any() {
            let mut tail = Tail::new(out);
            if let Some(pid) = &program.pid {
                tail = self.tasks.write(Pid(pid.int(types.abi, record.data).unwrap_or(0) as i32), comms, tail);
            }
            for step in &program.common {
                tail = step.write(types.abi, &types.pool, record.data, tail);
            }
            tail.done();
        }
        let [id, bytes] = self.unknown;
        self.pool.put(id, out);
        match types.abi.uint(record.data, 0, 2) {
            Some(id) => num::dec(out, id),
            None => out.extend_from_slice(b"null"),
        }
        self.pool.put(bytes, out);
        out.push(b'"');
        record.data.iter().for_each(|b| num::hex_byte(out, *b));
        out.push(b'"');
        out.extend_from_slice(self.style.end());
    }
}

/// The name of the schema, in the first line as `schema`.
pub const SCHEMA: &str = "rtrace.events";
/// The version of the schema, in the first line as `version`. It rises when a reader of the old one could be misled;
/// fields that are new do not count.
pub const VERSION: u32 = 1;

/// The first line of a JSON stream: what is needed to make sense of the others.
#[derive(Clone, Debug, Serialize)]
pub struct JsonHeader {
    /// The files, in the order given.
    pub sources: Vec<JsonSource>,
}

/// A trace file.
#[derive(Clone, Debug, Serialize)]
pub struct JsonSource {
    /// Its path, as given.
    pub file: String,
    /// The value of `source` in its lines, when there are several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `sysname nodename release machine` of the recorded machine, if the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uname: Option<String>,
    /// Number of the machine's CPUs.
    pub cpus: u32,
    /// True of an unfinished recording, which lacks the latest events.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Buffers of the file.
    pub buffers: Vec<JsonBufferInfo>,
}

/// A buffer of a file.
#[derive(Clone, Debug, Serialize)]
pub struct JsonBufferInfo {
    /// The instance's name, which its lines say as `buffer`; `null` for the top buffer, whose lines do not.
    pub name: Option<String>,
    /// The trace clock, if the file says.
    pub clock: Option<String>,
    /// The unit of `ts`: `ns`, or `ticks` with the clocks `counter`, `x86-tsc` and the like.
    pub unit: &'static str,
    /// A point of `ts` and of the wall clock, which is known to within an error; not there if nobody knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<JsonWall>,
    /// The CPUs that have data.
    pub cpus: Vec<u32>,
}

/// One point of time by both clocks.
#[derive(Clone, Debug, Serialize)]
pub struct JsonWall {
    /// As in the lines.
    pub ts: u64,
    /// Nanoseconds since 1970 (UTC).
    pub unix_ns: i64,
    /// Nanoseconds by which it may be wrong.
    pub error_ns: u64,
}

impl JsonHeader {
    /// Appends the line.
    pub fn write(&self, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'static str,
            schema: &'static str,
            version: u32,
            #[serde(flatten)]
            header: &'a JsonHeader,
        }
        let line = Line { r#type: "header", schema: SCHEMA, version: VERSION, header: self };
        serde_json::to_writer(&mut *out, &line).expect("writing plain data to memory cannot fail");
        out.push(b'\n');
    }
}

/// The pieces of the tasks seen last.
#[derive(Clone, Debug)]
struct TaskPieces {
    /// The text before a pid, and before a name.
    keys: [Vec<u8>; 2],
    cache: TaskCache,
    /// Names learnt from a live trace, used instead of the recording's.
    live: Option<Comms>,
}

impl TaskPieces {
    fn new(style: Style) -> Self {
        let keys = ["pid", "comm"].map(|name| style.key(name, false));
        TaskPieces { keys, cache: TaskCache::new(), live: None }
    }

    /// Forgets all, as names are of another file now.
    fn clear(&mut self) {
        self.cache.clear();
    }

    /// Replaces the names by those of a live trace.
    fn set_live(&mut self, comms: Comms) {
        self.live = Some(comms);
        self.clear();
    }

    /// Writes the piece of `pid`.
    #[inline(always)]
    fn write<'a>(&mut self, pid: Pid, comms: &Comms, tail: Tail<'a>) -> Tail<'a> {
        let TaskPieces { keys: [before_pid, before_comm], cache, live } = self;
        cache.write(pid.0 as u64, tail, |out| {
            out.extend_from_slice(before_pid);
            num::signed(out, pid.0.into());
            out.extend_from_slice(before_comm);
            match live.as_ref().unwrap_or(comms).get(pid) {
                Some(comm) => json::string(out, comm),
                None => out.extend_from_slice(b"null"),
            }
        })
    }
}
