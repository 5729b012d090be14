//! Numbers as digits, straight into the output buffer.

/// `00` to `99`.
const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut i = 0;
    while i < 100 {
        pairs[2 * i] = b'0' + (i / 10) as u8;
        pairs[2 * i + 1] = b'0' + (i % 10) as u8;
        i += 1;
    }
    pairs
};

/// Appends `value` in decimal.
#[inline]
pub fn dec(out: &mut Vec<u8>, value: u64) {
    let mut buf = [0u8; 20];
    let start = dec_into(&mut buf, value);
    out.extend_from_slice(&buf[start..]);
}

/// Writes the decimal digits of `value` to the end of `buf` and says where they start.
#[inline]
fn dec_into(buf: &mut [u8; 20], mut value: u64) -> usize {
    let mut pos = 20;
    while value >= 100 {
        let pair = 2 * (value % 100) as usize;
        value /= 100;
        pos -= 2;
        buf[pos] = PAIRS[pair];
        buf[pos + 1] = PAIRS[pair + 1];
    }
    if value >= 10 {
        let pair = 2 * value as usize;
        pos -= 2;
        buf[pos] = PAIRS[pair];
        buf[pos + 1] = PAIRS[pair + 1];
    } else {
        pos -= 1;
        buf[pos] = b'0' + value as u8;
    }
    pos
}

/// Appends `value` in decimal with its sign.
#[inline]
pub fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    dec(out, value.unsigned_abs());
}

/// Appends `value` in decimal, filled with zeros in front to `width` digits.
#[inline]
pub fn dec_pad(out: &mut Vec<u8>, value: u64, width: usize, fill: u8) {
    let mut buf = [0u8; 20];
    let start = dec_into(&mut buf, value);
    for _ in 20 - start..width {
        out.push(fill);
    }
    out.extend_from_slice(&buf[start..]);
}

/// Appends `value` in hexadecimal, lower case, without a prefix.
#[inline]
pub fn hex(out: &mut Vec<u8>, value: u64) {
    hex_pad(out, value, 1);
}

/// Appends `value` in hexadecimal, lower case, filled with zeros to `width` digits.
#[inline]
pub fn hex_pad(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut buf = [0u8; 16];
    let mut pos = 16;
    let mut rest = value;
    loop {
        pos -= 1;
        buf[pos] = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    for _ in 16 - pos..width {
        out.push(b'0');
    }
    out.extend_from_slice(&buf[pos..]);
}

/// Appends one byte as two hexadecimal digits.
#[inline]
pub fn hex_byte(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// The flags of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alt: bool,
    pub(super) zero: bool,
    /// `#` marks 0 too, as the kernel's printf does and the C library's does not.
    pub(super) alt_zero: bool,
}

/// How a number is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    Signed,
    Unsigned,
    Hex,
    HexUpper,
    Octal,
}

/// Appends a number as printf does. `value` is already cut to its length modifier.
pub(super) fn printf(
    out: &mut Vec<u8>,
    value: u64,
    radix: Radix,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) {
    let mut digits = Vec::with_capacity(24);
    let (negative, magnitude) = match radix {
        Radix::Signed => ((value as i64) < 0, (value as i64).unsigned_abs()),
        _ => (false, value),
    };
    match radix {
        _ if precision == Some(0) && magnitude == 0 => {}
        Radix::Signed | Radix::Unsigned => dec(&mut digits, magnitude),
        Radix::Hex => hex(&mut digits, magnitude),
        Radix::HexUpper => {
            hex(&mut digits, magnitude);
            digits.make_ascii_uppercase();
        }
        Radix::Octal => {
            let mut shift = 66 - 3;
            while shift > 0 && (magnitude >> shift) & 7 == 0 {
                shift -= 3;
            }
            loop {
                digits.push(b'0' + ((magnitude >> shift) & 7) as u8);
                if shift == 0 {
                    break;
                }
                shift -= 3;
            }
        }
    }
    let prefix: &[u8] = match radix {
        Radix::Signed if negative => b"-",
        Radix::Signed if flags.plus => b"+",
        Radix::Signed if flags.space => b" ",
        Radix::Hex if flags.alt && (magnitude != 0 || flags.alt_zero) => b"0x",
        Radix::HexUpper if flags.alt && (magnitude != 0 || flags.alt_zero) => b"0X",
        Radix::Octal if flags.alt && digits.first() != Some(&b'0') => b"0",
        _ => b"",
    };
    let mut zeros = precision.unwrap_or(0).saturating_sub(digits.len());
    let used = prefix.len() + zeros + digits.len();
    let mut blanks = width.saturating_sub(used);
    if flags.zero && !flags.left && precision.is_none() {
        zeros += blanks;
        blanks = 0;
    }
    if !flags.left {
        out.resize(out.len() + blanks, b' ');
    }
    out.extend_from_slice(prefix);
    out.resize(out.len() + zeros, b'0');
    out.extend_from_slice(&digits);
    if flags.left {
        out.resize(out.len() + blanks, b' ');
    }
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
        for v in [0, 9, 10, 99, 100, 12345, u64::MAX] {
            assert_eq!(text(|o| dec(o, v)), v.to_string());
            assert_eq!(text(|o| hex(o, v)), format!("{v:x}"));
            assert_eq!(text(|o| dec_pad(o, v, 6, b'0')), format!("{v:06}"));
            assert_eq!(text(|o| hex_pad(o, v, 8)), format!("{v:08x}"));
            assert_eq!(text(|o| printf(o, v, Radix::Octal, Flags::default(), 0, None)), format!("{v:o}"));
        }
        assert_eq!(text(|o| signed(o, i64::MIN)), i64::MIN.to_string());
    }

    #[test]
    fn printf_as_glibc_does() {
        let p = |v: i64, radix, flags: &str, width, precision| {
            let f = Flags {
                left: flags.contains('-'),
                plus: flags.contains('+'),
                space: flags.contains(' '),
                alt: flags.contains('#'),
                zero: flags.contains('0'),
                alt_zero: flags.contains('k'),
            };
            text(|o| printf(o, v as u64, radix, f, width, precision))
        };
        assert_eq!(p(255, Radix::Hex, "#", 0, None), "0xff");
        assert_eq!(p(0, Radix::Hex, "#", 0, None), "0");
        assert_eq!(p(0, Radix::Hex, "#k", 0, None), "0x0"); // gso_type=0x0 of net_dev_start_xmit
        assert_eq!(p(255, Radix::Hex, "#0", 10, None), "0x000000ff");
        assert_eq!(p(-5, Radix::Signed, "0", 4, None), "-005");
        assert_eq!(p(-5, Radix::Signed, "-", 4, None), "-5  ");
        assert_eq!(p(5, Radix::Unsigned, "", 6, Some(3)), "   005");
        assert_eq!(p(0, Radix::Unsigned, "", 2, Some(0)), "  ");
        assert_eq!(p(8, Radix::Octal, "#", 0, None), "010");
        assert_eq!(p(3, Radix::Signed, "+", 0, None), "+3");
    }
}
