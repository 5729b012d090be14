//! POSIX basic regular expressions (with GNU's additions) in the words of the regex crate.

/// Translates `pattern`.
///
/// In a basic expression `+ ? | ( ) { }` are literal, and operators with a backslash before them (GNU); `*` at the
/// start is literal; `^` and `$` are anchors only at the start and end of an alternative. Back references are refused.
pub(super) fn basic_to_regex(pattern: &str) -> Result<String, &'static str> {
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    let mut at_start = true;
    while let Some(c) = chars.next() {
        let was_start = std::mem::replace(&mut at_start, false);
        match c {
            '\\' => match chars.next() {
                Some(c @ ('(' | '|')) => {
                    out.push(c);
                    at_start = true;
                }
                Some(c @ (')' | '{' | '}' | '+' | '?')) => out.push(c),
                Some('1'..='9') => return Err("back references are not supported"),
                Some('<') => out.push_str(r"\b{start}"),
                Some('>') => out.push_str(r"\b{end}"),
                Some(c @ ('w' | 'W' | 's' | 'S' | 'b' | 'B')) => out.extend(['\\', c]),
                Some(c) => literal(c, &mut out),
                None => return Err("a backslash at the end of a regular expression"),
            },
            '*' if was_start => out.push_str(r"\*"),
            '*' => out.push('*'),
            '.' => out.push('.'),
            '^' if was_start => {
                out.push('^');
                at_start = true;
            }
            '$' if chars.peek().is_none() || ends_alternative(chars.clone()) => out.push('$'),
            '[' => bracket(&mut chars, &mut out)?,
            c => literal(c, &mut out),
        }
    }
    Ok(out)
}

fn ends_alternative(mut rest: impl Iterator<Item = char>) -> bool {
    rest.next() == Some('\\') && matches!(rest.next(), Some('|' | ')'))
}

fn literal(c: char, out: &mut String) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

/// `[...]`: a backslash is literal in it, `]` first too, `[:alpha:]` classes are the same in both languages.
fn bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Result<(), &'static str> {
    const OPEN: &str = "missing `]` in a regular expression";
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    loop {
        match chars.next().ok_or(OPEN)? {
            ']' if !first => break,
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                loop {
                    let c = chars.next().ok_or(OPEN)?;
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '-' => out.push('-'),
            c if c.is_alphanumeric() => out.push(c),
            c => out.extend(['\\', c]),
        }
        first = false;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_expressions() {
        for (basic, text, fits) in [
            ("a+", "a+", true),
            ("a+", "aa", false),
            (r"^a\+$", "aa", true),
            ("*a", "*a", true),
            ("^*a", "*a", true),
            ("a*b", "aaab", true),
            (r"^\(ab\|c\)$", "c", true),
            ("(x)", "(x)", true),
            (r"^a\{2\}$", "aa", true),
            ("a{2}", "a{2}", true),
            ("a$b", "a$b", true),
            ("a^b", "a^b", true),
            (r"x\.y", "xzy", false),
            ("[]a]", "]", true),
            (r"[\]x", r"\x", true),
            ("[^[:digit:]_]", "5_", false),
            ("[a-c.]", "b", true),
            (r"a\|b", "b", true),
            (r"a$\|b", "xa", true),
            ("ksoftirqd.*", "ksoftirqd/0", true),
        ] {
            let regex = regex::Regex::new(&basic_to_regex(basic).unwrap()).unwrap_or_else(|e| panic!("{basic}: {e}"));
            assert_eq!(regex.is_match(text), fits, "{basic} {text} {regex}");
        }
        for bad in ["[a", r"a\", r"\(a\)\1", "[[:alpha:"] {
            assert!(basic_to_regex(bad).is_err(), "{bad}");
        }
    }
}
