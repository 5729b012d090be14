//! Rows of a table on the way to its file.

use super::records::Records;
use super::rows::Rows;

/// Rows, or records of which rows are made.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Records(Records),
    Rows(Rows),
}

impl From<Records> for Piece {
    fn from(records: Records) -> Self {
        Piece::Records(records)
    }
}

impl From<Rows> for Piece {
    fn from(rows: Rows) -> Self {
        Piece::Rows(rows)
    }
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Piece::Records(records) => records.len(),
            Piece::Rows(rows) => rows.len(),
        }
    }

    /// None of the same table.
    pub(super) fn emptied(&self) -> Piece {
        match self {
            Piece::Records(_) => Piece::Records(Records::default()),
            Piece::Rows(rows) => Piece::Rows(rows.emptied()),
        }
    }

    /// Moves all of `later`, which is of the same table, to the end of this one.
    pub(super) fn append(&mut self, later: &mut Piece) {
        if self.len() == 0 {
            return std::mem::swap(self, later);
        }
        match (self, later) {
            (Piece::Records(records), Piece::Records(later)) => records.append(later),
            (Piece::Rows(rows), Piece::Rows(later)) => rows.append(later),
            // Tables keep to one kind.
            (Piece::Records(_), Piece::Rows(_)) | (Piece::Rows(_), Piece::Records(_)) => {}
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
