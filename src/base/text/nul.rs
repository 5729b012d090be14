//! Texts that end at their first NUL.

use super::put::piece;

/// `bytes` up to the first NUL; all of them if there is none.
#[inline]
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    memchr::memchr(0, bytes).and_then(|end| bytes.get(..end)).unwrap_or(bytes)
}

/// Appends a text whose line breaks must not end the line that it stands in: they become `\n`.
pub(crate) fn one_line(out: &mut Vec<u8>, text: &[u8]) {
    for (nth, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if nth > 0 {
            out.extend_from_slice(b"\\n");
        }
        out.extend_from_slice(line);
    }
}

/// Index of the first NUL of `bytes`; 16 if there is none.
#[inline(always)]
pub(crate) fn nul_in(bytes: &[u8; 16]) -> usize {
    const LOW: u128 = u128::MAX / 255;
    let word = u128::from_le_bytes(*bytes);
    // the lowest marked byte is right; ones above it may be marked by a borrow
    let zeros = word.wrapping_sub(LOW) & !word & (LOW << 7);
    (zeros.trailing_zeros() / 8) as usize
}

/// Appends the text of a field of 16 bytes, which ends at its first NUL.
#[inline(always)]
pub(crate) fn text16(out: &mut Vec<u8>, field: &[u8; 16]) {
    piece(out, field, nul_in(field));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_nul_ends_a_text() {
        for at in 0..16 {
            let mut field = [b'a'; 16];
            field[at] = 0;
            field[at.saturating_add(3).min(15)] = 0;
            for fill in [1, 0x80, 0xff, b'a'] {
                let field = field.map(|b| if b == b'a' { fill } else { b });
                let mut out = Vec::new();
                text16(&mut out, &field);
                assert_eq!(out, vec![fill; at]);
            }
        }
        let mut out = Vec::new();
        text16(&mut out, &[1; 16]);
        assert_eq!(out, [1; 16]);
    }
}
