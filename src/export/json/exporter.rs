//! Records to JSON lines.

use super::super::line::{Line, Literal, Literals};
use super::tasks::Tasks;
use super::{JsonTypes, Style, escape};
use crate::event::{Lost, Record};
use crate::symbols::Comms;
use crate::units::{CpuId, Pid};

/// One of the buffers whose records come: what is the same for all of them.
#[derive(Clone, Copy, Debug)]
pub struct JsonBuffer<'t> {
    /// The event types of the buffer's file.
    pub types: &'t JsonTypes,
    /// The task names of the buffer's file.
    pub comms: &'t Comms,
    /// What its lines say as `source`: the file's label, when there are several files.
    pub source: Option<&'t str>,
    /// What its lines say as `buffer`: the instance's name; `None` for the top buffer.
    pub buffer: Option<&'t str>,
}

/// Writes a line per event. What it keeps from event to event are caches only: records may be dealt out to any number
/// of exporters without a difference in the lines.
#[derive(Clone, Debug)]
pub struct Json<'t> {
    buffers: Vec<Buffer<'t>>,
    style: Style,
    pool: Literals,
    open: Literal,
    line: Line,
    tasks: Tasks,
    tasks_of: Option<&'t Comms>,
}

#[derive(Clone, Debug)]
struct Buffer<'t> {
    what: JsonBuffer<'t>,
    /// `,"cpu":N,"source":S,"buffer":B` for the CPUs seen so far.
    cpus: Vec<Option<Literal>>,
}

/// CPUs whose piece of the line is kept.
const CPUS: usize = 4096;

impl<'t> Json<'t> {
    /// An exporter for records of these buffers: [`Record::buffer`] is an index into them. All types are of one style.
    pub fn new(buffers: impl IntoIterator<Item = JsonBuffer<'t>>) -> Self {
        let buffers: Vec<Buffer<'t>> = buffers.into_iter().map(|what| Buffer { what, cpus: Vec::new() }).collect();
        let style = buffers.first().map_or(Style::Json, |b| b.what.types.style);
        let mut pool = Literals::default();
        let open = pool.add(&style.start("event"));
        let (line, tasks) = (Line::default(), Tasks::new(style));
        Json { buffers, style, pool, open, line, tasks, tasks_of: None }
    }

    /// Appends the line of `record`, and before it one that tells of lost events, if there were any.
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
            self.tasks_of = Some(comms);
        }
        self.line.clear();
        self.line.literal(&self.pool, self.open);
        self.line.dec(record.timestamp.0);
        self.place(record);
        let Some(program) = types.program(record.data) else {
            return self.unknown(record, types, comms, out);
        };
        let (abi, line) = (types.abi, &mut self.line);
        if let Some(pid) = &program.pid {
            self.tasks.write(Pid(pid.int(abi, record.data) as i32), comms, line);
        }
        for step in &program.common {
            step.write(abi, &types.pool, record.data, line);
        }
        program.fields(abi, &types.pool, record.data, line);
        out.extend_from_slice(line.as_bytes());
    }

    /// Writes `,"cpu":N` and the labels.
    #[inline]
    fn place(&mut self, record: &Record<'_>) {
        let cpus = &self.buffers[record.buffer].cpus;
        match cpus.get(record.cpu.0 as usize) {
            Some(&Some(literal)) => self.line.literal(&self.pool, literal),
            _ => self.new_place(record.buffer, record.cpu),
        }
    }

    #[cold]
    fn new_place(&mut self, buffer: usize, cpu: CpuId) {
        let start = self.line.len();
        let Buffer { what, cpus } = &mut self.buffers[buffer];
        self.line.bytes(&self.style.key("cpu", false));
        self.line.dec(cpu.0.into());
        for (name, label) in [("source", what.source), ("buffer", what.buffer)] {
            if let Some(label) = label {
                self.line.bytes(&self.style.key(name, false));
                escape::string(&mut self.line, label.as_bytes());
            }
        }
        let index = cpu.0 as usize;
        if index < CPUS {
            if cpus.len() <= index {
                cpus.resize(index + 1, None);
            }
            cpus[index] = Some(self.pool.add(&self.line.as_bytes()[start..]));
        }
    }

    #[cold]
    fn lost(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        self.line.clear();
        self.line.bytes(&self.style.start("lost"));
        self.line.dec(record.timestamp.0);
        self.place(record);
        self.line.bytes(&self.style.key(if self.style == Style::Json { "count" } else { "lost" }, false));
        match record.lost {
            Lost::Count(count) => self.line.dec(count),
            Lost::Unknown | Lost::None => self.line.bytes(b"null"),
        }
        self.line.bytes(self.style.end());
        out.extend_from_slice(self.line.as_bytes());
    }

    /// An event that the file has no format of: its number and its bytes.
    #[cold]
    fn unknown(&mut self, record: &Record<'_>, types: &JsonTypes, comms: &Comms, out: &mut Vec<u8>) {
        let line = &mut self.line;
        if let Some(program) = types.any() {
            if let Some(pid) = &program.pid {
                self.tasks.write(Pid(pid.int(types.abi, record.data) as i32), comms, line);
            }
            for step in &program.common {
                step.write(types.abi, &types.pool, record.data, line);
            }
        }
        line.bytes(&self.style.key("event", false));
        line.bytes(b"null");
        line.bytes(&self.style.key("id", false));
        match types.abi.uint(record.data, 0, 2) {
            Some(id) => line.dec(id),
            None => line.bytes(b"null"),
        }
        line.bytes(&self.style.key("data", false));
        line.byte(b'"');
        record.data.iter().for_each(|b| line.hex_byte(*b));
        line.byte(b'"');
        line.bytes(self.style.end());
        out.extend_from_slice(line.as_bytes());
    }
}
