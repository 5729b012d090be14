//! What an ELF file tells of itself: how it lies in memory and which functions it has.

use super::demangle::readable;
use object::{Architecture, Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::ops::Range;
use std::sync::OnceLock;

/// The parts of an ELF file that names are taken from. Addresses are the file's own.
pub(super) struct Image {
    /// Where its first loaded part lies.
    start: u64,
    /// Where the last part ends that comes from the file.
    end: u64,
    /// Parts that can be executed.
    code: Vec<Range<u64>>,
    /// By rising address, one for each.
    functions: Vec<Function>,
    /// Whether it is made for 64-bit processes.
    pub(super) wide: bool,
}

pub(super) struct Function {
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
/// How many functions that start before an address are looked at for one that reaches up to it.
const NESTED: usize = 16;

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
        let mut functions = Vec::new();
        if elf.symbols().next().is_none()
            && let Ok(Some(id)) = elf.build_id()
            && let Some(debug) = debug(id)
            && let Ok(debug) = object::File::parse(&*debug)
            && debug.build_id() == Ok(Some(id))
        {
            collect(&debug, debug.symbols(), &code, &mut functions);
        }
        collect(&elf, elf.symbols(), &code, &mut functions);
        collect(&elf, elf.dynamic_symbols(), &code, &mut functions);
        // of several names for one address the best comes first
        functions.sort_by(|(a, rank), (b, other)| (a.start, rank, &a.raw).cmp(&(b.start, other, &b.raw)));
        functions.dedup_by_key(|(function, _)| function.start);
        let functions = functions.into_iter().map(|(function, _)| function).collect();
        Some(Image { start: start - start % SMALLEST_PAGE, end, code, functions, wide: elf.is_64() })
    }

    /// From an address in memory to one of the file, if the file's first part is mapped at `mapped`.
    pub(super) fn own_address(&self, address: u64, mapped: u64) -> u64 {
        address.wrapping_sub(mapped).wrapping_add(self.start)
    }

    /// How much of memory it can take, in bytes.
    pub(super) fn extent(&self) -> u64 {
        (self.end - self.start).checked_next_multiple_of(LARGEST_PAGE).unwrap_or(u64::MAX)
    }

    /// Whether what was mapped over so many bytes can have been this file.
    pub(super) fn fits(&self, mapped: u64) -> bool {
        (self.end - self.start..=self.extent()).contains(&mapped) && mapped.is_multiple_of(SMALLEST_PAGE)
    }

    /// Whether there is code at one of its addresses.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|part| part.contains(&address))
    }

    /// The function that one of its addresses lies in.
    pub(super) fn function(&self, address: u64) -> Option<&Function> {
        let behind = self.functions.partition_point(|f| f.start <= address);
        let before = self.functions.get(..behind)?;
        let mut near = before.iter().rev().take(NESTED);
        let reaches = |f: &&Function| address - f.start < f.size;
        // a function written in assembler may not say where it ends: then it is at the next one
        near.find(reaches).or_else(|| before.last().filter(|f| f.size == 0))
    }
}

impl Function {
    pub(super) fn name(&self) -> &str {
        self.name.get_or_init(|| readable(&self.raw).into())
    }
}

/// How good a name is, the best first: what is known to be a function and how long, then as the library means it to be
/// called (`read`, not `__read`).
type Rank = (bool, bool, usize, bool);

fn collect<'d>(
    elf: &object::File<'d>,
    symbols: impl Iterator<Item = object::Symbol<'d, 'd>>,
    code: &[Range<u64>],
    to: &mut Vec<(Function, Rank)>,
) {
    // The lowest bit of a function's address says in which of ARM's instruction sets it is.
    let mask = if elf.architecture() == Architecture::Arm { !1 } else { !0 };
    for symbol in symbols {
        let kind = symbol.kind();
        let Ok(raw) = symbol.name_bytes() else { continue };
        let start = symbol.address() & mask;
        let usable = matches!(kind, SymbolKind::Text | SymbolKind::Unknown) && !symbol.is_undefined();
        if !usable || raw.is_empty() || raw.starts_with(b"$") || !code.iter().any(|part| part.contains(&start)) {
            continue;
        }
        let underscores = raw.iter().take_while(|b| **b == b'_').count();
        let underscores = if raw.starts_with(b"_Z") || raw.starts_with(b"_R") { 0 } else { underscores };
        let rank = (symbol.size() == 0, kind != SymbolKind::Text, underscores, symbol.is_local());
        to.push((Function { start, size: symbol.size(), raw: raw.into(), name: OnceLock::new() }, rank));
    }
}
