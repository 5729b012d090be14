//! The pages of a column chunk, read one after the other.
//! Packed numbers: the hybrid of runs and packed bits, and differences; the other way of `packed`.

use super::fields::{FieldTree, TableReadError, byte, signed, strange, take, varint};
use crate::export::table::column::{CellType, Column};
use crate::export::table::parquet::chunk::{
    BYTE_ARRAY, DATA_PAGE, DELTA_BINARY_PACKED, DICTIONARY_PAGE, PLAIN, RLE_DICTIONARY,
};
use crate::export::table::parquet::thrift::crc;
use crate::file::trace_dat::{Codec, Unpacker};

/// Rows and entries of a page that are believed: those written have 2,048 rows.
const MOST_ROWS: usize = 1 << 16;
const MOST_ENTRIES: usize = 1 << 24;

/// A chunk that is being read.
pub(super) struct ChunkPages {
    cell: CellType,
    bytes: Vec<u8>,
    at: usize,
    numbers: Vec<u64>,
    /// Texts of the dictionary: where each ends, and all of them.
    ends: Vec<usize>,
    texts: Vec<u8>,
}

/// Memory for one page, and the codec.
pub(super) struct PageUnpacker {
    zstd: Unpacker,
    body: Vec<u8>,
    repeated: Vec<u32>,
    defined: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<u64>,
}

impl PageUnpacker {
    pub(super) fn new() -> Self {
        let (indices, values) = (Vec::new(), Vec::new());
        let (body, repeated, defined) = (Vec::new(), Vec::new(), Vec::new());
        PageUnpacker { zstd: Unpacker::new(Codec::Zstd), body, repeated, defined, indices, values }
    }
}

impl ChunkPages {
    pub(super) fn new(cell: CellType, bytes: Vec<u8>) -> Self {
        ChunkPages { cell, bytes, at: 0, numbers: Vec::new(), ends: Vec::new(), texts: Vec::new() }
    }

    /// Reads the next page with rows; gives a column of them.
    pub(super) fn next(&mut self, unpacker: &mut PageUnpacker) -> Result<Column, TableReadError> {
        loop {
            let mut rest = self.bytes.get(self.at..).unwrap_or_default();
            let fields = FieldTree::read(&mut rest)?;
            let packed = take(&mut rest, fields.size(3)?)?;
            self.at = self.bytes.len() - rest.len();
            if fields.number(4).is_some_and(|sum| sum != i64::from(crc(packed))) {
                return Err(strange("a page is not what its checksum says"));
            }
            let size = usize::try_from(fields.size(2)?).unwrap_or(usize::MAX);
            unpacker.zstd.unpack(packed, size, &mut unpacker.body)?;
            if unpacker.body.len() != size {
                return Err(strange("a page has another size"));
            }
            let kind = fields.number(1);
            if kind == Some(DATA_PAGE.into()) {
                let head = fields.structure(5).ok_or(strange("a page without a head"))?;
                let (entries, encoding) = (head.size(1)?, head.number(2).unwrap_or(-1));
                return self.rows(usize::try_from(entries).unwrap_or(usize::MAX), encoding, unpacker);
            }
            let count = fields.structure(7).map(|head| head.size(1)).transpose()?;
            match count {
                Some(count) if kind == Some(DICTIONARY_PAGE.into()) => {
                    self.dictionary(count.min(MOST_ENTRIES as u64) as usize, &unpacker.body)?;
                }
                _ => return Err(strange("a page is of an unknown kind")),
            }
        }
    }

    fn is_text(&self) -> bool {
        self.cell.physical().0 == BYTE_ARRAY
    }

    fn dictionary(&mut self, count: usize, mut body: &[u8]) -> Result<(), TableReadError> {
        if !self.is_text() {
            return plain_numbers(self.cell, count, &mut body, &mut self.numbers);
        }
        for _ in 0..count {
            self.texts.extend_from_slice(with_length(&mut body)?);
            self.ends.push(self.texts.len());
        }
        Ok(())
    }

    /// The text with this index.
    fn text(&self, index: u32) -> Result<&[u8], TableReadError> {
        let index = index as usize;
        let from = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        let text = self.ends.get(index).and_then(|to| self.texts.get(from..*to));
        text.ok_or(strange("an index beyond the dictionary"))
    }

    fn rows(&self, entries: usize, encoding: i64, unpacker: &mut PageUnpacker) -> Result<Column, TableReadError> {
        let PageUnpacker { body, repeated, defined, indices, values, .. } = unpacker;
        let is_list = matches!(self.cell, CellType::List { .. });
        if entries > if is_list { MOST_ENTRIES } else { MOST_ROWS } {
            return Err(strange("a page has too many rows"));
        }
        [&mut *repeated, &mut *defined, &mut *indices].into_iter().for_each(Vec::clear);
        values.clear();
        let mut body = body.as_slice();
        if is_list {
            unpack_hybrid(with_length(&mut body)?, 1, entries, repeated)?;
        }
        unpack_hybrid(with_length(&mut body)?, if is_list { 2 } else { 1 }, entries, defined)?;
        let present = if is_list { 2 } else { 1 };
        let count = defined.iter().filter(|level| **level == present).count();
        let encoding = i32::try_from(encoding).unwrap_or(-1);
        if count > 0 && encoding == RLE_DICTIONARY {
            let width = byte(&mut body)?;
            unpack_hybrid(body, width, count, indices)?;
        }
        let mut column = Column::new(self.cell);
        if self.is_text() {
            let mut indices = indices.iter();
            for level in &*defined {
                match (*level, encoding) {
                    (0, _) => column.null(),
                    (_, RLE_DICTIONARY) => column.bytes(self.text(*indices.next().unwrap_or(&u32::MAX))?),
                    (_, PLAIN) => column.bytes(with_length(&mut body)?),
                    _ => return Err(strange("texts have a strange encoding")),
                }
            }
            return Ok(column);
        }
        match encoding {
            _ if count == 0 => {}
            RLE_DICTIONARY => {
                for index in &*indices {
                    let value = self.numbers.get(*index as usize).ok_or(strange("an index beyond the dictionary"))?;
                    values.push(*value);
                }
            }
            DELTA_BINARY_PACKED => unpack_differences(body, count, values)?,
            PLAIN if self.cell == CellType::Bool => values.extend(unpack_bits(body, 1).take(count)),
            PLAIN => plain_numbers(self.cell, count, &mut body, values)?,
            _ => return Err(strange("numbers have a strange encoding")),
        }
        if values.len() != count {
            return Err(strange("a page ends within its values"));
        }
        match is_list {
            true => lists(repeated, defined, values, &mut column)?,
            false if count == entries => column.extend(values.iter().copied()),
            false => {
                let mut values = values.iter();
                defined.iter().for_each(|level| match values.as_slice().first().filter(|_| *level == 1) {
                    Some(value) => {
                        column.number(*value);
                        values.next();
                    }
                    None => column.null(),
                });
            }
        }
        Ok(column)
    }
}

/// Adds lists: levels are 0 for no list, 1 for an empty one, 2 for a number.
fn lists(repeated: &[u32], defined: &[u32], values: &[u64], column: &mut Column) -> Result<(), TableReadError> {
    let mut values = values.iter().copied();
    let mut at = 0;
    while let Some(level) = defined.get(at) {
        let more = repeated.iter().skip(at + 1).take_while(|level| **level == 1).count();
        match level {
            0 if more == 0 => column.null(),
            1 if more == 0 => column.list(std::iter::empty()),
            2 if defined.iter().skip(at).take(more + 1).all(|level| *level == 2) => {
                column.list(values.by_ref().take(more + 1));
            }
            _ => return Err(strange("lists have strange levels")),
        }
        at += more + 1;
    }
    if column.len() > MOST_ROWS {
        return Err(strange("a page has too many rows"));
    }
    Ok(())
}

/// Appends numbers as columns hold them: 64 bits, with their sign.
fn plain_numbers(cell: CellType, count: usize, body: &mut &[u8], out: &mut Vec<u64>) -> Result<(), TableReadError> {
    let size = cell.physical().1;
    let signed = !matches!(cell, CellType::Number { signed: false, .. } | CellType::List { signed: false, .. });
    let bytes = take(body, (count as u64).saturating_mul(size as u64))?;
    out.extend(bytes.chunks_exact(size).map(|number| match (number.first_chunk::<8>(), number.first_chunk::<4>()) {
        (Some(number), _) => u64::from_le_bytes(*number),
        (_, Some(number)) if signed => i64::from(i32::from_le_bytes(*number)) as u64,
        (_, Some(number)) => u32::from_le_bytes(*number).into(),
        _ => 0,
    }));
    Ok(())
}

/// Appends `count` numbers of `width` bits.
fn unpack_hybrid(mut bytes: &[u8], width: u8, count: usize, out: &mut Vec<u32>) -> Result<(), TableReadError> {
    if width > 32 {
        return Err(strange("an index has more than 32 bits"));
    }
    let mut left = count;
    while left > 0 {
        let head = varint(&mut bytes)?;
        let times = usize::try_from(head >> 1).unwrap_or(usize::MAX);
        if head & 1 == 0 {
            let value = take(&mut bytes, width.div_ceil(8).into())?;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            out.extend(std::iter::repeat_n(value, times.min(left)));
            left -= times.min(left);
        } else {
            let size = (times as u64).saturating_mul(width.into());
            let numbers = times.saturating_mul(8).min(left);
            let packed = take(&mut bytes, size)?;
            out.extend(unpack_bits(packed, width).take(numbers).map(|value| value as u32));
            // A width of 0 has no bits, of as many numbers as it likes.
            out.extend(std::iter::repeat_n(0, if width == 0 { numbers } else { 0 }));
            left -= numbers;
        }
        if times == 0 {
            return Err(strange("a run is empty"));
        }
    }
    Ok(())
}

/// Numbers of `width` bits, from the lowest bit on.
fn unpack_bits(bytes: &[u8], width: u8) -> impl Iterator<Item = u64> {
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let (mut bits, mut filled, mut rest) = (0u128, 0, bytes.iter());
    std::iter::from_fn(move || {
        while filled < width {
            bits |= u128::from(*rest.next()?) << filled;
            filled += 8;
        }
        if width == 0 {
            return None;
        }
        let value = bits as u64 & mask;
        (bits, filled) = (bits >> width, filled - width);
        Some(value)
    })
}

/// Appends `count` numbers that are stored as differences.
fn unpack_differences(mut bytes: &[u8], count: usize, out: &mut Vec<u64>) -> Result<(), TableReadError> {
    let (block, parts, total) = (varint(&mut bytes)?, varint(&mut bytes)?, varint(&mut bytes)?);
    let part = block.checked_div(parts).filter(|part| block <= 1 << 16 && *part > 0 && part.is_multiple_of(8));
    let Some(part) = part.filter(|_| total == count as u64) else { return Err(strange("a block of differences")) };
    let (mut last, mut left) = (signed(&mut bytes)?, count);
    let mut put = |value: i64, left: &mut usize| {
        *left -= 1;
        out.push(value as u64);
    };
    if left > 0 {
        put(last, &mut left);
    }
    while left > 0 {
        let least = signed(&mut bytes)?;
        let widths = take(&mut bytes, parts)?;
        for width in widths.iter().filter(|_| block > 0) {
            if left == 0 {
                break;
            }
            if *width > 64 {
                return Err(strange("a difference has more than 64 bits"));
            }
            let packed = take(&mut bytes, part / 8 * u64::from(*width))?;
            let numbers = (part as usize).min(left);
            let above =
                unpack_bits(packed, *width).chain(std::iter::repeat_n(0, if *width == 0 { numbers } else { 0 }));
            for above in above.take(numbers) {
                last = last.wrapping_add(least).wrapping_add(above as i64);
                put(last, &mut left);
            }
        }
    }
    Ok(())
}

/// The part of `bytes` that its first four bytes say, and the rest.
fn with_length<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], TableReadError> {
    let length = [byte(bytes)?, byte(bytes)?, byte(bytes)?, byte(bytes)?];
    take(bytes, u32::from_le_bytes(length).into())
}

#[cfg(test)]
mod tests {
    use super::super::super::packed::{differences, hybrid, width};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(runs in prop::collection::vec((0u32..20, 1usize..40), 0..30), scale in 0u8..28) {
            let values: Vec<u32> = runs.iter().flat_map(|(value, times)| std::iter::repeat_n(value << scale, *times)).collect();
            let width = width(values.iter().copied().max().unwrap_or(0));
            let (mut packed, mut found) = (Vec::new(), Vec::new());
            hybrid(&mut packed, &values, width);
            unpack_hybrid(&packed, width, values.len(), &mut found).expect("numbers");
            prop_assert_eq!(&found, &values);
        }

        #[test]
        fn differences_are_added_up(values in prop::collection::vec(any::<i64>(), 0..400), shift in 0u8..64) {
            let values: Vec<u64> = values.iter().map(|value| (value >> shift) as u64).collect();
            let (mut packed, mut found) = (Vec::new(), Vec::new());
            differences(&mut packed, values.iter().map(|value| *value as i64));
            unpack_differences(&packed, values.len(), &mut found).expect("numbers");
            prop_assert_eq!(&found, &values);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0u8..40, count in 0usize..5000) {
            let (mut found, mut sums) = (Vec::new(), Vec::new());
            if unpack_hybrid(&bytes, width, count, &mut found).is_ok() {
                prop_assert_eq!(found.len(), count);
            }
            if unpack_differences(&bytes, count, &mut sums).is_ok() {
                prop_assert_eq!(sums.len(), count);
            }
        }
    }
}
