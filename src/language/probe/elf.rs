//! Functions in ELF files: where a uprobe goes.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use crate::base::abi::{Abi, Endian};

/// A file that is not an ELF program or library, or lies about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// It does not start as ELF files do.
    #[error("it is not an ELF file")]
    NotElf,
    /// A header points outside the file.
    #[error("its ELF headers point outside the file")]
    Truncated,
    /// Its symbol tables say the same bytes over and over.
    #[error("its symbol tables overlap")]
    Overlapping,
}

/// Limit of a file's symbols with their names, in multiples of the file's size: linkers let names share bytes.
const SHARED: usize = 4;

/// The offset in the file, in bytes, of the function `name`; `None` if neither symbol table has it.
///
/// # Errors
/// [`ElfError`] if `file` is not a well-formed ELF file.
pub fn symbol_offset(file: &[u8], name: &str) -> Result<Option<u64>, ElfError> {
    let elf = Elf::new(file)?;
    let mut found = None;
    elf.each_function(|symbol, address| {
        // `malloc@@GLIBC_2.2.5` in static tables
        if found.is_none() && symbol.split('@').next() == Some(name) {
            found = Some(address);
        }
    })?;
    match found {
        Some(address) => elf.file_offset(address),
        None => Ok(None),
    }
}

/// The names of all functions the file defines, in the order of its tables.
///
/// # Errors
/// [`ElfError`] if `file` is not a well-formed ELF file.
pub fn symbols(file: &[u8]) -> Result<Vec<String>, ElfError> {
    let mut names = Vec::new();
    Elf::new(file)?.each_function(|symbol, _| names.push(symbol.to_owned()))?;
    Ok(names)
}

struct Elf<'a> {
    file: &'a [u8],
    abi: Abi,
    wide: bool,
}

impl<'a> Elf<'a> {
    fn new(file: &'a [u8]) -> Result<Self, ElfError> {
        let (wide, endian) = match file.get(..6) {
            Some([0x7f, b'E', b'L', b'F', class @ (1 | 2), order @ (1 | 2)]) => {
                (*class == 2, if *order == 1 { Endian::Little } else { Endian::Big })
            }
            _ => return Err(ElfError::NotElf),
        };
        Ok(Elf { file, abi: Abi { endian, long_size: if wide { 8 } else { 4 } }, wide })
    }

    fn number(&self, at: usize, size: usize) -> Result<u64, ElfError> {
        self.abi.uint(self.file, at, size).ok_or(ElfError::Truncated)
    }

    /// A word of the file's own width, at the offset for wide or for narrow files.
    fn word(&self, base: usize, wide_at: usize, narrow_at: usize) -> Result<u64, ElfError> {
        let (at, size) = if self.wide { (wide_at, 8) } else { (narrow_at, 4) };
        self.number(base.checked_add(at).ok_or(ElfError::Truncated)?, size)
    }

    /// Offsets of the entries of a header table: where it starts, the size of an entry, how many.
    fn table(
        &self,
        start: (usize, usize),
        sizes: (usize, usize),
    ) -> Result<impl Iterator<Item = usize> + use<>, ElfError> {
        let base = self.word(0, start.0, start.1)? as usize;
        let at = if self.wide { sizes.0 } else { sizes.1 };
        let (size, count) = (self.number(at, 2)? as usize, self.number(at.saturating_add(2), 2)? as usize);
        if size.checked_mul(count).and_then(|len| base.checked_add(len)).is_none_or(|end| end > self.file.len()) {
            return Err(ElfError::Truncated);
        }
        Ok((0..count).map(move |i| i.saturating_mul(size).saturating_add(base)))
    }

    /// Calls `each` with name and address of every function that the file defines.
    fn each_function(&self, mut each: impl FnMut(&str, u64)) -> Result<(), ElfError> {
        const SYMTAB: u64 = 2;
        const DYNSYM: u64 = 11;
        let mut room = self.file.len().saturating_mul(SHARED);
        let mut take = |len| {
            room = room.checked_sub(len).ok_or(ElfError::Overlapping)?;
            Ok::<(), ElfError>(())
        };
        let sections: Vec<usize> = self.table((0x28, 0x20), (0x3a, 0x2e))?.collect();
        for &section in &sections {
            if !matches!(self.number(section.saturating_add(4), 4)?, SYMTAB | DYNSYM) {
                continue;
            }
            let range = |section: usize| -> Result<&[u8], ElfError> {
                let (at, size) = (self.word(section, 0x18, 0x10)? as usize, self.word(section, 0x20, 0x14)? as usize);
                self.file.get(at..).and_then(|rest| rest.get(..size)).ok_or(ElfError::Truncated)
            };
            let link = self.number(section.saturating_add(if self.wide { 0x28 } else { 0x18 }), 4)? as usize;
            let strings = range(*sections.get(link).ok_or(ElfError::Truncated)?)?;
            for symbol in range(section)?.chunks_exact(if self.wide { 24 } else { 16 }) {
                take(symbol.len())?;
                let [info, defined_in, value] = match self.wide {
                    true => [self.abi.uint(symbol, 4, 1), self.abi.uint(symbol, 6, 2), self.abi.uint(symbol, 8, 8)],
                    false => [self.abi.uint(symbol, 12, 1), self.abi.uint(symbol, 14, 2), self.abi.uint(symbol, 4, 4)],
                };
                let (Some(info), Some(defined_in), Some(value)) = (info, defined_in, value) else { continue };
                // STT_FUNC and STT_GNU_IFUNC, defined in some section
                if !matches!(info & 0xf, 2 | 10) || defined_in == 0 {
                    continue;
                }
                let name = self.abi.uint(symbol, 0, 4).and_then(|at| strings.get(at as usize..));
                let name = name.and_then(|rest| rest.split(|&b| b == 0).next()).ok_or(ElfError::Truncated)?;
                take(name.len())?;
                if let Ok(name) = std::str::from_utf8(name) {
                    each(name, value);
                }
            }
        }
        Ok(())
    }

    /// Offset in the file of the byte that is loaded at `address`.
    fn file_offset(&self, address: u64) -> Result<Option<u64>, ElfError> {
        const LOAD: u64 = 1;
        for segment in self.table((0x20, 0x1c), (0x36, 0x2a))? {
            let (offset, start, size) =
                (self.word(segment, 0x08, 0x04)?, self.word(segment, 0x10, 0x08)?, self.word(segment, 0x20, 0x10)?);
            let within = address.checked_sub(start).filter(|within| *within < size);
            if let (LOAD, Some(within)) = (self.number(segment, 4)?, within) {
                return Ok(offset.checked_add(within));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A 64-bit file with an executable segment and `count` functions that all bear the same name of `len` bytes (but the first, which every
    /// table leaves empty).
    pub(crate) fn crowded(count: usize, len: usize) -> Vec<u8> {
        const HEADER: u64 = 64;
        const SEGMENT: u64 = 56;
        const SECTION: u16 = 64;
        let (symbols, names) = (24 * count as u64, (len as u64 + 2).next_multiple_of(8));
        let at = HEADER + SEGMENT;
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        let mut put = |number: u64, size: usize| file.extend_from_slice(&number.to_le_bytes()[..size]);
        // file type, machine (x86-64), version; entry point; offsets of segments and sections
        [(0, 8), (0, 1), (2, 2), (62, 2), (1, 4), (0, 8), (HEADER, 8), (at + symbols + names, 8), (0, 4)]
            .into_iter()
            .chain([(HEADER, 2), (SEGMENT, 2), (1, 2), (SECTION.into(), 2), (3, 2), (2, 2)])
            // loaded, executable; offset, addresses, sizes
            .chain([(1, 4), (5, 4), (0, 8), (0, 8), (0, 8), (at, 8), (1 << 20, 8), (4096, 8)])
            .for_each(|(number, size)| put(number, size));
        for nth in 0..count as u64 {
            // name, global function, in a section; address and size
            let info = if nth == 0 { 0 } else { 0x12 };
            [(1, 4), (info, 1), (0, 1), (1, 2), (nth, 8), (1, 8)].into_iter().for_each(|(n, size)| put(n, size));
        }
        file.push(0);
        file.extend(std::iter::repeat_n(b'x', len));
        file.resize((at + symbols + names) as usize, 0);
        let mut put = |number: u64, size: usize| file.extend_from_slice(&number.to_le_bytes()[..size]);
        let section = |kind, at, size, link, entry| {
            [(0, 4), (kind, 4), (0, 8), (0, 8), (at, 8), (size, 8), (link, 4), (0, 4), (1, 8), (entry, 8)]
        };
        [section(0, 0, 0, 0, 0), section(2, at, symbols, 2, 24), section(3, at + symbols, names, 0, 0)]
            .concat()
            .into_iter()
            .for_each(|(number, size)| put(number, size));
        file
    }

    #[test]
    fn names_take_no_more_than_the_file_can_have() {
        assert_eq!(symbols(&crowded(4, 5)).unwrap(), ["xxxxx"; 3]);
        assert_eq!(symbols(&crowded(10_000, 100_000)), Err(ElfError::Overlapping), "a gigabyte of names");
    }

    #[test]
    fn our_own_program() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let all = symbols(&file).unwrap();
        let main = all.iter().find(|name| *name == "main").expect("a test program has a main");
        let offset = symbol_offset(&file, main).unwrap().expect("main lies in a segment");
        assert!((offset as usize) < file.len());
        assert_eq!(symbol_offset(&file, "no such function").unwrap(), None);
    }

    #[test]
    fn damage_is_an_error() {
        assert_eq!(symbols(b"#!/bin/sh"), Err(ElfError::NotElf));
        let file = std::fs::read("/proc/self/exe").unwrap();
        for cut in [6, 20, 64, 200, file.len() / 2] {
            assert!(symbols(&file[..cut]).is_err(), "{cut}");
        }
    }
}
