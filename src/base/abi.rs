//! Layout of the recorded kernel's numbers, and checked reads that know their offset.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

/// Byte order of the recorded machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first (x86, arm).
    Little,
    /// Most significant byte first (s390x).
    Big,
}

impl Endian {
    /// The opposite byte order.
    pub fn swapped(self) -> Self {
        match self {
            Endian::Little => Endian::Big,
            Endian::Big => Endian::Little,
        }
    }
}

/// Byte order and word size: all that is needed to read a number that another kernel wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abi {
    /// Byte order of the recorded machine.
    pub endian: Endian,
    /// Size of the **kernel's** `long` and pointers, in bytes: 4 or 8.
    pub long_size: u8,
}

impl Abi {
    /// The machine this program runs on.
    pub const HOST: Abi = Abi {
        endian: if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little },
        long_size: size_of::<usize>() as u8,
    };

    /// A 16-bit number from its two bytes.
    #[inline]
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        }
    }

    /// A 32-bit number from its four bytes.
    #[inline]
    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        }
    }

    /// A 64-bit number from its eight bytes.
    #[inline]
    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The unsigned number of `size` bytes (1, 2, 4 or 8) at `offset`; `None` if it does not lie within `data`.
    #[inline]
    pub fn uint(self, data: &[u8], offset: usize, size: usize) -> Option<u64> {
        let bytes = data.get(offset..offset.checked_add(size)?)?;
        Some(match *bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(self.u16([a, b])),
            [a, b, c, d] => u64::from(self.u32([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => self.u64([a, b, c, d, e, f, g, h]),
            _ => return None,
        })
    }

    /// Like [`Abi::uint`], sign-extended.
    #[inline]
    pub fn int(self, data: &[u8], offset: usize, size: usize) -> Option<i64> {
        let value = self.uint(data, offset, size)?;
        Some(match size {
            1 => i64::from(value as i8),
            2 => i64::from(value as i16),
            4 => i64::from(value as i32),
            _ => value as i64,
        })
    }
}

/// A checked, forward reader over a slice that remembers its offset from the slice's start.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    pos: usize,
    abi: Abi,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `data`.
    pub fn new(data: &'a [u8], abi: Abi) -> Self {
        Cursor { rest: data, pos: 0, abi }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.pos
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// [`ShortRead`] if fewer remain; nothing is consumed then.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], ShortRead> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.short(len))?;
        self.advance(len, rest);
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ShortRead> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.short(N))?;
        self.advance(N, rest);
        Ok(*taken)
    }

    fn advance(&mut self, len: usize, rest: &'a [u8]) {
        self.pos = self.pos.saturating_add(len);
        self.rest = rest;
    }

    fn short(&self, wanted: usize) -> ShortRead {
        ShortRead { offset: self.pos, wanted, remain: self.rest.len() }
    }

    /// The next byte.
    ///
    /// # Errors
    /// [`ShortRead`] at the end.
    pub fn u8(&mut self) -> Result<u8, ShortRead> {
        self.array::<1>().map(|[b]| b)
    }

    /// The next two bytes as a number.
    ///
    /// # Errors
    /// [`ShortRead`] if fewer remain.
    pub fn u16(&mut self) -> Result<u16, ShortRead> {
        self.array().map(|b| self.abi.u16(b))
    }

    /// The next four bytes as a number.
    ///
    /// # Errors
    /// [`ShortRead`] if fewer remain.
    pub fn u32(&mut self) -> Result<u32, ShortRead> {
        self.array().map(|b| self.abi.u32(b))
    }

    /// The next eight bytes as a number.
    ///
    /// # Errors
    /// [`ShortRead`] if fewer remain.
    pub fn u64(&mut self) -> Result<u64, ShortRead> {
        self.array().map(|b| self.abi.u64(b))
    }

    /// The bytes up to the next NUL, which is consumed and not returned.
    ///
    /// # Errors
    /// [`ShortRead`] if there is no NUL.
    pub fn cstr(&mut self) -> Result<&'a [u8], ShortRead> {
        let nul = memchr::memchr(0, self.rest).and_then(|len| self.rest.split_at_checked(len));
        let Some((text, [_, rest @ ..])) = nul else {
            return Err(self.short(self.rest.len().saturating_add(1)));
        };
        self.advance(text.len().saturating_add(1), rest);
        Ok(text)
    }
}

/// The data ended before what should have been there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} bytes expected at offset {offset:#x}, {remain} remain")]
pub struct ShortRead {
    /// Offset from the start of the slice being read, in bytes.
    pub offset: usize,
    /// Bytes asked for.
    pub wanted: usize,
    /// Bytes that were left.
    pub remain: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };
    const BE: Abi = Abi { endian: Endian::Big, long_size: 8 };

    #[test]
    fn numbers() {
        let data = [0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(LE.uint(&data, 0, 2), Some(0xfeff));
        assert_eq!(BE.uint(&data, 0, 2), Some(0xfffe));
        assert_eq!(BE.int(&data, 0, 2), Some(-2));
        assert_eq!(LE.uint(&data, 1, 8), Some(0x0706_0504_0302_01fe));
        assert_eq!(LE.uint(&data, 2, 8), None);
        assert_eq!(LE.uint(&data, 0, 3), None);
        assert_eq!(LE.uint(&data, usize::MAX, 2), None);
    }

    #[test]
    fn cursor_says_where_it_ended() {
        let mut c = Cursor::new(b"ab\0\x01\x02", BE);
        assert_eq!(c.cstr(), Ok(&b"ab"[..]));
        assert_eq!(c.u32(), Err(ShortRead { offset: 3, wanted: 4, remain: 2 }));
        assert_eq!(c.u16(), Ok(0x0102));
        assert_eq!(c.cstr(), Err(ShortRead { offset: 5, wanted: 1, remain: 0 }));
    }
}
