//! The digits of numbers, made without loops: tables and arithmetic within one word.

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

    #[test]
    fn six_digits() {
        assert_eq!(&six(1_203)[..6], b"001203");
        assert_eq!(&six(999_999)[..6], b"999999");
    }
}
