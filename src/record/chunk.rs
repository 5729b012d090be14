//! From raw sub-buffers to the bytes of a trace.dat section: whole chunks, compressed one by one.

use crate::units::ByteSize;
use zstd::bulk::Compressor;

/// How the recorded sub-buffers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are: the kernel's pages one after the other.
    None,
    /// Chunks of zstd frames of this level (negative levels are faster than 1).
    Zstd(i32),
}

impl Default for Compression {
    /// Level 1 over 1 MiB is both faster and smaller than level 3 over trace-cmd's 40 KiB.
    fn default() -> Self {
        Compression::Zstd(1)
    }
}

/// The largest chunk that is made, in bytes of sub-buffers.
pub const MAX_CHUNK: ByteSize = ByteSize(1 << 20);

/// The chunk size for `buffers` ring buffers drained at once: 1 MiB, less where very many CPUs would need much memory;
/// always a multiple of the sub-buffer size, because a chunk must not split a sub-buffer.
pub fn chunk_size(sub_buffer: usize, buffers: usize) -> usize {
    let budget = (32 << 20) / buffers.max(1);
    let size = budget.clamp(64 << 10, MAX_CHUNK.0 as usize);
    (size / sub_buffer).max(1) * sub_buffer
}

/// One chunk being filled, and the frame it becomes.
pub(crate) struct ChunkWriter {
    raw: Vec<u8>,
    filled: usize,
    /// `[compressed size u32][size u32][frame]`, in this machine's byte order.
    packed: Vec<u8>,
    compressor: Compressor<'static>,
}

const HEADER: usize = 8;

impl ChunkWriter {
    /// A writer of chunks of `size` bytes.
    ///
    /// # Errors
    /// When zstd has no such level or the machine no memory.
    pub(crate) fn new(size: usize, level: i32) -> std::io::Result<Self> {
        Ok(ChunkWriter {
            raw: vec![0; size],
            filled: 0,
            packed: vec![0; HEADER + zstd::zstd_safe::compress_bound(size)],
            compressor: Compressor::new(level)?,
        })
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

    /// Pads the last sub-buffer with zeros, as a chunk must hold whole ones.
    pub(crate) fn pad(&mut self, sub_buffer: usize) {
        let padded = self.filled.next_multiple_of(sub_buffer).min(self.raw.len());
        self.raw[self.filled..padded].fill(0);
        self.filled = padded;
    }

    /// Compresses what is filled and empties the chunk. The bytes are ready for the section, header included.
    ///
    /// # Errors
    /// What zstd says; it has nothing to complain of with a buffer of the bound's size.
    pub(crate) fn pack(&mut self) -> std::io::Result<&[u8]> {
        let (header, frame) = self.packed.split_at_mut(HEADER);
        let len = self.compressor.compress_to_buffer(&self.raw[..self.filled], frame)?;
        header[..4].copy_from_slice(&(len as u32).to_ne_bytes());
        header[4..].copy_from_slice(&(self.filled as u32).to_ne_bytes());
        self.filled = 0;
        Ok(&self.packed[..HEADER + len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_never_split_a_sub_buffer() {
        for sub_buffer in [4096, 12288, 65536, 1 << 20, 4 << 20] {
            for buffers in [1, 2, 128, 4096] {
                let size = chunk_size(sub_buffer, buffers);
                assert_eq!(size % sub_buffer, 0);
                assert!(size >= sub_buffer && (size <= 1 << 20 || size == sub_buffer), "{sub_buffer} {buffers} {size}");
            }
        }
        assert_eq!(chunk_size(4096, 2), 1 << 20);
    }

    #[test]
    fn a_packed_chunk_unpacks() {
        let mut chunk = ChunkWriter::new(8192, 1).unwrap();
        chunk.free()[..5000].fill(7);
        chunk.advance(5000);
        chunk.pad(4096);
        assert!(chunk.is_full());
        let packed = chunk.pack().unwrap().to_vec();
        let size = |at: usize| u32::from_ne_bytes(packed[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((size(0), size(4)), (packed.len() - 8, 8192));
        let raw = zstd::bulk::decompress(&packed[8..], 8192).unwrap();
        assert_eq!((raw[4999], raw[5000], raw.len()), (7, 0, 8192));
        assert_eq!(chunk.len(), 0);
    }
}
