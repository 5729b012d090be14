//! Parquet's encoding of differences (`DELTA_BINARY_PACKED`), for times.

use super::hybrid::{groups_of, pack};
use crate::base::varint;

/// Values in a block, and in each of its parts.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Appends the values, of 64 bits each.
pub(super) fn differences(out: &mut Vec<u8>, values: impl ExactSizeIterator<Item = i64>) {
    let mut values = values;
    varint::put(out, BLOCK as u64);
    varint::put(out, (BLOCK / PART) as u64);
    varint::put(out, values.len() as u64);
    let mut last = values.next().unwrap_or_default();
    varint::put(out, varint::zigzag(last));
    let mut block = [0i64; BLOCK];
    while values.len() > 0 {
        let count = values.len().min(BLOCK);
        for (place, value) in block.iter_mut().zip(values.by_ref().take(BLOCK)) {
            *place = value.wrapping_sub(last);
            last = value;
        }
        let block = &block[..count];
        let least = block.iter().copied().min().unwrap_or_default();
        varint::put(out, varint::zigzag(least));
        let above = |difference: i64| difference.wrapping_sub(least) as u64;
        let widths = out.len();
        out.extend_from_slice(&[0; BLOCK / PART]);
        for (number, part) in block.chunks(PART).enumerate() {
            let values: [u64; PART] = std::array::from_fn(|at| part.get(at).map_or(0, |difference| above(*difference)));
            let bits = values.iter().fold(0, |bits, value| bits | value);
            let width = (u64::BITS - bits.leading_zeros()) as u8;
            out[widths + number] = width;
            pack(out, groups_of(&values), width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(bytes: &[u8], at: &mut usize) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            value |= u64::from(bytes[*at] & 0x7f) << shift;
            (*at, shift) = (*at + 1, shift + 7);
            if bytes[*at - 1] < 0x80 {
                return value;
            }
        }
    }

    fn signed(bytes: &[u8], at: &mut usize) -> i64 {
        let value = number(bytes, at);
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    /// A slow reader, from the format's description alone.
    fn read(bytes: &[u8]) -> Vec<i64> {
        let mut at = 0;
        let (block, parts, count) =
            (number(bytes, &mut at) as usize, number(bytes, &mut at) as usize, number(bytes, &mut at) as usize);
        let mut found = vec![signed(bytes, &mut at)];
        while found.len() < count {
            let least = signed(bytes, &mut at);
            let widths = bytes[at..at + parts].to_vec();
            at += parts;
            for width in widths {
                if found.len() >= count {
                    continue;
                }
                let bit = |bit: usize| u64::from(bytes[at + bit / 8] >> (bit % 8) & 1);
                for of in 0..block / parts {
                    let first = of * usize::from(width);
                    let above: u64 = (0..usize::from(width)).map(|of| bit(first + of) << of).sum();
                    found.push(found[found.len() - 1].wrapping_add(least).wrapping_add(above as i64));
                }
                at += block / parts * usize::from(width) / 8;
            }
        }
        assert_eq!(at, bytes.len());
        found.truncate(count);
        found
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(values in prop::collection::vec(any::<i64>(), 0..400), shift in 0u8..64) {
            let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
            let mut out = Vec::new();
            differences(&mut out, values.iter().copied());
            let expected = if values.is_empty() { Vec::new() } else { values };
            let found = read(&out);
            prop_assert_eq!(if expected.is_empty() { &found[..0] } else { &found[..] }, &expected[..]);
        }
    }
}
