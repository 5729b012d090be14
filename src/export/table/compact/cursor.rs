//! The rows of an input, as rows of the part.

use super::columns::{HOST, TableColumns};
use crate::export::table::column::{CellType, Column};
use crate::export::table::parquet::{TableReadError, TableReader};
use crate::export::table::rows::TableRows;
use std::io::{Read, Seek};

/// An input that is being read.
pub(super) struct PartCursor<R> {
    reader: TableReader<R>,
    /// The machine's name; `None` of a part, which has a column of them.
    host: Option<Option<String>>,
    /// For each of the part's columns but `host` the input's, if it has that.
    places: Vec<(CellType, Option<usize>)>,
    of_host: Option<usize>,
    /// The rows of a page, of which those before `at` are taken.
    page: TableRows,
    at: usize,
}

impl<R: Read + Seek> PartCursor<R> {
    /// Opens an input of a part with these columns.
    pub(super) fn open(
        source: R,
        host: Option<Option<String>>,
        columns: &TableColumns,
    ) -> Result<Self, TableReadError> {
        let reader = TableReader::open(source)?;
        let footer = &reader.footer;
        let own = TableColumns::of(&footer.columns, false).0;
        // A part's `host` is called `field_host` by now, as is that of an event.
        let of_host = footer.columns.iter().position(|(name, _)| name == HOST).filter(|_| host.is_none());
        let place = |(name, cell): &(String, CellType)| {
            let at = own.iter().enumerate().position(|(at, (own, _))| own == name && of_host != Some(at));
            (*cell, at)
        };
        let places = columns.0.iter().map(place).collect();
        Ok(PartCursor { reader, host, places, of_host, page: TableRows::of(Vec::new()), at: 0 })
    }

    /// Reads the next page where this one has been taken; false: there is none.
    pub(super) fn fill(&mut self) -> Result<bool, TableReadError> {
        if self.at < self.page.len() {
            return Ok(true);
        }
        let Some(rows) = self.reader.rows()? else { return Ok(false) };
        let count = rows.len();
        let mut columns: Vec<Option<Column>> = rows.columns.into_iter().map(Some).collect();
        let mut take = |at: Option<usize>| at.and_then(|at| columns.get_mut(at)).and_then(Option::take);
        let host = match (&self.host, take(self.of_host)) {
            (None, Some(hosts)) => hosts,
            (host, _) => Column::constant(host.as_ref().and_then(Option::as_deref).map(str::as_bytes), count),
        };
        let mut page: Vec<Column> = Vec::with_capacity(self.places.len() + 1);
        for (cell, at) in &self.places {
            page.push(take(*at).map_or_else(|| Column::nulls(*cell, count), |column| column.retyped(*cell)));
        }
        page.push(host);
        (self.page, self.at) = (TableRows::of(page), 0);
        Ok(true)
    }

    /// The machine of the next row.
    pub(super) fn next_host(&self) -> Option<&[u8]> {
        self.page.columns.last().and_then(|hosts| hosts.text_at(self.at))
    }

    /// Takes the next rows that are of one machine.
    pub(super) fn take(&mut self) -> TableRows {
        let same = |row: &usize| self.page.columns.last().is_some_and(|hosts| hosts.text_at(*row) == self.next_host());
        let end = (self.at..self.page.len()).take_while(same).last().map_or(self.at, |last| last + 1);
        let from = std::mem::replace(&mut self.at, end);
        if from == 0 && end == self.page.len() {
            self.at = 0;
            return std::mem::replace(&mut self.page, TableRows::of(Vec::new()));
        }
        self.page.pick(&(from as u32..end as u32).collect::<Vec<_>>())
    }
}
