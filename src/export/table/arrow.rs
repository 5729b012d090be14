//! Arrow's IPC stream: all events in the order of time, in one table that has every field of any of them.
//! Columns as Arrow's arrays.

use super::column::{CellType, Column, ColumnFront};
use super::event_table::{EventTable, FIXED};
use super::rows::{Columns, TableRows};
use crate::base::abi::Abi;
use crate::export::Exporter;
use crate::kernel::event::{Common, Consumed, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use crate::read::merge::ahead::Commit;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Rows that are encoded together.
const BATCH: usize = 8192;

/// One of the buffers whose records come.
pub struct ArrowBuffer<'t> {
    /// The formats of the events that come: their fields are the columns.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// The task names of the buffer's file.
    pub comms: &'t Comms,
    /// The instance's name; `None` for the top buffer.
    pub instance: Option<&'t str>,
    /// The value of the column `source`: the file's label, when there are several files.
    pub source: Option<&'t str>,
}

/// Writes one stream of record batches. A field that an event does not have is null; fields of one name and type share a
/// column, others of that name are called `EVENT.FIELD`.
pub struct Arrow<'t> {
    buffers: Vec<ArrowTypes<'t>>,
    schema: Arc<Schema>,
    columns: Vec<(String, CellType)>,
}

struct ArrowTypes<'t> {
    what: ArrowBuffer<'t>,
    common: Common,
    /// By event id.
    types: BTreeMap<u16, ArrowType>,
}

struct ArrowType {
    table: EventTable,
    /// `system:name`.
    name: String,
    /// Per column of the table after the fixed ones: the stream's column.
    places: Vec<usize>,
    /// The stream's columns that it has not.
    absent: Vec<usize>,
}

/// Rows that have not been encoded.
pub struct ArrowState {
    rows: TableRows,
    scratch: Vec<u8>,
    /// The stream; none ahead of a segment's turn.
    stream: Option<Result<StreamWriter<Vec<u8>>, ArrowError>>,
}

impl ArrowState {
    /// Why the stream is not whole, if it is not.
    pub fn failed(&self) -> Option<String> {
        self.stream.as_ref()?.as_ref().err().map(ToString::to_string)
    }
}

impl<'t> Arrow<'t> {
    /// An exporter for records of these buffers: [`Record::buffer`] is an index into them.
    pub fn new(buffers: Vec<ArrowBuffer<'t>>) -> Self {
        let mut columns: Vec<(String, CellType)> =
            FIXED.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect();
        columns.push(("event".to_owned(), CellType::Text));
        columns.push(("source".to_owned(), CellType::Text));
        let mut by_name: HashMap<String, usize> =
            columns.iter().enumerate().map(|(place, (name, _))| (name.to_ascii_lowercase(), place)).collect();
        let mut buffers: Vec<ArrowTypes<'t>> =
            buffers.into_iter().map(|what| ArrowTypes::new(what, &mut columns, &mut by_name)).collect();
        let all = FIXED.len() + 2..columns.len();
        for of in buffers.iter_mut().flat_map(|buffer| buffer.types.values_mut()) {
            let places: HashSet<usize> = of.places.iter().copied().collect();
            of.absent = all.clone().filter(|column| !places.contains(column)).collect();
        }
        Arrow { buffers, schema: schema(&columns), columns }
    }

    /// Encodes all that fills a batch, at the `end` the rest too.
    fn encode(&self, state: &mut ArrowState, end: bool, out: &mut Vec<u8>) {
        while state.rows.len() >= BATCH || end && state.rows.len() > 0 {
            let Some(Ok(stream)) = &mut state.stream else { return };
            let count = state.rows.len().min(BATCH);
            let batch = take(&mut state.rows, count, &self.schema);
            if let Err(error) = batch.and_then(|batch| stream.write(&batch)) {
                state.stream = Some(Err(error));
                return;
            }
            out.append(stream.get_mut());
        }
    }
}

impl<'t> ArrowTypes<'t> {
    /// Adds the columns that the buffer's events need to `columns`; `by_name` finds the first of a name, in lower case.
    fn new(what: ArrowBuffer<'t>, columns: &mut Vec<(String, CellType)>, by_name: &mut HashMap<String, usize>) -> Self {
        let mut types = BTreeMap::new();
        for format in &what.formats {
            let table = EventTable::new(format, what.abi);
            let mut places: Vec<usize> = Vec::new();
            let mut own_places: HashSet<usize> = HashSet::new();
            for (name, cell) in table.columns.iter().skip(FIXED.len()) {
                let full = format!("{}.{name}", format.name);
                let place = |name: &str| by_name.get(&name.to_ascii_lowercase()).copied();
                let fits = |place: usize| columns.get(place).is_some_and(|column| column.1 == *cell);
                let own = [name.as_str(), full.as_str()].into_iter().find_map(|name| match place(name) {
                    None => Some((name.to_owned(), None)),
                    Some(place) if fits(place) && !own_places.contains(&place) => Some((name.to_owned(), Some(place))),
                    Some(_) => None,
                });
                let (name, place) = own.unwrap_or_else(|| (format!("{}.{full}", format.system), None));
                places.push(place.unwrap_or(columns.len()));
                own_places.insert(place.unwrap_or(columns.len()));
                if place.is_none() {
                    by_name.entry(name.to_ascii_lowercase()).or_insert(columns.len());
                    columns.push((name, *cell));
                }
            }
            let name = format!("{}:{}", format.system, format.name);
            types.insert(format.id.0, ArrowType { table, name, places, absent: Vec::new() });
        }
        let common = what.formats.first().map(|format| Common::of(format)).unwrap_or_default();
        ArrowTypes { what, common, types }
    }
}

impl Exporter for Arrow<'_> {
    type State = ArrowState;

    fn state(&self) -> ArrowState {
        let stream = Some(StreamWriter::try_new(Vec::new(), &self.schema));
        ArrowState { rows: TableRows::new(&self.columns), scratch: Vec::new(), stream }
    }

    fn begin(&self, state: &mut ArrowState, out: &mut Vec<u8>) {
        if let Some(Ok(stream)) = &mut state.stream {
            out.append(stream.get_mut());
        }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut ArrowState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let ArrowTypes { what, common, types } = &self.buffers[record.buffer];
        let id = common.event_id(what.abi, record.data);
        // An event that no format describes has no columns, and is reported as damage.
        let Some(ArrowType { table, name, places, absent }) = types.get(&id) else { return Consumed::One };
        let ArrowState { rows, scratch, .. } = state;
        let (fixed, others) = rows.columns.split_at_mut(FIXED.len());
        let record = std::slice::from_ref(record);
        table.fixed(record, what.comms, |_| what.instance, fixed);
        if let [event, source, ..] = others {
            event.text(name.as_bytes());
            source.text_or_null(what.source.map(str::as_bytes));
        }
        table.own(record, &mut rows.columns, |column| places[column], scratch);
        absent.iter().for_each(|column| rows.columns[*column].null());
        rows.end_rows(1);
        if state.stream.is_some() {
            self.encode(state, false, out);
        }
        Consumed::One
    }

    fn end(&self, state: &mut ArrowState, out: &mut Vec<u8>) {
        self.encode(state, true, out);
        if let Some(Ok(stream)) = &mut state.stream {
            match stream.finish() {
                Ok(()) => out.append(stream.get_mut()),
                Err(error) => state.stream = Some(Err(error)),
            }
        }
    }

    fn fork(&self, _: &ArrowState, used: Option<ArrowState>) -> ArrowState {
        let used = used.filter(|used| used.rows.len() == 0).map(|used| used.rows);
        ArrowState { rows: used.unwrap_or_else(|| TableRows::new(&self.columns)), scratch: Vec::new(), stream: None }
    }

    fn commit(&self, known: &mut ArrowState, done: &mut ArrowState, out: &mut Vec<u8>) -> Commit {
        known.rows.append(&mut done.rows);
        self.encode(known, false, out);
        Commit::Accept
    }
}

/// The schema of a table.
fn schema(columns: &Columns) -> Arc<Schema> {
    let field = |(name, cell): &(String, CellType)| Field::new(name, data_type(*cell), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Takes the first `count` rows; there are at least that number.
fn take(rows: &mut TableRows, count: usize, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    let arrays = rows.columns.iter().map(|column| array(column, count)).collect();
    rows.remove(count);
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

fn data_type(cell: CellType) -> DataType {
    match cell {
        CellType::Number { size, signed } => number_type(size, signed),
        CellType::Bool => DataType::Boolean,
        CellType::Text => DataType::Utf8,
        CellType::Bytes => DataType::Binary,
        CellType::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        CellType::List { size, signed } => DataType::List(item(size, signed)),
    }
}

fn number_type(size: u8, signed: bool) -> DataType {
    match (size, signed) {
        (1, false) => DataType::UInt8,
        (2, false) => DataType::UInt16,
        (4, false) => DataType::UInt32,
        (_, false) => DataType::UInt64,
        (1, true) => DataType::Int8,
        (2, true) => DataType::Int16,
        (4, true) => DataType::Int32,
        (_, true) => DataType::Int64,
    }
}

fn item(size: u8, signed: bool) -> Arc<Field> {
    Arc::new(Field::new("item", number_type(size, signed), true))
}

/// The first `rows` cells of a column.
fn array(column: &Column, rows: usize) -> ArrayRef {
    let front = column.front(rows);
    let ColumnFront { numbers: values, ends, .. } = front;
    let nulls = (front.nulls() > 0).then(|| NullBuffer::from(front.valid().collect::<Vec<_>>()));
    let offsets = || {
        let offsets: Vec<i32> = std::iter::once(0).chain(ends.iter().copied()).collect();
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    };
    match column.cell() {
        CellType::Number { size, signed } => numbers(values, size, signed, nulls),
        CellType::Bool => {
            let values: Vec<bool> = values.iter().map(|number| *number != 0).collect();
            Arc::new(BooleanArray::new(values.into(), nulls))
        }
        CellType::Time => {
            let times: Vec<i64> = values.iter().map(|time| *time as i64).collect();
            Arc::new(TimestampMicrosecondArray::new(times.into(), nulls).with_timezone("UTC"))
        }
        CellType::Bytes => Arc::new((0..rows).map(|row| column.text_at(row)).collect::<BinaryArray>()),
        CellType::Text => {
            // Only UTF-8 was put in.
            let text = |row| column.text_at(row).map(|text| str::from_utf8(text).unwrap_or_default());
            Arc::new((0..rows).map(text).collect::<StringArray>())
        }
        CellType::List { size, signed } => {
            Arc::new(ListArray::new(item(size, signed), offsets(), numbers(values, size, signed, None), nulls))
        }
    }
}

fn numbers(values: &[u64], size: u8, signed: bool, nulls: Option<NullBuffer>) -> ArrayRef {
    fn array<T: ArrowPrimitiveType>(values: impl Iterator<Item = T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(values.collect::<Vec<_>>().into(), nulls))
    }
    let values = values.iter().copied();
    match (size, signed) {
        (1, false) => array::<UInt8Type>(values.map(|n| n as u8), nulls),
        (2, false) => array::<UInt16Type>(values.map(|n| n as u16), nulls),
        (4, false) => array::<UInt32Type>(values.map(|n| n as u32), nulls),
        (_, false) => array::<UInt64Type>(values, nulls),
        (1, true) => array::<Int8Type>(values.map(|n| n as i8), nulls),
        (2, true) => array::<Int16Type>(values.map(|n| n as i16), nulls),
        (4, true) => array::<Int32Type>(values.map(|n| n as i32), nulls),
        (_, true) => array::<Int64Type>(values.map(|n| n as i64), nulls),
    }
}
