//! A Parquet file that is being written: row groups, indices, footer.

use super::chunk::{BYTE_ARRAY, ChunkInfo, ColumnChunk, INT32, INT64, PageCodec};
use super::thrift::{StructWriter, structure};
use crate::export::table::column::{CellType, Column};
use crate::export::table::rows::{Columns, TableRows};
use crate::export::table::rows::{RECORDING, TIME, TableDescription, TableNote, has_times};
use std::io;

/// Largest row group, in rows.
const ROWS: usize = 1 << 20;
/// Row groups are closed at this size, in compressed bytes.
const BYTES: usize = 1 << 20;

pub(super) const MAGIC: &[u8] = b"PAR1";

/// A file that is being made.
pub(in crate::export::table) struct ParquetWriter {
    pub(in crate::export::table) name: String,
    /// All columns: those of the rows, then the `recording`, then the `time`.
    columns: Vec<(String, CellType)>,
    /// The value of the column `recording`, if rows have none of their own.
    recording: Option<String>,
    /// The column `time`, if rows have none of their own; and nanoseconds from `ts` to 1970, if that is known.
    time: Option<(Column, Option<i64>)>,
    order: RowOrder,
    open: Vec<ColumnChunk>,
    rows: usize,
    /// True if [`ParquetWriter::end_group`] alone ends row groups.
    in_groups: bool,
    done: Vec<RowGroup>,
    /// Bytes that were not taken yet, and the number of those that were.
    out: Vec<u8>,
    taken: u64,
}

struct RowGroup {
    columns: Vec<ChunkInfo>,
    rows: usize,
    /// The columns in whose order rows are.
    sorted: Vec<usize>,
}

/// The order of a row group's rows so far.
struct RowOrder {
    sorted: bool,
    last: i64,
}

impl RowOrder {
    const NEW: RowOrder = RowOrder { sorted: true, last: i64::MIN };

    /// Goes on with these times.
    fn add(&mut self, times: &[u64]) {
        for time in times {
            self.sorted &= self.last <= *time as i64;
            self.last = *time as i64;
        }
    }
}

/// Places of a chunk's indices: offset and size.
#[derive(Clone, Copy, Default)]
struct IndexPlaces {
    offsets: (u64, usize),
    ranges: Option<(u64, usize)>,
}

impl ParquetWriter {
    /// An empty table.
    pub(in crate::export::table) fn new(description: TableDescription) -> Self {
        let TableDescription { name, mut columns, recording, offset } = description;
        let time = has_times(&columns) && recording.is_some();
        columns.extend(recording.is_some().then(|| (RECORDING.to_owned(), CellType::Text)));
        columns.extend(time.then(|| (TIME.to_owned(), CellType::Time)));
        let (time, order) = (time.then(|| (Column::new(CellType::Time), offset)), RowOrder::NEW);
        let (open, done) = (Vec::new(), Vec::new());
        let (in_groups, out) = (false, MAGIC.to_vec());
        ParquetWriter { name, columns, recording, time, order, open, rows: 0, in_groups, done, out, taken: 0 }
    }

    /// An empty table with these columns and no more, whose row groups the caller ends.
    pub(in crate::export::table) fn in_groups(columns: Vec<(String, CellType)>) -> Self {
        let description = TableDescription { name: String::new(), columns, recording: None, offset: None };
        ParquetWriter { in_groups: true, ..ParquetWriter::new(description) }
    }

    /// Ends the row group, whose rows are in the order of the columns `sorted`.
    pub(in crate::export::table) fn end_group(&mut self, sorted: &[usize], codec: &mut PageCodec) -> io::Result<()> {
        if self.rows > 0 {
            self.close(sorted.to_vec(), codec)?;
        }
        Ok(())
    }

    /// The number of bytes so far, but for the open row group.
    pub(in crate::export::table) fn size(&self) -> u64 {
        self.taken + self.out.len() as u64
    }

    /// Adds the first `count` of these rows as a page of each column.
    pub(in crate::export::table) fn write(
        &mut self,
        rows: &TableRows,
        count: usize,
        codec: &mut PageCodec,
    ) -> io::Result<()> {
        if self.open.is_empty() {
            // Times rise by little; other numbers and all texts repeat.
            let is_time = |name: &str, cell: CellType| {
                matches!(name, "ts" | "dur") && cell == CellType::I64 || cell == CellType::Time
            };
            self.open = self.columns.iter().map(|(name, cell)| ColumnChunk::new(*cell, is_time(name, *cell))).collect();
        }
        for (chunk, column) in self.open.iter_mut().zip(&rows.columns) {
            chunk.page(&column.front(count), codec)?;
        }
        if let Some(times) = rows.columns.first().filter(|_| has_times(&self.columns)).map(|column| column.front(count))
        {
            self.order.add(times.numbers);
            if let (Some((column, offset)), Some(chunk)) = (&mut self.time, self.open.last_mut()) {
                match offset {
                    None => chunk.constant_page(None, count, codec)?,
                    Some(offset) => {
                        column.extend(times.numbers.iter().map(|ts| micros(*ts, *offset)));
                        chunk.page(&column.front(count), codec)?;
                        column.remove(count);
                    }
                }
            }
        }
        let place = rows.columns.len();
        if let (Some(recording), Some(chunk)) = (&self.recording, self.open.get_mut(place)) {
            chunk.constant_page(Some(recording.as_bytes()), count, codec)?;
        }
        self.rows += count;
        let is_full = || self.rows + count > ROWS || self.open.iter().map(ColumnChunk::size).sum::<usize>() >= BYTES;
        if !self.in_groups && is_full() {
            self.close(self.order(), codec)?;
        }
        Ok(())
    }

    /// The first column, if it is `ts` and rows are in its order.
    fn order(&self) -> Vec<usize> {
        if self.order.sorted && has_times(&self.columns) { vec![0] } else { Vec::new() }
    }

    /// Ends the row group.
    fn close(&mut self, sorted: Vec<usize>, codec: &mut PageCodec) -> io::Result<()> {
        let mut columns = Vec::with_capacity(self.open.len());
        for chunk in std::mem::take(&mut self.open) {
            columns.push(chunk.finish(self.taken + self.out.len() as u64, codec, &mut self.out)?);
        }
        self.order = RowOrder::NEW;
        self.done.push(RowGroup { columns, rows: std::mem::take(&mut self.rows), sorted });
        Ok(())
    }

    /// The file's next bytes.
    pub(in crate::export::table) fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len() as u64;
        std::mem::take(&mut self.out)
    }

    /// The file's last bytes, with `notes` among its metadata.
    pub(in crate::export::table) fn finish(
        mut self,
        notes: &[TableNote],
        codec: &mut PageCodec,
    ) -> io::Result<Vec<u8>> {
        let order = self.order();
        self.end_group(&order, codec)?;
        let chunks = self.done.iter().flat_map(|group| &group.columns);
        let mut places: Vec<IndexPlaces> = vec![IndexPlaces::default(); chunks.clone().count()];
        for (chunk, place) in chunks.clone().zip(&mut places) {
            let at = self.out.len();
            if chunk.column_index(&mut self.out) {
                place.ranges = Some((self.taken + at as u64, self.out.len() - at));
            }
        }
        for (chunk, place) in chunks.zip(&mut places) {
            let at = self.out.len();
            chunk.offset_index(&mut self.out);
            place.offsets = (self.taken + at as u64, self.out.len() - at);
        }
        let at = self.out.len();
        let mut footer = Vec::new();
        structure(&mut footer, |fields| self.footer(&places, notes, fields));
        self.out.append(&mut footer);
        let length = (self.out.len() - at) as u32;
        self.out.extend_from_slice(&length.to_le_bytes());
        self.out.extend_from_slice(MAGIC);
        Ok(self.out)
    }

    /// The struct `FileMetaData`.
    fn footer(&self, places: &[IndexPlaces], notes: &[TableNote], fields: &mut StructWriter<'_>) {
        fields.i32(1, 1);
        let schema: Vec<Element<'_>> = elements(&self.columns);
        fields.structures(2, &schema, |element, fields| element.write(fields));
        fields.i64(3, self.done.iter().map(|group| group.rows as i64).sum());
        let width = self.columns.len().max(1);
        let groups: Vec<(&RowGroup, &[IndexPlaces])> = self.done.iter().zip(places.chunks(width)).collect();
        fields.structures(4, &groups, |(group, places), fields| {
            let columns: Vec<_> = group.columns.iter().zip(*places).zip(&self.columns).collect();
            fields.structures(1, &columns, |((chunk, places), (name, cell)), fields| {
                fields.i64(2, 0);
                let path = [name.as_str(), "list", "element"];
                let path = if matches!(cell, CellType::List { .. }) { &path[..] } else { &path[..1] };
                fields.structure(3, |fields| chunk.describe(path, fields));
                fields.i64(4, places.offsets.0 as i64);
                fields.i32(5, places.offsets.1 as i32);
                if let Some((at, size)) = places.ranges {
                    fields.i64(6, at as i64);
                    fields.i32(7, size as i32);
                }
            });
            let sum = |of: fn(&ChunkInfo) -> usize| group.columns.iter().map(of).sum::<usize>() as i64;
            fields.i64(2, sum(|chunk| chunk.uncompressed));
            fields.i64(3, group.rows as i64);
            if !group.sorted.is_empty() {
                // Ascending, texts that are null first; times have no nulls.
                fields.structures(4, &group.sorted, |column, fields| {
                    fields.i32(1, *column as i32);
                    fields.bool(2, false);
                    fields.bool(3, self.columns.get(*column).is_some_and(|(_, cell)| *cell == CellType::Text));
                });
            }
            fields.i64(5, group.columns.first().map_or(0, |chunk| chunk.start) as i64);
            fields.i64(6, sum(|chunk| chunk.compressed));
        });
        if !notes.is_empty() {
            fields.structures(5, notes, |(key, value), fields| {
                fields.binary(1, key.as_bytes());
                fields.binary(2, value.as_bytes());
            });
        }
        fields.binary(6, concat!("rtrace ", env!("CARGO_PKG_VERSION")).as_bytes());
        // The order of values is that of their types.
        fields.structures(7, &self.columns, |_, fields| fields.structure(1, |_| ()));
    }
}

/// Microseconds since 1970 of a time with this offset in nanoseconds.
fn micros(ts: u64, offset: i64) -> u64 {
    (ts as i64).wrapping_add(offset).div_euclid(1000) as u64
}

/// A node of the schema's tree, in the order of a walk.
struct Element<'e> {
    name: &'e str,
    /// The type of a leaf.
    kind: Option<i32>,
    repetition: Option<i32>,
    children: i32,
    meaning: LogicalType,
}

/// The meaning of a leaf's or a group's values beside their type.
#[derive(Clone, Copy)]
enum LogicalType {
    Nothing,
    Text,
    List,
    Number { bits: u8, signed: bool },
    Micros,
}

const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;

impl Element<'_> {
    fn write(&self, fields: &mut StructWriter<'_>) {
        if let Some(kind) = self.kind {
            fields.i32(1, kind);
        }
        if let Some(repetition) = self.repetition {
            fields.i32(3, repetition);
        }
        fields.binary(4, self.name.as_bytes());
        if self.children > 0 {
            fields.i32(5, self.children);
        }
        match self.meaning {
            LogicalType::Nothing => {}
            LogicalType::Text => {
                fields.i32(6, 0);
                fields.structure(10, |fields| fields.structure(1, |_| ()));
            }
            LogicalType::List => {
                fields.i32(6, 3);
                fields.structure(10, |fields| fields.structure(3, |_| ()));
            }
            LogicalType::Micros => {
                fields.i32(6, 10);
                fields.structure(10, |fields| {
                    fields.structure(8, |fields| {
                        fields.bool(1, true);
                        fields.structure(2, |fields| fields.structure(2, |_| ()));
                    });
                });
            }
            LogicalType::Number { bits, signed } => {
                let size = bits.trailing_zeros() as i32 - 3;
                fields.i32(6, if signed { 15 } else { 11 } + size);
                fields.structure(10, |fields| {
                    fields.structure(10, |fields| {
                        fields.byte(1, bits);
                        fields.bool(2, signed);
                    });
                });
            }
        }
    }
}

/// The schema of a table.
fn elements(columns: &Columns) -> Vec<Element<'_>> {
    let children = columns.len() as i32;
    let root = Element { name: "schema", kind: None, repetition: None, children, meaning: LogicalType::Nothing };
    let mut elements = vec![root];
    let number = |size: u8, signed: bool| {
        let kind = if size == 8 { INT64 } else { INT32 };
        (kind, LogicalType::Number { bits: size * 8, signed })
    };
    for (name, cell) in columns {
        let leaf = |kind, meaning| Element { name, kind: Some(kind), repetition: Some(OPTIONAL), children: 0, meaning };
        match *cell {
            CellType::Bool => elements.push(leaf(cell.physical().0, LogicalType::Nothing)),
            CellType::Time => elements.push(leaf(cell.physical().0, LogicalType::Micros)),
            CellType::Text => elements.push(leaf(BYTE_ARRAY, LogicalType::Text)),
            CellType::Bytes => elements.push(leaf(BYTE_ARRAY, LogicalType::Nothing)),
            CellType::Number { size, signed } => {
                let (kind, meaning) = number(size, signed);
                elements.push(leaf(kind, meaning));
            }
            CellType::List { size, signed } => {
                let (kind, meaning) = number(size, signed);
                let group = |name, repetition, meaning| Element {
                    name,
                    kind: None,
                    repetition: Some(repetition),
                    children: 1,
                    meaning,
                };
                elements.push(group(name, OPTIONAL, LogicalType::List));
                elements.push(group("list", REPEATED, LogicalType::Nothing));
                let element =
                    Element { name: "element", kind: Some(kind), repetition: Some(REQUIRED), children: 0, meaning };
                elements.push(element);
            }
        }
    }
    elements
}
