//! A cursor over the text of a little language.
//! Integers as the kernel reads them.

use super::Span;

/// Walks a text character by character and knows where it is. Each language builds its own tokens on it.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    pos: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`.
    pub fn new(text: &'a str) -> Self {
        Scanner { text, pos: 0 }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Byte offset of the next character.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The unread rest.
    pub fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// True if everything is read.
    pub fn at_end(&self) -> bool {
        self.pos == self.text.len()
    }

    /// The next character, which stays.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next character, consumed.
    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    /// Consumes `prefix` if it is next.
    pub fn eat(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.pos += prefix.len();
        }
        found
    }

    /// Consumes white space.
    pub fn skip_space(&mut self) {
        self.take_while(|c| c.is_ascii_whitespace());
    }

    /// Consumes characters as long as `wanted` holds.
    pub fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.pos += len;
        &rest[..len]
    }

    /// Consumes a C identifier; empty if none is next.
    pub fn identifier(&mut self) -> &'a str {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return "";
        }
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// From byte `start` up to here.
    pub fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.pos)
    }

    /// The word that is next, for pointing at: up to white space, one character at least; a bare place at the end.
    pub fn next_word(&self) -> Span {
        let rest = self.rest();
        let len = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
        let len = len.max(rest.chars().next().map_or(0, char::len_utf8));
        Span::new(self.pos, self.pos + len)
    }
}

/// A word that is not an integer as the kernel's `kstrtoull` or `kstrtoll` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// There is something else than a sign and the digits of one base.
    #[error("not an integer")]
    Malformed,
    /// It does not fit 64 bits.
    #[error("the number does not fit 64 bits")]
    Range,
}

/// Parses `[+-]0x..`, `0..` (octal) or decimal, as the kernel does with base 0.
///
/// # Errors
/// [`NumberError::Malformed`] if a character is not a digit of the base; [`NumberError::Range`] if the value is
/// below -2^63 or above 2^64 - 1. Whether it fits the place it is for is the caller's question.
pub fn parse_int(word: &str) -> Result<i128, NumberError> {
    let (negative, digits) = match word.as_bytes().first() {
        Some(b'-') => (true, &word[1..]),
        Some(b'+') => (false, &word[1..]),
        _ => (false, word),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (radix, digits) = match hex {
        Some(hex) => (16, hex),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(NumberError::Malformed);
    }
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| NumberError::Range)?;
    let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    if value < i128::from(i64::MIN) { Err(NumberError::Range) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_and_knows_where() {
        let mut s = Scanner::new(" ab_1 == 'é'");
        s.skip_space();
        let start = s.pos();
        assert_eq!(s.identifier(), "ab_1");
        assert_eq!(s.span_from(start), Span::new(1, 5));
        s.skip_space();
        assert!(!s.eat("=".repeat(3).as_str()) && s.eat("=="));
        s.skip_space();
        assert_eq!(s.next_word().of(s.text()), "'é'");
        assert_eq!((s.bump(), s.bump(), s.bump(), s.bump()), (Some('\''), Some('é'), Some('\''), None));
        assert!(s.at_end() && s.next_word() == Span::at(13));
        assert_eq!(Scanner::new("1a").identifier(), "");
    }

    #[test]
    fn bases_and_limits() {
        assert_eq!(parse_int("10"), Ok(10));
        assert_eq!(parse_int("0x1F"), Ok(31));
        assert_eq!(parse_int("010"), Ok(8));
        assert_eq!(parse_int("0"), Ok(0));
        assert_eq!(parse_int("-1"), Ok(-1));
        assert_eq!(parse_int("18446744073709551615"), Ok(u64::MAX.into()));
        assert_eq!(parse_int("-9223372036854775808"), Ok(i64::MIN.into()));
        assert_eq!(parse_int("18446744073709551616"), Err(NumberError::Range));
        assert_eq!(parse_int("-9223372036854775809"), Err(NumberError::Range));
        for bad in ["", "-", "0x", "09", "1a", "--1", "+-1", "1 ", "0x+1"] {
            assert_eq!(parse_int(bad), Err(NumberError::Malformed), "{bad}");
        }
    }
}
