//! The enumerations of a file where it lies, and nothing else of it: for who wants some of their values, and soon.

use super::Error;
use super::kind::number;
use super::walk::{BtfHeader, TypeWalk, kind_and_count, name_in};
use crate::base::abi::Abi;

/// Goes through a file's enumerations.
pub(super) struct Enumerations<'a> {
    abi: Abi,
    walk: TypeWalk<'a>,
    names: EnumNames<'a>,
}

/// The names of a module's types lie after those of its kernel's.
#[derive(Clone, Copy)]
struct EnumNames<'a> {
    kernel: &'a [u8],
    own: &'a [u8],
}

impl<'a> EnumNames<'a> {
    fn get(self, offset: u32) -> &'a [u8] {
        match offset.checked_sub(self.kernel.len() as u32) {
            Some(offset) => name_in(self.own, offset),
            None => name_in(self.kernel, offset),
        }
    }
}

impl<'a> Enumerations<'a> {
    /// The enumerations of `types`, the file of a kernel or of a module on top of `kernel`.
    pub(super) fn of(types: &'a [u8], kernel: Option<&'a [u8]>) -> Result<Self, Error> {
        let header = BtfHeader::read(types)?;
        let below = kernel.map(|kernel| Ok((kernel, BtfHeader::read(kernel)?))).transpose()?;
        let names = match below {
            Some((_, below)) if below.endian != header.endian => return Err(Error::ByteOrder),
            Some((kernel, below)) => kernel.get(below.names).unwrap_or_default(),
            None => &[],
        };
        let names = EnumNames { kernel: names, own: types.get(header.names.clone()).unwrap_or_default() };
        // The numbers of a module's types do not matter to its enumerators.
        Ok(Enumerations { abi: header.abi(), walk: TypeWalk::new(types, header.abi(), header.types, 1), names })
    }

    /// The names and values of the next one; an unsigned value of 64 bits as the signed number of the same bits.
    pub(super) fn next(&mut self) -> Result<Option<impl Iterator<Item = (&'a [u8], i64)> + use<'a>>, Error> {
        let (abi, names) = (self.abi, self.names);
        for found in &mut self.walk {
            let found = found?;
            let (size, signed) = match kind_and_count(found.info).0 {
                number::ENUM => (8, found.info >> 31 != 0),
                number::ENUM64 => (12, true),
                _ => continue,
            };
            let enumerator = move |bytes: &'a [u8]| {
                let (words, _) = bytes.as_chunks::<4>();
                let word = |nth: usize| words.get(nth).map_or(0, |word| abi.u32(*word));
                let value = match (size, signed) {
                    (8, true) => i64::from(word(1) as i32),
                    (8, false) => i64::from(word(1)),
                    _ => (u64::from(word(2)) << 32 | u64::from(word(1))) as i64,
                };
                (names.get(word(0)), value)
            };
            return Ok(Some(found.tail.chunks_exact(size).map(enumerator)));
        }
        Ok(None)
    }
}
