//! The rows of one table that have not been encoded yet.

use super::column::{Cell, Column};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Field, Schema};
use std::sync::Arc;

/// A table's columns: their names and types.
pub(super) type Columns = [(String, Cell)];

/// The schema of a table.
pub(super) fn schema(columns: &Columns) -> Arc<Schema> {
    let field = |(name, cell): &(String, Cell)| Field::new(name, cell.data_type(), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Rows that are being gathered.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) columns: Vec<Column>,
    len: usize,
}

impl Rows {
    pub(super) fn new(columns: &Columns) -> Self {
        Rows { columns: columns.iter().map(|(_, cell)| Column::new(*cell)).collect(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Counts a row, of which each column has got its cell.
    pub(super) fn end_row(&mut self) {
        self.len += 1;
    }

    /// Moves the rows of `later`, which is of the same table, to the end of these.
    pub(super) fn append(&mut self, later: &mut Rows) {
        self.columns.iter_mut().zip(&mut later.columns).for_each(|(column, later)| column.append(later));
        self.len += std::mem::take(&mut later.len);
    }

    /// Takes the first `rows`; there are at least that number.
    pub(super) fn take(&mut self, rows: usize, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        self.len -= rows;
        let arrays = self.columns.iter_mut().map(|column| column.take(rows)).collect();
        RecordBatch::try_new(Arc::clone(schema), arrays)
    }
}
