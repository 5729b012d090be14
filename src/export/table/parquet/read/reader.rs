//! A table's file, read a row group and in it a page at a time.
//! The footer: columns, places of the row groups' chunks, and metadata.

use super::fields::{FieldTree, TableReadError, strange};
use super::pages::{ChunkPages, PageUnpacker};
use crate::export::table::column::CellType;
use crate::export::table::parquet::chunk::{BOOLEAN, BYTE_ARRAY, INT32, INT64};
use crate::export::table::parquet::writer::MAGIC;
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

/// Largest footer that is read: that of a part with a hundred thousand inputs has 40 MB.
const MOST: u64 = 1 << 28;

/// The footer of a table's file.
pub(in crate::export::table) struct TableFooter {
    pub(in crate::export::table) columns: Vec<(String, CellType)>,
    groups: Vec<GroupPlaces>,
    pub(in crate::export::table) rows: u64,
    /// Keys and values of its metadata.
    pub(in crate::export::table) notes: Vec<(String, String)>,
}

struct GroupPlaces {
    rows: u64,
    /// Offset and size of each column's chunk.
    chunks: Vec<(u64, u64)>,
}

impl TableFooter {
    fn read(source: &mut (impl Read + Seek)) -> Result<Self, TableReadError> {
        let length = source.seek(SeekFrom::End(0))?;
        let mut tail = [0; 8];
        let at = length.checked_sub(tail.len() as u64).ok_or(TableReadError::NotWhole)?;
        source.seek(SeekFrom::Start(at))?;
        source.read_exact(&mut tail)?;
        let ([a, b, c, d, ..], size) = (tail, tail.len() as u64);
        let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
        let start = length.checked_sub(size + footer).filter(|_| tail.ends_with(MAGIC) && footer < MOST);
        source.seek(SeekFrom::Start(start.ok_or(TableReadError::NotWhole)?))?;
        let mut bytes = vec![0; footer as usize];
        source.read_exact(&mut bytes)?;
        let footer = Self::of(&FieldTree::read(&mut bytes.as_slice())?)?;
        let fits = |(at, size): &(u64, u64)| at.checked_add(*size).is_some_and(|end| end <= length);
        match footer.groups.iter().flat_map(|group| &group.chunks).all(fits) {
            true => Ok(footer),
            false => Err(strange("a column lies beyond its end")),
        }
    }

    fn of(fields: &FieldTree<'_>) -> Result<Self, TableReadError> {
        let author = fields.text(6).unwrap_or_else(|| "an unnamed program".to_owned());
        if !author.starts_with("rtrace ") {
            return Err(TableReadError::Foreign(author));
        }
        let columns = columns(&fields.structures(2).collect::<Vec<_>>())?;
        let chunk = |chunk: &FieldTree<'_>| {
            let place = chunk.structure(3).ok_or(strange("a column without a place"))?;
            let start = if place.number(11).is_some() { place.size(11) } else { place.size(9) };
            Ok((start?, place.size(7)?))
        };
        let group = |group: &FieldTree<'_>| {
            let chunks = group.structures(1).map(chunk).collect::<Result<Vec<_>, TableReadError>>()?;
            match chunks.len() == columns.len() {
                true => Ok(GroupPlaces { rows: group.size(3)?, chunks }),
                false => Err(strange("a row group lacks a column")),
            }
        };
        let groups = fields.structures(4).map(group).collect::<Result<Vec<_>, TableReadError>>()?;
        let note = |note: &FieldTree<'_>| Some((note.text(1)?, note.text(2).unwrap_or_default()));
        let notes = fields.structures(5).filter_map(note).collect();
        Ok(TableFooter { columns, groups, rows: fields.size(3)?, notes })
    }
}

/// The columns of a schema, which is a tree in the order of a walk.
fn columns(elements: &[&FieldTree<'_>]) -> Result<Vec<(String, CellType)>, TableReadError> {
    let mut found = Vec::new();
    let mut rest = elements.iter().skip(1);
    while let Some(element) = rest.next() {
        let name = element.text(4).ok_or(strange("a column without a name"))?;
        let leaf = match element.number(5) {
            None => element,
            // A list: the group of its elements, then the element.
            Some(1) => rest.nth(1).ok_or(strange("a list without elements"))?,
            Some(_) => return Err(strange("a column of columns")),
        };
        let is_list = element.number(5).is_some();
        found.push((name, cell(leaf, is_list).ok_or(strange("a column of an unknown type"))?));
    }
    Ok(found)
}

/// The type of a leaf of the schema.
fn cell(leaf: &FieldTree<'_>, is_list: bool) -> Option<CellType> {
    let kind = i32::try_from(leaf.number(1)?).ok()?;
    let meaning = leaf.structure(10);
    let number = meaning.and_then(|meaning| meaning.structure(10));
    if let Some(number) = number.filter(|_| matches!(kind, INT32 | INT64)) {
        let (bits, signed) = (number.number(1)? as u8, number.bool(2)?);
        let size = bits / 8;
        let fits = matches!((kind, bits), (INT32, 8 | 16 | 32) | (INT64, 64));
        let cell = if is_list { CellType::List { size, signed } } else { CellType::Number { size, signed } };
        return fits.then_some(cell);
    }
    match (kind, meaning) {
        _ if is_list => None,
        (BOOLEAN, None) => Some(CellType::Bool),
        (INT64, Some(meaning)) if meaning.structure(8).is_some() => Some(CellType::Time),
        (BYTE_ARRAY, Some(meaning)) if meaning.structure(1).is_some() => Some(CellType::Text),
        (BYTE_ARRAY, None) => Some(CellType::Bytes),
        _ => None,
    }
}
