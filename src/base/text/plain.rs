//! Text that needs no escape in JSON, eight bytes at a time.
//! Texts that end at their first NUL.
//! Short pieces of text into the output buffer: arrays that are stored whole and cut to their length.

use crate::base::sys::{Tail, append_piece};

impl Tail<'_> {
    /// Appends the longest prefix of `text` that is printable ASCII without `"`, `\` and `ALSO`; returns its length in bytes.
    #[inline(always)]
    pub(crate) fn plain_prefix<const ALSO: u8>(self, text: &[u8]) -> (Self, usize) {
        let (mut tail, mut at) = (self, 0);
        while let Some(&block) = text.get(at..).and_then(|t| t.first_chunk::<8>()) {
            let plain = special::<ALSO>(u64::from_le_bytes(block)).trailing_zeros() as usize / 8;
            tail = tail.piece(&block, plain);
            at += plain;
            if plain < 8 {
                return (tail, at);
            }
        }
        while let Some(&byte) = text.get(at)
            && (0x20..0x7f).contains(&byte)
            && byte != b'"'
            && byte != b'\\'
            && byte != ALSO
        {
            tail = tail.piece(&[byte], 1);
            at += 1;
        }
        (tail, at)
    }
}

/// A mark in the top bit of each byte of `word` that is a control character, `"`, `\`, `ALSO`, DEL or not ASCII. The
/// lowest mark is right; marks above it may be wrong.
#[inline]
fn special<const ALSO: u8>(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    let is = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let also = if ALSO == b'"' { 0 } else { is(ALSO) };
    (word | control | is(b'"') | is(b'\\') | is(0x7f) | also) & TOPS
}

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

/// Appends the first `len` bytes of `piece`, or all of it.
#[inline(always)]
pub(crate) fn piece<const N: usize>(out: &mut Vec<u8>, piece: &[u8; N], len: usize) {
    append_piece(out, piece, len);
}

/// Appends all of `text`.
#[inline(always)]
pub(crate) fn all<const N: usize>(out: &mut Vec<u8>, text: &[u8; N]) {
    append_piece(out, text, N);
}

/// Appends the first `len` bytes of `text`, with a store of constant size where enough follows them.
#[inline(always)]
pub(crate) fn prefix(out: &mut Vec<u8>, text: &[u8], len: usize) {
    match text.first_chunk::<32>() {
        Some(block) if len <= 32 => piece(out, block, len),
        _ => out.extend_from_slice(&text[..len.min(text.len())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_prefixes(bytes in proptest::collection::vec(prop_oneof![8 => 0x20u8..0x7f, 1 => Just(b','), 2 => any::<u8>()], 0..40)) {
            let plain = |b: &u8| (0x20..0x7f).contains(b) && *b != b'"' && *b != b'\\';
            let expected = bytes.iter().take_while(|b| plain(b)).count();
            let mut out = Vec::new();
            let (tail, len) = Tail::new(&mut out).plain_prefix::<b'"'>(&bytes);
            tail.done();
            prop_assert_eq!(len, expected);
            prop_assert_eq!(&out[..], &bytes[..expected]);
            let expected = bytes.iter().take_while(|b| plain(b) && **b != b',').count();
            out.clear();
            let (tail, len) = Tail::new(&mut out).plain_prefix::<b','>(&bytes);
            tail.done();
            prop_assert_eq!((len, &out[..]), (expected, &bytes[..expected]));
        }
    }

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

    #[test]
    fn pieces() {
        let mut out = b"x".to_vec();
        piece(&mut out, b"abcd", 2);
        piece(&mut out, b"abcd", 9);
        prefix(&mut out, &[b'-'; 40], 3);
        prefix(&mut out, b"short", 9);
        assert_eq!(out, b"xababcd---short");
    }
}
