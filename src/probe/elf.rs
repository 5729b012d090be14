//! Functions in ELF files: where a uprobe goes.

use crate::abi::{Abi, Endian};

/// A file that is not an ELF program or library, or lies about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// It does not start as ELF files do.
    #[error("it is not an ELF file")]
    NotElf,
    /// A header points outside the file.
    #[error("its ELF headers point outside the file")]
    Truncated,
}

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
        let (size, count) = (self.number(at, 2)? as usize, self.number(at + 2, 2)? as usize);
        if base.checked_add(size * count).is_none_or(|end| end > self.file.len()) {
            return Err(ElfError::Truncated);
        }
        Ok((0..count).map(move |i| base + i * size))
    }

    /// Calls `each` with name and address of every function that the file defines.
    fn each_function(&self, mut each: impl FnMut(&str, u64)) -> Result<(), ElfError> {
        const SYMTAB: u64 = 2;
        const DYNSYM: u64 = 11;
        let sections: Vec<usize> = self.table((0x28, 0x20), (0x3a, 0x2e))?.collect();
        for &section in &sections {
            if !matches!(self.number(section + 4, 4)?, SYMTAB | DYNSYM) {
                continue;
            }
            let range = |section: usize| -> Result<&[u8], ElfError> {
                let (at, size) = (self.word(section, 0x18, 0x10)? as usize, self.word(section, 0x20, 0x14)? as usize);
                self.file.get(at..).and_then(|rest| rest.get(..size)).ok_or(ElfError::Truncated)
            };
            let link = self.number(section + if self.wide { 0x28 } else { 0x18 }, 4)? as usize;
            let strings = range(*sections.get(link).ok_or(ElfError::Truncated)?)?;
            for symbol in range(section)?.chunks_exact(if self.wide { 24 } else { 16 }) {
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
                if let Ok(name) = std::str::from_utf8(name) {
                    each(name, value);
                }
            }
        }
        Ok(())
    }

    /// Where in the file the byte lies that is loaded at `address`.
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
mod tests {
    use super::*;

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
