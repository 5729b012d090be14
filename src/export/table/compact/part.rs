//! A part that is being written.
//! The rows of an input, as rows of the part.

use super::columns::{HOST, INPUTS, PartInput, REPLACES, TableColumns};
use crate::export::table::column::{CellType, Column};
use crate::export::table::parquet::{PageCodec, ParquetWriter, TableReadError, TableReader};
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

/// An input that is being read.
struct PartCursor<R> {
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
    fn open(source: R, host: Option<Option<String>>, columns: &TableColumns) -> Result<Self, TableReadError> {
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
    fn fill(&mut self) -> Result<bool, TableReadError> {
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
    fn next_host(&self) -> Option<&[u8]> {
        self.page.columns.last().and_then(|hosts| hosts.text_at(self.at))
    }

    /// Takes the next rows that are of one machine.
    fn take(&mut self) -> TableRows {
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

#[cfg(test)]
mod tests {
    use super::super::columns::TableSummary;
    use super::*;
    use std::io::Cursor;

    /// A part of one part with numbers, texts, lists and nulls.
    fn part() -> Vec<u8> {
        let cells = [("ts", CellType::I64), ("n", CellType::List { size: 4, signed: true }), ("s", CellType::Text)];
        let columns = TableColumns(cells.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect());
        let mut rows = TableRows::new(&[]);
        rows.columns = cells.iter().map(|(_, cell)| Column::new(*cell)).collect();
        for row in 0..100u64 {
            rows.columns[0].number(1000 - row);
            if row % 3 == 0 {
                rows.columns[1].null()
            } else {
                rows.columns[1].list((0..row % 5).map(|n| n << (row % 30)))
            }
            if row % 7 == 0 { rows.columns[2].null() } else { rows.columns[2].text(format!("t{}", row % 4).as_bytes()) }
        }
        rows.columns.push(Column::constant(Some(b"web1"), 100));
        let mut part = TablePartWriter::new(&columns, Vec::new()).expect("a part");
        part.gathered = TableRows::of(rows.columns);
        part.finish(&[PartInput::default()], &[]).expect("a part").0
    }

    #[test]
    fn a_part_reads_back_in_the_order_of_times() {
        let bytes = part();
        let mut again =
            TablePartWriter::new(&TableSummary::read(Cursor::new(&bytes)).expect("a part").columns, Vec::new())
                .expect("a part");
        again.merge([Cursor::new(&bytes)], []).expect("rows");
        assert_eq!(again.gathered.len(), 100);
        let times: Vec<u64> = (0..100).map(|row| again.gathered.columns[0].number_at(row)).collect();
        assert_eq!(times, (901..=1000).collect::<Vec<_>>());
        assert_eq!(again.gathered.columns[2].text_at(99), None);
        assert_eq!(again.gathered.columns[2].text_at(98), Some(&b"t1"[..]));
        // The same rows and metadata are the same bytes.
        assert!(again.finish(&[PartInput::default()], &[]).expect("a part").0 == bytes);
    }

    #[test]
    fn any_change_of_a_byte_is_read_or_refused() {
        let bytes = part();
        let mut refused = 0;
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                refused += u32::from(TableSummary::check(Cursor::new(&changed)).is_err());
            }
            assert!(TableSummary::check(Cursor::new(&bytes[..at])).is_err());
        }
        assert!(refused > 100, "{refused}");
    }
}
