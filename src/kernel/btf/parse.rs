//! From bytes to numbered types.
//! A file's parts, and its types one after the other.
//! Errors in BTF.

use super::types::{number, tail};
use super::{Function, Type};
use crate::base::abi::{Abi, Endian};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The types of a kernel, or of one of its modules on top of the kernel's.
#[derive(Clone, Debug)]
pub struct Btf {
    pub(super) base: Option<Arc<Btf>>,
    data: Vec<u8>,
    pub(super) abi: Abi,
    names: Range<usize>,
    first_id: u32,
    first_name: u32,
    /// Offset of each type in `data`.
    types: Vec<u32>,
    /// The functions' types, in the order of their names: sorted when the first is asked for.
    functions: OnceLock<Vec<u32>>,
}

impl Btf {
    /// The whole of a kernel's BTF, of either byte order.
    ///
    /// # Errors
    /// Any [`Error`]: nothing of a damaged file is used.
    pub fn parse(data: impl Into<Vec<u8>>) -> Result<Btf, Error> {
        Btf::read(data.into(), None)
    }

    /// A module's BTF, which goes on where that of its kernel ends.
    ///
    /// # Errors
    /// As [`Btf::parse`], and [`Error::ByteOrder`].
    pub fn parse_module(data: impl Into<Vec<u8>>, kernel: Arc<Btf>) -> Result<Btf, Error> {
        Btf::read(data.into(), Some(kernel))
    }

    fn read(data: Vec<u8>, base: Option<Arc<Btf>>) -> Result<Btf, Error> {
        let header = BtfHeader::read(&data)?;
        let abi = header.abi();
        let (mut first_id, mut first_name) = (1, 0);
        if let Some(base) = &base {
            if base.abi.endian != abi.endian {
                return Err(Error::ByteOrder);
            }
            first_id = base.end_id();
            let len = u32::try_from(base.names.len()).map_err(|_| Error::TooMany)?;
            first_name = base.first_name.checked_add(len).ok_or(Error::TooMany)?;
        }
        let walk = TypeWalk::new(&data, abi, header.types, first_id);
        let at = |found: Result<FoundMember<'_>, Error>| u32::try_from(found?.at).map_err(|_| Error::TooMany);
        let types: Vec<u32> = walk.map(at).collect::<Result<_, _>>()?;
        first_id.checked_add(types.len() as u32).ok_or(Error::TooMany)?;
        Ok(Btf { base, data, abi, names: header.names, first_id, first_name, types, functions: OnceLock::new() })
    }

    fn sorted_functions(&self) -> &[u32] {
        self.functions.get_or_init(|| {
            let is_function = |id: &u32| {
                // GCC 12 calls the types of pointers to functions functions too: without a name.
                let info = self.find(*id).and_then(|(btf, at)| btf.info(at));
                info.is_some_and(|(kind, _)| kind == number::FUNCTION) && !self.name_at(*id).is_empty()
            };
            let mut functions: Vec<u32> = (self.first_id..self.end_id()).filter(is_function).collect();
            functions.sort_by_cached_key(|id| self.name_at(*id));
            functions
        })
    }

    /// Kind and count of the type at `at`.
    fn info(&self, at: usize) -> Option<(u8, usize)> {
        let info = self.word(at.checked_add(4)?)?;
        Some(kind_and_count(info))
    }

    /// The 32-bit number at `at`.
    pub(super) fn word(&self, at: usize) -> Option<u32> {
        self.abi.uint(&self.data, at, 4).map(|word| word as u32)
    }

    /// The number after the last type's.
    fn end_id(&self) -> u32 {
        self.first_id.saturating_add(self.types.len() as u32) // `read` made sure of the sum
    }

    /// The file that has type `id`, and where it begins there; `None` for 0 and what no file has.
    pub(super) fn find(&self, id: u32) -> Option<(&Btf, usize)> {
        match id.checked_sub(self.first_id) {
            Some(nth) => self.types.get(nth as usize).map(|at| (self, *at as usize)),
            None => self.base.as_ref()?.find(id),
        }
    }

    /// The name at an offset, without its NUL; empty if there is none, or if it is not UTF-8.
    pub(super) fn name(&self, offset: u32) -> &str {
        let Some(own) = offset.checked_sub(self.first_name) else {
            return self.base.as_ref().map_or("", |base| base.name(offset));
        };
        std::str::from_utf8(name_in(self.data.get(self.names.clone()).unwrap_or_default(), own)).unwrap_or_default()
    }

    /// The name of a type of this file.
    fn name_at(&self, id: u32) -> &str {
        self.find(id).and_then(|(btf, at)| btf.word(at)).map_or("", |offset| self.name(offset))
    }

    /// Type `id`: one of this file's, of its kernel's, or `void`.
    pub fn get(&self, id: u32) -> Type<'_> {
        Type { btf: self, id }
    }

    /// Number of types, those of the kernel below included, and `void`.
    pub fn len(&self) -> usize {
        self.end_id() as usize
    }

    /// The numbers of this file's own types.
    pub fn own(&self) -> Range<u32> {
        self.first_id..self.end_id()
    }

    /// True if there is nothing but `void`.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// The functions of this file (not of the kernel below), by name.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        self.sorted_functions().iter().map(|id| Function::new(self.get(*id)))
    }

    /// The function of this name, here or in the kernel below.
    ///
    /// A compiler's copy (`vfs_read.isra.0`, `vfs_read.cold`) is searched for by its whole name first, then without what is
    /// after the first dot.
    pub fn function(&self, name: &str) -> Option<Function<'_>> {
        self.function_named(name).or_else(|| self.function_named(name.split_once('.')?.0))
    }

    /// The function of exactly this name, here or in the kernel below.
    pub fn function_named(&self, name: &str) -> Option<Function<'_>> {
        if name.is_empty() {
            return None;
        }
        let functions = self.sorted_functions();
        let nth = functions.partition_point(|id| self.name_at(*id) < name);
        match functions.get(nth) {
            Some(id) if self.name_at(*id) == name => Some(Function::new(self.get(*id))),
            _ => self.base.as_ref()?.function_named(name),
        }
    }
}

const MAGIC: u16 = 0xeb9f;
/// magic, version, flags, header length; then offset and length of types and of names, counted from the header's end.
const HEADER: usize = 24;
/// The longest name that is taken, in bytes; a kernel's symbols have at most 511.
const NAME: usize = 4096;
/// name, info, size or type.
pub(super) const TYPE: usize = 12;

/// The name at `offset` of the names, without its NUL; empty if there is none.
pub(super) fn name_in(names: &[u8], offset: u32) -> &[u8] {
    let rest = names.get(offset as usize..).unwrap_or_default();
    let rest = rest.get(..NAME).unwrap_or(rest);
    memchr::memchr(0, rest).and_then(|end| rest.get(..end)).unwrap_or(rest)
}

/// A type that was come by.
pub(super) struct FoundMember<'a> {
    /// Offset of its start.
    at: usize,
    /// Its second word: kind, count and a flag.
    pub(super) info: u32,
    /// The bytes after the twelve that every type begins with.
    pub(super) tail: &'a [u8],
}

/// Goes through the types; after an error there are no more.
pub(super) struct TypeWalk<'a> {
    data: &'a [u8],
    abi: Abi,
    types: Range<usize>,
    id: u32,
}

impl<'a> TypeWalk<'a> {
    /// Through the `types` of the file `data`, the first of which has the number `id`.
    pub(super) fn new(data: &'a [u8], abi: Abi, types: Range<usize>, id: u32) -> Self {
        TypeWalk { data, abi, types, id }
    }

    fn step(&mut self) -> Result<FoundMember<'a>, Error> {
        let (id, at) = (self.id, self.types.start);
        let out = Error::TypeRunsOut { id, offset: at };
        let rest = self.data.get(self.types.clone()).unwrap_or_default();
        let (head, rest) = rest.split_first_chunk::<TYPE>().ok_or(out)?;
        let info = self.abi.uint(head, 4, 4).unwrap_or_default() as u32;
        let (kind, count) = kind_and_count(info);
        let tail = tail(kind, count).ok_or(Error::UnknownKind { id, offset: at, kind })?;
        let tail = rest.get(..tail).ok_or(out)?;
        self.types.start = at.saturating_add(TYPE).saturating_add(tail.len());
        self.id = id.wrapping_add(1);
        Ok(FoundMember { at, info, tail })
    }
}

impl<'a> Iterator for TypeWalk<'a> {
    type Item = Result<FoundMember<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.types.is_empty() {
            return None;
        }
        Some(self.step().inspect_err(|_| self.types.start = self.types.end))
    }
}

/// Kind and count of entries, from a type's second word.
pub(super) fn kind_and_count(info: u32) -> (u8, usize) {
    ((info >> 24 & 0x1f) as u8, (info & 0xffff) as usize)
}

/// The header, checked against the size of the file.
pub(super) struct BtfHeader {
    pub(super) endian: Endian,
    pub(super) types: Range<usize>,
    pub(super) names: Range<usize>,
}

impl BtfHeader {
    pub(super) fn abi(&self) -> Abi {
        Abi { endian: self.endian, long_size: Abi::HOST.long_size }
    }

    pub(super) fn read(data: &[u8]) -> Result<BtfHeader, Error> {
        let short = Error::Part { part: "header", offset: 0, len: HEADER as u32, size: data.len() };
        let header: &[u8; HEADER] = data.first_chunk().ok_or(short)?;
        let [first, second, version, ..] = *header;
        let found = u16::from_le_bytes([first, second]);
        let endian = match found {
            MAGIC => Endian::Little,
            _ if found.swap_bytes() == MAGIC => Endian::Big,
            _ => return Err(Error::Magic { found }),
        };
        if version != 1 {
            return Err(Error::Version { version });
        }
        let abi = Abi { endian, ..Abi::HOST };
        let (words, _) = header.as_chunks::<4>();
        let word = |nth: usize| words.get(nth).map_or(0, |word| abi.u32(*word));
        let end = word(1);
        if (end as usize) < HEADER || end as usize > data.len() {
            return Err(Error::Part { part: "header", offset: 0, len: end, size: data.len() });
        }
        let part = |part: &'static str, offset: u32, len: u32| {
            let offset = u64::from(end).saturating_add(offset.into());
            let end = offset.saturating_add(len.into());
            if end > data.len() as u64 {
                return Err(Error::Part { part, offset, len, size: data.len() });
            }
            Ok(offset as usize..end as usize)
        };
        Ok(BtfHeader { endian, types: part("types", word(2), word(3))?, names: part("names", word(4), word(5))? })
    }
}

/// A defect of a BTF file, with its offset from the file's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The first bytes are not BTF's.
    #[error("no BTF: it begins with {found:#06x}, not 0xeb9f")]
    Magic {
        /// The first two bytes, as a little-endian number.
        found: u16,
    },
    /// Only version 1 exists.
    #[error("version {version} of BTF at 0x2 is not known")]
    Version {
        /// The byte after the magic number.
        version: u8,
    },
    /// The header names a part that does not lie within the file.
    #[error("{part} of {len} bytes at {offset:#x} do not lie within {size} bytes of BTF")]
    Part {
        /// `header`, `types` or `names`.
        part: &'static str,
        /// Declared start, in bytes.
        offset: u64,
        /// Declared length, in bytes.
        len: u32,
        /// The size of the file, in bytes.
        size: usize,
    },
    /// A type that does not end within the types.
    #[error("type {id} at {offset:#x} runs past the end of the types")]
    TypeRunsOut {
        /// Number of the type.
        id: u32,
        /// Offset of its start, in bytes.
        offset: usize,
    },
    /// A kind that is not known has no known size, so nothing after it can be read.
    #[error("type {id} at {offset:#x} is of the unknown kind {kind}")]
    UnknownKind {
        /// The type's number.
        id: u32,
        /// Offset of its start, in bytes.
        offset: usize,
        /// The kind's number.
        kind: u8,
    },
    /// More types than numbers for them.
    #[error("more types than a 32-bit number can count")]
    TooMany,
    /// The two files are of machines with different byte orders.
    #[error("the byte order differs from that of the kernel's BTF")]
    ByteOrder,
}
