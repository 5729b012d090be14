//! Text comparison exactly as the kernel's filters do it.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use crate::base::text::plain::until_nul;
use memchr::memmem;

/// The right side of `==`, `!=` and `~` with a text field.
///
/// The kernel (`filter_parse_regex`, `kernel/trace/trace_events_filter.c`) sorts globs into five kinds and compares
/// each its own way, with three traps that are kept here because the events that passed a filter passed *that* one:
///
/// - `*text` looks at the end of the **field**, one byte before its last: on a `char[16]` it fits only texts of 15
///   bytes. Dynamic strings end where their text ends, so there it does what one expects;
/// - `*text*` searches the whole field, also after the NUL;
/// - a glob that begins with a digit is compared literally. A leading `!` negates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextPattern {
    kind: PatternKind,
    text: Vec<u8>,
    /// `!` before the glob.
    pub(super) negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternKind {
    Full,
    Front,
    Middle,
    End,
    Glob,
}

impl TextPattern {
    /// For `==` and `!=`.
    pub(super) fn literal(text: &str) -> Self {
        TextPattern { kind: PatternKind::Full, text: text.as_bytes().to_vec(), negated: false }
    }

    /// For `~`.
    pub(super) fn glob(text: &str) -> Self {
        let (text, negated) = match text.strip_prefix('!') {
            Some(rest) => (rest.as_bytes(), true),
            None => (text.as_bytes(), false),
        };
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or(&[]);
        let special = |bytes: &[u8]| bytes.iter().any(|b| b"*[?\\".contains(b));
        let edges = [text.first(), text.last()].into_iter().flatten().any(|b| b"[?\\".contains(b));
        let (kind, text) = if text.first().is_some_and(u8::is_ascii_digit) {
            (PatternKind::Full, text)
        } else if edges || special(inner) {
            (PatternKind::Glob, text)
        } else {
            match text {
                [b'*', middle @ .., b'*'] => (PatternKind::Middle, middle),
                [b'*', end @ ..] => (PatternKind::End, end),
                [front @ .., b'*'] => (PatternKind::Front, front),
                _ => (PatternKind::Full, text),
            }
        };
        TextPattern { kind, text: text.to_vec(), negated }
    }

    /// The kernel's class of it.
    pub(super) fn kind(&self) -> PatternKind {
        self.kind
    }

    /// True if the text in `field` (all its bytes, NUL and what lies after included) fits, `!` left out.
    #[inline]
    pub(super) fn fits(&self, field: &[u8]) -> bool {
        match self.kind {
            PatternKind::Full => {
                let text = until_nul(field);
                // strncmp: of a field without NUL no more than its length is compared
                text == self.text || (text.len() == field.len() && self.text.starts_with(text) && !text.is_empty())
            }
            PatternKind::Front => field.starts_with(&self.text),
            PatternKind::Middle => memmem::find(field, &self.text).is_some(),
            PatternKind::End => field.split_last().is_some_and(|(_, rest)| rest.ends_with(&self.text)),
            PatternKind::Glob => glob_fits(&self.text, until_nul(field)),
        }
    }
}

/// The kernel's glob (`lib/glob.c`): `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a literal; a class that is not closed is
/// a literal `[`. Only the last `*` is ever retried, so the time is at most pattern times text.
fn glob_fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0usize, 0usize);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            p = p.saturating_add(1);
            retry = Some((p, t));
            continue;
        }
        match one(pattern.get(p..).unwrap_or_default(), text.get(t).copied()) {
            PatternStep::End => return true,
            PatternStep::Fits(len) => {
                p = p.saturating_add(len);
                t = t.saturating_add(1);
            }
            PatternStep::Differs => match retry {
                Some((after_star, from)) if from < text.len() => {
                    (p, t) = (after_star, from.saturating_add(1));
                    retry = Some((p, t));
                }
                _ => return false,
            },
        }
    }
}

enum PatternStep {
    /// Pattern and text end here together.
    End,
    /// The character fits; the pattern's element has this many bytes.
    Fits(usize),
    Differs,
}

/// Compares one character with the pattern's first element, which is not `*`.
fn one(pattern: &[u8], c: Option<u8>) -> PatternStep {
    let (&head, c) = match (pattern.first(), c) {
        (None, None) => return PatternStep::End,
        (Some(head), Some(c)) => (head, c),
        _ => return PatternStep::Differs,
    };
    let (fits, len) = match head {
        b'?' => (true, 1),
        b'[' => class(pattern, c).unwrap_or((c == b'[', 1)),
        b'\\' => match pattern.get(1) {
            Some(&literal) => (literal == c, 2),
            None => (false, 1),
        },
        literal => (literal == c, 1),
    };
    if fits { PatternStep::Fits(len) } else { PatternStep::Differs }
}

/// True if `c` is in the class `pattern` starts with, and the class's length; `None` if it is not closed.
fn class(pattern: &[u8], c: u8) -> Option<(bool, usize)> {
    let inverted = pattern.get(1) == Some(&b'!');
    let mut at = if inverted { 2usize } else { 1 };
    let mut found = false;
    loop {
        let low = *pattern.get(at)?;
        at = at.saturating_add(1);
        let after = at.saturating_add(1);
        let mut high = low;
        if pattern.get(at) == Some(&b'-') && pattern.get(after) != Some(&b']') {
            high = *pattern.get(after)?;
            at = after.saturating_add(1);
        }
        found |= (low..=high).contains(&c);
        if *pattern.get(at)? == b']' {
            return Some((found != inverted, at.saturating_add(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> [u8; 16] {
        let mut field = [0; 16];
        field[..text.len()].copy_from_slice(text.as_bytes());
        field
    }

    #[test]
    fn kinds() {
        for (glob, kind) in [
            ("bash", PatternKind::Full),
            ("ba*", PatternKind::Front),
            ("*ba", PatternKind::End),
            ("*ba*", PatternKind::Middle),
            ("*", PatternKind::End),
            ("**", PatternKind::Middle),
            ("b*h", PatternKind::Glob),
            ("ba?", PatternKind::Glob),
            ("[ab]sh", PatternKind::Glob),
            ("b\\*", PatternKind::Glob),
            ("12*", PatternKind::Full),
            ("", PatternKind::Full),
        ] {
            assert_eq!(TextPattern::glob(glob).kind(), kind, "{glob}");
        }
        assert!(TextPattern::glob("!bash").negated && !TextPattern::literal("!bash").negated);
    }

    #[test]
    fn fixed_fields() {
        let bash = field("bash");
        assert!(TextPattern::literal("bash").fits(&bash) && !TextPattern::literal("bas").fits(&bash));
        assert!(TextPattern::glob("ba*").fits(&bash) && TextPattern::glob("*as*").fits(&bash));
        assert!(!TextPattern::glob("*sh").fits(&bash), "the end of a fixed field is not the end of its text");
        assert!(TextPattern::glob("*def").fits(&field("0123456789abdef")));
        assert!(TextPattern::glob("*sh").fits(b"/bin/bash\0"), "a dynamic string ends with its NUL");
        let mut stale = bash;
        stale[5..8].copy_from_slice(b"old");
        assert!(TextPattern::glob("*old*").fits(&stale) && !TextPattern::literal("old").fits(&stale));
        assert!(TextPattern::literal("abcdX").fits(b"abcd"), "no NUL: only the field's length is compared");
        assert!(
            TextPattern::literal("").fits(&[0; 4])
                && TextPattern::literal("").fits(&[])
                && !TextPattern::literal("a").fits(&[])
        );
    }

    #[test]
    fn globs() {
        for (glob, text, fits) in [
            ("b*h", "bash", true),
            ("b*s", "bash", false),
            ("*a*b*c", "xaxbxc", true),
            ("*a*b*c", "xaxbx", false),
            ("[!a-c]x", "dx", true),
            ("[!a-c]x", "bx", false),
            ("[]a]?", "]z", true),
            ("[abc", "[abc", true),
            ("a\\*b*x", "a*bx", true),
            ("?", "", false),
            ("*?", "", false),
            ("", "", true),
            ("b**h", "bh", true),
            ("[a-]z", "-z", true),
        ] {
            assert_eq!(glob_fits(glob.as_bytes(), text.as_bytes()), fits, "{glob} {text}");
        }
    }
}
