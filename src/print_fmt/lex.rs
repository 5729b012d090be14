//! `print fmt` text to tokens.

use super::PrintFmtError;

/// A token and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) offset: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
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

/// All tokens of `text`, ending with [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, PrintFmtError> {
    let bytes = text.as_bytes();
    let mut out: Vec<Token> = Vec::new();
    let mut pos = 0;
    while let Some(&b) = bytes.get(pos) {
        let offset = pos;
        if b.is_ascii_whitespace() {
            pos += 1;
            continue;
        }
        let kind = if b == b'"' {
            let (string, end) = quoted(bytes, pos, b'"')?;
            pos = end;
            Kind::Text(string)
        } else if b == b'\'' {
            let (string, end) = quoted(bytes, pos, b'\'')?;
            pos = end;
            let value = string.first().map_or(0, |&c| c as i8 as i64 as u64);
            Kind::Number { value, unsigned: false, long: false }
        } else if b.is_ascii_digit() {
            let end = word_end(bytes, pos);
            pos = end;
            number(&text[offset..end])
        } else if b.is_ascii_alphabetic() || b == b'_' {
            let end = word_end(bytes, pos);
            pos = end;
            let word = &text[offset..end];
            match leftover(word) {
                Some(string) => Kind::Text(string.to_vec()),
                None => Kind::Word(word.to_owned()),
            }
        } else if let Some(op) = OPS.iter().find(|op| bytes[pos..].starts_with(op.as_bytes())) {
            pos += op.len();
            Kind::Op(op)
        } else {
            let found = text[offset..].chars().take(1).collect();
            return Err(PrintFmtError::Syntax { offset, expected: "a token", found });
        };
        match (&kind, out.last_mut()) {
            (Kind::Text(more), Some(Token { kind: Kind::Text(text), .. })) => text.extend_from_slice(more),
            _ => out.push(Token { offset, kind }),
        }
    }
    out.push(Token { offset: bytes.len(), kind: Kind::End });
    Ok(out)
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let len = bytes[start..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    start + len
}

/// A C integer constant; what is no number counts as far as it is one, as strtoull does.
fn number(word: &str) -> Kind {
    let lower = word.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(bin) = lower.strip_prefix("0b") {
        (2, bin)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    let mut value: u64 = 0;
    let mut used = 0;
    for c in digits.chars() {
        let Some(d) = c.to_digit(radix) else { break };
        value = value.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(d));
        used += 1;
    }
    let suffix = &digits[used..];
    Kind::Number { value, unsigned: suffix.contains('u'), long: suffix.contains('l') }
}

/// The unescaped content of a quote that opens at `start`, and the position behind it.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> Result<(Vec<u8>, usize), PrintFmtError> {
    let mut out = Vec::new();
    let mut pos = start + 1;
    loop {
        let unterminated = PrintFmtError::Unterminated { offset: start };
        let &b = bytes.get(pos).ok_or(unterminated.clone())?;
        pos += 1;
        if b == quote {
            return Ok((out, pos));
        }
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let &escaped = bytes.get(pos).ok_or(unterminated)?;
        pos += 1;
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
                let digits = bytes[pos..].iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
                let text = std::str::from_utf8(&bytes[pos..pos + digits]).unwrap_or("");
                out.push(u8::from_str_radix(text, 16).unwrap_or(0));
                pos += digits;
            }
            b'0'..=b'7' => {
                let digits = bytes[pos - 1..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let value = bytes[pos - 1..pos - 1 + digits].iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                out.push(value as u8);
                pos += digits - 1;
            }
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).unwrap().into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn strings_join_and_numbers_know_their_suffix() {
        assert_eq!(
            kinds(r#""a\t" "b\"", 0x10UL<<'a'"#),
            [
                Kind::Text(b"a\tb\"".to_vec()),
                Kind::Op(","),
                Kind::Number { value: 16, unsigned: true, long: true },
                Kind::Op("<<"),
                Kind::Number { value: 97, unsigned: false, long: false },
                Kind::End,
            ]
        );
    }

    #[test]
    fn an_open_quote_is_named() {
        assert_eq!(tokens("1, \"ab\\\""), Err(PrintFmtError::Unterminated { offset: 3 }));
    }
}
