//! Records of a profile, and rows of numbers that begin with a time: packed, in memory or in a file, until the profile is
//! written.
//! A file for what a profile has too much of for memory.

use crate::base::sys::append_piece;
use crate::base::varint;
use crate::file::trace_dat::{Checksum, Codec, ReadAt, Unpacker, ZstdPacker, read_full};
use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Bytes that are packed together: at most, and at least where there are many threads.
const BLOCK: usize = 64 << 10;
const SMALL: usize = 4 << 10;
/// Bytes that all threads together may have that are not packed yet.
const OPEN: usize = 16 << 20;
/// Packed bytes that are kept in memory where there is a file for more.
const KEPT: usize = 4 << 20;
/// zstd's level.
const LEVEL: i32 = 1;

/// Packs blocks of all threads of a profile.
pub(super) struct BlockPacker {
    /// `None` without memory for it: blocks stay as they are.
    zstd: Option<ZstdPacker>,
    packed: Vec<u8>,
    /// A file for blocks, as long as it takes them.
    spill: Option<Spill>,
    kept: usize,
    /// The size of blocks.
    block: usize,
    /// The reason why blocks were not read.
    failed: Mutex<Option<io::Error>>,
}

impl BlockPacker {
    /// A packer that has a file for what is too much for memory.
    pub(super) fn new(spill: Option<Spill>) -> Self {
        let zstd = ZstdPacker::new(LEVEL, Checksum::Absent).ok();
        BlockPacker { zstd, packed: Vec::new(), spill, kept: 0, block: BLOCK, failed: Mutex::default() }
    }

    /// Sizes blocks for this many threads, each of which has four kinds.
    #[inline]
    pub(super) fn share_among(&mut self, threads: usize) {
        const EACH: usize = OPEN / BLOCK / 4;
        self.block = if threads <= EACH { BLOCK } else { (OPEN / 4 / threads).max(SMALL) };
    }

    /// Packs `block`, and keeps it.
    fn pack(&mut self, block: &[u8]) -> PackedBlock {
        let BlockPacker { zstd, packed, spill, kept, .. } = self;
        let is_packed = zstd.as_mut().is_some_and(|zstd| zstd.pack(block, packed).is_ok());
        let bytes = if is_packed && packed.len() < block.len() { packed.as_slice() } else { block };
        if *kept + bytes.len() > KEPT
            && let Some(file) = spill
        {
            match file.append(bytes) {
                Ok(at) => {
                    return PackedBlock { place: BlockPlace::File { at, len: bytes.len() }, size: block.len() };
                }
                // Memory is what is left.
                Err(_) => file.close(),
            }
        }
        *kept += bytes.len();
        PackedBlock { place: BlockPlace::Memory(bytes.into()), size: block.len() }
    }

    /// Whether all blocks were read so far.
    ///
    /// # Errors
    /// That of the file.
    pub(super) fn check(&self) -> io::Result<()> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Reads the bytes of a block in the file; false: they could not be read.
    fn read(&self, at: u64, to: &mut [u8]) -> bool {
        let read = self.spill.as_ref().map_or(Ok(()), |file| file.read(at, to));
        read.map_err(|error| self.fail(error)).is_ok()
    }

    fn fail(&self, error: io::Error) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl Default for BlockPacker {
    fn default() -> Self {
        BlockPacker::new(None)
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
    place: BlockPlace,
    /// Unpacked; as many as there are if they are not packed.
    size: usize,
}

/// The bytes of a block.
#[derive(Debug)]
enum BlockPlace {
    Memory(Box<[u8]>),
    File { at: u64, len: usize },
}

impl PackedItems {
    /// Adds an item.
    #[inline]
    pub(super) fn push(&mut self, item: &[u8], packer: &mut BlockPacker) {
        self.make_room(item.len(), packer);
        self.open.extend_from_slice(item);
    }

    /// Ends the block if it has no room for `len` bytes more.
    #[inline]
    fn make_room(&mut self, len: usize, packer: &mut BlockPacker) {
        if self.open.len() + len > packer.block && !self.open.is_empty() {
            self.close(packer);
        }
    }

    #[cold]
    fn close(&mut self, packer: &mut BlockPacker) {
        self.blocks.push(packer.pack(&self.open));
        self.open.clear();
        self.open.shrink_to(packer.block);
    }

    /// Reads the items, which `packer` has packed.
    pub(super) fn read<'p>(&'p self, packer: &'p BlockPacker) -> PackedReader<'p> {
        let (block, stored) = (Vec::new(), Vec::new());
        PackedReader {
            from: self,
            packer,
            blocks: self.blocks.iter(),
            is_open: false,
            block,
            stored,
            at: 0,
            unpacker: Unpacker::new(Codec::Zstd),
        }
    }
}

/// A reader of items.
pub(super) struct PackedReader<'p> {
    from: &'p PackedItems,
    packer: &'p BlockPacker,
    blocks: std::slice::Iter<'p, PackedBlock>,
    /// True of the block that is not packed yet, the last one.
    is_open: bool,
    block: Vec<u8>,
    /// A block of the file, packed.
    stored: Vec<u8>,
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
        let Some(PackedBlock { place, size }) = self.blocks.next() else {
            match std::mem::replace(&mut self.is_open, true) {
                true => self.block.clear(),
                false => self.block.clone_from(&self.from.open),
            }
            return;
        };
        let bytes = match place {
            BlockPlace::Memory(bytes) => bytes,
            BlockPlace::File { at, len } => {
                self.stored.resize(*len, 0);
                if !self.packer.read(*at, &mut self.stored) {
                    return self.block.clear();
                }
                self.stored.as_slice()
            }
        };
        if bytes.len() == *size {
            self.block.clear();
            self.block.extend_from_slice(bytes);
        } else if let Err(error) = self.unpacker.unpack(bytes, *size, &mut self.block) {
            self.packer.fail(io::Error::other(error));
            self.block.clear();
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
        const LONGEST: usize = 10;
        let PackedRows { bytes, last, len } = self;
        bytes.make_room(N * LONGEST, packer);
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
    }

    /// Reads the rows, which `packer` has packed, in the order in which they were added.
    pub(super) fn iter<'p>(&'p self, packer: &'p BlockPacker) -> impl Iterator<Item = [u64; N]> + use<'p, N> {
        let (mut from, mut last) = (self.bytes.read(packer), 0u64);
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

/// Bytes that are added at the end of a file, and read at any place.
pub struct Spill {
    to: Box<dyn Write + Send>,
    from: Box<dyn ReadAt>,
    end: u64,
    /// No more bytes are added.
    is_closed: bool,
}

impl Spill {
    /// Bytes that are written to `to` are then read from `from`, whose first they are.
    pub fn new(to: impl Write + Send + 'static, from: impl ReadAt + 'static) -> Self {
        Spill { to: Box::new(to), from: Box::new(from), end: 0, is_closed: false }
    }

    /// Adds bytes; gives their place.
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.is_closed {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.to.write_all(bytes)?;
        let at = self.end;
        self.end += bytes.len() as u64;
        Ok(at)
    }

    /// Takes no more: what failed may have been written in part.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Reads the bytes at a place.
    pub(super) fn read(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        match read_full(&*self.from, to, at)? {
            len if len == to.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and items, and how many blocks are in a file, of a packer with the file or without one.
    fn read_back(spill: Option<Spill>, threads: usize) -> [usize; 2] {
        let mut packer = BlockPacker::new(spill);
        packer.share_among(threads);
        packer.kept = KEPT - 200_000;
        let rows: Vec<[u64; 3]> =
            (0..300_000).map(|n: u64| [(n * 1000) ^ ((n & 7) << 9), n.wrapping_mul(u64::MAX / 7), n % 5]).collect();
        let mut packed = PackedRows::default();
        let mut items = PackedItems::default();
        for row in [[u64::MAX, 0, 1], [0, u64::MAX, 2]].iter().chain(&rows) {
            packed.push(*row, &mut packer);
            items.push(&row[1].to_ne_bytes()[..row[2] as usize], &mut packer);
        }
        let read: Vec<[u64; 3]> = packed.iter(&packer).collect();
        assert_eq!((read[0], read[1], packed.len()), ([u64::MAX, 0, 1], [0, u64::MAX, 2], rows.len() + 2));
        assert!(read[2..] == rows);
        let mut from = items.read(&packer);
        for row in &read {
            assert_eq!(from.take(row[2] as usize), &row[1].to_ne_bytes()[..row[2] as usize]);
        }
        assert!(from.take(1).is_empty() && PackedRows::<2>::default().iter(&packer).next().is_none());
        packer.check().unwrap();
        let blocks = || packed.bytes.blocks.iter().chain(&items.blocks);
        let len = |block: &PackedBlock| match &block.place {
            BlockPlace::Memory(bytes) => bytes.len(),
            BlockPlace::File { len, .. } => *len,
        };
        assert!(blocks().count() > 2 && blocks().any(|block| len(block) < block.size));
        [blocks().count(), blocks().filter(|block| matches!(block.place, BlockPlace::File { .. })).count()]
    }

    #[test]
    fn rows_and_items_are_read_as_they_were_added() {
        let [blocks, in_file] = read_back(None, 1);
        assert_eq!(in_file, 0);
        let spill = || {
            let file = tempfile::tempfile().unwrap();
            Some(Spill::new(file.try_clone().unwrap(), file))
        };
        let [with_file, in_file] = read_back(spill(), 1);
        assert!(with_file == blocks && in_file > 1 && in_file < blocks, "{in_file} of {with_file} and {blocks}");
        let [small, _] = read_back(spill(), 100_000);
        assert!(small > blocks * 10, "{small}");
        // A file that takes nothing, as on a full disk.
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(read_back(Some(Spill::new(full, Vec::new())), 1)[1], 0);
    }

    #[test]
    fn what_the_file_does_not_give_back_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        let mut packer = BlockPacker::new(Some(Spill::new(file.try_clone().unwrap(), file.try_clone().unwrap())));
        packer.kept = KEPT;
        let mut items = PackedItems::default();
        items.push(&[1; 100], &mut packer);
        items.close(&mut packer);
        file.set_len(0).unwrap();
        assert!(items.read(&packer).take(100).is_empty());
        assert_eq!(packer.check().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
