//! Steps through the bytes of a `hist` file.

use super::TableError;

#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Cursor { data, pos: 0 }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.data.get(self.pos..).unwrap_or_default()
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &'static str) -> Result<(), TableError> {
        if self.eat(text.as_bytes()) { Ok(()) } else { Err(self.error(text.trim_end_matches('\n'))) }
    }

    /// The bytes up to the next newline, which is consumed.
    pub(super) fn line(&mut self) -> Result<&'a [u8], TableError> {
        let rest = self.rest();
        let end = memchr::memchr(b'\n', rest).ok_or_else(|| self.error("the end of the line"))?;
        self.pos += end + 1;
        Ok(&rest[..end])
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.rest().get(..len)?;
        self.pos += len;
        Some(taken)
    }

    pub(super) fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|&&b| b == b' ').count();
        self.pos += blanks;
    }

    /// A number with blanks before it.
    pub(super) fn number(&mut self, radix: u32) -> Result<u64, TableError> {
        self.skip_blanks();
        let digits = self.rest().iter().take_while(|&&b| char::from(b).is_digit(radix)).count();
        let text = std::str::from_utf8(&self.rest()[..digits]).unwrap_or_default();
        let value = u64::from_str_radix(text, radix).map_err(|_| self.error("a number"))?;
        self.pos += digits;
        Ok(value)
    }

    /// Where the first of `ends` stands, which all begin with the same byte, at or after byte `from` of what is left. It
    /// looks no further than that: an end that never comes must not cost the rest of the file for each entry.
    pub(super) fn find(&self, from: usize, ends: &[Vec<u8>]) -> Option<usize> {
        let tail = self.rest().get(from..)?;
        let first = *ends.first()?.first()?;
        let begins = |at: &usize| tail.get(*at..).is_some_and(|rest| ends.iter().any(|end| rest.starts_with(end)));
        memchr::memchr_iter(first, tail).find(begins).map(|at| at + from)
    }

    pub(super) fn error(&self, expected: impl Into<String>) -> TableError {
        let before = self.data.get(..self.pos).unwrap_or(self.data);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let found = self.rest().split(|&b| b == b'\n').next().unwrap_or_default();
        let found: String = String::from_utf8_lossy(found).chars().take(80).collect();
        TableError { line, expected: expected.into(), found }
    }
}
