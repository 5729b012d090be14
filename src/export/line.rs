//! One line under construction: a scratch buffer that fixed-size stores go to.
//!
//! Appending a literal of a dozen bytes to a `Vec` is a call to `memcpy` and a length check; with forty such pieces a
//! line those calls are most of the time. Here every piece is stored as whole 8- or 32-byte blocks, whose surplus the
//! next piece overwrites, and the finished line is appended to the output once.

use crate::sys::Tail;
use crate::text::num;

/// The block that literals are copied by.
const BLOCK: usize = 32;

/// A line being written. It keeps its buffer from line to line.
#[derive(Clone, Debug)]
pub struct Line {
    buf: Vec<u8>,
    len: usize,
}

/// Literals of any length, each of which can be copied by whole blocks.
#[derive(Clone, Debug, Default)]
pub struct Literals {
    bytes: Vec<u8>,
}

/// A text in [`Literals`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Literal {
    start: u32,
    len: u32,
}

impl Literals {
    /// Keeps `text`.
    pub fn add(&mut self, text: &[u8]) -> Literal {
        self.bytes.truncate(self.bytes.len().saturating_sub(BLOCK));
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.bytes.resize(self.bytes.len() + BLOCK, 0);
        Literal { start, len: text.len() as u32 }
    }

    /// The text of a literal.
    pub fn get(&self, literal: Literal) -> &[u8] {
        &self.bytes[literal.start as usize..(literal.start + literal.len) as usize]
    }
}

impl Tail<'_> {
    /// Appends a literal of `pool`.
    #[inline(always)]
    pub(super) fn pooled(self, pool: &Literals, literal: Literal) -> Self {
        let (start, len) = (literal.start as usize, literal.len as usize);
        match pool.bytes.get(start..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            Some(block) if len <= BLOCK => self.piece(block, len),
            _ => self.with(|out| out.extend_from_slice(pool.get(literal))),
        }
    }

    /// Appends as much of `text` as [`Line::plain_prefix`] does, and says how much that is.
    #[inline(always)]
    pub(super) fn plain_prefix(self, text: &[u8]) -> (Self, usize) {
        let (mut tail, mut at) = (self, 0);
        while let Some(&block) = text.get(at..).and_then(|t| t.first_chunk::<8>()) {
            let plain = special(u64::from_le_bytes(block)).trailing_zeros() as usize / 8;
            tail = tail.piece(&block, plain);
            at += plain;
            if plain < 8 {
                return (tail, at);
            }
        }
        while let Some(&byte) = text.get(at)
            && (0x20..0x7f).contains(&byte)
            && byte != b'"'
            && byte != b'\\'
        {
            tail = tail.piece(&[byte], 1);
            at += 1;
        }
        (tail, at)
    }
}

impl Default for Line {
    fn default() -> Self {
        Line { buf: vec![0; 4096], len: 0 }
    }
}

impl Line {
    /// Starts over.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// What has been written.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.buf[..self.len]
    }

    /// How many bytes have been written.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing has been written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the last byte back.
    #[inline]
    pub fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Room for `more` bytes, which may be stored at once at `len`.
    #[inline]
    fn room(&mut self, more: usize) -> &mut [u8] {
        if self.buf.len() - self.len < more {
            self.grow(more);
        }
        &mut self.buf[self.len..]
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        self.buf.resize((self.len + more).next_power_of_two(), 0);
    }

    /// Appends a literal of `pool`.
    #[inline]
    pub fn literal(&mut self, pool: &Literals, literal: Literal) {
        let (start, len) = (literal.start as usize, literal.len as usize);
        match (pool.bytes.get(start..start + BLOCK), len <= BLOCK) {
            (Some(block), true) => {
                self.room(BLOCK)[..BLOCK].copy_from_slice(block);
                self.len += len;
            }
            _ => self.bytes(pool.get(literal)),
        }
    }

    /// Appends any bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.room(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends the first `len` bytes of `text`, by copying all of it.
    #[inline]
    pub fn short<const N: usize>(&mut self, text: &[u8; N], len: usize) {
        self.room(N)[..N].copy_from_slice(text);
        self.len += len.min(N);
    }

    /// Appends one byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.room(1)[0] = byte;
        self.len += 1;
    }

    #[inline]
    fn store8(&mut self, bytes: [u8; 8], len: usize) {
        self.room(8)[..8].copy_from_slice(&bytes);
        self.len += len;
    }

    /// Appends `value` in decimal.
    #[inline]
    pub fn dec(&mut self, value: u64) {
        const E8: u64 = 100_000_000;
        if value < 1_000_000 {
            self.up_to_six(value as u32);
        } else if value < E8 {
            self.leading(value as u32);
        } else {
            let (high, low) = (value / E8, (value % E8) as u32);
            if high < E8 {
                self.leading(high as u32);
            } else {
                self.leading((high / E8) as u32);
                self.store8(digits((high % E8) as u32), 8);
            }
            self.store8(digits(low), 8);
        }
    }

    #[inline]
    fn up_to_six(&mut self, value: u32) {
        let (high, low) = (value as usize / 1000, value as usize % 1000);
        if high == 0 {
            let text = &num::UP_TO_THREE[low];
            return self.short(text, usize::from(text[3]));
        }
        let text = &num::UP_TO_THREE[high];
        self.short(text, usize::from(text[3]));
        self.short(&num::THREE[low], 3);
    }

    /// Appends `value`, below 10^8 and not 0, without zeros in front.
    #[inline]
    fn leading(&mut self, value: u32) {
        let word = u64::from_le_bytes(digits(value));
        let zeros = ((word & 0x0f0f_0f0f_0f0f_0f0f).trailing_zeros() / 8).min(7);
        self.store8((word >> (8 * zeros)).to_le_bytes(), 8 - zeros as usize);
    }

    /// Appends `value` in decimal with its sign.
    #[inline]
    pub fn signed(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.dec(value.unsigned_abs());
    }

    /// Appends `value` in hexadecimal, lower case, without a prefix and without zeros in front.
    #[inline]
    pub fn hex(&mut self, value: u64) {
        let digits = 16 - (value | 1).leading_zeros() as usize / 4;
        let word = value << (4 * (16 - digits) as u32);
        let (high, low) = (hex_digits((word >> 32) as u32), hex_digits(word as u32));
        let room = self.room(16);
        room[..8].copy_from_slice(&high);
        room[8..16].copy_from_slice(&low);
        self.len += digits;
    }

    /// Appends one byte as two hexadecimal digits.
    #[inline]
    pub fn hex_byte(&mut self, byte: u8) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.bytes(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }

    /// Appends as much of `text` as needs no attention (printable ASCII but for `"` and `\`) and says how much that is.
    #[inline]
    pub fn plain_prefix(&mut self, text: &[u8]) -> usize {
        let mut at = 0;
        while let Some(&block) = text.get(at..).and_then(|t| t.first_chunk::<8>()) {
            let special = special(u64::from_le_bytes(block)).trailing_zeros() as usize / 8;
            self.store8(block, special);
            at += special;
            if special < 8 {
                return at;
            }
        }
        while let Some(&byte) = text.get(at) {
            if !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\' {
                break;
            }
            self.byte(byte);
            at += 1;
        }
        at
    }
}

/// A mark in the top bit of each byte of `word` that is a control character, `"`, `\`, DEL or not ASCII. The lowest mark
/// is right; marks above it may be wrong.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    let is = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (word | control | is(b'"') | is(b'\\') | is(0x7f)) & TOPS
}

/// The eight decimal digits of `value`, which is below 10^8: two halves, four pairs, eight digits, side by side.
#[inline]
fn digits(value: u32) -> [u8; 8] {
    let value = u64::from(value);
    let (high, low) = (value / 10_000, value % 10_000);
    let halves = high | low << 32;
    let hundreds = (halves * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - 100 * hundreds) << 16;
    let tens = (pairs * 103) >> 10 & 0x000f_000f_000f_000f;
    let each = tens | (pairs - 10 * tens) << 8;
    (each | 0x3030_3030_3030_3030).to_le_bytes()
}

/// The eight hexadecimal digits of `value`.
#[inline]
fn hex_digits(value: u32) -> [u8; 8] {
    let mut word = u64::from(value.swap_bytes());
    word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    let nibbles = (word >> 4 & 0x000f_000f_000f_000f) | (word & 0x000f_000f_000f_000f) << 8;
    // 10..15 carry into bit 4 when 6 is added; such bytes get the 39 between '9' + 1 and 'a' on top.
    let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (nibbles + 0x3030_3030_3030_3030 + letters * 39).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(f: impl FnOnce(&mut Line)) -> String {
        let mut line = Line::default();
        f(&mut line);
        String::from_utf8(line.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn numbers_at_the_edges() {
        for power in 0..20 {
            for value in [10u64.pow(power) - 1, 10u64.pow(power), 10u64.pow(power) + 1] {
                assert_eq!(text(|l| l.dec(value)), value.to_string());
            }
        }
        for shift in 0..64 {
            for value in [(1u64 << shift) - 1, 1 << shift] {
                assert_eq!(text(|l| l.hex(value)), format!("{value:x}"));
            }
        }
        assert_eq!(text(|l| l.signed(i64::MIN)), i64::MIN.to_string());
        assert_eq!(text(|l| l.dec(u64::MAX)), u64::MAX.to_string());
    }

    #[test]
    fn every_half_of_eight_digits() {
        for value in 0..10_000 {
            assert_eq!(digits(value * 10_000 + 9_999 - value), *format!("{value:04}{:04}", 9_999 - value).as_bytes());
        }
    }

    #[test]
    fn literals_of_any_length() {
        let mut pool = Literals::default();
        let texts: Vec<Vec<u8>> = (0..100).map(|n| vec![b'a' + (n % 26) as u8; n]).collect();
        let literals: Vec<Literal> = texts.iter().map(|t| pool.add(t)).collect();
        let mut line = Line::default();
        for (text, literal) in texts.iter().zip(&literals) {
            line.clear();
            line.literal(&pool, *literal);
            assert_eq!(line.as_bytes(), text);
        }
    }

    proptest! {
        #[test]
        fn numbers(value: u64, small in 0u64..1_000_000_000_000, negative: i64) {
            prop_assert_eq!(text(|l| l.dec(value)), value.to_string());
            prop_assert_eq!(text(|l| l.dec(small)), small.to_string());
            prop_assert_eq!(text(|l| l.signed(negative)), negative.to_string());
            prop_assert_eq!(text(|l| l.hex(value)), format!("{value:x}"));
        }

        #[test]
        fn plain_prefixes(bytes in proptest::collection::vec(prop_oneof![4 => 0x20u8..0x7f, 1 => any::<u8>()], 0..40)) {
            let plain = |b: &u8| (0x20..0x7f).contains(b) && *b != b'"' && *b != b'\\';
            let expected = bytes.iter().take_while(|b| plain(b)).count();
            let mut line = Line::default();
            prop_assert_eq!(line.plain_prefix(&bytes), expected);
            prop_assert_eq!(line.as_bytes(), &bytes[..expected]);
        }
    }
}
