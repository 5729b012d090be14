//! Words and signs of the language.

use crate::base::syntax::{Diagnostic, Scanner, Span, Spanned};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SqlToken {
    /// A keyword, in upper case.
    Word(&'static str),
    /// A name, perhaps with dots; a backslash before it (which is dropped) makes a keyword a name.
    Name(String),
    Number(String),
    /// Digits, a point and digits.
    Decimal(String),
    Text(String),
    Sign(&'static str),
}

pub(super) const WORDS: [&str; 8] = ["SELECT", "FROM", "JOIN", "ON", "WHERE", "AS", "CAST", "SYM-OFFSET"];
/// Longer ones first.
const SIGNS: [&str; 19] =
    ["&&", "||", "<=", ">=", "==", "!=", "(", ")", ",", "+", "-", "<", ">", "=", "!", "&", "~", "*", "/"];

/// All tokens of a statement.
///
/// # Errors
/// A [`Diagnostic`] at the first character that starts none.
pub(super) fn lex(text: &str) -> Result<Vec<Spanned<SqlToken>>, Diagnostic> {
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    loop {
        scanner.skip_space();
        let start = scanner.pos();
        let Some(first) = scanner.peek() else { return Ok(tokens) };
        let token = match first {
            '0'..='9' => {
                let digits = scanner.take_while(|c| c.is_ascii_alphanumeric());
                let number = number(text, digits, scanner.span_from(start))?;
                if scanner.eat(".") {
                    SqlToken::Decimal(format!("{digits}.{}", scanner.take_while(|c| c.is_ascii_digit())))
                } else {
                    SqlToken::Number(number)
                }
            }
            '"' => {
                scanner.bump();
                // It becomes part of a line that is written to the kernel, which takes C strings.
                let content = scanner.take_while(|c| !matches!(c, '"' | '\n' | '\0')).to_owned();
                if !scanner.eat("\"") {
                    return Err(Diagnostic::new("sql", text, scanner.span_from(start), "missing closing quote"));
                }
                SqlToken::Text(content)
            }
            'a'..='z' | 'A'..='Z' | '_' | '\\' => {
                let escaped = scanner.eat("\\");
                let name = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                if name.is_empty() {
                    return Err(Diagnostic::new("sql", text, scanner.span_from(start), "a name must follow `\\`"));
                }
                let offset =
                    name.eq_ignore_ascii_case("sym") && scanner.rest().to_ascii_lowercase().starts_with("-offset");
                if offset {
                    scanner.take_while(|c| c == '-');
                    scanner.take_while(|c| c.is_ascii_alphabetic());
                }
                let upper = if offset { "SYM-OFFSET".to_owned() } else { name.to_ascii_uppercase() };
                match WORDS.iter().find(|w| **w == upper && !escaped) {
                    Some(word) => SqlToken::Word(word),
                    None => SqlToken::Name(name.to_owned()),
                }
            }
            _ => match SIGNS.iter().find(|sign| scanner.eat(sign)) {
                Some(sign) => SqlToken::Sign(sign),
                None => return Err(unexpected(text, &mut scanner)),
            },
        };
        tokens.push(Spanned::new(token, scanner.span_from(start)));
    }
}

fn number(text: &str, digits: &str, span: Span) -> Result<String, Diagnostic> {
    match crate::base::syntax::parse_int(digits) {
        Ok(_) => Ok(digits.to_owned()),
        Err(error) => Err(Diagnostic::new("sql", text, span, format!("`{digits}`: {error}"))),
    }
}

fn unexpected(text: &str, scanner: &mut Scanner<'_>) -> Diagnostic {
    let start = scanner.pos();
    let c = scanner.bump();
    let error = Diagnostic::new("sql", text, scanner.span_from(start), "unexpected character");
    match c {
        Some('\'') => error.hint("texts stand in double quotes"),
        Some(':') => error.hint("events are written `system.event` here"),
        Some(';') => error.hint("one statement, without `;`"),
        _ => error,
    }
}
