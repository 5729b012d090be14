//! Rows of a table on the way to its file.

use super::records::Records;
use super::rows::Rows;

/// Rows, or records of which rows are made.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Records(Records),
    Rows(Rows),
}

/// Rows to be added.
pub(super) enum Added<'r> {
    Records(&'r mut Records),
    Rows(&'r mut Rows),
}

impl Added<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Added::Records(records) => records.len(),
            Added::Rows(rows) => rows.len(),
        }
    }

    /// A piece without rows.
    pub(super) fn emptied(&self) -> Piece {
        match self {
            Added::Records(_) => Piece::Records(Records::default()),
            Added::Rows(rows) => Piece::Rows(rows.emptied()),
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
    pub(super) fn add(&mut self, rows: &mut Added<'_>) {
        match (self, rows) {
            (Piece::Records(records), Added::Records(later)) => records.append(later),
            (Piece::Rows(rows), Added::Rows(later)) => rows.append(later),
            (Piece::Records(_), Added::Rows(_)) | (Piece::Rows(_), Added::Records(_)) => {
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
            Piece::Records(records) => self.add(&mut Added::Records(records)),
            Piece::Rows(rows) => self.add(&mut Added::Rows(rows)),
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
