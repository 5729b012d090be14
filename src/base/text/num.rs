//! Numbers, straight into the output buffer.

use super::digits::{SHORT, ZEROS, eight, hex_len, leading};
use super::put::{all, piece};
use crate::base::sys::Tail;

/// Appends `value` in decimal.
#[inline(always)]
pub(crate) fn dec(out: &mut Vec<u8>, value: u64) {
    if value < SHORT {
        let digits = eight(value);
        let skip = leading(digits);
        piece(out, &((digits | ZEROS) >> (8 * skip)).to_le_bytes(), 8 - skip as usize);
    } else {
        long_dec(out, value);
    }
}

/// Appends a number of nine or more digits.
#[inline(never)]
fn long_dec(out: &mut Vec<u8>, value: u64) {
    let (high, low) = (value / SHORT, value % SHORT);
    dec(out, high);
    all(out, &(eight(low) | ZEROS).to_le_bytes());
}

/// Appends `value` in decimal with its sign.
#[inline]
pub(crate) fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    dec(out, value.unsigned_abs());
}

/// Appends `value` in decimal, filled with `fill` in front to `width` digits.
#[inline]
pub(crate) fn dec_pad(out: &mut Vec<u8>, value: u64, width: usize, fill: u8) {
    let mut shown = 1;
    let mut bound = 10u64;
    while shown < width && value >= bound {
        shown += 1;
        bound = bound.saturating_mul(10);
    }
    if shown < width {
        out.resize(out.len() + width - shown, fill);
    }
    dec(out, value);
}

/// Appends `value` in hexadecimal, lower case, without a prefix.
#[inline]
pub(crate) fn hex(out: &mut Vec<u8>, value: u64) {
    Tail::new(out).hex(value).done();
}

/// Appends `value` in hexadecimal, lower case, filled with zeros to `width` digits.
#[inline]
pub(crate) fn hex_pad(out: &mut Vec<u8>, value: u64, width: usize) {
    if width > 16 {
        out.resize(out.len() + width - 16, b'0');
    }
    Tail::new(out).hex_digits(value, hex_len(value).max(width.min(16))).done();
}

/// Appends one byte as two hexadecimal digits.
#[inline]
pub(crate) fn hex_byte(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    all(out, &[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn digits() {
        let powers = (0..20).map(|e| 10u64.pow(e)).chain((0..64).map(|e| 1 << e));
        for v in powers.flat_map(|p| [p - 1, p, p + 1]).chain([12345, u64::MAX]) {
            assert_eq!(text(|o| dec(o, v)), v.to_string());
            assert_eq!(text(|o| hex(o, v)), format!("{v:x}"));
            assert_eq!(text(|o| dec_pad(o, v, 6, b'0')), format!("{v:06}"));
            assert_eq!(text(|o| hex_pad(o, v, 8)), format!("{v:08x}"));
        }
        assert_eq!(text(|o| signed(o, i64::MIN)), i64::MIN.to_string());
        assert_eq!(text(|o| hex_pad(o, 0xab, 20)), format!("{:020x}", 0xab));
    }

    #[test]
    fn every_four_digits() {
        let mut out = Vec::new();
        for v in 0..10_000u64 {
            let (low, high) = (v, v * 10_000 + 9_999 - v);
            out.clear();
            dec(&mut out, low);
            out.push(b' ');
            dec(&mut out, high);
            assert_eq!(out, format!("{low} {high}").into_bytes());
        }
    }
}
