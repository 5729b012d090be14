//! A text that is written for many events.
//! Many literals in one allocation.

use super::plain::piece;
use crate::base::sys::Tail;

/// A text that is written for many events; up to 32 bytes are stored as one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Literal {
    block: [u8; 32],
    len: usize,
    /// The whole text, if it is longer than the block.
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

    /// The block and the length of the text in it; else the whole text.
    #[inline(always)]
    pub(crate) fn block(&self) -> Result<(&[u8; 32], usize), &[u8]> {
        match &self.long {
            None => Ok((&self.block, self.len)),
            Some(text) => Err(text),
        }
    }

    /// Appends the text.
    #[inline(always)]
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match self.block() {
            Ok((block, len)) => piece(out, block, len),
            Err(text) => out.extend_from_slice(text),
        }
    }
}

/// Size of the block that a short literal is copied by, in bytes.
const BLOCK: usize = 32;

/// Literals of any length. Each is followed by a block's worth of bytes, so that a short one is copied as a whole block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Literals {
    bytes: Vec<u8>,
}

/// A text in [`Literals`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LiteralId {
    start: u32,
    len: u32,
}

impl Literals {
    /// Keeps `text`.
    pub(crate) fn add(&mut self, text: &[u8]) -> LiteralId {
        self.bytes.truncate(self.bytes.len().saturating_sub(BLOCK));
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.bytes.resize(self.bytes.len() + BLOCK, 0);
        LiteralId { start, len: text.len() as u32 }
    }

    /// Appends a literal.
    #[inline]
    pub(crate) fn put(&self, literal: LiteralId, out: &mut Vec<u8>) {
        match self.block(literal) {
            Ok((block, len)) => piece(out, block, len),
            Err(text) => out.extend_from_slice(text),
        }
    }

    /// The literal's block and its length in it; else the whole text.
    #[inline(always)]
    fn block(&self, literal: LiteralId) -> Result<(&[u8; BLOCK], usize), &[u8]> {
        let (start, len) = (literal.start as usize, literal.len as usize);
        match self.bytes.get(start..).and_then(|rest| rest.first_chunk()) {
            Some(block) if len <= BLOCK => Ok((block, len)),
            _ => Err(&self.bytes[start..start + len]),
        }
    }
}

impl Tail<'_> {
    /// Appends a literal of `pool`.
    #[inline(always)]
    pub(crate) fn pooled(self, pool: &Literals, literal: LiteralId) -> Self {
        match pool.block(literal) {
            Ok((block, len)) => self.piece(block, len),
            Err(text) => self.with(|out| out.extend_from_slice(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length() {
        for len in [0, 1, 31, 32, 33, 100] {
            let text = vec![b'-'; len];
            let mut out = b"x".to_vec();
            Literal::new(&text).put(&mut out);
            assert_eq!(out, [b"x", &text[..]].concat());
        }
    }

    #[test]
    fn texts_of_any_length_of_literals() {
        let mut pool = Literals::default();
        let texts: Vec<Vec<u8>> = (0..100).map(|n| vec![b'a' + (n % 26) as u8; n]).collect();
        let literals: Vec<LiteralId> = texts.iter().map(|t| pool.add(t)).collect();
        for (text, literal) in texts.iter().zip(&literals) {
            let (mut put, mut tail) = (Vec::new(), Vec::new());
            pool.put(*literal, &mut put);
            Tail::new(&mut tail).pooled(&pool, *literal).done();
            assert_eq!((&put, &tail), (text, text));
        }
    }
}
