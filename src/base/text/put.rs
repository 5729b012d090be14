//! Short pieces of text into the output buffer: arrays that are stored whole and cut to their length.

use crate::base::sys::append_piece;

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
