//! The rows of one table that have not been encoded yet.

use super::column::{CellType, Column};

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
