//! `trace_clock`: `[local] global counter uptime perf mono mono_raw boot tai x86-tsc`.

/// The clocks of this kernel and the one in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceClock {
    /// The one in brackets.
    pub current: String,
    /// All of them, in the kernel's order.
    pub available: Vec<String>,
}

impl TraceClock {
    /// Parses the file's text: words, one of them in brackets (a single word needs none).
    pub fn parse(text: &str) -> Option<Self> {
        let mut current = None;
        let mut available = Vec::new();
        for word in text.split_whitespace() {
            let bare = word.trim_start_matches('[').trim_end_matches(']');
            if bare.len() != word.len() {
                current = Some(bare.to_owned());
            }
            available.push(bare.to_owned());
        }
        match (current, available.as_slice()) {
            (Some(current), _) => Some(TraceClock { current, available }),
            (None, [only]) => Some(TraceClock { current: only.clone(), available }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TraceClock;

    #[test]
    fn texts() {
        let clock = TraceClock::parse("local [global] x86-tsc\n").unwrap();
        assert_eq!((clock.current.as_str(), clock.available.len()), ("global", 3));
        assert_eq!(TraceClock::parse("mono\n").unwrap().current, "mono");
        assert_eq!(TraceClock::parse(""), None);
        assert_eq!(TraceClock::parse("local mono"), None);
    }
}
