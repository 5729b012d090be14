//! Short pieces of text into the output buffer.
//!
//! A copy whose length is not known when the program is built is a call of `memcpy`, which costs more than the few bytes
//! it moves. So short pieces are kept in arrays with room behind them: the whole array is stored, and what is too much is
//! cut off again.

/// Appends the first `len` bytes of `piece`.
#[inline(always)]
pub(crate) fn piece<const N: usize>(out: &mut Vec<u8>, piece: &[u8; N], len: usize) {
    let end = out.len() + len;
    out.extend(*piece); // by value: `extend_from_slice` may become a call of `memcpy`
    out.truncate(end);
}

/// Bytes that are written again and again, with room behind them to be stored in pieces of equal size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Literal {
    bytes: Box<[[u8; 32]]>,
    len: usize,
}

impl Literal {
    pub(crate) fn new(text: &[u8]) -> Self {
        let pieces = text.chunks(32).map(|chunk| {
            let mut piece = [0; 32];
            piece[..chunk.len()].copy_from_slice(chunk);
            piece
        });
        Literal { bytes: pieces.collect(), len: text.len() }
    }

    /// Appends them.
    #[inline(always)]
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        for piece in &self.bytes {
            out.extend(*piece);
        }
        out.truncate(end);
    }
}

/// Where the first NUL of `bytes` is; 16 if there is none.
#[inline(always)]
fn nul_in(bytes: &[u8; 16]) -> usize {
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
