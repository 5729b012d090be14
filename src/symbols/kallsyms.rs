//! `/proc/kallsyms`: `ffffffff81000000 T startup_64` or `ffffffffc0201000 t ext4_map_blocks\t[ext4]`.

use crate::print_fmt::put;
use std::ops::Range;

/// The kernel's symbols, ordered by address.
#[derive(Clone, Debug, Default)]
pub struct Kallsyms {
    /// Ascending; searched on its own so that a search touches few cache lines.
    addresses: Vec<u64>,
    /// Parallel to `addresses`: name and module within `text`.
    names: Vec<(Range<u32>, Range<u32>)>,
    text: Vec<u8>,
    /// Where the kernel itself looks symbols up: its text, if it was built without those of its data.
    known: Option<[Range<u64>; 2]>,
}

/// The symbol an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The module it belongs to; empty for the kernel itself.
    pub module: &'a [u8],
    /// Where it starts.
    pub address: u64,
    /// How many bytes lie between it and the next symbol; `None` for the last one.
    pub size: Option<u64>,
    /// The name and what happens to follow it.
    from_name: &'a [u8],
}

impl Symbol<'_> {
    /// Appends its name.
    #[inline(always)]
    pub(crate) fn put_name(&self, out: &mut Vec<u8>) {
        put::prefix(out, self.from_name, self.name.len());
    }
}

impl Kallsyms {
    /// Parses the text of `/proc/kallsyms`. Absolute symbols and ARM's mapping symbols (`$x`, `$d`) are left out, as are
    /// lines that are not like the kernel's.
    pub fn parse(text: &[u8]) -> Self {
        let mut symbols: Vec<(u64, Range<u32>, Range<u32>)> = Vec::with_capacity(text.len() / 40);
        let mut kept = Vec::with_capacity(text.len());
        let mut data = 0;
        for line in text.split(|b| *b == b'\n') {
            let mut parts = line.split(|b| matches!(b, b' ' | b'\t' | b'\r')).filter(|p| !p.is_empty());
            let (Some(address), Some(kind), Some(name)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let Some(address) = std::str::from_utf8(address).ok().and_then(|a| u64::from_str_radix(a, 16).ok()) else {
                continue;
            };
            if matches!(kind, b"A" | b"a") || name.starts_with(b"$") {
                continue;
            }
            data += usize::from(matches!(kind, b"b" | b"B" | b"d" | b"D"));
            let module = parts.next().unwrap_or(b"");
            let module = module.strip_prefix(b"[").and_then(|m| m.strip_suffix(b"]")).unwrap_or(module);
            let mut keep = |bytes: &[u8]| {
                let start = u32::try_from(kept.len()).ok()?;
                kept.extend_from_slice(bytes);
                Some(start..u32::try_from(kept.len()).ok()?)
            };
            let (Some(name), Some(module)) = (keep(name), keep(module)) else { break };
            symbols.push((address, name, module));
        }
        symbols.sort_by_key(|s| s.0); // stable: of several names for one address the kernel's order decides
        let mut found = Kallsyms {
            addresses: symbols.iter().map(|s| s.0).collect(),
            names: symbols.into_iter().map(|s| (s.1, s.2)).collect(),
            text: kept,
            known: None,
        };
        // Without CONFIG_KALLSYMS_ALL there are next to none of data (kernel/kallsyms_internal.h, is_ksym_addr()).
        if data < found.len() / 20 {
            let range = |start: &str, end: &str| Some(found.address_of(start)?..found.address_of(end)?);
            let text = range("_stext", "_etext");
            found.known = text.map(|text| [text, range("_sinittext", "_einittext").unwrap_or(0..0)]);
        }
        found
    }

    /// The symbol that `address` lies in: the one that starts last before it. The last one of all has no known end and is
    /// found by its very address only. Of several names for one address this is the one that trace-cmd shows.
    pub fn lookup(&self, address: u64) -> Option<Symbol<'_>> {
        let (first, after) = self.group(address)?;
        let exact = self.addresses.get(first) == Some(&address);
        let index = if exact && after - first > 1 { self.bisected(address, first, after) } else { first };
        self.symbol(index, after)
    }

    /// Like [`Kallsyms::lookup`], but of several names for one address the first, which is the one the kernel shows.
    pub fn lookup_first(&self, address: u64) -> Option<Symbol<'_>> {
        let (first, after) = self.group(address)?;
        let symbol = self.symbol(first, after)?;
        let known = |ranges: &[Range<u64>; 2]| ranges.iter().any(|r| r.contains(&address));
        (!symbol.module.is_empty() || self.known.as_ref().is_none_or(known)).then_some(symbol)
    }

    /// The symbols that start at the greatest address not above `address`.
    fn group(&self, address: u64) -> Option<(usize, usize)> {
        let after = self.addresses.partition_point(|a| *a <= address);
        let mut first = after.checked_sub(1)?;
        let start = *self.addresses.get(first)?;
        if after == self.addresses.len() && start != address {
            return None;
        }
        while first > 0 && self.addresses.get(first - 1) == Some(&start) {
            first -= 1;
        }
        Some((first, after))
    }

    /// Which of the names between `first` and `after` a binary search hits, in a list where they stand in reverse order.
    fn bisected(&self, address: u64, first: usize, after: usize) -> usize {
        let (mut low, mut high) = (0, self.addresses.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.addresses[middle].cmp(&address) {
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return first + after - 1 - middle,
            }
        }
        first
    }

    fn symbol(&self, index: usize, after: usize) -> Option<Symbol<'_>> {
        let address = *self.addresses.get(index)?;
        let (name, module) = self.names.get(index)?;
        let text = |r: &Range<u32>| self.text.get(r.start as usize..r.end as usize).unwrap_or(b"");
        let size = self.addresses.get(after).map(|next| next - address);
        let from_name = self.text.get(name.start as usize..).unwrap_or(b"");
        Some(Symbol { name: text(name), module: text(module), address, size, from_name })
    }

    /// The address of the first symbol called `name`. Slow: for use before the loop only.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        // most names that are asked for are enum constants, which nothing contains
        memchr::memmem::find(&self.text, name.as_bytes())?;
        (0..self.addresses.len())
            .find(|i| self.symbol(*i, *i + 1).is_some_and(|s| s.name == name.as_bytes()))
            .and_then(|i| self.addresses.get(i).copied())
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greatest_symbol_not_above() {
        let k = Kallsyms::parse(
            b"0000000000000000 A fixed_percpu_data\nffffffff81000000 T startup_64\nffffffff81000100 t $x\n\
              ffffffff81000100 t a\nffffffff81000100 t alias\nffffffffc0201000 t ext4_map\t[ext4]\nnonsense\n",
        );
        assert_eq!(k.len(), 4);
        assert_eq!(k.lookup(0xffff_ffff_80ff_ffff), None);
        assert_eq!(k.lookup_first(0xffff_ffff_8100_0100).unwrap().name, b"a");
        let s = k.lookup(0xffff_ffff_8100_0101).unwrap();
        assert_eq!((s.name, s.address), (&b"a"[..], 0xffff_ffff_8100_0100));
        assert_eq!(k.lookup(u64::MAX), None);
        let s = k.lookup(0xffff_ffff_c020_1000).unwrap();
        assert_eq!((s.name, s.module, s.size), (&b"ext4_map"[..], &b"ext4"[..], None));
        assert_eq!(k.lookup(0xffff_ffff_8100_0000).unwrap().size, Some(0x100));
        assert_eq!(k.address_of("alias"), Some(0xffff_ffff_8100_0100));
    }
}
