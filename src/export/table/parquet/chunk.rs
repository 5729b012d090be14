//! A column of one row group: its pages, encoded and compressed.
//!
//! Each batch of rows is a page: levels (which rows are null, where lists end), then the values. Values are indices into the
//! chunk's dictionary while that is small; times are differences; all others stand as they are.

use super::dictionary::{NumberDictionary, Texts};
use super::packed::{differences, groups_of, hybrid, pack, run, width};
use super::thrift::{StructWriter, crc, structure};
use crate::export::table::column::{CellType, Column, ColumnFront, TextSpan};
use crate::file::trace_dat::{Checksum, ZstdPacker};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::io;

// Numbers of Parquet's enumerations.
pub(super) const BOOLEAN: i32 = 0;
pub(super) const INT32: i32 = 1;
pub(super) const INT64: i32 = 2;
pub(super) const BYTE_ARRAY: i32 = 6;
pub(super) const PLAIN: i32 = 0;
const RLE: i32 = 3;
pub(super) const DELTA_BINARY_PACKED: i32 = 5;
pub(super) const RLE_DICTIONARY: i32 = 8;
pub(super) const DATA_PAGE: i32 = 0;
pub(super) const DICTIONARY_PAGE: i32 = 2;
const ZSTD: i32 = 6;

/// Rows of a first page that say nothing of repetition.
const FEW: usize = 64;
/// Longest text that stands in statistics.
const LONGEST: usize = 64;

/// After a page of times of more than `DENSE` bytes that shrank by less than a thirty-second, so many are not compressed.
const DENSE: usize = 1 << 10;
const DENSE_PAGES: u8 = 7;

/// Compresses pages; with memory for them.
pub(in crate::export::table) struct PageCodec {
    zstd: ZstdPacker,
    body: Vec<u8>,
    packed: Vec<u8>,
    /// Numbers of rows that have one.
    present: Vec<u64>,
    indices: Vec<u32>,
    /// Packed bodies of pages that hold one value, which are many and mostly the same.
    known: HashMap<Box<[u8]>, Box<[u8]>, RandomState>,
    /// Columns without cells, for their memory.
    pub(in crate::export::table) columns: Vec<Column>,
}

/// The longest body of a page that is kept, in bytes, and the number of those.
const SHORT: usize = 32;
const KNOWN: usize = 1024;

impl PageCodec {
    pub(in crate::export::table) fn new() -> io::Result<Self> {
        const LEVEL: i32 = 1;
        let zstd = ZstdPacker::new(LEVEL, Checksum::Absent)?;
        let (body, packed, present, indices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(PageCodec { zstd, body, packed, present, indices, known: HashMap::default(), columns: Vec::new() })
    }

    /// Packs `body`, or stores it as it is.
    fn pack(&mut self, is_stored: bool) -> io::Result<()> {
        if self.body.len() <= SHORT
            && let Some(packed) = self.known.get(self.body.as_slice())
        {
            self.packed.clear();
            self.packed.extend_from_slice(packed);
            return Ok(());
        }
        if is_stored {
            return ZstdPacker::store(&self.body, &mut self.packed);
        }
        self.zstd.pack(&self.body, &mut self.packed)?;
        if self.body.len() <= SHORT && self.known.len() < KNOWN {
            self.known.insert(self.body.as_slice().into(), self.packed.as_slice().into());
        }
        Ok(())
    }

    /// Appends the page in `body`; gives its size with the header, and the same uncompressed.
    fn page(
        &mut self,
        out: &mut Vec<u8>,
        kind: i32,
        is_stored: bool,
        head: impl FnOnce(&mut StructWriter<'_>),
    ) -> io::Result<(usize, usize)> {
        self.pack(is_stored)?;
        let before = out.len();
        structure(out, |fields| {
            fields.i32(1, kind);
            fields.i32(2, self.body.len() as i32);
            fields.i32(3, self.packed.len() as i32);
            fields.i32(4, crc(&self.packed));
            head(fields);
        });
        let header = out.len() - before;
        out.extend_from_slice(&self.packed);
        Ok((header + self.packed.len(), header + self.body.len()))
    }
}

enum Dictionary {
    None,
    Numbers(NumberDictionary),
    Texts(Texts),
}

impl Dictionary {
    fn is_full(&self) -> bool {
        match self {
            Dictionary::None => false,
            Dictionary::Numbers(numbers) => numbers.is_full(),
            Dictionary::Texts(texts) => texts.is_full(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Dictionary::None => 0,
            Dictionary::Numbers(numbers) => numbers.values.len(),
            Dictionary::Texts(texts) => texts.len(),
        }
    }
}

/// The least and the largest value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Range {
    /// Of signed numbers.
    Signed(i64, i64),
    Unsigned(u64, u64),
    Bytes(Vec<u8>, Vec<u8>),
}

impl Range {
    fn join(self, other: Range) -> Option<Range> {
        Some(match (self, other) {
            (Range::Signed(a, b), Range::Signed(c, d)) => Range::Signed(a.min(c), b.max(d)),
            (Range::Unsigned(a, b), Range::Unsigned(c, d)) => Range::Unsigned(a.min(c), b.max(d)),
            (Range::Bytes(a, b), Range::Bytes(c, d)) => Range::Bytes(a.min(c), b.max(d)),
            _ => return None,
        })
    }

    /// True if both ends of `later` are no less.
    fn rises_to(&self, later: &Range) -> bool {
        match (self, later) {
            (Range::Signed(a, b), Range::Signed(c, d)) => a <= c && b <= d,
            (Range::Unsigned(a, b), Range::Unsigned(c, d)) => a <= c && b <= d,
            (Range::Bytes(a, b), Range::Bytes(c, d)) => a <= c && b <= d,
            _ => false,
        }
    }

    /// Both as values of a column of `size` bytes.
    fn ends(&self, size: usize) -> [Vec<u8>; 2] {
        match self {
            Range::Signed(a, b) => [a, b].map(|end| end.to_le_bytes()[..size].to_vec()),
            Range::Unsigned(a, b) => [a, b].map(|end| end.to_le_bytes()[..size].to_vec()),
            Range::Bytes(a, b) => [a.clone(), b.clone()],
        }
    }
}

/// A page that is written.
struct DataPage {
    size: usize,
    /// The number of the row group's row that it begins with.
    first: usize,
    nulls: usize,
    /// True if it holds no value.
    empty: bool,
    range: Option<Range>,
}

/// A page that is encoded, but not compressed.
struct PageContent {
    rows: usize,
    /// Entries, nulls included; of lists, elements.
    entries: usize,
    nulls: usize,
    encoding: i32,
    range: Option<Range>,
    /// True if it holds no value.
    empty: bool,
}

/// A column of a row group that is being made.
pub(super) struct ColumnChunk {
    cell: CellType,
    delta: bool,
    dictionary: Dictionary,
    /// True while values of the next page are looked up there.
    is_open: bool,
    bytes: Vec<u8>,
    pages: Vec<DataPage>,
    /// The number of next pages that are stored as they are, as one before them hardly shrank.
    dense_pages: u8,
    /// Entries, nulls included; of lists, elements.
    entries: usize,
    rows: usize,
    uncompressed: usize,
    encodings: Vec<i32>,
}

/// A chunk in the file's footer.
pub(super) struct ChunkInfo {
    cell: CellType,
    pages: Vec<DataPage>,
    entries: usize,
    pub(super) uncompressed: usize,
    pub(super) compressed: usize,
    encodings: Vec<i32>,
    /// Offset in the file.
    pub(super) start: u64,
    /// Size of the dictionary's page.
    dictionary: usize,
}

impl ColumnChunk {
    /// An empty one; `delta`: its numbers are times.
    pub(super) fn new(cell: CellType, delta: bool) -> Self {
        let dictionary = match cell {
            _ if delta => Dictionary::None,
            CellType::Number { .. } | CellType::List { .. } => Dictionary::Numbers(NumberDictionary::new()),
            CellType::Text | CellType::Bytes => Dictionary::Texts(Texts::new()),
            CellType::Bool | CellType::Time => Dictionary::None,
        };
        ColumnChunk {
            cell,
            delta,
            dictionary,
            is_open: true,
            bytes: Vec::new(),
            pages: Vec::new(),
            dense_pages: 0,
            entries: 0,
            rows: 0,
            uncompressed: 0,
            encodings: vec![RLE],
        }
    }

    /// Size of its pages, compressed.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a page of these rows.
    pub(super) fn page(&mut self, front: &ColumnFront<'_>, codec: &mut PageCodec) -> io::Result<()> {
        let (rows, nulls) = (front.rows, front.nulls());
        let is_list = matches!(self.cell, CellType::List { .. });
        if nulls == rows && !is_list {
            return self.constant_page(None, rows, codec);
        }
        if let Some(text) = front.only_text().filter(|_| self.is_open) {
            return self.constant_page(Some(text), rows, codec);
        }
        codec.body.clear();
        let entries = levels(self.cell, front, nulls, &mut codec.body);
        let (encoding, range, empty) = match self.cell {
            CellType::Bool => booleans(front, &mut codec.body),
            CellType::Number { .. } | CellType::List { .. } | CellType::Time => {
                let mut present = std::mem::take(&mut codec.present);
                let numbers = if nulls == 0 || is_list {
                    front.numbers
                } else {
                    let rows = front.numbers.iter().zip(front.valid());
                    present.clear();
                    present.extend(rows.filter(|(_, valid)| *valid).map(|(number, _)| *number));
                    &present
                };
                let encoding = self.numbers(numbers, codec);
                // The few values of a small dictionary are quicker compared than all rows.
                let is_small = |dictionary: &NumberDictionary| dictionary.values.len() * 4 <= numbers.len();
                let range = match &self.dictionary {
                    Dictionary::Numbers(dictionary) if encoding == RLE_DICTIONARY && is_small(dictionary) => {
                        range_of(&dictionary.named_by(&codec.indices), self.cell)
                    }
                    _ => range_of(numbers, self.cell),
                };
                let is_empty = numbers.is_empty();
                codec.present = present;
                (encoding, range.filter(|_| !is_list), is_empty)
            }
            CellType::Text | CellType::Bytes => {
                let encoding = self.texts(front, codec);
                let range = match &self.dictionary {
                    Dictionary::Texts(texts) if encoding == RLE_DICTIONARY => ends_of(texts.ends(&codec.indices)),
                    _ => range_of_texts(front),
                };
                (encoding, range, nulls == rows)
            }
        };
        // A column whose values hardly repeat is better off without a dictionary.
        if self.pages.is_empty() && rows > FEW && self.dictionary.len() * 4 > rows * 3 {
            (self.dictionary, self.is_open) = (Dictionary::None, false);
            return self.page(front, codec);
        }
        let page = PageContent { rows, entries, nulls, encoding, range, empty };
        self.add(page, codec)
    }

    /// Adds a page of `rows` with the same text, or with no value.
    pub(super) fn constant_page(&mut self, text: Option<&[u8]>, rows: usize, codec: &mut PageCodec) -> io::Result<()> {
        codec.body.clear();
        with_length(&mut codec.body, |out| run(out, text.is_some().into(), rows, 1));
        let encoding = match (&mut self.dictionary, text) {
            (Dictionary::Texts(dictionary), Some(text)) => {
                let index = dictionary.index(text);
                let width = width(index);
                codec.body.push(width);
                run(&mut codec.body, index, rows, width);
                RLE_DICTIONARY
            }
            _ => PLAIN,
        };
        let (nulls, empty) = (if text.is_some() { 0 } else { rows }, text.is_none());
        let range = text.map(|text| Range::Bytes(text.to_vec(), text.to_vec()));
        self.add(PageContent { rows, entries: rows, nulls, encoding, range, empty }, codec)
    }

    /// Adds the page whose content is in `codec.body`.
    fn add(&mut self, page: PageContent, codec: &mut PageCodec) -> io::Result<()> {
        let PageContent { rows, entries, nulls, encoding, range, empty } = page;
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        let is_stored = self.dense_pages > 0;
        let (size, uncompressed) = codec.page(&mut self.bytes, DATA_PAGE, is_stored, |fields| {
            fields.structure(5, |fields| {
                fields.i32(1, entries as i32);
                fields.i32(2, encoding);
                fields.i32(3, RLE);
                fields.i32(4, RLE);
            });
        })?;
        self.dense_pages = match is_stored {
            true => self.dense_pages - 1,
            false if self.delta && size > DENSE && uncompressed - uncompressed / 32 <= size => DENSE_PAGES,
            false => 0,
        };
        self.pages.push(DataPage { size, first: self.rows, nulls, empty, range });
        self.rows += rows;
        self.entries += entries;
        self.uncompressed += uncompressed;
        // It stays for the pages that name its values.
        self.is_open &= !self.dictionary.is_full();
        Ok(())
    }

    /// Appends numbers; gives their encoding. Those of a dictionary leave their indices with the codec.
    fn numbers(&mut self, numbers: &[u64], codec: &mut PageCodec) -> i32 {
        let size = self.cell.physical().1;
        match &mut self.dictionary {
            _ if numbers.is_empty() => PLAIN,
            Dictionary::Numbers(dictionary) if self.is_open => {
                codec.indices.clear();
                // Columns of one value are many.
                if are_all(numbers, numbers[0]) {
                    let index = dictionary.index(numbers[0]);
                    let width = width(index);
                    codec.indices.push(index);
                    codec.body.push(width);
                    run(&mut codec.body, index, numbers.len(), width);
                } else {
                    codec.indices.extend(numbers.iter().map(|value| dictionary.index(*value)));
                    put_indices(&codec.indices, &mut codec.body);
                }
                RLE_DICTIONARY
            }
            _ if self.delta => {
                differences(&mut codec.body, numbers.iter().map(|value| *value as i64));
                DELTA_BINARY_PACKED
            }
            _ => {
                put_numbers(numbers, size, &mut codec.body);
                PLAIN
            }
        }
    }

    /// Appends the texts; gives their encoding.
    fn texts(&mut self, front: &ColumnFront<'_>, codec: &mut PageCodec) -> i32 {
        match &mut self.dictionary {
            Dictionary::Texts(dictionary) if self.is_open && front.nulls() < front.rows => {
                codec.indices.clear();
                indices_of(front, dictionary, &mut codec.indices);
                put_indices(&codec.indices, &mut codec.body);
                RLE_DICTIONARY
            }
            _ => {
                for text in front.texts() {
                    codec.body.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    codec.body.extend_from_slice(text);
                }
                PLAIN
            }
        }
    }

    /// Appends all of it, which begins at the file's offset `start`.
    pub(super) fn finish(self, start: u64, codec: &mut PageCodec, out: &mut Vec<u8>) -> io::Result<ChunkInfo> {
        let (mut dictionary, mut uncompressed) = (0, self.uncompressed);
        let count = self.dictionary.len();
        if count > 0 {
            codec.body.clear();
            match &self.dictionary {
                Dictionary::Numbers(numbers) => {
                    put_numbers(&numbers.values, self.cell.physical().1, &mut codec.body);
                }
                Dictionary::Texts(texts) => codec.body.extend_from_slice(&texts.plain),
                Dictionary::None => {}
            }
            let (size, whole) = codec.page(out, DICTIONARY_PAGE, false, |fields| {
                fields.structure(7, |fields| {
                    fields.i32(1, count as i32);
                    fields.i32(2, PLAIN);
                });
            })?;
            (dictionary, uncompressed) = (size, uncompressed + whole);
        }
        out.extend_from_slice(&self.bytes);
        let mut encodings = self.encodings;
        if count > 0 && !encodings.contains(&PLAIN) {
            encodings.push(PLAIN);
        }
        let compressed = dictionary + self.bytes.len();
        let (cell, pages, entries) = (self.cell, self.pages, self.entries);
        Ok(ChunkInfo { cell, pages, entries, uncompressed, compressed, encodings, start, dictionary })
    }
}

impl ChunkInfo {
    /// Writes the struct `ColumnMetaData` of the chunk.
    pub(super) fn describe(&self, path: &[&str], fields: &mut StructWriter<'_>) {
        let (kind, size) = self.cell.physical();
        fields.i32(1, kind);
        fields.i32s(2, &self.encodings);
        fields.binaries(3, path.iter().map(|name| name.as_bytes()));
        fields.i32(4, ZSTD);
        fields.i64(5, self.entries as i64);
        fields.i64(6, self.uncompressed as i64);
        fields.i64(7, self.compressed as i64);
        fields.i64(9, self.start as i64 + self.dictionary as i64);
        if self.dictionary > 0 {
            fields.i64(11, self.start as i64);
        }
        fields.structure(12, |fields| {
            fields.i64(3, self.pages.iter().map(|page| page.nulls as i64).sum());
            let values = self.pages.iter().filter(|page| !page.empty);
            let all = values.clone().map(|page| page.range.clone()).reduce(|all, page| all?.join(page?)).flatten();
            if let Some([least, largest]) = all.map(|range| range.ends(size)) {
                fields.binary(5, &largest);
                fields.binary(6, &least);
            }
        });
    }

    /// Appends its struct `ColumnIndex`, if each page with values has their range.
    pub(super) fn column_index(&self, out: &mut Vec<u8>) -> bool {
        if self.pages.iter().any(|page| page.range.is_none() && !page.empty)
            || matches!(self.cell, CellType::List { .. })
        {
            return false;
        }
        let size = self.cell.physical().1;
        let ends = |page: &DataPage| page.range.as_ref().map_or_else(Default::default, |range| range.ends(size));
        let ends: Vec<[Vec<u8>; 2]> = self.pages.iter().map(ends).collect();
        let ranges: Vec<&Range> = self.pages.iter().filter_map(|page| page.range.as_ref()).collect();
        let rises = ranges.windows(2).all(|two| matches!(two, [one, next] if one.rises_to(next)));
        structure(out, |fields| {
            fields.bools(1, self.pages.iter().map(|page| page.empty));
            fields.binaries(2, ends.iter().map(|[least, _]| least.as_slice()));
            fields.binaries(3, ends.iter().map(|[_, largest]| largest.as_slice()));
            fields.i32(4, rises.into());
            fields.i64s(5, self.pages.iter().map(|page| page.nulls as i64));
        });
        true
    }

    /// Appends its struct `OffsetIndex`.
    pub(super) fn offset_index(&self, out: &mut Vec<u8>) {
        let mut at = self.start + self.dictionary as u64;
        let place = |page: &DataPage| {
            at += page.size as u64;
            (at - page.size as u64, page.size, page.first)
        };
        let places: Vec<(u64, usize, usize)> = self.pages.iter().map(place).collect();
        structure(out, |fields| {
            fields.structures(1, &places, |(at, size, first), fields| {
                fields.i64(1, *at as i64);
                fields.i32(2, *size as i32);
                fields.i64(3, *first as i64);
            });
        });
    }
}

impl CellType {
    /// Parquet's type of its values, and their size in bytes; of texts 0.
    pub(super) fn physical(self) -> (i32, usize) {
        match self {
            CellType::Bool => (BOOLEAN, 1),
            CellType::Number { size: 8, .. } | CellType::List { size: 8, .. } | CellType::Time => (INT64, 8),
            CellType::Number { .. } | CellType::List { .. } => (INT32, 4),
            CellType::Text | CellType::Bytes => (BYTE_ARRAY, 0),
        }
    }
}

/// The least and the largest of `numbers`.
fn range_of(numbers: &[u64], cell: CellType) -> Option<Range> {
    let (size, signed) = match cell {
        CellType::Number { size, signed } | CellType::List { size, signed } => (size, signed),
        _ => (8, true),
    };
    if numbers.is_empty() {
        return None;
    }
    // With the sign's bit flipped, unsigned numbers have the order of signed ones.
    let flip = if signed { 0 } else { 1 << 63 };
    let (least, largest) = match size {
        8 => {
            let (least, largest) = ends(numbers, |number| (number ^ flip) as i64);
            (least ^ flip as i64, largest ^ flip as i64)
        }
        _ => {
            let flip = (flip >> 32) as u32;
            let (least, largest) = ends(numbers, |number| (number as u32 ^ flip) as i32);
            let whole = |end: i32| if signed { i64::from(end) } else { i64::from(end as u32 ^ flip) };
            (whole(least), whole(largest))
        }
    };
    Some(match signed {
        true => Range::Signed(least, largest),
        false => Range::Unsigned(least as u64, largest as u64),
    })
}

/// The least and the largest of what `of` makes of `numbers`, of which there are some.
fn ends<T: Ord + Copy>(numbers: &[u64], of: impl Fn(u64) -> T) -> (T, T) {
    let with = |(least, largest): &mut (T, T), value: T| {
        (*least, *largest) = ((*least).min(value), (*largest).max(value));
    };
    let (fours, rest) = numbers.as_chunks::<4>();
    let mut all = (of(numbers[0]), of(numbers[0]));
    // Four at a time, none of which waits for another.
    let mut ends = [all; 4];
    for four in fours {
        (0..4).for_each(|at| with(&mut ends[at], of(four[at])));
    }
    rest.iter().for_each(|number| with(&mut all, of(*number)));
    ends.iter().for_each(|(least, largest)| {
        with(&mut all, *least);
        with(&mut all, *largest);
    });
    all
}

/// True if all of `numbers` are `one`; some are compared at a time.
fn are_all(numbers: &[u64], one: u64) -> bool {
    numbers.chunks(64).all(|some| some.iter().fold(0, |differ, number| differ | (number ^ one)) == 0)
}

fn range_of_texts(front: &ColumnFront<'_>) -> Option<Range> {
    ends_of(front.texts().min().zip(front.texts().max()))
}

fn ends_of(ends: Option<(&[u8], &[u8])>) -> Option<Range> {
    let (least, largest) = ends?;
    let fits = least.len() <= LONGEST && largest.len() <= LONGEST;
    fits.then(|| Range::Bytes(least.to_vec(), largest.to_vec()))
}

/// Appends the indices of the texts: of those at one place the first alone is looked up.
fn indices_of(front: &ColumnFront<'_>, dictionary: &mut Texts, out: &mut Vec<u32>) {
    const KNOWN: usize = 64;
    let mut known = [(TextSpan::default(), None); KNOWN];
    front.spans_into(out, |span| {
        let place = &mut known[(span.0.wrapping_mul(0x9e37_79b9) >> (u32::BITS - KNOWN.trailing_zeros())) as usize];
        match *place {
            (of, Some(index)) if of == span => index,
            _ => {
                let index = dictionary.index(front.text(span));
                *place = (span, Some(index));
                index
            }
        }
    });
}

/// Appends the truth values as bits.
fn booleans(front: &ColumnFront<'_>, out: &mut Vec<u8>) -> (i32, Option<Range>, bool) {
    let values =
        front.numbers.iter().zip(front.valid()).filter(|(_, valid)| *valid).map(|(number, _)| u64::from(*number != 0));
    let values: Vec<u64> = values.collect();
    pack(out, groups_of(&values), 1);
    let ends = values.iter().min().zip(values.iter().max());
    (PLAIN, ends.map(|(least, largest)| Range::Unsigned(*least, *largest)), values.is_empty())
}

fn put_indices(indices: &[u32], out: &mut Vec<u8>) {
    let width = width(indices.iter().copied().max().unwrap_or_default());
    out.push(width);
    hybrid(out, indices, width);
}

fn put_numbers(values: &[u64], size: usize, out: &mut Vec<u8>) {
    out.reserve(values.len() * size);
    match size {
        4 => values.iter().for_each(|value| out.extend_from_slice(&(*value as u32).to_le_bytes())),
        _ => values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
    }
}

/// Appends a page's levels; gives the number of its entries.
fn levels(cell: CellType, front: &ColumnFront<'_>, nulls: usize, out: &mut Vec<u8>) -> usize {
    let rows = front.rows;
    let CellType::List { .. } = cell else {
        with_length(out, |out| match nulls {
            0 => run(out, 1, rows, 1),
            _ if nulls == rows => run(out, 0, rows, 1),
            _ => hybrid(out, &front.valid().map(u32::from).collect::<Vec<_>>(), 1),
        });
        return rows;
    };
    // 0: no list; 1: an empty one; 2: an element.
    let (mut repeated, mut defined, mut from) = (Vec::new(), Vec::new(), 0);
    for (valid, end) in front.valid().zip(front.ends) {
        let count = (*end - from) as usize;
        from = *end;
        repeated.push(0);
        repeated.extend(std::iter::repeat_n(1, count.saturating_sub(1)));
        match count {
            0 => defined.push(u32::from(valid)),
            _ => defined.extend(std::iter::repeat_n(2, count)),
        }
    }
    with_length(out, |out| hybrid(out, &repeated, 1));
    with_length(out, |out| hybrid(out, &defined, 2));
    repeated.len()
}

/// Appends what `fill` does, after its length.
fn with_length(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}
