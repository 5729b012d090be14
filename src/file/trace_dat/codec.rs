//! Compression of sections and chunks: which there are, and how they are unpacked.

use super::xxh64;
use std::io::{self, Read};

/// Compression of sections and chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    #[default]
    None,
    /// zlib streams.
    Zlib,
    /// zstd frames.
    Zstd,
}

/// The most bytes of sub-buffers that one chunk may hold.
pub const MAX_CHUNK: usize = 32 << 20;

impl Codec {
    /// The name in the file's header.
    pub fn name(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Zlib => "zlib",
            Codec::Zstd => "zstd",
        }
    }

    /// The codec of that name; version 6 files and empty names mean none.
    pub fn from_name(name: &str) -> Option<Codec> {
        match name {
            "" | "none" => Some(Codec::None),
            "zlib" => Some(Codec::Zlib),
            "zstd" => Some(Codec::Zstd),
            _ => None,
        }
    }

    /// The version of the codec's library, as written after its name.
    pub fn version(self) -> String {
        match self {
            Codec::None => String::new(),
            // No zlib is linked: the major version stands for the format, and is all that trace-cmd compares.
            Codec::Zlib => "1".to_owned(),
            Codec::Zstd => {
                let v = zstd::zstd_safe::version_number();
                format!("{}.{}.{}", v / 10000, v / 100 % 100, v % 100)
            }
        }
    }

    /// The most that this many packed bytes can unpack to: what is claimed beyond that costs no memory.
    fn most_unpacked(self, packed: usize) -> usize {
        const OF_A_ZSTD_BLOCK: usize = 128 << 10;
        const LEAST_ZSTD_BLOCK: usize = 4; // its header, and the byte that it repeats
        const OF_A_DEFLATED_BYTE: usize = 1032;
        match self {
            Codec::None => packed,
            Codec::Zlib => packed.saturating_mul(OF_A_DEFLATED_BYTE),
            Codec::Zstd => (packed / LEAST_ZSTD_BLOCK).saturating_add(1).saturating_mul(OF_A_ZSTD_BLOCK),
        }
    }

    /// True if `bytes` begin as a stream or frame does.
    #[inline]
    pub(in crate::file::trace_dat) fn is_frame(self, bytes: &[u8]) -> bool {
        match (self, bytes) {
            (Codec::Zstd, [0x28, 0xb5, 0x2f, 0xfd, ..]) => true,
            (Codec::Zlib, [0x78, flags, ..]) => (0x7800 | u32::from(*flags)).is_multiple_of(31),
            _ => false,
        }
    }

    /// The first byte of a stream or frame; `None` without compression.
    pub(in crate::file::trace_dat) fn first_byte(self) -> Option<u8> {
        match self {
            Codec::None => None,
            Codec::Zlib => Some(0x78),
            Codec::Zstd => Some(0x28),
        }
    }

    /// `packed`, which unpacks to `data`, with a checksum of `data`; `None` unless it is a single zstd frame without one.
    /// Source: RFC 8878, 3.1.1: a flag in the byte after the magic number, and the low half of the hash at the end.
    pub(in crate::file::trace_dat) fn with_checksum(self, packed: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        const HAS_CHECKSUM: u8 = 1 << 2;
        let descriptor = packed.get(4).filter(|_| self == Codec::Zstd && self.is_frame(packed))?;
        let is_single = zstd::zstd_safe::find_frame_compressed_size(packed).is_ok_and(|size| size == packed.len());
        if descriptor & HAS_CHECKSUM != 0 || !is_single {
            return None;
        }
        let mut with = packed.to_vec();
        *with.get_mut(4)? |= HAS_CHECKSUM;
        with.extend_from_slice(&(xxh64(data) as u32).to_le_bytes());
        Some(with)
    }
}

/// Unpacks one chunk after the other, with the codec's tables kept in between.
pub struct Unpacker {
    codec: Codec,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    /// An unpacker for `codec`.
    pub fn new(codec: Codec) -> Self {
        Unpacker { codec, zstd: None }
    }

    /// Unpacks `packed` into `to`, which is emptied first and grows to at most `size` bytes.
    ///
    /// # Errors
    /// The codec's error; also if there is more than `size`.
    pub fn unpack(&mut self, packed: &[u8], size: usize, to: &mut Vec<u8>) -> io::Result<()> {
        to.clear();
        let most = size.min(self.codec.most_unpacked(packed.len()));
        to.reserve(most);
        match self.codec {
            Codec::None => {
                if packed.len() > size {
                    return Err(io::Error::other("more data than declared"));
                }
                to.extend_from_slice(packed);
                Ok(())
            }
            Codec::Zlib => {
                let mut from = flate2::read::ZlibDecoder::new(packed).take((size as u64).saturating_add(1));
                from.read_to_end(to)?;
                if to.len() > size {
                    return Err(io::Error::other("more data than declared"));
                }
                if from.get_ref().total_in() != packed.len() as u64 {
                    return Err(io::Error::other("bytes after its end")); // zstd checks that itself
                }
                Ok(())
            }
            Codec::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                if zstd.decompress_to_buffer(packed, to).is_ok_and(|len| len <= size) {
                    return Ok(());
                }
                // `to` may be larger from chunks before. A report of damage must not depend on earlier reads.
                let mut exact = vec![0; most];
                to.clear();
                let len = zstd.decompress_to_buffer(packed, exact.as_mut_slice())?;
                to.extend_from_slice(exact.get(..len).unwrap_or_default());
                Ok(())
            }
        }
    }
}

/// An unpacker for each codec that comes up.
#[derive(Default)]
pub(crate) struct Unpackers(Vec<(Codec, Unpacker)>);

impl Unpackers {
    /// Unpacks as [`Unpacker::unpack`] does.
    pub(crate) fn unpack(&mut self, codec: Codec, packed: &[u8], size: usize, to: &mut Vec<u8>) -> io::Result<()> {
        if let Some((_, unpacker)) = self.0.iter_mut().find(|known| known.0 == codec) {
            return unpacker.unpack(packed, size, to);
        }
        let mut unpacker = Unpacker::new(codec);
        let unpacked = unpacker.unpack(packed, size, to);
        self.0.push((codec, unpacker));
        unpacked
    }
}

/// The unpacked start of a stream or frame, at most `size` bytes.
pub(super) fn unpack_start(codec: Codec, packed: &[u8], size: usize, to: &mut Vec<u8>) {
    fn all(from: impl Read, size: usize, to: &mut Vec<u8>) -> io::Result<usize> {
        from.take(size as u64).read_to_end(to)
    }
    to.clear();
    // It ends in an error, always: what came before it stays in `to`.
    let _ends_too_soon = match codec {
        Codec::None => all(packed, size, to),
        Codec::Zlib => all(flate2::read::ZlibDecoder::new(packed), size, to),
        Codec::Zstd => zstd::stream::read::Decoder::new(packed).and_then(|mut from| {
            from.window_log_max(MAX_CHUNK.ilog2())?; // what a damaged header may cost
            all(from, size, to)
        }),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gets_a_checksum_once() {
        let data: Vec<u8> = (0..9000u32).flat_map(u32::to_le_bytes).collect();
        let bare = zstd::bulk::compress(&data, 1).unwrap();
        let with = Codec::Zstd.with_checksum(&bare, &data).unwrap();
        assert_eq!(zstd::bulk::decompress(&with, data.len()).unwrap(), data);
        assert_eq!(Codec::Zstd.with_checksum(&with, &data), None);
        assert_eq!(Codec::Zstd.with_checksum(&[bare.clone(), bare.clone()].concat(), &data), None);
        assert_eq!(Codec::Zlib.with_checksum(&bare, &data), None);
        let mut changed = with.clone();
        changed[bare.len()] ^= 1;
        assert!(zstd::bulk::decompress(&changed, data.len()).is_err());
    }

    /// Threads read chunks in different orders: what they say of a damaged one is the same.
    #[test]
    fn more_than_declared_is_reported_alike_after_a_larger_chunk() {
        let small = zstd::bulk::compress(&vec![1; 5000], 1).unwrap();
        let large = zstd::bulk::compress(&vec![2; 50_000], 1).unwrap();
        let mut to = Vec::new();
        let first = Unpacker::new(Codec::Zstd).unpack(&small, 4000, &mut to).unwrap_err();
        let mut unpacker = Unpacker::new(Codec::Zstd);
        unpacker.unpack(&large, 50_000, &mut to).unwrap();
        let later = unpacker.unpack(&small, 4000, &mut to).unwrap_err();
        assert_eq!((later.to_string(), to.len()), (first.to_string(), 0));
        unpacker.unpack(&small, 5000, &mut to).unwrap();
        assert_eq!(to, [1; 5000]);
    }

    #[test]
    fn the_start_of_what_was_cut() {
        // Some 300 KiB that do not shrink to nothing.
        let data: Vec<u8> = (0..75_000u32).flat_map(|n| (n ^ n.rotate_left(n % 29)).to_le_bytes()).collect();
        for codec in [Codec::None, Codec::Zlib, Codec::Zstd] {
            let packed = codec.compress(&data).unwrap();
            let mut start = Vec::new();
            unpack_start(codec, &packed[..packed.len() * 3 / 4], data.len(), &mut start);
            assert!(start.len() >= 128 << 10 && start.len() < data.len(), "{codec:?}: {} bytes", start.len());
            assert!(data.starts_with(&start), "{codec:?}");
        }
        let mut start = vec![1];
        unpack_start(Codec::Zstd, b"no frame", 100, &mut start);
        assert!(start.is_empty());
    }
}
