//! From item to item through one sub-buffer.

use super::{Page, PageError};
use crate::base::abi::{Abi, Endian};
use std::ops::Range;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// The bits above the 59 of an absolute stamp.
const STAMP_TOP: u64 = 0xf8 << 56;

/// A position in a sub-buffer. It holds no bytes: each step is given the buffer the sub-buffer lies in, so that the
/// owner of a recycled buffer can keep its walkers beside it.
#[derive(Clone, Copy, Debug)]
pub struct Walker {
    abi: Abi,
    base: usize,
    pos: usize,
    end: usize,
    now: u64,
}

/// A record's place and time, in 16 bytes: of those found ahead there are thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The trace clock's reading, uncorrected.
    pub timestamp: u64,
    start: u32,
    len: u32,
}

impl RecordPlace {
    /// For a place in the first 4 GiB: see [`Walker::new`].
    #[inline(always)]
    fn new(timestamp: u64, start: usize, len: usize) -> Self {
        RecordPlace { timestamp, start: start as u32, len: len as u32 }
    }

    /// Offset of its bytes in the buffer given to [`Walker::step`].
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start as usize
    }

    /// The place of its bytes in the buffer given to [`Walker::step`]: a multiple of 4 of them.
    #[inline(always)]
    pub fn range(&self) -> Range<usize> {
        self.start()..self.start().saturating_add(self.len as usize)
    }

    /// Its bytes in `data`, the buffer given to [`Walker::step`].
    #[inline(always)]
    pub fn bytes<'d>(&self, data: &'d [u8]) -> Option<&'d [u8]> {
        data.get(self.range())
    }
}

impl Walker {
    /// A walker through `page`, whose sub-buffer starts at `base` of the buffer that will be walked. Records beyond its
    /// first 4 GiB are not seen: chunks of more than 32 MiB hold one sub-buffer, whose committed bytes are a 27-bit number.
    pub fn new(abi: Abi, base: usize, page: &Page) -> Self {
        let (pos, end) = (base.saturating_add(page.start), base.saturating_add(page.end).min(u32::MAX as usize));
        Walker { abi, base, pos, end, now: page.timestamp }
    }

    /// A walker that has nothing to walk.
    pub fn empty(abi: Abi) -> Self {
        Walker { abi, base: 0, pos: 0, end: 0, now: 0 }
    }

    /// Offset of the sub-buffer being walked.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The next record of the sub-buffer in `data`; `None` at its end, and ever after an error.
    ///
    /// # Errors
    /// [`PageError`] where an item does not fit the committed bytes; the rest of the sub-buffer cannot be walked.
    #[inline(always)]
    pub fn step(&mut self, data: &[u8]) -> Result<Option<RecordPlace>, PageError> {
        let end = self.end.min(data.len());
        while self.pos < end {
            let at = self.pos;
            let Some(word) = self.word(data, at, end) else {
                let remain = end.saturating_sub(at);
                return Err(self.fail(PageError::ItemHeader { offset: self.offset(at), remain }));
            };
            let (type_len, delta) = match self.abi.endian {
                Endian::Little => (word & 31, word >> 5),
                Endian::Big => (word >> 27, word & ((1 << 27) - 1)),
            };
            if (1..PADDING).contains(&type_len) {
                self.now = self.now.wrapping_add(u64::from(delta));
                let (start, len) = (at.saturating_add(4), (type_len as usize).saturating_mul(4));
                let after = start.saturating_add(len);
                if after > end {
                    return Err(self.past_end(at, after.saturating_sub(end), false));
                }
                self.pos = after;
                return Ok(Some(RecordPlace::new(self.now, start, len)));
            }
            if let Some(item) = self.two_words(data, at, end, type_len, delta)? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// Gives the records that follow to `see`, at most `most`, as [`Walker::step`] would: in one go, with the position in
    /// registers. `false` if there may be more.
    ///
    /// # Errors
    /// [`PageError`] as [`Walker::step`], after the records before the damage.
    #[inline(always)]
    pub fn walk(&mut self, data: &[u8], most: usize, see: impl FnMut(RecordPlace)) -> Result<bool, PageError> {
        match self.abi.endian {
            Endian::Little => self.walk_as::<false>(data, most, see),
            Endian::Big => self.walk_as::<true>(data, most, see),
        }
    }

    #[inline(always)]
    fn walk_as<const BIG: bool>(
        &mut self,
        data: &[u8],
        most: usize,
        mut see: impl FnMut(RecordPlace),
    ) -> Result<bool, PageError> {
        let end = self.end.min(data.len());
        let (mut pos, mut now) = (self.pos, self.now);
        let mut left = most;
        while left > 0 {
            let Some(&bytes) = data.get(pos..end).and_then(|rest| rest.first_chunk::<4>()) else {
                (self.pos, self.now) = (pos, now);
                return match self.step(data)? {
                    Some(item) => {
                        see(item); // not to be expected of what has no first word
                        Ok(false)
                    }
                    None => Ok(true),
                };
            };
            let (type_len, delta) = if BIG {
                let word = u32::from_be_bytes(bytes);
                (word >> 27, word & ((1 << 27) - 1))
            } else {
                let word = u32::from_le_bytes(bytes);
                (word & 31, word >> 5)
            };
            #[expect(clippy::arithmetic_side_effects, reason = "4 bytes were read at `pos`; `type_len` has 5 bits")]
            let (start, len, room) = (pos + 4, 4 * type_len as usize, end - (pos + 4));
            if (1..PADDING).contains(&type_len) && len <= room {
                now = now.wrapping_add(u64::from(delta));
                pos = start.wrapping_add(len); // at most `end`
                see(RecordPlace::new(now, start, len));
                left = left.wrapping_sub(1); // not 0 here
                continue;
            }
            (self.pos, self.now) = (pos, now);
            match self.step(data)? {
                Some(item) => {
                    see(item);
                    left = left.wrapping_sub(1);
                }
                None => return Ok(true),
            }
            (pos, now) = (self.pos, self.now);
        }
        (self.pos, self.now) = (pos, now);
        Ok(false)
    }

    /// An item whose first word is not enough: a long record, or what moves time and place only.
    #[inline(never)]
    fn two_words(
        &mut self,
        data: &[u8],
        at: usize,
        end: usize,
        type_len: u32,
        delta: u32,
    ) -> Result<Option<RecordPlace>, PageError> {
        if type_len == PADDING && delta == 0 {
            self.pos = end;
            return Ok(None);
        }
        let Some(second) = self.word(data, at.saturating_add(4), end) else {
            return Err(self.fail(PageError::SecondWord { offset: self.offset(at), type_len: type_len as u8 }));
        };
        let start = at.saturating_add(8);
        let room = end.saturating_sub(start);
        let wide = u64::from(second) << 27 | u64::from(delta);
        match type_len {
            TIME_EXTEND => self.now = self.now.wrapping_add(wide),
            TIME_STAMP => self.now = absolute(wide, self.now),
            _ => {
                self.now = self.now.wrapping_add(u64::from(delta));
                let Some(len) = second.checked_sub(4) else {
                    return Err(self.fail(PageError::RecordLength { offset: self.offset(at), len: second }));
                };
                let len = (len as usize).saturating_add(3) & !3;
                let padding = type_len == PADDING;
                if len > room {
                    return Err(self.past_end(at, len.saturating_sub(room), padding));
                }
                self.pos = start.saturating_add(len);
                return Ok((!padding).then_some(RecordPlace::new(self.now, start, len)));
            }
        }
        self.pos = start;
        Ok(None)
    }

    #[inline(always)]
    fn word(&self, data: &[u8], at: usize, end: usize) -> Option<u32> {
        let bytes = data.get(at..end)?.first_chunk::<4>()?;
        Some(self.abi.u32(*bytes))
    }

    /// Offset in its sub-buffer of the item at `at`.
    fn offset(&self, at: usize) -> usize {
        at.saturating_sub(self.base)
    }

    #[cold]
    fn past_end(&mut self, at: usize, excess: usize, padding: bool) -> PageError {
        self.fail(PageError::PastEnd { offset: self.offset(at), excess, padding })
    }

    #[cold]
    fn fail(&mut self, error: PageError) -> PageError {
        self.pos = self.end;
        error
    }
}

/// An absolute stamp has 59 bits; the ones above are the running stamp's, one more if that would turn time back
/// (kernel: `rb_fix_abs_ts`, Linux 5.14).
fn absolute(stamp: u64, now: u64) -> u64 {
    let top = now & STAMP_TOP;
    if top == 0 {
        return stamp;
    }
    let full = stamp | top;
    if full < now { full.wrapping_add(1 << 59) } else { full }
}
