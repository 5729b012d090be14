//! Short pieces of text into the output buffer.
//!
//! A copy whose length is not known when the program is built is a call of `memcpy`, which costs more than the few bytes
//! it moves. So short pieces are kept in arrays with room behind them: the whole array is stored, and what is too much is
//! cut off again.

use crate::sys::append_piece;

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

/// Bytes that are written again and again, the usual few of them as a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Literal {
    block: [u8; 32],
    len: usize,
    /// All of them, if the block does not hold them.
    long: Option<Box<[u8]>>,
}

impl Literal {
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut literal = Literal { len: text.len(), ..Literal::default() };
        match literal.block.get_mut(..text.len()) {
            Some(block) => block.copy_from_slice(text),
            None => literal.long = Some(text.into()),
        }
        literal
    }

    /// The block and how many of its bytes count; else all of them.
    #[inline(always)]
    pub(crate) fn block(&self) -> Result<(&[u8; 32], usize), &[u8]> {
        match &self.long {
            None => Ok((&self.block, self.len)),
            Some(text) => Err(text),
        }
    }

    /// Appends them.
    #[inline(always)]
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match &self.long {
            None => piece(out, &self.block, self.len),
            Some(text) => out.extend_from_slice(text),
        }
    }
}

/// Where the first NUL of `bytes` is; 16 if there is none.
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
    fn pieces() {
        let mut out = b"x".to_vec();
        piece(&mut out, b"abcd", 2);
        piece(&mut out, b"abcd", 9);
        for len in [0, 1, 31, 32, 33, 100] {
            let text = vec![b'-'; len];
            Literal::new(&text).put(&mut out);
            out.push(b'|');
        }
        let lines: Vec<usize> = out.split(|b| *b == b'|').map(<[u8]>::len).collect();
        assert_eq!(&out[..7], b"xababcd");
        assert_eq!(lines, [7, 1, 31, 32, 33, 100, 0]);
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
}
