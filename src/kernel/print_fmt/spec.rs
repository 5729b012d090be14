//! Format strings to pieces: literals and conversions.

use crate::base::text::printf::Flags;

/// A width or precision given in the text is cut here; no kernel asks for more, and none of them may fill the memory.
pub(super) const MAX_WIDTH: usize = 4096;

/// A piece of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatPiece {
    Literal(Vec<u8>),
    Conversion(Spec),
}

/// `%[flags][width][.precision][length]conversion`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) flags: Flags,
    pub(super) width: ConversionLength,
    pub(super) precision: Option<ConversionLength>,
    /// The size that `hh`, `h`, `l`, `ll`, `z`, `t`, `j` stand for, in bytes; 4 without any.
    pub(super) size: u8,
    /// `d`, `u`, `x`, `s`, `p`, ...
    pub(super) conversion: u8,
    /// The letters and digits that follow a `p`.
    pub(super) extension: Vec<u8>,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversionLength {
    Given(usize),
    /// `*`: an argument.
    Argument,
}

/// The pieces of `format`.
pub(super) fn pieces(format: &[u8], long_size: u8) -> Vec<FormatPiece> {
    let mut out = Vec::new();
    let mut literal = Vec::new();
    let mut pos = 0;
    while let Some(&b) = format.get(pos) {
        if b != b'%' {
            literal.push(b);
            pos = pos.saturating_add(1);
            continue;
        }
        if format.get(pos.saturating_add(1)) == Some(&b'%') {
            literal.push(b'%');
            pos = pos.saturating_add(2);
            continue;
        }
        match spec(format, pos.saturating_add(1), long_size) {
            Some((spec, end)) => {
                if !literal.is_empty() {
                    out.push(FormatPiece::Literal(std::mem::take(&mut literal)));
                }
                out.push(FormatPiece::Conversion(spec));
                pos = end;
            }
            None => {
                literal.push(b'%'); // a lone `%` at the end
                pos = pos.saturating_add(1);
            }
        }
    }
    if !literal.is_empty() {
        out.push(FormatPiece::Literal(literal));
    }
    out
}

fn spec(format: &[u8], mut pos: usize, long_size: u8) -> Option<(Spec, usize)> {
    let mut flags = Flags::default();
    loop {
        match format.get(pos)? {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alt = true,
            b'0' => flags.zero = true,
            _ => break,
        }
        pos = pos.saturating_add(1);
    }
    let width = count(format, &mut pos).unwrap_or(ConversionLength::Given(0));
    let precision = if format.get(pos) == Some(&b'.') {
        pos = pos.saturating_add(1);
        Some(count(format, &mut pos).unwrap_or(ConversionLength::Given(0)))
    } else {
        None
    };
    let mut size = 4;
    loop {
        size = match format.get(pos)? {
            b'h' => size / 2,
            b'l' if size == 4 => long_size.max(5), // a second `l` is distinguished from the first by this
            b'l' | b'L' | b'q' | b'j' => 8,
            b'z' | b'Z' | b't' => long_size,
            _ => break,
        };
        pos = pos.saturating_add(1);
    }
    let size = match size {
        0 => 1,
        5 => 4,
        n => n,
    };
    let conversion = *format.get(pos)?;
    pos = pos.saturating_add(1);
    let mut extension = Vec::new();
    if conversion == b'p' {
        extension = format.iter().skip(pos).copied().take_while(u8::is_ascii_alphanumeric).collect();
        pos = pos.saturating_add(extension.len());
    }
    Some((Spec { flags, width, precision, size, conversion, extension }, pos))
}

fn count(format: &[u8], pos: &mut usize) -> Option<ConversionLength> {
    if format.get(*pos) == Some(&b'*') {
        *pos = pos.saturating_add(1);
        return Some(ConversionLength::Argument);
    }
    let digits = format.get(*pos..)?.split(|b| !b.is_ascii_digit()).next()?;
    if digits.is_empty() {
        return None;
    }
    *pos = pos.saturating_add(digits.len());
    let value = digits.iter().fold(0usize, |v, b| v.saturating_mul(10).saturating_add(usize::from(b & 0xf)));
    Some(ConversionLength::Given(value.min(MAX_WIDTH)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions() {
        let all = pieces(b"a %-16.16s%%%08lx %*pbl %zu%", 4);
        let conv: Vec<_> = all
            .iter()
            .filter_map(|p| match p {
                FormatPiece::Conversion(s) => Some((s.conversion, s.width, s.precision, s.size)),
                FormatPiece::Literal(_) => None,
            })
            .collect();
        assert_eq!(
            conv,
            [
                (b's', ConversionLength::Given(16), Some(ConversionLength::Given(16)), 4),
                (b'x', ConversionLength::Given(8), None, 4),
                (b'p', ConversionLength::Argument, None, 4),
                (b'u', ConversionLength::Given(0), None, 4),
            ]
        );
        assert_eq!(all.last(), Some(&FormatPiece::Literal(b"%".to_vec())));
    }

    #[test]
    fn lengths() {
        let size = |f: &[u8], long| match &pieces(f, long)[0] {
            FormatPiece::Conversion(s) => s.size,
            FormatPiece::Literal(_) => 0,
        };
        assert_eq!([size(b"%hhd", 8), size(b"%hd", 8), size(b"%d", 8), size(b"%ld", 8)], [1, 2, 4, 8]);
        assert_eq!([size(b"%ld", 4), size(b"%lld", 4), size(b"%Lu", 4), size(b"%zd", 4)], [4, 8, 8, 4]);
    }
}
