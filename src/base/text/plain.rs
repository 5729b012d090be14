//! Text that needs no escape in JSON, eight bytes at a time.

use crate::base::sys::Tail;

impl Tail<'_> {
    /// Appends the longest prefix of `text` that is printable ASCII without `"` and `\`; returns its length in bytes.
    #[inline(always)]
    pub(crate) fn plain_prefix(self, text: &[u8]) -> (Self, usize) {
        let (mut tail, mut at) = (self, 0);
        while let Some(&block) = text.get(at..).and_then(|t| t.first_chunk::<8>()) {
            let plain = special(u64::from_le_bytes(block)).trailing_zeros() as usize / 8;
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
        {
            tail = tail.piece(&[byte], 1);
            at += 1;
        }
        (tail, at)
    }
}

/// A mark in the top bit of each byte of `word` that is a control character, `"`, `\`, DEL or not ASCII. The lowest mark
/// is right; marks above it may be wrong.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    let is = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (word | control | is(b'"') | is(b'\\') | is(0x7f)) & TOPS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_prefixes(bytes in proptest::collection::vec(prop_oneof![4 => 0x20u8..0x7f, 1 => any::<u8>()], 0..40)) {
            let plain = |b: &u8| (0x20..0x7f).contains(b) && *b != b'"' && *b != b'\\';
            let expected = bytes.iter().take_while(|b| plain(b)).count();
            let mut out = Vec::new();
            let (tail, len) = Tail::new(&mut out).plain_prefix(&bytes);
            tail.done();
            prop_assert_eq!(len, expected);
            prop_assert_eq!(&out[..], &bytes[..expected]);
        }
    }
}
