//! XXH64, the hash whose low half is the content checksum of a zstd frame (RFC 8878, 3.1.1).
//!
//! Source: the algorithm's description, `xxhash_spec.md` of xxHash. All words are little-endian, all sums wrap.

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;
/// Bytes of one step: a word for each of four lanes.
const STRIPE: usize = 32;

/// The hash of `data` with seed 0, as zstd uses it.
pub(crate) fn xxh64(data: &[u8]) -> u64 {
    let (stripes, rest) = data.as_chunks::<STRIPE>();
    let mut hash = if stripes.is_empty() {
        PRIME_5
    } else {
        let mut lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0u64.wrapping_sub(PRIME_1)];
        for stripe in stripes {
            let (words, _) = stripe.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        let rotated = lanes.iter().zip([1, 7, 12, 18]).map(|(lane, by)| lane.rotate_left(by));
        lanes.iter().fold(rotated.fold(0, u64::wrapping_add), |hash, lane| {
            (hash ^ round(0, *lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4)
        })
    };
    hash = hash.wrapping_add(data.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash ^= round(0, u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
    }
    let (halves, bytes) = rest.as_chunks::<4>();
    for half in halves {
        hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIME_1);
        hash = hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
    }
    for byte in bytes {
        hash ^= u64::from(*byte).wrapping_mul(PRIME_5);
        hash = hash.rotate_left(11).wrapping_mul(PRIME_1);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(PRIME_2);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIME_3);
    hash ^ hash >> 32
}

#[inline(always)]
fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// zstd writes the same hash after its frames.
    #[test]
    fn is_the_checksum_of_zstd_frames() {
        assert_eq!(xxh64(b""), 0xef46_db37_51d8_e999);
        let mut packer = zstd::bulk::Compressor::new(1).unwrap();
        packer.include_checksum(true).unwrap();
        let data: Vec<u8> = (0..70_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        for len in (1..200).chain([4096, 65_535, 70_000]) {
            let frame = packer.compress(&data[..len]).unwrap();
            assert_eq!(frame[frame.len() - 4..], (xxh64(&data[..len]) as u32).to_le_bytes(), "{len} bytes");
        }
    }
}
