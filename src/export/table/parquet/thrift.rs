//! Thrift's compact protocol, as far as Parquet's metadata takes it:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

use crate::base::varint;
use crate::file::trace_dat::crc32;

/// Types of fields and of lists' elements.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// CRC-32 of a page as it is stored, which its header holds.
pub(super) fn crc(page: &[u8]) -> i32 {
    crc32(page) as i32
}

/// Writes the fields of one struct, in the order of their numbers.
pub(super) struct StructWriter<'o> {
    out: &'o mut Vec<u8>,
    last: u8,
}

/// Appends a struct.
pub(super) fn structure(out: &mut Vec<u8>, fill: impl FnOnce(&mut StructWriter<'_>)) {
    fill(&mut StructWriter { out, last: 0 });
    out.push(0);
}

impl StructWriter<'_> {
    fn head(&mut self, number: u8, kind: u8) {
        // Fields rise by less than 16 everywhere in Parquet's metadata.
        self.out.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    pub(super) fn i32(&mut self, number: u8, value: i32) {
        self.head(number, I32);
        varint::put(self.out, varint::zigzag(value.into()));
    }

    pub(super) fn i64(&mut self, number: u8, value: i64) {
        self.head(number, I64);
        varint::put(self.out, varint::zigzag(value));
    }

    pub(super) fn bool(&mut self, number: u8, value: bool) {
        self.head(number, if value { TRUE } else { FALSE });
    }

    /// A number of one byte.
    pub(super) fn byte(&mut self, number: u8, value: u8) {
        const BYTE: u8 = 3;
        self.head(number, BYTE);
        self.out.push(value);
    }

    pub(super) fn binary(&mut self, number: u8, value: &[u8]) {
        self.head(number, BINARY);
        varint::put(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    pub(super) fn structure(&mut self, number: u8, fill: impl FnOnce(&mut StructWriter<'_>)) {
        self.head(number, STRUCT);
        structure(self.out, fill);
    }

    fn list(&mut self, number: u8, kind: u8, len: usize) {
        self.head(number, LIST);
        match u8::try_from(len) {
            Ok(len @ 0..15) => self.out.push(len << 4 | kind),
            _ => {
                self.out.push(0xf0 | kind);
                varint::put(self.out, len as u64);
            }
        }
    }

    pub(super) fn structures<T>(&mut self, number: u8, of: &[T], fill: impl Fn(&T, &mut StructWriter<'_>)) {
        self.list(number, STRUCT, of.len());
        for each in of {
            structure(self.out, |fields| fill(each, fields));
        }
    }

    pub(super) fn i32s(&mut self, number: u8, of: &[i32]) {
        self.list(number, I32, of.len());
        of.iter().for_each(|value| varint::put(self.out, varint::zigzag((*value).into())));
    }

    pub(super) fn i64s(&mut self, number: u8, of: impl ExactSizeIterator<Item = i64>) {
        self.list(number, I64, of.len());
        of.for_each(|value| varint::put(self.out, varint::zigzag(value)));
    }

    pub(super) fn bools(&mut self, number: u8, of: impl ExactSizeIterator<Item = bool>) {
        self.list(number, TRUE, of.len());
        of.for_each(|value| self.out.push(if value { TRUE } else { FALSE }));
    }

    pub(super) fn binaries<'b>(&mut self, number: u8, of: impl ExactSizeIterator<Item = &'b [u8]>) {
        self.list(number, BINARY, of.len());
        for value in of {
            varint::put(self.out, value.len() as u64);
            self.out.extend_from_slice(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_protocol() {
        let mut out = Vec::new();
        structure(&mut out, |fields| {
            fields.i32(1, -1);
            fields.binary(3, b"ab");
            fields.bool(4, true);
            fields.i32s(5, &[0, 300]);
            fields.structure(6, |fields| fields.i64(1, 1));
        });
        assert_eq!(out, [0x15, 1, 0x28, 2, b'a', b'b', 0x11, 0x19, 0x25, 0, 0xd8, 4, 0x1c, 0x16, 2, 0, 0]);
    }
}
