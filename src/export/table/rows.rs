//! The rows of one table that have not been encoded yet.
//!
//! Copies of the records of one event type, of which columns are made a page at a time: that takes a fraction of the time and
//! memory of adding a cell to each column with each record.
//! Rows of a table on the way to its file.

use super::column::{CellType, Column};
use crate::base::units::{CpuId, Timestamp};
use crate::kernel::event::{Lost, Record};
use std::cmp::Ordering;

/// A table's columns: their names and types.
pub(super) type Columns = [(String, CellType)];

/// Rows that are being gathered.
#[derive(Clone, Debug)]
pub(super) struct TableRows {
    pub(super) columns: Vec<Column>,
    len: usize,
}

impl TableRows {
    pub(super) fn new(columns: &Columns) -> Self {
        TableRows { columns: columns.iter().map(|(_, cell)| Column::new(*cell)).collect(), len: 0 }
    }

    /// No rows, in the memory of the columns in `used`.
    pub(super) fn reusing(used: &mut Vec<Column>, columns: &Columns) -> Self {
        let column = |(_, cell): &(String, CellType)| match used.pop() {
            Some(column) => column.reused(*cell),
            None => Column::new(*cell),
        };
        TableRows { columns: columns.iter().map(column).collect(), len: 0 }
    }

    /// Rows of columns of the same length.
    pub(super) fn of(columns: Vec<Column>) -> Self {
        let len = columns.first().map_or(0, Column::len);
        TableRows { columns, len }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Counts rows, of which each column has got its cells.
    pub(super) fn end_rows(&mut self, count: usize) {
        self.len += count;
    }

    /// No rows of the same table.
    pub(super) fn emptied(&self) -> Self {
        TableRows { columns: self.columns.iter().map(Column::emptied).collect(), len: 0 }
    }

    /// These rows, in this order.
    pub(super) fn pick(&self, rows: &[u32]) -> TableRows {
        TableRows::of(self.columns.iter().map(|column| column.pick(rows)).collect())
    }

    /// The order of rows by these columns, of texts or signed numbers; null comes first.
    pub(super) fn order(&self, by: &[usize]) -> Vec<u32> {
        let columns: Vec<&Column> = by.iter().filter_map(|at| self.columns.get(*at)).collect();
        let compare = |one: &u32, other: &u32| {
            columns.iter().fold(Ordering::Equal, |so_far, column| {
                let (one, other) = (*one as usize, *other as usize);
                so_far
                    .then_with(|| column.text_at(one).cmp(&column.text_at(other)))
                    .then_with(|| (column.number_at(one) as i64).cmp(&(column.number_at(other) as i64)))
            })
        };
        let mut order: Vec<u32> = (0..self.len as u32).collect();
        order.sort_by(compare);
        order
    }

    /// Moves the rows of `later`, which is of the same table, to the end of these.
    pub(super) fn append(&mut self, later: &mut TableRows) {
        self.columns.iter_mut().zip(&mut later.columns).for_each(|(column, later)| column.append(later));
        self.len += std::mem::take(&mut later.len);
    }

    /// Removes the first `rows`; there are at least that number.
    pub(super) fn remove(&mut self, rows: usize) {
        self.len -= rows;
        self.columns.iter_mut().for_each(|column| column.remove(rows));
    }
}

/// The name of the column that says of which recording a row is.
pub(super) const RECORDING: &str = "recording";
/// The name of the column with the time since 1970.
pub(super) const TIME: &str = "time";

/// A file that is to be made.
pub(super) struct TableDescription {
    /// Its path below the directory of all tables.
    pub(super) name: String,
    /// The columns that its rows have.
    pub(super) columns: Vec<(String, CellType)>,
    /// The recording's id, which all rows get; `None` of rows that have it, and their time, themselves.
    pub(super) recording: Option<String>,
    /// Nanoseconds from a row's `ts` to one since 1970, if they are known.
    pub(super) offset: Option<i64>,
}

/// A key and a value of the file's metadata.
pub(super) type TableNote = (&'static str, String);

/// True if the first column is the time of a row.
pub(super) fn has_times(columns: &Columns) -> bool {
    columns.first().is_some_and(|(name, cell)| name == "ts" && *cell == CellType::I64)
}

/// Copies of records, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    heads: Vec<TableRecordHead>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct TableRecordHead {
    timestamp: Timestamp,
    cpu: CpuId,
    buffer: u32,
    len: u32,
}

impl Records {
    /// Adds a copy of `record`; losses before it are not kept.
    #[inline]
    pub(super) fn push(&mut self, record: &Record<'_>) {
        let Record { timestamp, cpu, buffer, data, .. } = *record;
        self.heads.push(TableRecordHead { timestamp, cpu, buffer: buffer as u32, len: data.len() as u32 });
        self.data.extend_from_slice(data);
    }

    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Moves all of `later` to the end of these.
    pub(super) fn append(&mut self, later: &mut Records) {
        self.heads.append(&mut later.heads);
        self.data.append(&mut later.data);
    }

    /// Hands on the first `count`, some at a time; there are at least that number.
    pub(super) fn front(&self, count: usize, mut some: impl FnMut(&[Record<'_>])) {
        // Few enough for the nearest cache, as each column looks at all of them.
        const TOGETHER: usize = 256;
        let mut rest = self.data.as_slice();
        let mut records = Vec::with_capacity(count.min(TOGETHER));
        for heads in self.heads[..count].chunks(TOGETHER) {
            records.clear();
            records.extend(heads.iter().map(|&TableRecordHead { timestamp, cpu, buffer, len }| {
                let (data, after) = rest.split_at_checked(len as usize).unwrap_or_default();
                rest = after;
                Record { timestamp, cpu, buffer: buffer as usize, lost: Lost::None, data }
            }));
            some(&records);
        }
    }

    /// Removes the first `count`; there are at least that number.
    pub(super) fn remove(&mut self, count: usize) {
        let bytes: usize = self.heads.drain(..count).map(|head| head.len as usize).sum();
        self.data.drain(..bytes);
    }
}

/// Rows, or records of which rows are made.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Records(Records),
    Rows(TableRows),
}

/// Rows to be added.
pub(super) enum AddedRows<'r> {
    Records(&'r mut Records),
    Rows(&'r mut TableRows),
}

impl AddedRows<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            AddedRows::Records(records) => records.len(),
            AddedRows::Rows(rows) => rows.len(),
        }
    }

    /// A piece without rows.
    pub(super) fn emptied(&self) -> Piece {
        match self {
            AddedRows::Records(_) => Piece::Records(Records::default()),
            AddedRows::Rows(rows) => Piece::Rows(rows.emptied()),
        }
    }
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Piece::Records(records) => records.len(),
            Piece::Rows(rows) => rows.len(),
        }
    }

    /// Moves all of `rows`, which are of the same table, to the end of this one.
    pub(super) fn add(&mut self, rows: &mut AddedRows<'_>) {
        match (self, rows) {
            (Piece::Records(records), AddedRows::Records(later)) => records.append(later),
            (Piece::Rows(rows), AddedRows::Rows(later)) => rows.append(later),
            (Piece::Records(_), AddedRows::Rows(_)) | (Piece::Rows(_), AddedRows::Records(_)) => {
                unreachable!("a table has rows or records, not both")
            }
        }
    }

    /// Moves all of `later`, which is of the same table, to the end of this one.
    pub(super) fn append(&mut self, later: &mut Piece) {
        if self.len() == 0 {
            return std::mem::swap(self, later);
        }
        match later {
            Piece::Records(records) => self.add(&mut AddedRows::Records(records)),
            Piece::Rows(rows) => self.add(&mut AddedRows::Rows(rows)),
        }
    }

    /// Removes the first `rows`; there are at least that number.
    pub(super) fn remove(&mut self, rows: usize) {
        match self {
            Piece::Records(records) => records.remove(rows),
            Piece::Rows(own) => own.remove(rows),
        }
    }
}
