//! From raw sub-buffers to the bytes of a trace.dat section: whole chunks, compressed one by one.
//! Compression effort of a recording thread: less when its ring fills up.

use crate::base::units::ByteSize;
use crate::file::trace_dat::{Compression, Packer};
use serde::Serialize;
use std::io;
use std::time::Instant;

/// The largest chunk that is made, in bytes of sub-buffers.
pub const MAX_CHUNK: ByteSize = ByteSize(1 << 20);

/// The chunk size for `buffers` ring buffers drained at once: 1 MiB, less where very many CPUs would need much memory or
/// `most` is less; always a multiple of the sub-buffer size, because a chunk must not split a sub-buffer.
pub fn chunk_size(sub_buffer: usize, buffers: usize, most: Option<u64>) -> usize {
    let budget = (32 << 20) / buffers.max(1);
    let most = most.map_or(usize::MAX, |most| most as usize);
    let size = budget.clamp(64 << 10, MAX_CHUNK.0 as usize).min(most);
    (size / sub_buffer).max(1) * sub_buffer
}

/// One chunk being filled, and the bytes it becomes in the section.
pub(crate) struct ChunkWriter {
    raw: Vec<u8>,
    filled: usize,
    /// `[compressed size u32][size u32][frame]`, in this machine's byte order. Empty without compression, where the
    /// section holds the sub-buffers themselves.
    packed: Vec<u8>,
    /// Bytes that the last [`ChunkWriter::pack`] made.
    made: usize,
    packer: Packer,
}

const HEADER: usize = 8;

impl ChunkWriter {
    /// A writer of chunks of `size` bytes.
    ///
    /// # Errors
    /// If zstd has no such level or the machine no memory.
    pub(crate) fn new(size: usize, compression: Compression) -> io::Result<Self> {
        let packer = Packer::new(compression)?;
        let bound = packer.bound(size);
        Ok(ChunkWriter { raw: vec![0; size], filled: 0, packed: vec![0; HEADER + bound], made: 0, packer })
    }

    /// The part of the chunk that is still free; [`Self::advance`] says how much of it was filled.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        &mut self.raw[self.filled..]
    }

    /// Takes the next `len` bytes of [`Self::free`] as filled.
    pub(crate) fn advance(&mut self, len: usize) {
        self.filled = (self.filled + len).min(self.raw.len());
    }

    pub(crate) fn is_full(&self) -> bool {
        self.filled == self.raw.len()
    }

    /// Bytes filled so far.
    pub(crate) fn len(&self) -> usize {
        self.filled
    }

    /// The filled part.
    pub(crate) fn filled(&self) -> &[u8] {
        &self.raw[..self.filled]
    }

    /// The same, to be changed in place.
    pub(crate) fn filled_mut(&mut self) -> &mut [u8] {
        &mut self.raw[..self.filled]
    }

    /// Pads the last sub-buffer with zeros, as a chunk must hold whole ones.
    pub(crate) fn pad(&mut self, sub_buffer: usize) {
        let padded = self.filled.next_multiple_of(sub_buffer).min(self.raw.len());
        self.raw[self.filled..padded].fill(0);
        self.filled = padded;
    }

    /// Forgets what is filled after the first `len` bytes.
    pub(crate) fn keep(&mut self, len: usize) {
        self.filled = self.filled.min(len);
    }

    /// Forgets what is filled.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// False without compression.
    pub(crate) fn packs(&self) -> bool {
        self.packer.packs()
    }

    /// Makes [`ChunkWriter::packed`] of the first `len` bytes; returns its length in bytes. The chunk stays as it is.
    ///
    /// # Errors
    /// The codec's; none is expected, as the buffer has the size of its bound.
    pub(crate) fn pack(&mut self, len: usize, effort: PackingEffort) -> io::Result<usize> {
        let (header, frame) = self.packed.split_at_mut(HEADER);
        let raw = &self.raw[..len.min(self.filled)];
        if !self.packer.packs() {
            self.made = raw.len();
            return Ok(self.made);
        }
        let packed = match effort {
            PackingEffort::Full => self.packer.pack(raw, frame)?,
            PackingEffort::Stored => self.packer.store(raw, frame)?,
        };
        header[..4].copy_from_slice(&(packed as u32).to_ne_bytes());
        header[4..].copy_from_slice(&(raw.len() as u32).to_ne_bytes());
        self.made = HEADER + packed;
        Ok(self.made)
    }

    /// The result of the last [`ChunkWriter::pack`], ready for the section, header included.
    pub(crate) fn packed(&self) -> &[u8] {
        if self.packs() { &self.packed[..self.made] } else { &self.raw[..self.made] }
    }
}

/// The form of a stored chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackingEffort {
    /// A frame of the level asked for.
    #[default]
    Full,
    /// A zstd frame of uncompressed blocks: a copy. Ten times as fast, and ten times as large.
    Stored,
}

/// The choices, and the times of their changes.
#[derive(Clone, Debug, Default)]
pub struct Efforts {
    now: PackingEffort,
    changes: Vec<(Instant, PackingEffort)>,
    full: u64,
    stored: u64,
}

/// Changes that are remembered; the counts go on.
const REMEMBERED: usize = 256;

impl Efforts {
    /// Chooses for the next chunk. `waited` bytes were found in a ring of `ring` bytes (0 if that is not known) since
    /// its reader was woken and has not found it empty. The ring is half full then, or fills as fast as it is emptied.
    pub(crate) fn choose(&mut self, waited: usize, ring: usize) -> PackingEffort {
        let effort = Self::of(waited, ring);
        if effort != self.now {
            self.now = effort;
            if self.changes.len() < REMEMBERED {
                self.changes.push((Instant::now(), effort));
            }
        }
        match effort {
            PackingEffort::Full => self.full += 1,
            PackingEffort::Stored => self.stored += 1,
        }
        effort
    }

    /// The choice of [`Efforts::choose`].
    pub(crate) fn of(waited: usize, ring: usize) -> PackingEffort {
        if ring > 0 && waited > ring / 2 { PackingEffort::Stored } else { PackingEffort::Full }
    }

    /// Each change and its time, the first 256; it begins with [`PackingEffort::Full`].
    pub fn changes(&self) -> &[(Instant, PackingEffort)] {
        &self.changes
    }

    /// Chunks that were compressed, and that were only stored.
    pub fn counts(&self) -> (u64, u64) {
        (self.full, self.stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::Codec;

    #[test]
    fn chunks_never_split_a_sub_buffer() {
        for sub_buffer in [4096, 12288, 65536, 1 << 20, 4 << 20] {
            for buffers in [1, 2, 128, 4096] {
                let size = chunk_size(sub_buffer, buffers, None);
                assert_eq!(size % sub_buffer, 0);
                assert!(size >= sub_buffer && (size <= 1 << 20 || size == sub_buffer), "{sub_buffer} {buffers} {size}");
            }
        }
        assert_eq!((chunk_size(4096, 2, None), chunk_size(4096, 2, Some(50_000))), (1 << 20, 49152));
    }

    #[test]
    fn a_stored_chunk_is_a_zstd_frame() {
        for size in [4096, 128 << 10, 132 << 10, 1 << 20] {
            let mut chunk = ChunkWriter::new(size, Compression::Zstd(1)).unwrap();
            let raw: Vec<u8> = (0..size).map(|i| ((i * i) >> 5) as u8).collect();
            chunk.free().copy_from_slice(&raw);
            chunk.advance(size);
            assert!(chunk.pack(size, PackingEffort::Stored).unwrap() < size + 64);
            let packed = chunk.packed();
            assert!(zstd::bulk::decompress(&packed[8..], size).unwrap() == raw, "{size}");
            assert!(zstd::decode_all(&packed[8..]).unwrap() == raw, "{size}, as a stream");
            for bit in (0..8 * (packed.len() - 8)).step_by(8 * (packed.len() / 97) + 1) {
                let mut flipped = packed[8..].to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let same = zstd::bulk::decompress(&flipped, size).map_or(true, |data| data == raw);
                assert!(same, "bit {bit} of {size} bytes changes the data unseen");
            }
        }
    }

    #[test]
    fn a_packed_chunk_unpacks() {
        let mut chunk = ChunkWriter::new(8192, Compression::Zstd(1)).unwrap();
        chunk.free()[..5000].fill(7);
        chunk.advance(5000);
        chunk.pad(4096);
        assert!(chunk.is_full());
        for len in [8192, 4096] {
            chunk.pack(len, PackingEffort::Full).unwrap();
            let packed = chunk.packed();
            let size = |at: usize| u32::from_ne_bytes(packed[at..at + 4].try_into().unwrap()) as usize;
            assert_eq!((size(0), size(4)), (packed.len() - 8, len));
            let raw = zstd::bulk::decompress(&packed[8..], 8192).unwrap();
            for bit in 0..8 * (packed.len() - 8) {
                let mut flipped = packed[8..].to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let same = zstd::bulk::decompress(&flipped, 8192).map_or(true, |data| data == raw);
                assert!(same, "bit {bit} changes the data unseen");
            }
            assert_eq!(
                (raw.get(4999), raw.get(5000), raw.len()),
                (raw.get(4999).map(|_| &7), raw.get(5000).map(|_| &0), len)
            );
        }
        chunk.clear();
        assert_eq!(chunk.len(), 0);
    }

    #[test]
    fn a_chunk_of_zlib_unpacks_whatever_is_in_it() {
        let mut noise = 1u32;
        let mut next = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        };
        for (level, effort) in [(1, PackingEffort::Full), (9, PackingEffort::Full), (1, PackingEffort::Stored)] {
            for size in [4096, 300 << 10] {
                let mut chunk = ChunkWriter::new(size, Compression::Zlib(level)).unwrap();
                for noisy in [true, false, true] {
                    chunk.free().fill_with(|| if noisy { next() } else { 7 });
                    chunk.advance(size);
                    let raw = chunk.raw.clone();
                    chunk.pack(size, effort).unwrap();
                    let mut to = Vec::new();
                    crate::file::trace_dat::Unpacker::new(Codec::Zlib)
                        .unpack(&chunk.packed()[8..], size, &mut to)
                        .unwrap();
                    chunk.clear();
                    assert!(to == raw, "{level} {effort:?} {size} {noisy}");
                }
            }
        }
    }

    #[test]
    fn without_compression_a_chunk_is_its_sub_buffers() {
        let mut chunk = ChunkWriter::new(8192, Compression::None).unwrap();
        chunk.free().fill(7);
        chunk.advance(8192);
        assert_eq!((chunk.packs(), chunk.pack(4096, PackingEffort::Stored).unwrap()), (false, 4096));
        assert!(chunk.packed() == [7; 4096]);
    }

    #[test]
    fn a_ring_that_fills_up_gets_less_effort() {
        let mut efforts = Efforts::default();
        let chosen: Vec<_> = [10, 50, 51, 99, 20].iter().map(|&waited| efforts.choose(waited, 100)).collect();
        use PackingEffort::{Full, Stored};
        assert_eq!(chosen, [Full, Full, Stored, Stored, Full]);
        assert_eq!(efforts.choose(usize::MAX, 0), Full);
        assert_eq!(efforts.counts(), (4, 2));
        assert_eq!(efforts.changes().iter().map(|c| c.1).collect::<Vec<_>>(), [Stored, Full]);
    }
}
