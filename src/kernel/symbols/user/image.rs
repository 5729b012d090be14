//! An ELF file's own facts: its layout in memory and its functions.
//! The id of a program's or library's build, which its linker wrote into a note.

use object::elf::{ELF_NOTE_GNU, FileHeader32, FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Architecture, Endianness, FileKind, Object, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SymbolKind};
use std::fmt::{self, Write};
use std::io::{Read, Seek};
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

// Names of functions as their languages have them.

/// No name is shown longer than this, in bytes: a few bytes of a mangled name can stand for gigabytes.
const LONGEST: usize = 1024;

/// The name of a function as it stands in a symbol table, as one reads it: Rust without hash, C++ without parameters
/// and result, without the version after `@`, and without control characters.
fn readable(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    // `memcpy@@GLIBC_2.14` in static tables
    let raw = raw.split_once('@').map(|(name, _)| name).filter(|name| !name.is_empty()).unwrap_or(&raw);
    let name = rust(raw).or_else(|| cpp(raw)).unwrap_or_else(|| raw.chars().take(LONGEST).collect());
    if name.contains(char::is_control) { name.replace(char::is_control, "?") } else { name }
}

fn rust(raw: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(raw).ok()?;
    let mut text = Cut(String::new());
    write!(text, "{name:#}").ok().map(|()| text.0)
}

fn cpp(raw: &str) -> Option<String> {
    if !raw.starts_with("_Z") {
        return None;
    }
    let name = cpp_demangle::Symbol::new(raw).ok()?;
    let mut text = Cut(String::new());
    name.structured_demangle(&mut text, &cpp_demangle::DemangleOptions::new().no_params().no_return_type()).ok()?;
    Some(text.0)
}

/// A text that does not grow without end.
struct Cut(String);

impl Write for Cut {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if self.0.len().saturating_add(s.len()) > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(s);
        Ok(())
    }
}

/// The build id of an ELF file, of which hardly more is read than its headers and notes; `None` if it has none.
pub(crate) fn build_id(file: impl Read + Seek) -> Option<Vec<u8>> {
    of(&ReadCache::new(file))
}

/// The same of a file's bytes.
pub(super) fn of<'d>(file: impl ReadRef<'d>) -> Option<Vec<u8>> {
    match FileKind::parse(file).ok()? {
        FileKind::Elf32 => in_notes::<FileHeader32<Endianness>, _>(file),
        FileKind::Elf64 => in_notes::<FileHeader64<Endianness>, _>(file),
        _ => None,
    }
}

fn in_notes<'d, E: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(file: R) -> Option<Vec<u8>> {
    let header = E::parse(file).ok()?;
    let endian = header.endian().ok()?;
    for segment in header.program_headers(endian, file).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, file) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID && !note.desc().is_empty() {
                return Some(note.desc().to_vec());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::probe::crowded;
    use object::Object;
    use std::fs;

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

    #[test]
    fn by_language() {
        for (raw, name) in [
            ("main", "main"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            // as rustc 1.88 and g++ 12 wrote them
            ("_ZN4core3ops8function6FnOnce9call_once17h1234567890abcdefE", "core::ops::function::FnOnce::call_once"),
            ("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"),
            ("_ZN5outer5Inner3runEi", "outer::Inner::run"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
            ("_Zwrong", "_Zwrong"),
            ("@plt", "@plt"),
            ("bad\nname\u{1b}[1m", "bad?name?[1m"),
        ] {
            assert_eq!(readable(raw.as_bytes()), name);
        }
    }

    /// `f<x, p<x, x>, p<p<x, x>, p<x, x> >, ..>`: each argument is twice as long as the one before.
    fn doubling(levels: u8) -> String {
        const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let mut raw = "_Z1fI1x1pIS0_S0_E".to_owned();
        for level in 0..levels {
            let before = char::from(DIGITS[2 + usize::from(level)]);
            raw += &format!("S1_IS{before}_S{before}_E");
        }
        raw + "Evv"
    }

    #[test]
    fn what_grows_without_end_stays_as_it_is() {
        assert_eq!(readable(doubling(1).as_bytes()), "f<x, p<x, x>, p<p<x, x>, p<x, x> > >");
        let long = doubling(30);
        assert_eq!(readable(long.as_bytes()), long, "some gigabytes");
        assert_eq!(readable(&vec![b'x'; 1 << 20]).len(), LONGEST);
    }

    #[test]
    fn it_is_that_of_the_sections() {
        // The loader and libc of this machine, and this program.
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let mut paths: Vec<&str> = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
        paths.retain(|path| path.starts_with('/'));
        paths.sort_unstable();
        paths.dedup();
        let mut found = 0;
        for path in paths {
            let bytes = fs::read(path).unwrap();
            let elf = object::File::parse(&*bytes).ok();
            let expected = elf.and_then(|elf| elf.build_id().ok().flatten().map(<[u8]>::to_vec));
            assert_eq!(build_id(fs::File::open(path).unwrap()), expected, "{path}");
            assert_eq!(of(&*bytes), expected, "{path}");
            found += usize::from(expected.is_some());
        }
        assert!(found > 0);
        assert_eq!(of(&b"\x7fELF"[..]), None);
    }
}
