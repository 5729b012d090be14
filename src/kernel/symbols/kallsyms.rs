//! `/proc/kallsyms`: `ffffffff81000000 T startup_64` or `ffffffffc0201000 t ext4_map_blocks\t[ext4]`.

use crate::base::lazy::LazyBytes;
use crate::base::text::num::eight_hex;
use crate::base::text::plain;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The kernel's symbols, ordered by address. The text is parsed when the first symbol is asked for.
#[derive(Clone, Debug, Default)]
pub struct Kallsyms {
    text: LazyBytes,
    table: OnceLock<SymbolTable>,
}

#[derive(Clone, Debug, Default)]
struct SymbolTable {
    /// Ascending; searched on its own so that a search touches few cache lines.
    addresses: Vec<u64>,
    /// Parallel to `addresses`: name and module within the text.
    names: Vec<(Range<u32>, Range<u32>)>,
    /// The kernel's own code, and that of its start.
    code: Option<[Range<u64>; 2]>,
    /// From the first symbol of a module to the end of the last one; no other address is a module's.
    modules: Range<u64>,
    /// True if the kernel looks symbols up in its code only: it was built without those of its data.
    code_only: bool,
    recent: Recent,
}

/// Symbols found lately, by a hash of the address: indices, to be checked against the addresses before use, so that
/// threads need not agree on them.
#[derive(Debug)]
struct Recent(Box<[AtomicU32; RECENT]>);

const RECENT: usize = 512;

impl Default for Recent {
    fn default() -> Self {
        Recent(Box::new([const { AtomicU32::new(0) }; RECENT]))
    }
}

impl Clone for Recent {
    fn clone(&self) -> Self {
        Recent::default()
    }
}

impl Recent {
    #[inline(always)]
    fn slot(&self, address: u64) -> &AtomicU32 {
        #[expect(clippy::indexing_slicing, reason = "a remainder of `RECENT`, the array's length")]
        &self.0[(address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize % RECENT]
    }
}

/// The symbol an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Name of the symbol.
    pub name: &'a [u8],
    /// The module it belongs to; empty for the kernel itself.
    pub module: &'a [u8],
    /// Address of the symbol.
    pub address: u64,
    /// Number of bytes up to the next symbol; `None` for the last one.
    pub size: Option<u64>,
    /// The name and what happens to follow it.
    from_name: &'a [u8],
}

impl Symbol<'_> {
    /// Appends its name.
    #[inline(always)]
    pub(crate) fn put_name(&self, out: &mut Vec<u8>) {
        plain::prefix(out, self.from_name, self.name.len());
    }
}

/// One line: address, kind, name, module.
type Line = (u64, u8, Range<u32>, Range<u32>);

/// Splits `line`, which starts at `at` of the text.
fn split(line: &[u8], at: u32) -> Option<Line> {
    let place = |r: Range<usize>| at.saturating_add(r.start as u32)..at.saturating_add(r.end as u32);
    // As 64-bit kernels write most of them: nothing to look for but the end.
    if let Some((digits, [b' ', kind, b' ', name @ ..])) = line.split_first_chunk::<16>()
        && memchr::memchr3(b' ', b'\t', b'\r', name).is_none()
        && !name.is_empty()
        && let Some(address) = hex16(digits).or_else(|| hex(digits))
        && !matches!(kind, b' ' | b'\t' | b'\r')
    {
        return Some((address, *kind, place(19..line.len()), at..at));
    }
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r');
    let mut next = 0usize;
    let mut part = || {
        let blanks = line.get(next..)?.iter().position(|b| !is_blank(b))?;
        let start = blanks.saturating_add(next);
        let rest = line.get(start..)?;
        let end = rest.iter().position(is_blank).unwrap_or(rest.len()).saturating_add(start);
        next = end;
        Some(start..end)
    };
    let (address, kind, name) = (part()?, part()?, part()?);
    let address = hex(line.get(address)?)?;
    let module = part().unwrap_or(0..0);
    let kind = line.get(kind)?;
    let kind = if let [kind] = kind { *kind } else { 0 };
    let module = match line.get(module.clone())? {
        [b'[', .., b']'] => module.start.saturating_add(1)..module.end.saturating_sub(1),
        _ => module,
    };
    Some((address, kind, place(name), place(module)))
}

/// Sixteen digits as kernels write them, in lower case, eight at a time.
fn hex16(digits: &[u8; 16]) -> Option<u64> {
    let word = |half: &[u8]| half.first_chunk().map(|half| u64::from_be_bytes(*half));
    let eight = |text: u64| {
        // Of 'a' to 'f' the low four bits count from 1, and the seventh is set.
        let n = (text & 0x0f0f_0f0f_0f0f_0f0f).wrapping_add((text >> 6 & 0x0101_0101_0101_0101).wrapping_mul(9));
        let n = (n | n >> 4) & 0x00ff_00ff_00ff_00ff;
        let n = (n | n >> 8) & 0x0000_ffff_0000_ffff;
        (n | n >> 16) as u32
    };
    let (high, low) = digits.split_at(8);
    let (high, low) = (word(high)?, word(low)?);
    let value = (eight(high), eight(low));
    // Anything but digits comes out otherwise.
    let same = eight_hex(value.0).swap_bytes() == high && eight_hex(value.1).swap_bytes() == low;
    same.then_some(u64::from(value.0) << 32 | u64::from(value.1))
}

fn hex(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value = 0u64;
    for digit in digits {
        value = value << 4 | u64::from(char::from(*digit).to_digit(16)?);
    }
    Some(value)
}

impl SymbolTable {
    fn parse(text: &[u8]) -> Self {
        let most = text.len() / 40;
        let (mut addresses, mut names) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let (mut data, mut start, mut sorted, mut last) = (0usize, 0, true, 0);
        let text = text.get(..u32::MAX as usize).unwrap_or(text);
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            let line = text.get(start..end).unwrap_or(b"");
            let at = start as u32;
            start = end.saturating_add(1);
            let Some((address, kind, name, module)) = split(line, at) else { continue };
            if matches!(kind, b'A' | b'a') || text.get(name.start as usize) == Some(&b'$') {
                continue;
            }
            data = data.saturating_add(matches!(kind, b'b' | b'B' | b'd' | b'D').into());
            sorted &= address >= last;
            last = address;
            addresses.push(address);
            names.push((name, module));
        }
        if !sorted {
            let mut symbols: Vec<(u64, _)> = addresses.into_iter().zip(names).collect();
            symbols.sort_by_key(|s| s.0); // stable: of several names for one address the kernel's order decides
            (addresses, names) = symbols.into_iter().unzip();
        }
        let is_of_module = |(_, module): &(Range<u32>, Range<u32>)| !module.is_empty();
        let first = names.iter().position(is_of_module).and_then(|first| addresses.get(first));
        let last = names.iter().rposition(is_of_module).unwrap_or(0);
        let modules = first.map_or(0..0, |first| {
            // The last symbol of all is found by its very address only.
            let start = addresses.get(last).copied().unwrap_or(0);
            let next = addresses.get(last..).unwrap_or_default().iter().find(|next| **next > start);
            *first..next.copied().unwrap_or(start.saturating_add(1))
        });
        let (code, recent) = (None, Recent::default());
        let mut found = SymbolTable { addresses, names, code, modules, code_only: false, recent };
        // Without CONFIG_KALLSYMS_ALL there are next to none of data (kernel/kallsyms_internal.h, is_ksym_addr()).
        found.code_only = data < found.addresses.len() / 20;
        let range = |start: &str, end: &str| Some(found.address_of(start, text)?..found.address_of(end, text)?);
        let code = range("_stext", "_etext");
        found.code = code.map(|code| [code, range("_sinittext", "_einittext").unwrap_or(0..0)]);
        found
    }

    fn is_own_code(&self, address: u64) -> bool {
        self.code.iter().flatten().any(|range| range.contains(&address))
    }

    /// The symbols that start at the greatest address not above `address`.
    fn group(&self, address: u64) -> Option<(usize, usize)> {
        let after = self.addresses.partition_point(|a| *a <= address);
        let mut first = after.checked_sub(1)?;
        let start = *self.addresses.get(first)?;
        if after == self.addresses.len() && start != address {
            return None;
        }
        let before = self.addresses.get(..first)?;
        if before.last() == Some(&start) {
            first = before.partition_point(|address| *address < start); // a file may name one address a million times
        }
        Some((first, after))
    }

    /// The only symbol that starts at the greatest address not above `address`, if it was found lately.
    #[inline(always)]
    fn found_lately(&self, address: u64) -> Option<usize> {
        let index = self.recent.slot(address).load(Ordering::Relaxed) as usize;
        match self.addresses.get(index.wrapping_sub(1)..index.wrapping_add(2)) {
            Some([before, start, next]) if before < start && *start <= address && address < *next => Some(index),
            _ => None,
        }
    }

    /// The name between `first` and `after` that a binary search hits, in a list where they stand in reverse order.
    fn bisected(&self, address: u64, first: usize, after: usize) -> usize {
        let (mut low, mut high) = (0usize, self.addresses.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.addresses.get(middle).cmp(&Some(&address)) {
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Less => low = middle.saturating_add(1),
                std::cmp::Ordering::Equal => {
                    return after.saturating_sub(1).saturating_sub(middle).saturating_add(first);
                }
            }
        }
        first
    }

    #[inline]
    fn symbol<'a>(&self, index: usize, after: usize, text: &'a [u8]) -> Option<Symbol<'a>> {
        let address = *self.addresses.get(index)?;
        let (name, module) = self.names.get(index)?;
        let part = |r: &Range<u32>| text.get(r.start as usize..r.end as usize).unwrap_or(b"");
        let size = self.addresses.get(after).map(|next| next.saturating_sub(address));
        let from_name = text.get(name.start as usize..).unwrap_or(b"");
        Some(Symbol { name: part(name), module: part(module), address, size, from_name })
    }

    fn address_of(&self, name: &str, text: &[u8]) -> Option<u64> {
        let is = |of: &Range<u32>| text.get(of.start as usize..of.end as usize) == Some(name.as_bytes());
        let index = self.names.iter().position(|(of, _)| is(of))?;
        self.addresses.get(index).copied()
    }
}

impl Kallsyms {
    /// The symbols of the text of `/proc/kallsyms`. Absolute symbols and ARM's mapping symbols (`$x`, `$d`) are left out,
    /// as are lines that are not like the kernel's.
    pub fn new(text: impl Into<LazyBytes>) -> Self {
        Kallsyms { text: text.into(), table: OnceLock::new() }
    }

    /// Like [`Kallsyms::new`], of a text that is kept elsewhere.
    pub fn parse(text: &[u8]) -> Self {
        Self::new(text.to_vec())
    }

    /// The text; empty if it cannot be read, which [`LazyBytes::error`] reports to the file's holder.
    #[inline]
    fn text(&self) -> &[u8] {
        self.text.get().unwrap_or_default()
    }

    #[inline]
    fn table(&self) -> &SymbolTable {
        self.table.get_or_init(|| SymbolTable::parse(self.text()))
    }

    /// The symbol that `address` lies in: the one that starts last before it. The last one of all has no known end and is
    /// found by its very address only. Of several names for one address this is the one that trace-cmd shows.
    #[inline]
    pub fn lookup(&self, address: u64) -> Option<Symbol<'_>> {
        let table = self.table();
        match table.found_lately(address) {
            Some(index) => table.symbol(index, index.saturating_add(1), self.text()),
            None => self.search(table, address),
        }
    }

    #[inline(never)]
    fn search(&self, table: &SymbolTable, address: u64) -> Option<Symbol<'_>> {
        let (first, after) = table.group(address)?;
        let only = after.saturating_sub(first) == 1;
        if only {
            table.recent.slot(address).store(first as u32, Ordering::Relaxed);
        }
        let exact = table.addresses.get(first) == Some(&address);
        let index = if exact && !only { table.bisected(address, first, after) } else { first };
        table.symbol(index, after, self.text())
    }

    /// Like [`Kallsyms::lookup`], but of several names for one address the first, which is the one the kernel shows.
    pub fn lookup_first(&self, address: u64) -> Option<Symbol<'_>> {
        let table = self.table();
        let (first, after) = table.group(address)?;
        let symbol = table.symbol(first, after, self.text())?;
        let known = !symbol.module.is_empty() || !table.code_only || table.code.is_none() || table.is_own_code(address);
        known.then_some(symbol)
    }

    /// True if `address` lies in the kernel's code or in a module (kernel/extable.c, `kernel_text_address()`).
    pub fn is_code(&self, address: u64) -> bool {
        let table = self.table();
        table.is_own_code(address)
            || table.modules.contains(&address)
                && self.lookup_first(address).is_some_and(|symbol| !symbol.module.is_empty())
    }

    /// The address of the first symbol called `name`. Slow: for use before the loop only.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        // most names that are asked for are enum constants, which nothing contains
        memchr::memmem::find(self.text(), name.as_bytes())?;
        self.table().address_of(name, self.text())
    }

    /// All symbols, by rising address.
    pub fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        let table = self.table();
        (0..table.addresses.len()).filter_map(|index| table.symbol(index, index.saturating_add(1), self.text()))
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.table().addresses.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_digits_at_once() {
        for shift in 0..64 {
            for value in [1 << shift, u64::MAX >> shift, 0x0123_4567_89ab_cdef_u64.rotate_left(shift)] {
                let text = format!("{value:016x}");
                assert_eq!(hex16(text.as_bytes().try_into().unwrap()), Some(value));
            }
        }
        for at in 0..16 {
            for byte in (0..=255u8).filter(|b| !matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                let mut text = *b"ffffffff81000000";
                text[at] = byte;
                assert_eq!(hex16(&text), None, "{byte:#x}");
            }
        }
    }

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
