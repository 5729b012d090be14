//! Rows of a table on the way to its file.

use super::records::Records;
use super::rows::TableRows;

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
