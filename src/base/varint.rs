//! Numbers of varying length, seven bits a byte, the lowest first (LEB128).

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number that the bytes of `next` make, which gives 0 after the last one.
#[inline]
pub(crate) fn take(mut next: impl FnMut() -> u8) -> u64 {
    let (mut number, mut shift) = (0u64, 0u32);
    loop {
        let byte = next();
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift = shift.saturating_add(7);
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

/// A difference, less or greater than 0, as a number that is small where it is (zigzag).
#[inline]
pub(crate) fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub(crate) fn unzigzag(number: u64) -> i64 {
    ((number >> 1) ^ (number & 1).wrapping_neg()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_differences() {
        for (number, bytes) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x80, 1]),
            (u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
        ] {
            let mut out = Vec::new();
            put(&mut out, number);
            assert_eq!(out, bytes);
            let mut rest = bytes.iter();
            assert_eq!(take(|| rest.next().copied().unwrap_or(0)), number);
        }
        for (difference, number) in [(0, 0), (-1, 1), (1, 2), (i64::MIN, u64::MAX), (i64::MAX, u64::MAX - 1)] {
            assert_eq!((zigzag(difference), unzigzag(number)), (number, difference));
        }
    }
}
