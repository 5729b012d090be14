//! Columns as Arrow's arrays.

use super::column::{CellType, Column, ColumnFront};
use super::rows::{Columns, TableRows};
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use std::sync::Arc;

/// The schema of a table.
pub(super) fn schema(columns: &Columns) -> Arc<Schema> {
    let field = |(name, cell): &(String, CellType)| Field::new(name, data_type(*cell), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Takes the first `count` rows; there are at least that number.
pub(super) fn take(rows: &mut TableRows, count: usize, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
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
