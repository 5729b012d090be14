//! Comma-separated values (RFC 4180): a line with the columns' names, then one line per event.
//!
//! A field that an event does not have is empty, as is one that does not lie within its record. Bytes that are not UTF-8
//! stand as `\xNN`, as in JSON; arrays are written as JSON arrays; cells with a comma, a quote or a line break are quoted.

use super::Exporter;
use super::json::{KernelName, json_value};
use crate::base::abi::Abi;
use crate::base::sys::Tail;
use crate::base::text::literal::{LiteralId, Literals};
use crate::base::text::{json, num};
use crate::base::units::Pid;
use crate::base::wall_time::with_zone;
use crate::file::trace_dat::WallClock;
use crate::kernel::event::{Consumed, Lost, Record, TypedEvent, TypedField, Value};
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::symbols::{Comms, Kallsyms};
use crate::read::merge::ahead::Commit;
use std::collections::HashMap;
use std::sync::Arc;

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

    fn title(&self) -> &str {
        match self {
            // As `--fields` takes it.
            CsvColumn::Field(name) => match CsvColumn::FIXED.iter().position(|(fixed, _)| fixed == name) {
                Some(at) => CsvColumn::DOTTED[at],
                None => name,
            },
            other => CsvColumn::FIXED.iter().find(|(_, column)| column == other).map_or("", |(name, _)| *name),
        }
    }
}

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

/// Writes a line per event, none of which depends on another: records may be dealt out to clones.
#[derive(Clone)]
pub struct Csv<'t> {
    columns: Arc<[CsvColumn]>,
    buffers: Arc<[CsvTypes<'t>]>,
    /// A cell before it is quoted.
    cell: Vec<u8>,
}

struct CsvTypes<'t> {
    what: CsvBuffer<'t>,
    types: ById<CsvType>,
    pool: Literals,
}

struct CsvType {
    event: TypedEvent,
    pid: Option<TypedField>,
    /// Per column: the field.
    fields: Vec<Option<TypedField>>,
    /// `system:name`, quoted if it must be.
    title: LiteralId,
    /// Per own field: what stands before its value in the column of all fields, quotes doubled.
    keys: Vec<LiteralId>,
    /// Functions at addresses among them.
    names: Vec<KernelName>,
}

/// Events do not depend on each other: the state is scratch memory.
impl<'t> Exporter for Csv<'t> {
    type State = Csv<'t>;

    fn state(&self) -> Csv<'t> {
        self.clone()
    }

    fn begin(&self, state: &mut Csv<'t>, out: &mut Vec<u8>) {
        state.header(out);
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Csv<'t>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        Csv::event(state, record, out);
        Consumed::One
    }

    fn fork(&self, known: &Csv<'t>, used: Option<Csv<'t>>) -> Csv<'t> {
        used.unwrap_or_else(|| known.clone())
    }

    fn commit(&self, _: &mut Csv<'t>, _: &mut Csv<'t>, _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }
}

impl<'t> Csv<'t> {
    /// An exporter of these columns for records of these buffers: [`Record::buffer`] is an index into them.
    pub fn new(columns: Vec<CsvColumn>, buffers: impl IntoIterator<Item = CsvBuffer<'t>>) -> Self {
        let buffers = buffers.into_iter().map(|what| CsvTypes::new(what, &columns)).collect();
        Csv { columns: columns.into(), buffers, cell: Vec::new() }
    }

    /// True if any event has the field of that name.
    pub fn has_field(&self, name: &str) -> bool {
        let mut types = self.buffers.iter().flat_map(|b| b.types.values());
        types.any(|t| t.event.fields.iter().chain(t.event.common.iter()).any(|f| f.name == name))
    }

    /// Appends the line with the columns' names.
    pub fn header(&self, out: &mut Vec<u8>) {
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            quote(out, column.title().as_bytes());
        }
        out.push(b'\n');
    }

    /// Appends the line of `record`.
    ///
    /// # Panics
    /// If the record's buffer is none of those given to [`Csv::new`].
    pub fn event(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        let CsvTypes { what, types, pool } = &self.buffers[record.buffer];
        let id = what.abi.uint(record.data, 0, 2).unwrap_or(0) as u16;
        let event = types.get(id);
        let cell = &mut self.cell;
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match column {
                CsvColumn::Timestamp => num::dec(out, record.timestamp.0),
                CsvColumn::Wall => {
                    let wall = what.wall.map(|clock| with_zone(clock.wall(record.timestamp.0)));
                    out.extend_from_slice(wall.unwrap_or_default().as_bytes());
                }
                CsvColumn::Cpu => num::dec(out, record.cpu.0.into()),
                CsvColumn::Lost => match record.lost {
                    Lost::None => {}
                    Lost::Count(count) => num::dec(out, count),
                    Lost::Unknown => out.push(b'?'),
                },
                CsvColumn::Source => quote(out, what.source.unwrap_or_default().as_bytes()),
                CsvColumn::Buffer => quote(out, what.buffer.unwrap_or_default().as_bytes()),
                _ => {
                    let Some(event) = event else { continue };
                    match column {
                        CsvColumn::Event => {
                            pool.put(event.title, out);
                            continue;
                        }
                        CsvColumn::Fields if !event.keys.is_empty() => {
                            event.all_fields(pool, what.abi, record.data, out, cell);
                            continue;
                        }
                        _ => {}
                    }
                    cell.clear();
                    event.cell(index, column, what, record.data, cell);
                    quote(out, cell);
                }
            }
        }
        out.push(b'\n');
    }
}

impl<'t> CsvTypes<'t> {
    fn new(what: CsvBuffer<'t>, columns: &[CsvColumn]) -> Self {
        let mut types = ById::default();
        let mut pool = Literals::default();
        let wanted = columns.contains(&CsvColumn::Fields);
        let kallsyms = what.kallsyms.filter(|_| wanted).map(|kallsyms| Arc::new(kallsyms.clone()));
        for format in &what.formats {
            let event = TypedEvent::new(format);
            // Of fields of one name the first, and the event's own before those of all events.
            let all = event.common.iter().rev().chain(event.fields.iter().rev());
            let by_name: HashMap<&str, &TypedField> = all.map(|field| (&*field.name, field)).collect();
            let field = |column: &CsvColumn| match column {
                CsvColumn::Field(name) => by_name.get(&**name).copied().cloned(),
                _ => None,
            };
            let fields = columns.iter().map(field).collect();
            let pid = event.common.iter().find(|f| f.name == "common_pid").cloned();
            let mut text = Vec::new();
            quote(&mut text, format!("{}:{}", event.system, event.name).as_bytes());
            let title = pool.add(&text);
            let key = |(index, field): (usize, &TypedField)| {
                let mut name = Vec::new();
                json::string(&mut name, field.name.as_bytes());
                text.clear();
                text.push(if index == 0 { b'{' } else { b',' });
                doubled(&mut text, &name);
                text.push(b':');
                pool.add(&text)
            };
            let keys = event.fields.iter().enumerate().map(key).collect();
            let names = kallsyms.as_ref().map_or_else(Vec::new, |kallsyms| KernelName::all(&event, kallsyms));
            types.insert(format.id, CsvType { event, pid, fields, title, keys, names });
        }
        CsvTypes { what, types, pool }
    }
}

impl CsvType {
    /// Writes all of the event's own fields, of which there are some: a cell with quotes.
    fn all_fields(&self, pool: &Literals, abi: Abi, data: &[u8], out: &mut Vec<u8>, cell: &mut Vec<u8>) {
        out.push(b'"');
        for (field, key) in self.event.fields.iter().zip(&self.keys) {
            pool.put(*key, out);
            match field.value(abi, data) {
                Some(Value::Unsigned(number)) => num::dec(out, number),
                Some(Value::Signed(number)) => num::signed(out, number),
                Some(value) => {
                    cell.clear();
                    json_value(cell, value);
                    doubled(out, cell);
                }
                None => out.extend_from_slice(b"null"),
            }
        }
        for name in &self.names {
            cell.clear();
            name.write(abi, data, cell);
            doubled(out, cell);
        }
        out.extend_from_slice(b"}\"");
    }

    /// Writes the cell of a column that depends on the event's type.
    fn cell(&self, index: usize, column: &CsvColumn, what: &CsvBuffer<'_>, data: &[u8], cell: &mut Vec<u8>) {
        let pid = || match self.pid.as_ref()?.value(what.abi, data)? {
            Value::Signed(pid) => Some(Pid(pid as i32)),
            _ => None,
        };
        match column {
            CsvColumn::Pid => pid().map_or((), |pid| num::signed(cell, pid.0.into())),
            CsvColumn::Comm => text(cell, pid().and_then(|pid| what.comms.get(pid)).unwrap_or_default()),
            CsvColumn::System => cell.extend_from_slice(self.event.system.as_bytes()),
            CsvColumn::Name => cell.extend_from_slice(self.event.name.as_bytes()),
            CsvColumn::Fields => cell.extend_from_slice(b"{}"), // of an event without any
            _ => match self.fields.get(index).and_then(Option::as_ref).and_then(|f| f.value(what.abi, data)) {
                None => {}
                Some(Value::Text(bytes)) => text(cell, bytes),
                Some(Value::Pointer(address)) => {
                    cell.extend_from_slice(b"0x");
                    num::hex(cell, address);
                }
                Some(value) => json_value(cell, value),
            },
        }
    }
}

/// Text without quotes: JSON's escapes are taken only where bytes are not UTF-8 or controls.
pub(super) fn text(cell: &mut Vec<u8>, text: &[u8]) {
    let (tail, plain) = Tail::new(cell).plain_prefix(text);
    let cell = tail.done();
    for chunk in text[plain..].utf8_chunks() {
        cell.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            cell.extend_from_slice(br"\x");
            num::hex_byte(cell, *byte);
        }
    }
}

/// Appends a cell, quoted if it must be.
fn quote(out: &mut Vec<u8>, cell: &[u8]) {
    if !cell.iter().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    doubled(out, cell);
    out.push(b'"');
}

/// Appends text with its quotes doubled.
fn doubled(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        out.push(b'"');
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        let quoted = |cell: &[u8]| {
            let mut out = Vec::new();
            quote(&mut out, cell);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(quoted(b"plain \\ text"), "plain \\ text");
        assert_eq!(quoted(b"a,b"), "\"a,b\"");
        assert_eq!(quoted(b"say \"x\"\n"), "\"say \"\"x\"\"\n\"");
        let mut cell = Vec::new();
        text(&mut cell, b"a\"b\xff\n");
        assert_eq!(cell, b"a\"b\\xff\n");
    }

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
