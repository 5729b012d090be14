//! A table's file, read a row group and in it a page at a time.

use super::fields::{TableReadError, strange};
use super::footer::TableFooter;
use super::pages::{ChunkPages, PageUnpacker};
use crate::export::table::rows::TableRows;
use std::io::{Read, Seek, SeekFrom};

/// A Parquet file that this program wrote. In memory are the packed bytes of one row group, and the rows of a page.
pub(in crate::export::table) struct TableReader<R> {
    source: R,
    pub(in crate::export::table) footer: TableFooter,
    /// The number of the next row group.
    next: usize,
    open: Vec<ChunkPages>,
    /// Rows of the open row group that are still to come.
    left: u64,
    unpacker: PageUnpacker,
}

impl<R: Read + Seek> TableReader<R> {
    /// Reads the footer.
    pub(in crate::export::table) fn open(mut source: R) -> Result<Self, TableReadError> {
        let footer = TableFooter::read(&mut source)?;
        Ok(TableReader { source, footer, next: 0, open: Vec::new(), left: 0, unpacker: PageUnpacker::new() })
    }

    /// The next rows, a page of them; `None` after the last.
    pub(in crate::export::table) fn rows(&mut self) -> Result<Option<TableRows>, TableReadError> {
        while self.left == 0 {
            let Some(group) = self.footer.groups.get(self.next) else { return Ok(None) };
            self.next += 1;
            self.left = group.rows;
            self.open.clear();
            for ((at, size), (_, cell)) in group.chunks.iter().zip(&self.footer.columns) {
                let mut bytes = vec![0; *size as usize];
                self.source.seek(SeekFrom::Start(*at))?;
                self.source.read_exact(&mut bytes)?;
                self.open.push(ChunkPages::new(*cell, bytes));
            }
        }
        let mut columns = Vec::with_capacity(self.open.len());
        for chunk in &mut self.open {
            columns.push(chunk.next(&mut self.unpacker)?);
        }
        let count = columns.first().map_or(0, |column| column.len());
        if count == 0 || columns.iter().any(|column| column.len() != count) {
            return Err(strange("the pages of its columns do not go together"));
        }
        self.left = self.left.checked_sub(count as u64).ok_or(strange("a row group has too many rows"))?;
        Ok(Some(TableRows::of(columns)))
    }
}
