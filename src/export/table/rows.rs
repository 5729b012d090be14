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
