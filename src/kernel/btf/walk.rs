//! A file's parts, and its types one after the other.

use super::Error;
use super::kind::tail;
use crate::base::abi::{Abi, Endian};
use std::ops::Range;

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
    pub(super) at: usize,
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
