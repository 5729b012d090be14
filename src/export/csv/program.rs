//! An event type compiled to the pieces of its line.
//! The columns of lines.

use super::quoting::{CsvValue, QuotedJson, double_from, put_text, quote};
use crate::base::abi::Abi;
use crate::base::sys::Tail;
use crate::base::text::literal::{LiteralId, Literals};
use crate::base::text::{json, num};
use crate::base::units::Pid;
use crate::base::wall_time::with_zone;
use crate::export::field_read::FieldRead;
use crate::export::json::KernelName;
use crate::export::rendered::{RepeatedFields, TaskCache};
use crate::file::trace_dat::WallClock;
use crate::kernel::event::{FieldKind, Lost, Record, TypedEvent, TypedField};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::{Comms, Kallsyms};
use std::sync::Arc;

/// One of the buffers whose records come.
pub struct CsvBuffer<'t> {
    /// The formats of the buffer's file.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// The task names of the buffer's file.
    pub comms: &'t Comms,
    /// The kernel's functions, whose names stand beside addresses in the column of all fields.
    pub kallsyms: Option<&'t Kallsyms>,
    /// The clock of the column `wall`.
    pub wall: Option<WallClock>,
    /// The value of the column `source`.
    pub source: Option<&'t str>,
    /// The value of the column `buffer`.
    pub buffer: Option<&'t str>,
}

/// An event type's line: pieces to be written one after the other.
#[derive(Debug)]
pub(super) struct CsvProgram {
    pool: Literals,
    /// Cells that say when and where the record was made, up to the last of those.
    place: Vec<CsvStep>,
    /// The text between them and the others: cells that are the same for all events of the type.
    between: LiteralId,
    /// The others, which depend on the record's bytes alone, but for losses before it.
    own: Vec<CsvStep>,
    /// The text after the last step, with the newline.
    end: LiteralId,
}

/// The end of a line, from the cells on that depend on the record's bytes alone. Doubled quotes make it longer than JSON's.
pub(super) type RepeatedCells = RepeatedFields<4>;

/// The text up to a cell, with the commas and cells that are the same for all events of the type; then the cell.
#[derive(Debug)]
struct CsvStep {
    before: LiteralId,
    cell: CsvCell,
}

#[derive(Debug)]
enum CsvCell {
    Timestamp,
    Wall,
    Cpu,
    Lost,
    Pid(FieldRead),
    Comm(FieldRead),
    /// `PID,COMM`.
    Task(FieldRead),
    Field(FieldRead),
    Fields(AllFields),
}

/// The column of all fields, a JSON object: each field after the text before it.
#[derive(Debug, Default)]
struct AllFields {
    fields: Vec<(LiteralId, FieldRead)>,
    /// Functions at addresses among them.
    names: Vec<KernelName>,
}

/// The things that a line needs besides its record.
pub(super) struct LineContext<'c> {
    pub(super) abi: Abi,
    pub(super) comms: &'c Comms,
    pub(super) wall: Option<WallClock>,
    pub(super) tasks: &'c mut TaskCache,
    /// Id of the event whose record is written.
    pub(super) id: u16,
    pub(super) repeats: &'c mut RepeatedCells,
}

impl CsvProgram {
    /// The line of an event; of one without a format, `None`.
    pub(super) fn new(
        columns: &[CsvColumn],
        what: &CsvBuffer<'_>,
        event: Option<&TypedEvent>,
        kallsyms: Option<&Arc<Kallsyms>>,
    ) -> Self {
        let (pool, nothing) = (Literals::default(), LiteralId::default());
        let mut made = CsvProgram { pool, place: Vec::new(), between: nothing, own: Vec::new(), end: nothing };
        let own = columns.iter().rposition(CsvColumn::is_of_place).map_or(0, |last| last + 1);
        let pid = event.and_then(|event| event.common.iter().find(|field| field.name == "common_pid"));
        let pid = pid.filter(|field| field.kind == FieldKind::Signed).map(FieldRead::new);
        let mut text = Vec::new();
        let mut columns = columns.iter().enumerate().peekable();
        while let Some((index, column)) = columns.next() {
            if index == own {
                made.between = made.pool.add(&text);
                text.clear();
            }
            if index > 0 {
                text.push(b',');
            }
            let cell = match (column, event) {
                (CsvColumn::Timestamp, _) => Some(CsvCell::Timestamp),
                (CsvColumn::Wall, _) => what.wall.map(|_| CsvCell::Wall),
                (CsvColumn::Cpu, _) => Some(CsvCell::Cpu),
                (CsvColumn::Lost, _) => Some(CsvCell::Lost),
                (CsvColumn::Source, _) => constant(&mut text, what.source.unwrap_or_default()),
                (CsvColumn::Buffer, _) => constant(&mut text, what.buffer.unwrap_or_default()),
                (CsvColumn::Pid, _) if columns.next_if(|(_, next)| **next == CsvColumn::Comm).is_some() => {
                    text.extend_from_slice(if pid.is_none() { b"," } else { b"" });
                    pid.clone().map(CsvCell::Task)
                }
                (CsvColumn::Pid, _) => pid.clone().map(CsvCell::Pid),
                (CsvColumn::Comm, _) => pid.clone().map(CsvCell::Comm),
                (_, None) => None,
                (CsvColumn::Event, Some(event)) => constant(&mut text, &format!("{}:{}", event.system, event.name)),
                (CsvColumn::System, Some(event)) => constant(&mut text, &event.system),
                (CsvColumn::Name, Some(event)) => constant(&mut text, &event.name),
                (CsvColumn::Fields, Some(event)) if event.fields.is_empty() => {
                    text.extend_from_slice(b"{}");
                    None
                }
                (CsvColumn::Fields, Some(event)) => {
                    let names = kallsyms.map_or_else(Vec::new, |kallsyms| KernelName::all(event, kallsyms));
                    Some(CsvCell::Fields(AllFields { fields: made.fields(event, &mut text), names }))
                }
                (CsvColumn::Field(name), Some(event)) => {
                    field(event, name).map(|field| CsvCell::Field(FieldRead::new(field)))
                }
            };
            if let Some(cell) = cell {
                let after: &[u8] = if let CsvCell::Fields(_) = cell { b"}\"" } else { b"" };
                let before = made.pool.add(&text);
                text.clear();
                if index < own { &mut made.place } else { &mut made.own }.push(CsvStep { before, cell });
                text.extend_from_slice(after);
            }
        }
        text.push(b'\n');
        made.end = made.pool.add(&text);
        made
    }

    /// The event's own fields as members of a JSON object, the first after `text`, which is left empty.
    fn fields(&mut self, event: &TypedEvent, text: &mut Vec<u8>) -> Vec<(LiteralId, FieldRead)> {
        text.push(b'"');
        let field = |(index, field): (usize, &TypedField)| {
            text.push(if index == 0 { b'{' } else { b',' });
            let start = text.len();
            json::string(text, field.name.as_bytes());
            double_from(text, start);
            text.push(b':');
            let before = self.pool.add(text);
            text.clear();
            (before, FieldRead::new(field))
        };
        event.fields.iter().enumerate().map(field).collect()
    }

    /// Appends the line of a record.
    #[inline]
    pub(super) fn write(&self, record: &Record<'_>, with: LineContext<'_>, out: &mut Vec<u8>) {
        let LineContext { abi, comms, wall, tasks, id, repeats } = with;
        let mut tail = Tail::new(out);
        for CsvStep { before, cell } in &self.place {
            tail = tail.pooled(&self.pool, *before);
            tail = match cell {
                CsvCell::Timestamp => tail.wide(record.timestamp.0),
                CsvCell::Cpu => tail.dec(record.cpu.0.into()),
                cell => tail.with(|out| self.other(cell, record, (abi, comms, wall), tasks, out)),
            };
        }
        tail = tail.pooled(&self.pool, self.between);
        if record.lost != Lost::None || self.own.len() < 2 {
            return self.unkept(record, (abi, comms), tasks, tail.done());
        }
        repeats.write(id, record.data, tail, |tail| self.own(record, (abi, comms), tasks, tail)).done();
    }

    /// Appends one of the other cells among those of the place.
    #[inline(never)]
    fn other(
        &self,
        cell: &CsvCell,
        record: &Record<'_>,
        (abi, comms, wall): (Abi, &Comms, Option<WallClock>),
        tasks: &mut TaskCache,
        out: &mut Vec<u8>,
    ) {
        if let CsvCell::Wall = cell {
            let wall = wall.map(|clock| with_zone(clock.wall(record.timestamp.0)));
            return out.extend_from_slice(wall.unwrap_or_default().as_bytes());
        }
        self.cell(cell, record, (abi, comms), tasks, Tail::new(out)).done();
    }

    /// Appends a line's end that is not worth keeping.
    #[inline(never)]
    fn unkept(&self, record: &Record<'_>, of: (Abi, &Comms), tasks: &mut TaskCache, out: &mut Vec<u8>) {
        self.own(record, of, tasks, Tail::new(out)).done();
    }

    /// Appends the cells that depend on the record alone, and the line's end.
    #[inline(always)]
    fn own<'a>(&self, record: &Record<'_>, of: (Abi, &Comms), tasks: &mut TaskCache, mut tail: Tail<'a>) -> Tail<'a> {
        for CsvStep { before, cell } in &self.own {
            tail = self.cell(cell, record, of, tasks, tail.pooled(&self.pool, *before));
        }
        tail.pooled(&self.pool, self.end)
    }

    /// Appends a cell that depends on the record alone.
    #[inline(always)]
    fn cell<'a>(
        &self,
        cell: &CsvCell,
        record: &Record<'_>,
        (abi, comms): (Abi, &Comms),
        tasks: &mut TaskCache,
        tail: Tail<'a>,
    ) -> Tail<'a> {
        let pid = |read: &FieldRead| read.int(abi, record.data).map(|pid| Pid(pid as i32));
        match cell {
            CsvCell::Field(read) => read.write::<CsvValue>(abi, record.data, tail),
            CsvCell::Fields(all) => all.write(abi, &self.pool, record.data, tail),
            CsvCell::Lost => match record.lost {
                Lost::None => tail,
                Lost::Count(count) => tail.wide(count),
                Lost::Unknown => tail.all(b"?"),
            },
            CsvCell::Task(read) => match pid(read) {
                Some(pid) => tasks.write(pid.0 as u64, tail, |out| {
                    num::signed(out, pid.0.into());
                    out.push(b',');
                    put_text(comms.get(pid).unwrap_or_default(), out);
                }),
                None => tail.all(b","),
            },
            CsvCell::Pid(read) => match pid(read) {
                Some(pid) => tail.signed(pid.0.into()),
                None => tail,
            },
            CsvCell::Comm(read) => {
                let comm = pid(read).and_then(|pid| comms.get(pid));
                tail.with(|out| put_text(comm.unwrap_or_default(), out))
            }
            CsvCell::Timestamp | CsvCell::Cpu | CsvCell::Wall => tail,
        }
    }
}

impl AllFields {
    #[inline(always)]
    fn write<'a>(&self, abi: Abi, pool: &Literals, data: &[u8], mut tail: Tail<'a>) -> Tail<'a> {
        for (before, read) in &self.fields {
            tail = read.write::<QuotedJson>(abi, data, tail.pooled(pool, *before));
        }
        for name in &self.names {
            tail = tail.with(|out| {
                let start = out.len();
                name.write(abi, data, out);
                double_from(out, start);
            });
        }
        tail
    }
}

/// Adds a cell that is the same in all lines.
fn constant(text: &mut Vec<u8>, cell: &str) -> Option<CsvCell> {
    quote(text, cell.as_bytes());
    None
}

/// The field of that name: of several the first, and the event's own before those of all events.
pub(super) fn field<'e>(event: &'e TypedEvent, name: &str) -> Option<&'e TypedField> {
    event.fields.iter().chain(&event.common).find(|field| field.name == name)
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CsvColumn {
    /// `ts`: the time stamp, in nanoseconds or ticks.
    Timestamp,
    /// `cpu`.
    Cpu,
    /// `pid`: the task that was running.
    Pid,
    /// `comm`: its name.
    Comm,
    /// `event`: `system:name`.
    Event,
    /// `system`: the event's system.
    System,
    /// `name`: the event's name.
    Name,
    /// `source`: which of several files.
    Source,
    /// `buffer`: the instance.
    Buffer,
    /// `lost`: how many events the CPU lost just before; `?` if the kernel did not say how many.
    Lost,
    /// `fields`: all of the event's own fields, as a JSON object.
    Fields,
    /// `wall`: local time with its zone; empty if nobody knows it.
    Wall,
    /// A field of the event, by its name.
    Field(String),
}

impl CsvColumn {
    /// The columns that are not fields, in their usual order.
    pub const FIXED: [(&'static str, CsvColumn); 12] = [
        ("ts", CsvColumn::Timestamp),
        ("wall", CsvColumn::Wall),
        ("cpu", CsvColumn::Cpu),
        ("pid", CsvColumn::Pid),
        ("comm", CsvColumn::Comm),
        ("event", CsvColumn::Event),
        ("system", CsvColumn::System),
        ("name", CsvColumn::Name),
        ("source", CsvColumn::Source),
        ("buffer", CsvColumn::Buffer),
        ("lost", CsvColumn::Lost),
        ("fields", CsvColumn::Fields),
    ];

    /// The names of fields that are called as fixed columns are, in the same order.
    const DOTTED: [&'static str; 12] = [
        ".ts", ".wall", ".cpu", ".pid", ".comm", ".event", ".system", ".name", ".source", ".buffer", ".lost", ".fields",
    ];

    /// The column of that name. An event's field of the name of a fixed column is written with a leading dot.
    pub fn named(name: &str) -> CsvColumn {
        match CsvColumn::FIXED.iter().find(|(fixed, _)| *fixed == name) {
            Some((_, column)) => column.clone(),
            None => CsvColumn::Field(name.strip_prefix('.').unwrap_or(name).to_owned()),
        }
    }

    /// True if its cells say when or where a record was made, which its bytes do not.
    fn is_of_place(&self) -> bool {
        use CsvColumn::{Buffer, Cpu, Source, Timestamp, Wall};
        matches!(self, Timestamp | Wall | Cpu | Source | Buffer)
    }

    /// The name in the first line, as `--fields` takes it.
    pub(super) fn title(&self) -> &str {
        match self {
            CsvColumn::Field(name) => match CsvColumn::FIXED.iter().position(|(fixed, _)| fixed == name) {
                Some(at) => CsvColumn::DOTTED[at],
                None => name,
            },
            other => CsvColumn::FIXED.iter().find(|(_, column)| column == other).map_or("", |(name, _)| *name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_name() {
        assert_eq!(CsvColumn::named("ts"), CsvColumn::Timestamp);
        assert_eq!(CsvColumn::named("prev_comm"), CsvColumn::Field("prev_comm".into()));
        assert_eq!(CsvColumn::named(".name"), CsvColumn::Field("name".into()));
        assert_eq!(CsvColumn::named(".name").title(), ".name");
        for ((name, _), dotted) in CsvColumn::FIXED.iter().zip(CsvColumn::DOTTED) {
            assert_eq!(format!(".{name}"), dotted);
        }
    }
}
