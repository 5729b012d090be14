//! Steps through the bytes of a `hist` file.

#[derive(Clone, Debug)]
pub(super) struct TextCursor<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> TextCursor<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        TextCursor { data, pos: 0 }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.data.get(self.pos..).unwrap_or_default()
    }

    fn advance(&mut self, len: usize) {
        self.pos = self.pos.saturating_add(len);
    }

    /// Number of bytes between the position of `before` and this one.
    pub(super) fn len_since(&self, before: &TextCursor<'_>) -> usize {
        self.pos.saturating_sub(before.pos)
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.advance(text.len());
        }
        found
    }

    pub(super) fn expect(&mut self, text: &'static str) -> Result<(), TableError> {
        if self.eat(text.as_bytes()) { Ok(()) } else { Err(self.error(text.trim_end_matches('\n'))) }
    }

    /// The bytes up to the next newline, which is consumed.
    pub(super) fn line(&mut self) -> Result<&'a [u8], TableError> {
        let rest = self.rest();
        let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end));
        let line = line.ok_or_else(|| self.error("the end of the line"))?;
        self.advance(line.len().saturating_add(1));
        Ok(line)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.rest().get(..len)?;
        self.advance(len);
        Some(taken)
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|&&b| b == b' ').count();
        self.advance(blanks);
    }

    /// A number with blanks before it.
    pub(super) fn number(&mut self, radix: u32) -> Result<u64, TableError> {
        self.skip_blanks();
        let digits = self.rest().split(|&b| !char::from(b).is_digit(radix)).next().unwrap_or_default();
        let text = std::str::from_utf8(digits).unwrap_or_default();
        let value = u64::from_str_radix(text, radix).map_err(|_| self.error("a number"))?;
        self.advance(digits.len());
        Ok(value)
    }

    /// Position of the first of `ends`, which all begin with the same byte, at or after byte `from` of the rest. It
    /// looks no further than that: an end that never comes must not cost the rest of the file for each entry.
    pub(super) fn find(&self, from: usize, ends: &[Vec<u8>]) -> Option<usize> {
        let tail = self.rest().get(from..)?;
        let first = *ends.first()?.first()?;
        let begins = |at: &usize| tail.get(*at..).is_some_and(|rest| ends.iter().any(|end| rest.starts_with(end)));
        memchr::memchr_iter(first, tail).find(begins).map(|at| at.saturating_add(from))
    }

    pub(super) fn error(&self, expected: impl Into<String>) -> TableError {
        let before = self.data.get(..self.pos).unwrap_or(self.data);
        let line = memchr::memchr_iter(b'\n', before).count().saturating_add(1);
        let found = self.rest().split(|&b| b == b'\n').next().unwrap_or_default();
        let found: String = String::from_utf8_lossy(found).chars().take(80).collect();
        TableError { line, expected: expected.into(), found }
    }
}

/// A `hist` file that is not what a kernel prints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct TableError {
    /// Line within the text, from 1.
    pub line: usize,
    /// The text that was expected.
    pub expected: String,
    /// The text that was found, cut to 80 characters.
    pub found: String,
}
