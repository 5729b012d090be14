//! Any text as kallsyms: its symbols are those of a plain reading, and an address is found as a walk over all of them
//! finds it, the first time and from what was found lately.

use rtrace::symbols::Kallsyms;

/// Address and name of a line's symbol.
fn symbol(line: &[u8]) -> Option<(u64, &[u8])> {
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let hex = address.len() <= 16 && address.iter().all(u8::is_ascii_hexdigit);
    let address = u64::from_str_radix(std::str::from_utf8(address).ok().filter(|_| hex)?, 16).ok()?;
    (!matches!(kind, b"A" | b"a") && !name.starts_with(b"$")).then_some((address, name))
}

pub(crate) fn run(text: &[u8]) {
    let mut all: Vec<_> = text.split(|byte| *byte == b'\n').filter_map(symbol).collect();
    all.sort_by_key(|symbol| symbol.0);
    let kallsyms = Kallsyms::parse(text);
    assert!(kallsyms.iter().map(|symbol| (symbol.address, symbol.name)).eq(all.iter().copied()));
    for &(at, name) in all.iter().take(64) {
        for address in [at, at.wrapping_add(1), at.wrapping_sub(1), at] {
            let start = all.iter().rev().map(|symbol| symbol.0).find(|start| *start <= address);
            let next = all.iter().map(|symbol| symbol.0).find(|start| *start > address);
            let start = start.filter(|start| next.is_some() || *start == address);
            for _ in 0..2 {
                let found = kallsyms.lookup(address);
                assert_eq!(found.map(|symbol| symbol.address), start, "{address:x}");
                assert!(found.is_none_or(|symbol| all.contains(&(symbol.address, symbol.name))));
                let first = all.iter().find(|symbol| Some(symbol.0) == start).map(|symbol| symbol.1);
                assert!(kallsyms.lookup_first(address).is_none_or(|symbol| Some(symbol.name) == first));
            }
            let _ = kallsyms.is_code(address);
        }
        let first = std::str::from_utf8(name).ok().and_then(|name| kallsyms.address_of(name));
        assert!(first.is_none_or(|address| all.contains(&(address, name))));
    }
}
