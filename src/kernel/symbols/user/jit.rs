//! Names of code that a process made itself: `/tmp/perf-PID.map`, which just-in-time compilers write for perf.
//!
//! ```text
//! 7f3c5a0c1e40 1c8 JS:*sum /srv/app.js:12:14      start, size (hexadecimal), name
//! ```
//!
//! Code is moved and thrown away, and its place used again: of lines that overlap the last one counts.

use std::collections::BTreeMap;

/// Functions by their addresses.
#[derive(Debug, Default)]
pub(super) struct JitNames {
    names: Vec<String>,
    /// By start: the end, and the index of the name. They do not overlap.
    ranges: BTreeMap<u64, (u64, usize)>,
}

impl JitNames {
    /// Of a map's text; lines of another form are passed over.
    pub(super) fn parse(text: &[u8]) -> Self {
        let mut found = JitNames::default();
        for line in String::from_utf8_lossy(text).lines() {
            let mut parts = line.splitn(3, ' ');
            let mut number =
                || u64::from_str_radix(parts.next().map(|hex| hex.strip_prefix("0x").unwrap_or(hex))?, 16).ok();
            let (Some(start), Some(size)) = (number(), number()) else { continue };
            let name = parts.next().map(str::trim).filter(|name| !name.is_empty());
            if let (Some(name), Some(end)) = (name, start.checked_add(size).filter(|end| start < *end)) {
                found.insert(start, end, name);
            }
        }
        found
    }

    fn insert(&mut self, start: u64, end: u64, name: &str) {
        // What lies before begins before, and may reach into it, or beyond.
        if let Some((&before, &(until, index))) =
            self.ranges.range(..start).next_back().filter(|(_, old)| old.0 > start)
        {
            self.ranges.insert(before, (start, index));
            if until > end {
                self.ranges.insert(end, (until, index));
            }
        }
        while let Some((&within, &(until, index))) = self.ranges.range(start..end).next() {
            self.ranges.remove(&within);
            if until > end {
                self.ranges.insert(end, (until, index));
            }
        }
        self.ranges.insert(start, (end, self.names.len()));
        self.names.push(name.to_owned());
    }

    /// The start and name of the function at an address.
    pub(super) fn at(&self, address: u64) -> Option<(u64, &str)> {
        let (&start, &(end, index)) = self.ranges.range(..=address).next_back()?;
        let name = self.names.get(index).filter(|_| address < end)?;
        Some((start, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_an_address_counts() {
        let text = b"1000 100 old\n0x1040 20 new\nnonsense\n3000 0 empty\n2000 10 JS:*sum /srv/app.js:1:2\nffffffffffffffff 2 x\n";
        let names = JitNames::parse(text);
        let at = |address| names.at(address).map(|(_, name)| name);
        assert_eq!([0xfff, 0x1000, 0x103f].map(at), [None, Some("old"), Some("old")]);
        assert_eq!([0x1040, 0x105f, 0x1060, 0x10ff].map(at), [Some("new"), Some("new"), Some("old"), Some("old")]);
        assert_eq!([0x1100, 0x2000, 0x3000, u64::MAX].map(at), [None, Some("JS:*sum /srv/app.js:1:2"), None, None]);
    }

    #[test]
    fn lines_hide_what_others_said_before() {
        // Against a search from the end.
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let lines: Vec<(u64, u64)> = (0..200).map(|_| (next(500), 1 + next(40))).collect();
        let text: Vec<String> =
            lines.iter().enumerate().map(|(number, (start, size))| format!("{start:x} {size:x} f{number}\n")).collect();
        let names = JitNames::parse(text.concat().as_bytes());
        for address in 0..600 {
            let last = lines.iter().rposition(|(start, size)| (*start..start + size).contains(&address));
            let expected = last.map(|number| format!("f{number}"));
            assert_eq!(names.at(address).map(|(_, name)| name.to_owned()), expected, "{address}");
        }
    }
}
