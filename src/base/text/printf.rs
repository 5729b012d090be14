//! Conversions of `printf`, as the C library and the kernel do them.

use super::num::{dec, hex};

/// The flags of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) left: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) alt: bool,
    pub(crate) zero: bool,
    /// As the kernel's printf does it (lib/vsprintf.c, `number()`) where the C library's does not: `#` marks 0 too, a
    /// precision of 0 leaves a 0 to be seen, zeros fill the width in spite of a precision.
    pub(crate) kernel: bool,
}

/// The base and case of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Radix {
    Signed,
    Unsigned,
    Hex,
    HexUpper,
    Octal,
}

/// Appends a number as printf does. `value` is already cut to its length modifier.
pub(crate) fn printf(
    out: &mut Vec<u8>,
    value: u64,
    radix: Radix,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) {
    let (negative, magnitude) = match radix {
        Radix::Signed => ((value as i64) < 0, (value as i64).unsigned_abs()),
        _ => (false, value),
    };
    // The digits first; what belongs in front of them is turned there.
    let start = out.len();
    match radix {
        _ if precision == Some(0) && magnitude == 0 && !flags.kernel => {}
        Radix::Signed | Radix::Unsigned => dec(out, magnitude),
        Radix::Hex => hex(out, magnitude),
        Radix::HexUpper => {
            hex(out, magnitude);
            out[start..].make_ascii_uppercase();
        }
        Radix::Octal => octal(out, magnitude),
    }
    let digits = out.len() - start;
    let prefix: &[u8] = match radix {
        Radix::Signed if negative => b"-",
        Radix::Signed if flags.plus => b"+",
        Radix::Signed if flags.space => b" ",
        Radix::Hex if flags.alt && (magnitude != 0 || flags.kernel) => b"0x",
        Radix::HexUpper if flags.alt && (magnitude != 0 || flags.kernel) => b"0X",
        Radix::Octal if flags.alt && out.get(start) != Some(&b'0') => b"0",
        _ => b"",
    };
    let mut zeros = precision.unwrap_or(0).saturating_sub(digits);
    let mut blanks = width.saturating_sub(prefix.len() + zeros + digits);
    if flags.zero && !flags.left && (precision.is_none() || flags.kernel) {
        zeros += blanks;
        blanks = 0;
    }
    if !flags.left {
        out.resize(out.len() + blanks, b' ');
    }
    out.extend_from_slice(prefix);
    out.resize(out.len() + zeros, b'0');
    if out.len() - start > digits {
        out[start..].rotate_left(digits);
    }
    if flags.left {
        out.resize(out.len() + blanks, b' ');
    }
}

fn octal(out: &mut Vec<u8>, value: u64) {
    let mut shift = 66 - 3;
    while shift > 0 && (value >> shift) & 7 == 0 {
        shift -= 3;
    }
    loop {
        out.push(b'0' + ((value >> shift) & 7) as u8);
        if shift == 0 {
            break;
        }
        shift -= 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printf_as_glibc_does() {
        let p = |v: i64, radix, flags: &str, width, precision| {
            let f = Flags {
                left: flags.contains('-'),
                plus: flags.contains('+'),
                space: flags.contains(' '),
                alt: flags.contains('#'),
                zero: flags.contains('0'),
                kernel: flags.contains('k'),
            };
            let mut out = Vec::new();
            printf(&mut out, v as u64, radix, f, width, precision);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(p(255, Radix::Hex, "#", 0, None), "0xff");
        assert_eq!(p(0, Radix::Hex, "#", 0, None), "0");
        assert_eq!(p(0, Radix::Hex, "#k", 0, None), "0x0"); // gso_type=0x0 of net_dev_start_xmit
        assert_eq!(p(255, Radix::Hex, "#0", 10, None), "0x000000ff");
        assert_eq!(p(-5, Radix::Signed, "0", 4, None), "-005");
        assert_eq!(p(-5, Radix::Signed, "-", 4, None), "-5  ");
        assert_eq!(p(5, Radix::Unsigned, "", 6, Some(3)), "   005");
        assert_eq!(p(0, Radix::Unsigned, "", 2, Some(0)), "  ");
        assert_eq!(p(0, Radix::Signed, "k", 0, Some(0)), "0");
        assert_eq!(p(-42, Radix::Signed, "0k", 8, Some(3)), "-0000042");
        assert_eq!(p(8, Radix::Octal, "#", 0, None), "010");
        assert_eq!(p(3, Radix::Signed, "+", 0, None), "+3");
    }

    #[test]
    fn octal_digits() {
        for value in (0..64).map(|e| 1u64 << e).chain([0, 7, 8, 63, 64, u64::MAX]) {
            let mut out = Vec::new();
            printf(&mut out, value, Radix::Octal, Flags::default(), 0, None);
            assert_eq!(out, format!("{value:o}").into_bytes());
        }
    }
}
