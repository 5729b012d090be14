//! Packed numbers: the hybrid of runs and packed bits, and differences.

use crate::base::text::plain::piece;
use crate::base::varint;

/// The number of bits that `largest` takes.
pub(super) fn width(largest: u32) -> u8 {
    (u32::BITS - largest.leading_zeros()) as u8
}

/// Runs are at least so long: shorter ones are packed with their neighbours.
const RUN: usize = 16;
/// Values that are packed together: they fill bytes.
const GROUP: usize = 8;

/// Appends `values`, each of `width` bits.
pub(super) fn hybrid(out: &mut Vec<u8>, values: &[u32], width: u8) {
    let (mut packed, mut at) = (0, 0);
    while let Some(next) = values[at..].first_chunk::<RUN>() {
        let value = next[0];
        if next.iter().fold(0, |differ, other| differ | (other ^ value)) != 0 {
            // Packed values come in groups.
            at += GROUP;
            continue;
        }
        let end = at + values[at..].iter().take_while(|other| **other == value).count();
        pack_groups(out, &values[packed..at], width);
        run(out, value, end - at, width);
        (packed, at) = (end, end);
    }
    pack_groups(out, &values[packed..], width);
}

/// Appends `count` times `value`.
pub(super) fn run(out: &mut Vec<u8>, value: u32, count: usize, width: u8) {
    varint::put(out, (count as u64) << 1);
    out.extend_from_slice(&value.to_le_bytes()[..usize::from(width.div_ceil(8))]);
}

fn pack_groups(out: &mut Vec<u8>, values: &[u32], width: u8) {
    if values.is_empty() {
        return;
    }
    varint::put(out, (values.len().div_ceil(GROUP) as u64) << 1 | 1);
    pack(out, groups_of(values).map(|group| group.map(u64::from)), width);
}

/// The values by groups, of which the last is filled with zeros.
pub(super) fn groups_of<T: Copy + Default>(values: &[T]) -> impl Iterator<Item = [T; GROUP]> {
    let (groups, rest) = values.as_chunks();
    let last = || std::array::from_fn(|at| rest.get(at).copied().unwrap_or_default());
    groups.iter().copied().chain((!rest.is_empty()).then(last))
}

/// Appends the lowest `width` bits of each value, one after the other from the lowest bit on; the others are 0.
pub(super) fn pack(out: &mut Vec<u8>, groups: impl Iterator<Item = [u64; GROUP]>, width: u8) {
    if width > 16 {
        return pack_wide(out, groups.flatten(), width);
    }
    let word = |values: &[u64]| values.iter().rev().fold(0u64, |word, value| word << width | value);
    if width <= 8 {
        groups.for_each(|group| piece(out, &word(&group).to_le_bytes(), width.into()));
        return;
    }
    // Half a group fits a word.
    for group in groups {
        let (first, last) = group.split_at(GROUP / 2);
        let bits = u128::from(word(first)) | u128::from(word(last)) << (u32::from(width) * GROUP as u32 / 2);
        piece(out, &bits.to_le_bytes(), width.into());
    }
}

/// The same of any width.
fn pack_wide(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u8) {
    if width <= 32 {
        let (mut bits, mut filled) = (0u64, 0u8);
        for value in values {
            bits |= value << filled;
            filled += width;
            if filled >= 32 {
                out.extend_from_slice(&(bits as u32).to_le_bytes());
                (bits, filled) = (bits >> 32, filled - 32);
            }
        }
        out.extend_from_slice(&bits.to_le_bytes()[..usize::from(filled.div_ceil(8))]);
        return;
    }
    let (mut bits, mut filled) = (0u128, 0u8);
    for value in values {
        bits |= u128::from(value) << filled;
        filled += width;
        if filled >= 64 {
            out.extend_from_slice(&(bits as u64).to_le_bytes());
            (bits, filled) = (bits >> 64, filled - 64);
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..usize::from(filled.div_ceil(8))]);
}

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

    /// A slow reader, from the format's description alone.
    pub(super) fn read(bytes: &[u8], width: u8, count: usize) -> Vec<u32> {
        let (mut at, mut found) = (0, Vec::new());
        while found.len() < count {
            let (mut head, mut shift) = (0u64, 0);
            loop {
                head |= u64::from(bytes[at] & 0x7f) << shift;
                (at, shift) = (at + 1, shift + 7);
                if bytes[at - 1] < 0x80 {
                    break;
                }
            }
            if head & 1 == 0 {
                let size = usize::from(width.div_ceil(8));
                let mut value = [0; 4];
                value[..size].copy_from_slice(&bytes[at..at + size]);
                at += size;
                found.extend(std::iter::repeat_n(u32::from_le_bytes(value), (head >> 1) as usize));
            } else {
                let bit = |bit: usize| u32::from(bytes[at + bit / 8] >> (bit % 8) & 1);
                for value in 0..(head >> 1) as usize * 8 {
                    let first = value * usize::from(width);
                    found.push((0..usize::from(width)).map(|of| bit(first + of) << of).sum());
                }
                at += (head >> 1) as usize * usize::from(width);
            }
        }
        assert_eq!(at, bytes.len());
        found.truncate(count);
        found
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(runs in prop::collection::vec((0u32..20, 1usize..40), 0..30), scale in 0u8..28) {
            let values: Vec<u32> = runs.iter().flat_map(|(value, times)| std::iter::repeat_n(value << scale, *times)).collect();
            let width = width(values.iter().copied().max().unwrap_or(0));
            let mut out = Vec::new();
            hybrid(&mut out, &values, width);
            prop_assert_eq!(read(&out, width, values.len()), values);
        }

        #[test]
        fn wide_values_are_packed(values in prop::collection::vec(any::<u64>(), 32), width in 1u8..=64) {
            let mask = u64::MAX >> (64 - width);
            let mut out = Vec::new();
            pack(&mut out, values.as_chunks().0.iter().map(|group| group.map(|value| value & mask)), width);
            prop_assert_eq!(out.len(), 4 * usize::from(width));
            let bit = |bit: usize| u64::from(out[bit / 8] >> (bit % 8) & 1);
            for (at, value) in values.iter().enumerate() {
                let found: u64 = (0..usize::from(width)).map(|of| bit(at * usize::from(width) + of) << of).sum();
                prop_assert_eq!(found, value & mask);
            }
        }
    }
}

#[cfg(test)]
mod delta_tests {
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
