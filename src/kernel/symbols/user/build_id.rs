//! The id of a program's or library's build, which its linker wrote into a note.

use object::elf::{ELF_NOTE_GNU, FileHeader32, FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};
use std::io::{Read, Seek};

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
    use object::Object;
    use std::fs;

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
