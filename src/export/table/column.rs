//! A column that is being filled.

use crate::export::csv;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, ListArray, PrimitiveArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// A number of `size` bytes: 1, 2, 4 or 8.
    Number { size: u8, signed: bool },
    /// True or false.
    Bool,
    /// Text; bytes that are not UTF-8 stand as `\xNN`.
    Text,
    /// Bytes.
    Bytes,
    /// Numbers of `size` bytes.
    List { size: u8, signed: bool },
}

impl Cell {
    pub(super) const I64: Cell = Cell::Number { size: 8, signed: true };
    pub(super) const I32: Cell = Cell::Number { size: 4, signed: true };
    pub(super) const U64: Cell = Cell::Number { size: 8, signed: false };

    pub(super) fn data_type(self) -> DataType {
        match self {
            Cell::Number { size, signed } => number_type(size, signed),
            Cell::Bool => DataType::Boolean,
            Cell::Text => DataType::Utf8,
            Cell::Bytes => DataType::Binary,
            Cell::List { size, signed } => DataType::List(item(size, signed)),
        }
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

/// Cells of one type, to which more are added; any number of the first ones can be taken as an array.
#[derive(Clone, Debug)]
pub(super) struct Column {
    cell: Cell,
    /// Per row: whether there is a value.
    valid: Vec<bool>,
    /// One per row, or all of the lists.
    numbers: Vec<u64>,
    /// Of text, bytes and lists, per row: the end of its bytes or numbers.
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Column {
    pub(super) fn new(cell: Cell) -> Self {
        Column { cell, valid: Vec::new(), numbers: Vec::new(), ends: Vec::new(), bytes: Vec::new() }
    }

    pub(super) fn null(&mut self) {
        self.valid.push(false);
        match self.cell {
            Cell::Number { .. } | Cell::Bool => self.numbers.push(0),
            Cell::Text | Cell::Bytes => self.ends.push(self.bytes.len() as i32),
            Cell::List { .. } => self.ends.push(self.numbers.len() as i32),
        }
    }

    /// A number, of whatever sign, or a truth value.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        self.valid.push(true);
        self.numbers.push(number);
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        csv::text(&mut self.bytes, text);
        self.valid.push(true);
        self.ends.push(self.bytes.len() as i32);
    }

    pub(super) fn text_or_null(&mut self, text: Option<&[u8]>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.valid.push(true);
        self.ends.push(self.bytes.len() as i32);
    }

    pub(super) fn list(&mut self, numbers: impl Iterator<Item = u64>) {
        self.numbers.extend(numbers);
        self.valid.push(true);
        self.ends.push(self.numbers.len() as i32);
    }

    /// Moves all cells of `later`, which is of the same type, to the end of this one.
    pub(super) fn append(&mut self, later: &mut Column) {
        let base = match self.cell {
            Cell::List { .. } => self.numbers.len(),
            _ => self.bytes.len(),
        } as i32;
        self.ends.extend(later.ends.drain(..).map(|end| end.saturating_add(base)));
        self.valid.append(&mut later.valid);
        self.numbers.append(&mut later.numbers);
        self.bytes.append(&mut later.bytes);
    }

    /// Takes the first `rows` cells; the column has at least that number.
    pub(super) fn take(&mut self, rows: usize) -> ArrayRef {
        let valid: Vec<bool> = self.valid.drain(..rows).collect();
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
        match self.cell {
            Cell::Number { size, signed } => numbers(self.numbers.drain(..rows), size, signed, nulls),
            Cell::Bool => {
                let values: Vec<bool> = self.numbers.drain(..rows).map(|number| number != 0).collect();
                Arc::new(BooleanArray::new(values.into(), nulls))
            }
            Cell::Text | Cell::Bytes => {
                let (offsets, end) = self.offsets(rows);
                let bytes = Buffer::from_vec(self.bytes.drain(..end).collect::<Vec<u8>>());
                match self.cell {
                    Cell::Bytes => Arc::new(BinaryArray::new(offsets, bytes, nulls)),
                    // Only UTF-8 was put in.
                    _ => Arc::new(StringArray::new(offsets, bytes, nulls)),
                }
            }
            Cell::List { size, signed } => {
                let (offsets, end) = self.offsets(rows);
                let values = numbers(self.numbers.drain(..end), size, signed, None);
                Arc::new(ListArray::new(item(size, signed), offsets, values, nulls))
            }
        }
    }

    /// The offsets of the first `rows` cells, and the end of the last one.
    fn offsets(&mut self, rows: usize) -> (OffsetBuffer<i32>, usize) {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        offsets.extend(self.ends.drain(..rows));
        let end = offsets.last().copied().unwrap_or_default();
        self.ends.iter_mut().for_each(|later| *later -= end);
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), end as usize)
    }
}

fn numbers(values: impl Iterator<Item = u64>, size: u8, signed: bool, nulls: Option<NullBuffer>) -> ArrayRef {
    fn array<T: ArrowPrimitiveType>(values: impl Iterator<Item = T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(values.collect::<Vec<_>>().into(), nulls))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    #[test]
    fn cells_are_taken_from_the_front_of_what_was_joined() {
        let mut text = Column::new(Cell::Text);
        text.text(b"one");
        text.null();
        let mut later = Column::new(Cell::Text);
        later.text(b"a\xff");
        later.text(b"b");
        text.append(&mut later);
        let first = text.take(3);
        let first = first.as_string::<i32>();
        assert_eq!([first.value(0), first.value(2)], ["one", "a\\xff"]);
        assert!(first.is_null(1) && first.null_count() == 1);
        assert_eq!(text.take(1).as_string::<i32>().value(0), "b");

        let mut list = Column::new(Cell::List { size: 2, signed: true });
        list.list([1, u64::MAX].into_iter());
        list.null();
        list.list([3].into_iter());
        assert_eq!(list.take(1).as_list::<i32>().value(0).as_primitive::<Int16Type>().values(), &[1, -1]);
        let rest = list.take(2);
        assert!(rest.is_null(0));
        assert_eq!(rest.as_list::<i32>().value(1).as_primitive::<Int16Type>().values(), &[3]);
    }
}
