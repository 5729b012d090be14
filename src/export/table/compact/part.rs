//! A part that is being written.

use super::columns::{HOST, TableColumns};
use super::cursor::PartCursor;
use super::summary::{INPUTS, PartInput, REPLACES};
use crate::export::table::column::{CellType, Column};
use crate::export::table::parquet::{PageCodec, ParquetWriter, TableReadError};
use crate::export::table::rows::{RECORDING, TableRows, has_times};
use std::io::{self, Read, Seek, Write};

/// Row groups are closed at this number of rows, or bytes of their columns in memory.
const ROWS: usize = 1 << 17;
const BYTES: usize = 1 << 25;
/// Rows of a page.
const PAGE: usize = 2048;

/// Writes a part to `W`. In memory are the rows of a row group, and of each open input a row group's packed bytes.
pub struct TablePartWriter<W> {
    out: W,
    writer: ParquetWriter,
    codec: PageCodec,
    columns: TableColumns,
    /// The columns in whose order the rows of a row group are.
    order: Vec<usize>,
    gathered: TableRows,
    rows: u64,
}

impl<W: Write> TablePartWriter<W> {
    /// A part without rows.
    ///
    /// # Errors
    /// If there is no memory for the codec.
    pub fn new(columns: &TableColumns, out: W) -> io::Result<Self> {
        let mut all = columns.0.clone();
        all.push((HOST.to_owned(), CellType::Text));
        let second = if has_times(&all) { Some(0) } else { all.iter().position(|(name, _)| name == RECORDING) };
        let order = std::iter::once(all.len() - 1).chain(second).collect();
        let (gathered, columns) = (TableRows::new(&all), columns.clone());
        Ok(TablePartWriter {
            out,
            writer: ParquetWriter::in_groups(all),
            codec: PageCodec::new()?,
            columns,
            order,
            gathered,
            rows: 0,
        })
    }

    /// Adds the rows of parts, and of files that `convert` wrote, each with its machine's name; all are in the order of
    /// machines. Each file is opened when its turn has come.
    ///
    /// # Errors
    /// [`TableReadError`] of an input, or of writing.
    pub fn merge<R: Read + Seek>(
        &mut self,
        parts: impl IntoIterator<Item = R>,
        files: impl IntoIterator<Item = Result<(R, Option<String>), TableReadError>>,
    ) -> Result<(), TableReadError> {
        let columns = &self.columns;
        let mut open = Vec::new();
        for part in parts {
            open.push(PartCursor::open(part, None, columns)?);
        }
        let mut files = files.into_iter();
        let mut file: Option<PartCursor<R>> = None;
        loop {
            for at in (0..open.len()).rev() {
                if !open[at].fill()? {
                    open.remove(at);
                }
            }
            while file.as_mut().map(PartCursor::fill).transpose()? != Some(true) {
                let Some(next) = files.next() else {
                    file = None;
                    break;
                };
                let (source, host) = next?;
                file = Some(PartCursor::open(source, Some(host), &self.columns)?);
            }
            let next = open.iter_mut().chain(&mut file).min_by(|one, other| one.next_host().cmp(&other.next_host()));
            let Some(next) = next else { return Ok(()) };
            self.gathered.append(&mut next.take());
            if self.gathered.len() >= ROWS || self.gathered.columns.iter().map(Column::weight).sum::<usize>() >= BYTES {
                self.end_group()?;
            }
        }
    }

    /// The number of bytes that were written.
    pub fn size(&self) -> u64 {
        self.writer.size()
    }

    /// The number of rows that were added.
    pub fn rows(&self) -> u64 {
        self.rows + self.gathered.len() as u64
    }

    /// Writes the gathered rows as a row group.
    fn end_group(&mut self) -> Result<(), TableReadError> {
        let none = self.gathered.emptied();
        let rows = std::mem::replace(&mut self.gathered, none);
        self.rows += rows.len() as u64;
        let order = rows.order(&self.order);
        for page in order.chunks(PAGE) {
            self.writer.write(&rows.pick(page), page.len(), &mut self.codec)?;
        }
        self.writer.end_group(&self.order, &mut self.codec)?;
        self.out.write_all(&self.writer.take())?;
        Ok(())
    }

    /// Ends it: `inputs` are in it, and it takes the place of the parts `replaces`. Gives the output and the number of bytes.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(mut self, inputs: &[PartInput], replaces: &[String]) -> Result<(W, u64), TableReadError> {
        self.end_group()?;
        let text = |value: serde_json::Result<String>| value.map_err(io::Error::from);
        let notes =
            [(INPUTS, text(serde_json::to_string(inputs))?), (REPLACES, text(serde_json::to_string(replaces))?)];
        let before = self.writer.size();
        let last = self.writer.finish(&notes, &mut self.codec)?;
        self.out.write_all(&last)?;
        self.out.flush()?;
        Ok((self.out, before + last.len() as u64))
    }
}
