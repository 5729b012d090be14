//! `printk_formats`: `0xffffffff82345678 : "fork %d\n"`, the constant strings of trace_printk and friends.

/// Constant strings by their address.
#[derive(Clone, Debug, Default)]
pub struct PrintkFormats {
    /// Ascending by address; whole, with the newline that most end with.
    strings: Vec<(u64, Vec<u8>)>,
}

impl PrintkFormats {
    /// Parses the text of `printk_formats`. Quotes are dropped; lines that are not like
    /// the kernel's are left out.
    pub fn parse(text: &[u8]) -> Self {
        let mut strings: Vec<(u64, Vec<u8>)> = text.split(|b| *b == b'\n').filter_map(line).collect();
        strings.sort_by_key(|s| s.0);
        PrintkFormats { strings }
    }

    /// The string at `address`, without a newline at its end.
    pub fn get(&self, address: u64) -> Option<&[u8]> {
        self.get_whole(address).map(trimmed)
    }

    /// The string at `address`.
    pub fn get_whole(&self, address: u64) -> Option<&[u8]> {
        let index = self.strings.binary_search_by_key(&address, |s| s.0).ok()?;
        self.strings.get(index).map(|s| s.1.as_slice())
    }

    /// All strings with their addresses, without newlines at their ends.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.iter_whole().map(|(address, text)| (address, trimmed(text)))
    }

    /// All strings with their addresses.
    pub fn iter_whole(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.strings.iter().map(|s| (s.0, s.1.as_slice()))
    }
}

fn trimmed(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

fn line(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let colon = memchr::memchr(b':', line)?;
    let (address, [_, text @ ..]) = line.split_at_checked(colon)? else { return None };
    let address = std::str::from_utf8(address).ok()?.trim();
    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?;
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    Some((address, unescape(text)))
}

/// The kernel escapes newline, tab, backslash and quote (`t_show` of kernel/trace/trace_printk.c).
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&b) = bytes.next() {
        match (b, b == b'\\') {
            (_, true) => match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(&other) => out.push(other),
                None => out.push(b'\\'),
            },
            _ => out.push(b),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_lines() {
        let p = PrintkFormats::parse(b"0xffffffff82345678 : \"fork %d\\n\"\n0x10 : \"a \\\"b\\\"\\tc\"\n\nnot one\n");
        assert_eq!(p.get(0xffff_ffff_8234_5678), Some(&b"fork %d"[..]));
        assert_eq!(p.get(0x10), Some(&b"a \"b\"\tc"[..]));
        assert_eq!(p.get(0x11), None);
        assert_eq!(p.iter().count(), 2);
    }
}
