//! An ELF file's own facts: its layout in memory and its functions.

use super::demangle::readable;
use object::{Architecture, Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::ops::Range;
use std::sync::OnceLock;

/// The parts of an ELF file that names are taken from. Addresses are the file's own.
pub(super) struct Image {
    /// Address of its first loaded part.
    start: u64,
    /// End of the last part that comes from the file.
    end: u64,
    code: Code,
    /// By rising address, one for each.
    functions: Vec<ProgramFunction>,
    /// True if it is made for 64-bit processes.
    pub(super) wide: bool,
}

pub(super) struct ProgramFunction {
    pub(super) start: u64,
    /// In bytes; 0 if the file does not say.
    size: u64,
    raw: Box<[u8]>,
    name: OnceLock<Box<str>>,
}

/// Pages are no smaller.
const SMALLEST_PAGE: u64 = 4 << 10;
/// Pages are no larger, on any machine that Linux runs on.
const LARGEST_PAGE: u64 = 64 << 10;
/// Limit of the functions before an address that are looked at for one that reaches up to it.
const NESTED: usize = 16;
/// Limit of the names of a file's functions, in multiples of the file's size: linkers let names share bytes.
const SHARED: usize = 4;

impl Image {
    /// Reads the file; `debug` gives the file with the debugging symbols of a build, where there is one. `None` if it is no
    /// ELF file that can be loaded.
    pub(super) fn read(file: &[u8], debug: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Option<Self> {
        let elf = object::File::parse(file).ok()?;
        let mut start = u64::MAX;
        let mut end = 0;
        let mut code = Vec::new();
        for segment in elf.segments() {
            let (_, size) = segment.file_range();
            start = start.min(segment.address());
            end = end.max(segment.address().checked_add(size)?);
            if segment.permissions().executable() {
                code.push(segment.address()..segment.address().checked_add(segment.size())?);
            }
        }
        if start >= end {
            return None;
        }
        let code = Code::new(code);
        let mut functions = Vec::new();
        if elf.symbols().next().is_none()
            && let Ok(Some(id)) = elf.build_id()
            && let Some(bytes) = debug(id)
            && let Ok(debug) = object::File::parse(&*bytes)
            && debug.build_id() == Ok(Some(id))
        {
            collect(&debug, bytes.len(), debug.symbols(), &code, &mut functions);
        }
        collect(&elf, file.len(), elf.symbols(), &code, &mut functions);
        collect(&elf, file.len(), elf.dynamic_symbols(), &code, &mut functions);
        // of several names for one address the best comes first
        functions.sort_by(|(a, rank), (b, other)| (a.start, rank, &a.raw).cmp(&(b.start, other, &b.raw)));
        functions.dedup_by_key(|(function, _)| function.start);
        let functions = functions.into_iter().map(|(function, _)| function).collect();
        Some(Image { start: start & !(SMALLEST_PAGE - 1), end, code, functions, wide: elf.is_64() })
    }

    /// From an address in memory to one of the file, if the file's first part is mapped at `mapped`.
    pub(super) fn own_address(&self, address: u64, mapped: u64) -> u64 {
        address.wrapping_sub(mapped).wrapping_add(self.start)
    }

    /// Memory that its file takes, in bytes.
    fn size(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Memory that it can take, in bytes.
    pub(super) fn extent(&self) -> u64 {
        self.size().checked_next_multiple_of(LARGEST_PAGE).unwrap_or(u64::MAX)
    }

    /// True if what was mapped over this many bytes can have been this file.
    pub(super) fn fits(&self, mapped: u64) -> bool {
        (self.size()..=self.extent()).contains(&mapped) && mapped.is_multiple_of(SMALLEST_PAGE)
    }

    /// True if there is code at one of its addresses.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.code.holds(address)
    }

    /// The function that one of its addresses lies in.
    pub(super) fn function(&self, address: u64) -> Option<&ProgramFunction> {
        let next = self.functions.partition_point(|f| f.start <= address);
        let before = self.functions.get(..next)?;
        let mut near = before.iter().rev().take(NESTED);
        let reaches = |f: &&ProgramFunction| address.saturating_sub(f.start) < f.size;
        // a function written in assembler may not say where it ends: then it is at the next one
        near.find(reaches).or_else(|| before.last().filter(|f| f.size == 0))
    }
}

impl ProgramFunction {
    pub(super) fn name(&self) -> &str {
        self.name.get_or_init(|| readable(&self.raw).into())
    }
}

/// The parts of a file that can be executed, by rising address; none touches another.
struct Code(Vec<Range<u64>>);

impl Code {
    fn new(mut parts: Vec<Range<u64>>) -> Self {
        parts.sort_by_key(|part| part.start);
        parts.dedup_by(|next, part| {
            let joined = next.start <= part.end;
            if joined {
                part.end = part.end.max(next.end);
            }
            joined
        });
        Code(parts)
    }

    fn holds(&self, address: u64) -> bool {
        let next = self.0.partition_point(|part| part.start <= address);
        self.0.get(..next).and_then(<[_]>::last).is_some_and(|part| address < part.end)
    }
}

/// Quality of a name, the best first: known to be a function and how long, then as the library means it to be called
/// (`read`, not `__read`).
type Rank = (bool, bool, usize, bool);

/// Adds the functions of a table of symbols to `to`, as long as their names take no more than a file of `size` bytes
/// can have.
fn collect<'d>(
    elf: &object::File<'d>,
    size: usize,
    symbols: impl Iterator<Item = object::Symbol<'d, 'd>>,
    code: &Code,
    to: &mut Vec<(ProgramFunction, Rank)>,
) {
    let mut room = size.saturating_mul(SHARED);
    // The lowest bit of a function's address says in which of ARM's instruction sets it is.
    let mask = if elf.architecture() == Architecture::Arm { !1 } else { !0 };
    for symbol in symbols {
        let kind = symbol.kind();
        let Ok(raw) = symbol.name_bytes() else { continue };
        let start = symbol.address() & mask;
        let usable = matches!(kind, SymbolKind::Text | SymbolKind::Unknown) && !symbol.is_undefined();
        if !usable || raw.is_empty() || raw.starts_with(b"$") || !code.holds(start) {
            continue;
        }
        let Some(left) = room.checked_sub(raw.len()) else { return };
        room = left;
        let underscores = raw.iter().take_while(|b| **b == b'_').count();
        let underscores = if raw.starts_with(b"_Z") || raw.starts_with(b"_R") { 0 } else { underscores };
        let rank = (symbol.size() == 0, kind != SymbolKind::Text, underscores, symbol.is_local());
        to.push((ProgramFunction { start, size: symbol.size(), raw: raw.into(), name: OnceLock::new() }, rank));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::probe::crowded;

    #[test]
    fn names_take_no_more_than_the_file_can_have() {
        let names = |file: &[u8]| -> Vec<usize> {
            Image::read(file, |_| None).unwrap().functions.iter().map(|function| function.raw.len()).collect()
        };
        assert_eq!(names(&crowded(4, 5)), [5; 3]);
        let file = crowded(10_000, 100_000);
        let taken: usize = names(&file).iter().sum();
        assert!(taken > 0 && taken <= SHARED * file.len(), "{taken} bytes of names in {}", file.len());
    }

    #[test]
    fn code_is_found_in_any_part() {
        let code = Code::new(vec![40..50, 0..10, 5..20, 20..22, 30..30]);
        let holds: Vec<u64> = (0..60).filter(|address| code.holds(*address)).collect();
        assert_eq!(holds, (0..22).chain(40..50).collect::<Vec<u64>>());
    }
}
