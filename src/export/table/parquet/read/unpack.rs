//! Packed numbers: the hybrid of runs and packed bits, and differences; the other way of `hybrid` and `delta`.

use super::fields::{TableReadError, byte, signed, strange, take, varint};

/// Appends `count` numbers of `width` bits.
pub(super) fn unpack_hybrid(
    mut bytes: &[u8],
    width: u8,
    count: usize,
    out: &mut Vec<u32>,
) -> Result<(), TableReadError> {
    if width > 32 {
        return Err(strange("an index has more than 32 bits"));
    }
    let mut left = count;
    while left > 0 {
        let head = varint(&mut bytes)?;
        let times = usize::try_from(head >> 1).unwrap_or(usize::MAX);
        if head & 1 == 0 {
            let value = take(&mut bytes, width.div_ceil(8).into())?;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            out.extend(std::iter::repeat_n(value, times.min(left)));
            left -= times.min(left);
        } else {
            let size = (times as u64).saturating_mul(width.into());
            let numbers = times.saturating_mul(8).min(left);
            let packed = take(&mut bytes, size)?;
            out.extend(unpack_bits(packed, width).take(numbers).map(|value| value as u32));
            // A width of 0 has no bits, of as many numbers as it likes.
            out.extend(std::iter::repeat_n(0, if width == 0 { numbers } else { 0 }));
            left -= numbers;
        }
        if times == 0 {
            return Err(strange("a run is empty"));
        }
    }
    Ok(())
}

/// Numbers of `width` bits, from the lowest bit on.
pub(super) fn unpack_bits(bytes: &[u8], width: u8) -> impl Iterator<Item = u64> {
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let (mut bits, mut filled, mut rest) = (0u128, 0, bytes.iter());
    std::iter::from_fn(move || {
        while filled < width {
            bits |= u128::from(*rest.next()?) << filled;
            filled += 8;
        }
        if width == 0 {
            return None;
        }
        let value = bits as u64 & mask;
        (bits, filled) = (bits >> width, filled - width);
        Some(value)
    })
}

/// Appends `count` numbers that are stored as differences.
pub(super) fn unpack_differences(mut bytes: &[u8], count: usize, out: &mut Vec<u64>) -> Result<(), TableReadError> {
    let (block, parts, total) = (varint(&mut bytes)?, varint(&mut bytes)?, varint(&mut bytes)?);
    let part = block.checked_div(parts).filter(|part| block <= 1 << 16 && *part > 0 && part.is_multiple_of(8));
    let Some(part) = part.filter(|_| total == count as u64) else { return Err(strange("a block of differences")) };
    let (mut last, mut left) = (signed(&mut bytes)?, count);
    let mut put = |value: i64, left: &mut usize| {
        *left -= 1;
        out.push(value as u64);
    };
    if left > 0 {
        put(last, &mut left);
    }
    while left > 0 {
        let least = signed(&mut bytes)?;
        let widths = take(&mut bytes, parts)?;
        for width in widths.iter().filter(|_| block > 0) {
            if left == 0 {
                break;
            }
            if *width > 64 {
                return Err(strange("a difference has more than 64 bits"));
            }
            let packed = take(&mut bytes, part / 8 * u64::from(*width))?;
            let numbers = (part as usize).min(left);
            let above =
                unpack_bits(packed, *width).chain(std::iter::repeat_n(0, if *width == 0 { numbers } else { 0 }));
            for above in above.take(numbers) {
                last = last.wrapping_add(least).wrapping_add(above as i64);
                put(last, &mut left);
            }
        }
    }
    Ok(())
}

/// The part of `bytes` that its first four bytes say, and the rest.
pub(super) fn with_length<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], TableReadError> {
    let length = [byte(bytes)?, byte(bytes)?, byte(bytes)?, byte(bytes)?];
    take(bytes, u32::from_le_bytes(length).into())
}

#[cfg(test)]
mod tests {
    use super::super::super::delta::differences;
    use super::super::super::hybrid::{hybrid, width};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(runs in prop::collection::vec((0u32..20, 1usize..40), 0..30), scale in 0u8..28) {
            let values: Vec<u32> = runs.iter().flat_map(|(value, times)| std::iter::repeat_n(value << scale, *times)).collect();
            let width = width(values.iter().copied().max().unwrap_or(0));
            let (mut packed, mut found) = (Vec::new(), Vec::new());
            hybrid(&mut packed, &values, width);
            unpack_hybrid(&packed, width, values.len(), &mut found).expect("numbers");
            prop_assert_eq!(&found, &values);
        }

        #[test]
        fn differences_are_added_up(values in prop::collection::vec(any::<i64>(), 0..400), shift in 0u8..64) {
            let values: Vec<u64> = values.iter().map(|value| (value >> shift) as u64).collect();
            let (mut packed, mut found) = (Vec::new(), Vec::new());
            differences(&mut packed, values.iter().map(|value| *value as i64));
            unpack_differences(&packed, values.len(), &mut found).expect("numbers");
            prop_assert_eq!(&found, &values);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0u8..40, count in 0usize..5000) {
            let (mut found, mut sums) = (Vec::new(), Vec::new());
            if unpack_hybrid(&bytes, width, count, &mut found).is_ok() {
                prop_assert_eq!(found.len(), count);
            }
            if unpack_differences(&bytes, count, &mut sums).is_ok() {
                prop_assert_eq!(sums.len(), count);
            }
        }
    }
}
