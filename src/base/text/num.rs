//! Numbers, straight into the output buffer.
//! The digits of numbers, made without loops: tables and arithmetic within one word.

use super::plain::{all, piece};
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

/// `0` in each byte.
pub(crate) const ZEROS: u64 = 0x3030_3030_3030_3030;
/// The first number of nine digits.
pub(crate) const SHORT: u64 = 100_000_000;

/// The three digits of each number below 1000, and a colon.
pub(crate) static THREE: [[u8; 4]; 1000] = {
    let mut table = [[b':'; 4]; 1000];
    let mut n = 0;
    while n < 1000 {
        table[n] = [b'0' + (n / 100) as u8, b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8, b':'];
        n += 1;
    }
    table
};

/// Each number below 1000 without zeros in front, and how many digits that makes.
pub(crate) static UP_TO_THREE: [[u8; 4]; 1000] = {
    let mut table = [[0; 4]; 1000];
    let mut n = 0;
    while n < 1000 {
        let [a, b, c, _] = THREE[n];
        table[n] = match n {
            0..10 => [c, 0, 0, 1],
            10..100 => [b, c, 0, 2],
            _ => [a, b, c, 3],
        };
        n += 1;
    }
    table
};

/// The eight decimal digits of a number below 10^8, as bytes 0 to 9, the most significant one lowest. All eight are made
/// at once, by multiplications within one word.
#[inline(always)]
pub(crate) fn eight(value: u64) -> u64 {
    let (high, low) = (value / 10_000, value % 10_000);
    let fours = high | (low << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}

/// Number of zeros at the front of eight digits, the last digit aside.
#[inline(always)]
pub(crate) fn leading(digits: u64) -> u32 {
    (digits | 1 << 56).trailing_zeros() / 8
}

/// The six digits of a number below 10^6.
#[inline(always)]
pub(crate) fn six(value: u32) -> [u8; 8] {
    ((eight(u64::from(value)) | ZEROS) >> 16).to_le_bytes()
}

/// The eight hexadecimal digits of a number, the most significant one lowest.
#[inline(always)]
pub(crate) fn eight_hex(value: u32) -> u64 {
    let mut x = u64::from(value);
    x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (x + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (x + ZEROS + letters * 0x27).swap_bytes()
}

/// Number of hexadecimal digits of `value`; 0 has one.
#[inline(always)]
pub(crate) fn hex_len(value: u64) -> usize {
    (67 - (value | 1).leading_zeros() as usize) / 4
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

    #[test]
    fn six_digits() {
        assert_eq!(&six(1_203)[..6], b"001203");
        assert_eq!(&six(999_999)[..6], b"999999");
    }
}
