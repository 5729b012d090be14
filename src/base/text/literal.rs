//! A text that is written for many events.

use super::put::piece;

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
}
