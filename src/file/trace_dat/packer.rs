//! Makers of frames and streams, with their tables kept from one to the next: all that is packed is packed here.

use super::codec::Codec;
use super::xxh64;
use flate2::{Compress, FlushCompress, Status};
use std::io::{self, Write};
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// Compression of the recorded sub-buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are: the kernel's pages one after the other.
    None,
    /// Chunks of zstd frames of this level (negative levels are faster than 1).
    Zstd(i32),
    /// Chunks of zlib streams of this level (1 to 9), for readers without zstd.
    Zlib(u32),
}

impl Compression {
    /// The file's codec for it.
    pub fn codec(self) -> Codec {
        match self {
            Compression::None => Codec::None,
            Compression::Zstd(_) => Codec::Zstd,
            Compression::Zlib(_) => Codec::Zlib,
        }
    }

    /// The levels of zstd.
    pub fn zstd_levels() -> std::ops::RangeInclusive<i32> {
        zstd::compression_level_range()
    }
}

impl Default for Compression {
    /// Level 1 over 1 MiB is both faster and smaller than level 3 over trace-cmd's 40 KiB.
    fn default() -> Self {
        Compression::Zstd(1)
    }
}

/// The hash table of zstd's level 1 in entries of 4 bytes, as a power of two: 32 KiB stay in the first cache, which is a
/// tenth faster over the kernel's pages than the default 64 KiB and as small.
const HASH_LOG: u32 = 13;
/// zstd's value for literals that stay as they are. They are few in the kernel's pages: a tenth larger, a seventh
/// faster, and read faster.
const BARE_LITERALS: u32 = 1;

/// zstd's level 1: kallsyms and sub-buffers come out as small as with level 3, formats 6 % larger, in half the time.
const LEVEL: i32 = 1;

impl Codec {
    /// Packs `data` into one stream or frame. zstd frames carry a checksum, so that a reader notices any flipped bit.
    ///
    /// # Errors
    /// The codec's error.
    pub fn compress(self, data: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Codec::None => Ok(data.to_vec()),
            Codec::Zlib => {
                let mut to = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
                to.write_all(data)?;
                to.finish()
            }
            Codec::Zstd => {
                let mut packed = Vec::new();
                ZstdPacker::new(LEVEL, Checksum::OfContent)?.pack(data, &mut packed)?;
                Ok(packed)
            }
        }
    }
}

/// Packs sub-buffers into caller's memory, one chunk after the other.
pub(crate) enum Packer {
    /// Leaves them as they are.
    None,
    /// Into zstd frames with a checksum of their content.
    Zstd(ZstdPacker),
    /// Into zlib streams of the level asked for, and by one that only stores.
    Zlib(Compress, Compress),
}

impl Packer {
    /// A packer for the kernel's sub-buffers.
    ///
    /// # Errors
    /// If zstd has no such level or the machine no memory.
    pub(crate) fn new(compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Packer::None,
            Compression::Zstd(level) => {
                // A reader notices every flipped bit; that is 4 to 6 % of the packing.
                let mut packer = ZstdPacker::new(level, Checksum::OfContent)?;
                if level == 1 {
                    packer.0.set_parameter(CParameter::HashLog(HASH_LOG))?;
                    packer.0.set_parameter(CParameter::TargetLength(BARE_LITERALS))?;
                }
                Packer::Zstd(packer)
            }
            Compression::Zlib(level) => {
                let packer = |level| Compress::new(level, true);
                Packer::Zlib(packer(flate2::Compression::new(level)), packer(flate2::Compression::none()))
            }
        })
    }

    /// False without compression.
    pub(crate) fn packs(&self) -> bool {
        !matches!(self, Packer::None)
    }

    /// The most bytes that `size` bytes are packed to; 0 without compression.
    pub(crate) fn bound(&self, size: usize) -> usize {
        match self {
            Packer::None => 0,
            Packer::Zstd(_) => compress_bound(size),
            // Stored blocks of any length that a deflate may choose, and the stream's head and sum.
            Packer::Zlib(..) => size.saturating_add(size / 64).saturating_add(1024),
        }
    }

    /// Packs `raw` to the start of `out` and returns the length there in bytes; 0 without compression.
    ///
    /// # Errors
    /// The codec's; none is expected where `out` has [`Packer::bound`] bytes.
    pub(crate) fn pack(&mut self, raw: &[u8], out: &mut [u8]) -> io::Result<usize> {
        match self {
            Packer::None => Ok(0),
            Packer::Zstd(packer) => packer.0.compress_to_buffer(raw, out),
            Packer::Zlib(packer, _) => deflate(packer, raw, out),
        }
    }

    /// The same without effort: a frame or stream that holds `raw` as it is.
    ///
    /// # Errors
    /// As [`Packer::pack`].
    pub(crate) fn store(&mut self, raw: &[u8], out: &mut [u8]) -> io::Result<usize> {
        match self {
            Packer::None => Ok(0),
            Packer::Zstd(_) => stored_frame(raw, out),
            Packer::Zlib(_, packer) => deflate(packer, raw, out),
        }
    }
}

/// CRC-32 of `bytes`, as gzip has it.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The checksum at a zstd frame's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// None.
    Absent,
    /// Of the unpacked bytes.
    OfContent,
}

/// Makes zstd frames of any data.
pub(crate) struct ZstdPacker(Compressor<'static>);

impl ZstdPacker {
    /// A packer of the level `level`.
    ///
    /// # Errors
    /// If zstd has no such level or the machine no memory.
    pub(crate) fn new(level: i32, checksum: Checksum) -> io::Result<Self> {
        let mut packer = Compressor::new(level)?;
        packer.include_checksum(checksum == Checksum::OfContent)?;
        Ok(ZstdPacker(packer))
    }

    /// Packs `data` into `out`, which is emptied first.
    ///
    /// # Errors
    /// zstd's: no memory.
    pub(crate) fn pack(&mut self, data: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        out.clear();
        out.reserve(compress_bound(data.len()));
        self.0.compress_to_buffer(data, out).map(drop)
    }

    /// The same without effort: a frame that holds `data` as it is.
    ///
    /// # Errors
    /// None is expected.
    pub(crate) fn store(data: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        out.resize(compress_bound(data.len()), 0);
        let len = stored_frame(data, out)?;
        out.truncate(len);
        Ok(())
    }
}

/// Writes `raw` to `out` as one zlib stream.
fn deflate(packer: &mut Compress, raw: &[u8], out: &mut [u8]) -> io::Result<usize> {
    packer.reset();
    match packer.compress(raw, out, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Ok(packer.total_out() as usize),
        Ok(_) => Err(io::Error::other("zlib needs more room than it may")),
        Err(error) => Err(error.into()),
    }
}

/// Writes `raw` to `out` as a zstd frame of uncompressed blocks with a content checksum (RFC 8878, 3.1.1): a copy, and a
/// frame for every reader.
fn stored_frame(raw: &[u8], out: &mut [u8]) -> io::Result<usize> {
    const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
    const SIZE_IN_4_BYTES_SINGLE_SEGMENT_CHECKSUM: u8 = 0xa4;
    const BLOCK: usize = 128 << 10;
    const LAST: u32 = 1;
    let (room, mut to) = (out.len(), out);
    to.write_all(&MAGIC)?;
    to.write_all(&[SIZE_IN_4_BYTES_SINGLE_SEGMENT_CHECKSUM])?;
    to.write_all(&(raw.len() as u32).to_le_bytes())?;
    let mut blocks = raw.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let last = if blocks.peek().is_none() { LAST } else { 0 };
        let [low, middle, high, _] = (last | (block.len() as u32) << 3).to_le_bytes(); // type 0: raw
        to.write_all(&[low, middle, high])?;
        to.write_all(block)?;
    }
    to.write_all(&(xxh64(raw) as u32).to_le_bytes())?;
    Ok(room.saturating_sub(to.len()))
}
