//! `print fmt` text to tokens.
//! `string_escape_mem()` of the kernel (lib/string_helpers.c), which `%*pE` and helpers of print formats go through.

use super::PrintFmtError;

/// A token and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PrintFmtToken {
    pub(super) offset: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name: field, function, type, enum constant.
    Word(String),
    /// An integer constant and what its suffix says of its C type.
    Number { value: u64, unsigned: bool, long: bool },
    /// String constants that stand side by side, joined and unescaped.
    Text(Vec<u8>),
    /// An operator or a bracket.
    Op(&'static str),
    /// The end of the text.
    End,
}

/// Longest first, so that `<<` is not two `<`.
const OPS: [&str; 42] = [
    "<<=", ">>=", "...", "->", "++", "--", "&&", "||", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "|=", "&=", "(",
    ")", "[", "]", "{", "}", ",", ";", ":", "?", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "=", ".",
];

/// Macros that some kernels leave unexpanded (mac80211 before Linux 3.7).
fn leftover(word: &str) -> Option<&'static [u8]> {
    match word {
        "LOCAL_PR_FMT" => Some(b"%s "),
        "STA_PR_FMT" => Some(b" sta:%pM"),
        "VIF_PR_FMT" => Some(b" vif:%p(%d)"),
        _ => None,
    }
}

/// All tokens of `text`, ending with [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<PrintFmtToken>, PrintFmtError> {
    let bytes = text.as_bytes();
    let mut out: Vec<PrintFmtToken> = Vec::new();
    let mut pos = 0;
    while let Some(&b) = bytes.get(pos) {
        let offset = pos;
        if b.is_ascii_whitespace() {
            pos = pos.saturating_add(1);
            continue;
        }
        let rest = bytes.get(pos..).unwrap_or_default();
        let kind = if b == b'"' {
            let (mut string, mut end) = quoted(bytes, pos, b'"')?;
            while out.is_empty() && !may_follow_text(text, end) {
                let Ok((more, after)) = quoted(bytes, end.saturating_sub(1), b'"') else { break };
                string.push(b'"');
                string.extend(more);
                end = after;
            }
            pos = end;
            TokenKind::Text(string)
        } else if b == b'\'' {
            let (string, end) = quoted(bytes, pos, b'\'')?;
            pos = end;
            let value = string.first().map_or(0, |&c| c as i8 as i64 as u64);
            TokenKind::Number { value, unsigned: false, long: false }
        } else if b.is_ascii_digit() {
            let end = word_end(bytes, pos);
            pos = end;
            number(text.get(offset..end).unwrap_or_default())
        } else if b.is_ascii_alphabetic() || b == b'_' {
            let end = word_end(bytes, pos);
            pos = end;
            let word = text.get(offset..end).unwrap_or_default();
            match leftover(word) {
                Some(string) => TokenKind::Text(string.to_vec()),
                None => TokenKind::Word(word.to_owned()),
            }
        } else if let Some(op) = OPS.iter().find(|op| rest.starts_with(op.as_bytes())) {
            pos = pos.saturating_add(op.len());
            TokenKind::Op(op)
        } else {
            let found = text.get(offset..).unwrap_or_default().chars().take(1).collect();
            return Err(PrintFmtError::Syntax { offset, expected: "a token", found });
        };
        match (&kind, out.last_mut()) {
            (TokenKind::Text(more), Some(PrintFmtToken { kind: TokenKind::Text(text), .. })) => {
                text.extend_from_slice(more)
            }
            _ => out.push(PrintFmtToken { offset, kind }),
        }
    }
    out.push(PrintFmtToken { offset: bytes.len(), kind: TokenKind::End });
    Ok(out)
}

/// True if what comes from `at` on can follow the format's text. Quotes of the text itself are not escaped in the kernel's files
/// (arm64's instruction_emulation: `"instr="%s" addr=0x%llx", ...`).
fn may_follow_text(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default().trim_start();
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    rest.is_empty() || rest.starts_with([',', '"']) || leftover(word).is_some()
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let len = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    start.saturating_add(len)
}

/// A C integer constant; what is no number counts as far as it is one, as strtoull does.
fn number(word: &str) -> TokenKind {
    let lower = word.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(bin) = lower.strip_prefix("0b") {
        (2, bin)
    } else if let Some(octal) = lower.strip_prefix('0').filter(|octal| !octal.is_empty()) {
        (8, octal)
    } else {
        (10, lower.as_str())
    };
    let suffix = digits.trim_start_matches(|c: char| c.is_digit(radix));
    let digits = digits.chars().map_while(|c| c.to_digit(radix));
    let value = digits.fold(0u64, |v, d| v.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(d)));
    TokenKind::Number { value, unsigned: suffix.contains('u'), long: suffix.contains('l') }
}

/// The unescaped content of a quote that opens at `start`, and the position after it.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> Result<(Vec<u8>, usize), PrintFmtError> {
    let mut out = Vec::new();
    let mut pos = start.saturating_add(1);
    loop {
        let unterminated = PrintFmtError::Unterminated { offset: start };
        let &b = bytes.get(pos).ok_or(unterminated.clone())?;
        pos = pos.saturating_add(1);
        if b == quote {
            return Ok((out, pos));
        }
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let rest = bytes.get(pos..).unwrap_or_default();
        let (&escaped, after) = rest.split_first().ok_or(unterminated)?;
        pos = pos.saturating_add(1);
        match escaped {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'e' => out.push(27),
            b'x' => {
                let (value, digits) = digits(after, 16, 2);
                out.push(value);
                pos = pos.saturating_add(digits);
            }
            b'0'..=b'7' => {
                let (value, digits) = digits(rest, 8, 3);
                out.push(value);
                pos = pos.saturating_add(digits).saturating_sub(1); // the first one was `escaped`
            }
            other => out.push(other),
        }
    }
}

/// The low byte of the number of up to `most` digits that `text` begins with, and how many digits it has.
fn digits(text: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let digits = text.iter().take(most).map_while(|b| char::from(*b).to_digit(radix));
    let (value, count) = digits.fold((0u32, 0usize), |(value, count), digit| {
        (value.wrapping_mul(radix).wrapping_add(digit), count.saturating_add(1))
    });
    (value as u8, count)
}

/// The classes of characters that are escaped, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    /// Form feed, newline, carriage return and tabs, as C has them.
    space: bool,
    /// Quotes, backslash, bell and escape.
    special: bool,
    null: bool,
    octal: bool,
    hex: bool,
    /// Characters that can be printed stay.
    printable_stay: bool,
    /// Blank, `'` and `=` are escaped, as all that is no ASCII or cannot be printed.
    untrusted: bool,
}

impl Escapes {
    /// Of `__trace_print_untrusted_str()`: ``ESCAPE_SPACE | ESCAPE_SPECIAL | ESCAPE_OCTAL``, with ` ='"\` beside what is not
    /// printable ASCII.
    pub(super) const UNTRUSTED: Escapes = Escapes {
        space: true,
        special: true,
        null: false,
        octal: true,
        hex: false,
        printable_stay: false,
        untrusted: true,
    };

    /// The letters after `%pE` (lib/vsprintf.c, `escaped_string()`).
    pub(super) fn parse(extension: &[u8]) -> Escapes {
        let mut flags = Escapes::default();
        for letter in extension.iter().skip(1) {
            match letter {
                b'a' => flags = Escapes { space: true, special: true, null: true, octal: true, ..flags },
                b'c' => flags.special = true,
                b'h' => flags.hex = true,
                b'n' => flags.null = true,
                b'o' => flags.octal = true,
                b'p' => flags.printable_stay = true,
                b's' => flags.space = true,
                _ => break,
            }
        }
        if flags == Escapes::default() {
            flags = Escapes { printable_stay: true, ..Escapes::parse(b"Ea") };
        }
        flags
    }

    pub(super) fn write(self, out: &mut Vec<u8>, data: &[u8]) {
        data.iter().for_each(|byte| self.byte(*byte, out));
    }

    fn byte(self, byte: u8, out: &mut Vec<u8>) {
        // the kernel's isprint() is that of Latin-1 (lib/ctype.c)
        let printable = matches!(byte, b' '..=b'~' | 0xa0..);
        let stays = match self.untrusted {
            true => matches!(byte, b'!'..=b'~') && !matches!(byte, b'=' | b'"' | b'\'' | b'\\'),
            false => self.printable_stay && printable,
        };
        let letter = match byte {
            _ if stays => return out.push(byte),
            b'\n' if self.space => b'n',
            b'\r' if self.space => b'r',
            b'\t' if self.space => b't',
            0x0b if self.space => b'v',
            0x0c if self.space => b'f',
            0x07 if self.special => b'a',
            0x1b if self.special => b'e',
            b'\\' | b'"' if self.special => byte,
            0 if self.null => b'0',
            _ if self.octal => {
                out.extend_from_slice(&[b'\\', b'0' | byte >> 6, b'0' | byte >> 3 & 7, b'0' | byte & 7]);
                return;
            }
            _ if self.hex => {
                out.extend_from_slice(b"\\x");
                return crate::base::text::num::hex_byte(out, byte);
            }
            _ => return out.push(byte),
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text).unwrap().into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn strings_join_and_numbers_know_their_suffix() {
        assert_eq!(
            kinds(r#""a\t" "b\"", 0x10UL<<'a'"#),
            [
                TokenKind::Text(b"a\tb\"".to_vec()),
                TokenKind::Op(","),
                TokenKind::Number { value: 16, unsigned: true, long: true },
                TokenKind::Op("<<"),
                TokenKind::Number { value: 97, unsigned: false, long: false },
                TokenKind::End,
            ]
        );
    }

    #[test]
    fn an_open_quote_is_named() {
        assert_eq!(tokens("1, \"ab\\\""), Err(PrintFmtError::Unterminated { offset: 3 }));
    }

    /// lib/test_string_helpers.c and Documentation/core-api/printk-formats.rst, "Raw buffer as an escaped string".
    #[test]
    fn escaped_as_the_kernel_does() {
        let of = |extension: &[u8], data: &[u8]| {
            let mut out = Vec::new();
            Escapes::parse(extension).write(&mut out, data);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert_eq!(of(b"E", b"\x1bb \x07C\x00\"\x90\x0d]"), r#"\eb \aC\0"\220\r]"#);
        assert_eq!(of(b"Ehp", b"\x1bb \x07C\x00\"\x90\x0d]"), r#"\x1bb \x07C\x00"\x90\x0d]"#);
        assert_eq!(of(b"Ea", b"a\n"), r"\141\n");
        assert_eq!(of(b"Es", b"a\n\0"), "a\\n\0");
    }
}
