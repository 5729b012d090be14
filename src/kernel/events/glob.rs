//! Shell globs, as the kernel and trace-cmd take them for event and function names.

/// True if `text` as a whole matches `pattern`: `*` any text, `?` any one character, `[a-z]` and `[!a-z]` a set,
/// `\` takes the next character literally. A `[` that is never closed stands for itself.
pub fn glob_matches(pattern: &str, text: &str) -> bool {
    let (p, t) = (pattern.as_bytes(), text.as_bytes());
    let (mut pi, mut ti) = (0, 0);
    let mut star: Option<(usize, usize)> = None; // where to resume: after the last `*`, and the text it may still eat
    loop {
        let step = match p.get(pi) {
            Some(b'*') => {
                star = Some((pi + 1, ti));
                pi += 1;
                continue;
            }
            Some(_) => t.get(ti).and_then(|&c| one(&p[pi..], c)),
            None if ti == t.len() => return true,
            None => None,
        };
        match (step, star) {
            (Some(used), _) => {
                pi += used;
                ti += 1;
            }
            (None, Some((resume, eaten))) if eaten < t.len() => {
                star = Some((resume, eaten + 1));
                pi = resume;
                ti = eaten + 1;
            }
            _ => return false,
        }
    }
}

/// True if `text` holds anything that makes it a glob rather than a name.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Matches one character; gives how much of the pattern that took.
fn one(p: &[u8], c: u8) -> Option<usize> {
    match *p.first()? {
        b'?' => Some(1),
        b'\\' if p.len() > 1 => (p[1] == c).then_some(2),
        b'[' => match set(p, c) {
            Some((hit, used)) => hit.then_some(used),
            None => (c == b'[').then_some(1),
        },
        literal => (literal == c).then_some(1),
    }
}

/// A `[...]` at the start of `p`: whether `c` is in it, and its length; `None` if it is never closed.
fn set(p: &[u8], c: u8) -> Option<(bool, usize)> {
    let negated = matches!(p.get(1), Some(b'!' | b'^'));
    let first = 1 + usize::from(negated);
    let mut i = first;
    let mut hit = false;
    loop {
        match *p.get(i)? {
            b']' if i > first => return Some((hit != negated, i + 1)),
            low => match (p.get(i + 1), p.get(i + 2)) {
                (Some(b'-'), Some(&high)) if high != b']' => {
                    hit |= (low..=high).contains(&c);
                    i += 3;
                }
                _ => {
                    hit |= low == c;
                    i += 1;
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::glob_matches;

    #[test]
    fn globs() {
        for (pattern, yes, no) in [
            ("sched_*", "sched_switch", "xsched_switch"),
            ("*wak*", "sched_waking", "sched_switch"),
            ("sys_*_open?t", "sys_enter_openat", "sys_enter_openaat"),
            ("[a-c]x", "bx", "dx"),
            ("[!a-c]x", "dx", "bx"),
            ("[]]", "]", "["),
            ("a[", "a[", "a"),
            ("a\\*", "a*", "ab"),
            ("**", "", "\u{0}none"),
        ] {
            assert!(glob_matches(pattern, yes), "{pattern} {yes}");
            assert!(pattern == "**" || !glob_matches(pattern, no), "{pattern} {no}");
        }
        assert!(!glob_matches("", "a"));
        assert!(glob_matches("a*b*c", "a-b-b-c"));
        assert!(!glob_matches("a*b*c", "a-b-b-cd"));
    }
}
