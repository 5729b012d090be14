//! Records of a profile, and rows of numbers that begin with a time: packed in memory until the profile is written.

use crate::base::sys::append_piece;
use crate::base::varint;
use crate::file::trace_dat::{Checksum, Codec, Unpacker, ZstdPacker};
use std::fmt;

/// Bytes that are packed together.
const BLOCK: usize = 64 << 10;
/// zstd's level.
const LEVEL: i32 = 1;

/// Packs blocks of all threads of a profile.
pub(super) struct BlockPacker {
    /// `None` without memory for it: blocks stay as they are.
    zstd: Option<ZstdPacker>,
    packed: Vec<u8>,
}

impl Default for BlockPacker {
    fn default() -> Self {
        BlockPacker { zstd: ZstdPacker::new(LEVEL, Checksum::Absent).ok(), packed: Vec::new() }
    }
}

impl fmt::Debug for BlockPacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlockPacker")
    }
}

/// Items of bytes, one after the other, which are read in the same order.
#[derive(Debug, Default)]
pub(super) struct PackedItems {
    open: Vec<u8>,
    blocks: Vec<PackedBlock>,
}

/// Whole items.
#[derive(Debug)]
struct PackedBlock {
    bytes: Box<[u8]>,
    /// Unpacked; as many as there are if they are not packed.
    size: usize,
}

impl PackedItems {
    /// Adds an item.
    #[inline]
    pub(super) fn push(&mut self, item: &[u8], packer: &mut BlockPacker) {
        self.open.extend_from_slice(item);
        if self.open.len() >= BLOCK {
            self.close(packer);
        }
    }

    #[cold]
    fn close(&mut self, packer: &mut BlockPacker) {
        let BlockPacker { zstd, packed } = packer;
        let is_packed = zstd.as_mut().is_some_and(|zstd| zstd.pack(&self.open, packed).is_ok());
        let bytes = if is_packed && packed.len() < self.open.len() { &*packed } else { &self.open };
        self.blocks.push(PackedBlock { bytes: bytes.as_slice().into(), size: self.open.len() });
        self.open.clear();
    }

    /// Reads the items.
    pub(super) fn read(&self) -> PackedReader<'_> {
        let block = Vec::new();
        PackedReader {
            from: self,
            blocks: self.blocks.iter(),
            is_open: false,
            block,
            at: 0,
            unpacker: Unpacker::new(Codec::Zstd),
        }
    }
}

/// A reader of items.
pub(super) struct PackedReader<'p> {
    from: &'p PackedItems,
    blocks: std::slice::Iter<'p, PackedBlock>,
    /// True of the block that is not packed yet, the last one.
    is_open: bool,
    block: Vec<u8>,
    at: usize,
    unpacker: Unpacker,
}

impl PackedReader<'_> {
    /// The next item, of `len` bytes; empty after the last one.
    #[inline]
    pub(super) fn take(&mut self, len: usize) -> &[u8] {
        if self.block.len() == self.at && len > 0 {
            self.next_block();
        }
        let start = self.at;
        self.at = (start + len).min(self.block.len());
        &self.block[start..self.at]
    }

    /// The rest of the block that is read, or all of the next one.
    #[inline]
    fn rest(&mut self) -> &[u8] {
        if self.block.len() == self.at {
            self.next_block();
        }
        &self.block[self.at..]
    }

    #[cold]
    fn next_block(&mut self) {
        self.at = 0;
        match self.blocks.next() {
            Some(PackedBlock { bytes, size }) if bytes.len() == *size => self.block = bytes.to_vec(),
            Some(PackedBlock { bytes, size }) => {
                self.unpacker.unpack(bytes, *size, &mut self.block).expect("memory unpacks to what was packed");
            }
            None if self.is_open => self.block.clear(),
            None => {
                self.is_open = true;
                self.block.clone_from(&self.from.open);
            }
        }
    }
}

/// Rows of numbers, the first of which mostly grows.
#[derive(Debug, Default)]
pub(super) struct PackedRows<const N: usize> {
    bytes: PackedItems,
    last: u64,
    len: usize,
}

impl<const N: usize> PackedRows<N> {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a row: seven bits a byte, of the first number what it has grown by.
    #[inline]
    pub(super) fn push(&mut self, row: [u64; N], packer: &mut BlockPacker) {
        let PackedRows { bytes, last, len } = self;
        for (nth, mut number) in row.into_iter().enumerate() {
            if nth == 0 {
                let grown = number.wrapping_sub(*last) as i64;
                *last = number;
                number = varint::zigzag(grown);
            }
            // Most are of one byte or two, and lie in one store.
            match number {
                0..0x80 => append_piece(&mut bytes.open, &[number as u8], 1),
                0x80..0x4000 => append_piece(&mut bytes.open, &[number as u8 | 0x80, (number >> 7) as u8], 2),
                _ => varint::put(&mut bytes.open, number),
            }
        }
        *len += 1;
        bytes.push(&[], packer);
    }

    /// Reads the rows in the order in which they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = [u64; N]> {
        let (mut from, mut last) = (self.bytes.read(), 0u64);
        (0..self.len).map(move |_| {
            let mut row = [0; N];
            // A row lies in one block.
            let rest = from.rest();
            let mut at = 0;
            for (nth, number) in row.iter_mut().enumerate() {
                *number = varint::take(|| {
                    let byte = rest.get(at).copied().unwrap_or(0);
                    at += 1;
                    byte
                });
                if nth == 0 {
                    last = last.wrapping_add_signed(varint::unzigzag(*number));
                    *number = last;
                }
            }
            from.at = (from.at + at).min(from.block.len());
            row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_items_are_read_as_they_were_added() {
        let mut packer = BlockPacker::default();
        let rows: Vec<[u64; 3]> =
            (0..60_000).map(|n: u64| [(n * 1000) ^ ((n & 7) << 9), n.wrapping_mul(u64::MAX / 7), n % 5]).collect();
        let mut packed = PackedRows::default();
        let mut items = PackedItems::default();
        for row in [[u64::MAX, 0, 1], [0, u64::MAX, 2]].iter().chain(&rows) {
            packed.push(*row, &mut packer);
            items.push(&row[1].to_ne_bytes()[..row[2] as usize], &mut packer);
        }
        let read: Vec<[u64; 3]> = packed.iter().collect();
        assert_eq!((read[0], read[1], packed.len()), ([u64::MAX, 0, 1], [0, u64::MAX, 2], rows.len() + 2));
        assert!(read[2..] == rows);
        assert!(
            packed.bytes.blocks.len() > 2 && packed.bytes.blocks.iter().any(|block| block.bytes.len() < block.size)
        );
        let mut from = items.read();
        for row in &read {
            assert_eq!(from.take(row[2] as usize), &row[1].to_ne_bytes()[..row[2] as usize]);
        }
        assert!(from.take(1).is_empty() && PackedRows::<2>::default().iter().next().is_none());
    }
}
