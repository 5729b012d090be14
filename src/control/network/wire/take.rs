//! Reading integers and texts off the front of a body, and the two layouts that are not plain integers.

use super::WireError;

/// The rest of a body, whose name errors carry.
pub(super) struct Take<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Take<'a> {
    pub(super) fn new(what: &'static str, rest: &'a [u8]) -> Self {
        Take { rest, what }
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let (front, rest) = self.rest.split_at_checked(len).ok_or(WireError::Cut(self.what))?;
        self.rest = rest;
        Ok(front)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (front, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Cut(self.what))?;
        self.rest = rest;
        Ok(*front)
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// A text up to its NUL, which is taken too.
    pub(super) fn text(&mut self) -> Result<String, WireError> {
        let len = self.rest.iter().position(|byte| *byte == 0).ok_or(WireError::Text(self.what))?;
        let text = self.bytes(len)?;
        self.bytes(1)?;
        String::from_utf8(text.to_vec()).map_err(|_| WireError::value(self.what, text))
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// The first `N` bytes of a fixed part, filled up with zeros.
pub(super) fn padded<const N: usize>(fixed: &[u8]) -> [u8; N] {
    let mut known = [0; N];
    known.iter_mut().zip(fixed).for_each(|(to, from)| *to = *from);
    known
}

pub(super) fn with_nul(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}
