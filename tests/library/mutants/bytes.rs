//! Numbers and texts at places of a file that is known to be sound.

use std::ops::Range;

/// Bytes that lie at `base` of the file, and a position among them.
pub(super) struct Bytes<'a> {
    data: &'a [u8],
    pub(super) at: usize,
    base: Option<usize>,
    big: bool,
}

impl<'a> Bytes<'a> {
    /// `base` is `None` if the bytes were unpacked: then they have no place in the file.
    pub(super) fn new(data: &'a [u8], base: Option<usize>, big: bool) -> Self {
        Bytes { data, at: 0, base, big }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.data.len()
    }

    pub(super) fn remain(&self) -> usize {
        self.data.len() - self.at
    }

    pub(super) fn take(&mut self, len: usize) -> &'a [u8] {
        let taken = &self.data[self.at..self.at + len];
        self.at += len;
        taken
    }

    /// A number of `width` bytes; where it stands goes to `numbers`.
    pub(super) fn number(&mut self, width: usize, numbers: &mut Vec<Range<usize>>) -> u64 {
        numbers.extend(self.place(width));
        let bytes = self.take(width);
        number(bytes, self.big)
    }

    /// Place of the next `len` bytes in the file.
    pub(super) fn place(&self, len: usize) -> Option<Range<usize>> {
        self.base.map(|base| base + self.at..base + self.at + len)
    }

    /// A text and the NUL after it.
    pub(super) fn text(&mut self) -> &'a [u8] {
        let len = self.data[self.at..].iter().position(|byte| *byte == 0).expect("a text that ends");
        let text = self.take(len);
        self.at += 1;
        text
    }
}

/// The number that `bytes` are.
pub(super) fn number(bytes: &[u8], big: bool) -> u64 {
    let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    if big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// Puts `value` into `bytes`.
pub(super) fn put(bytes: &mut [u8], big: bool, value: u64) {
    let width = bytes.len();
    for (index, byte) in bytes.iter_mut().enumerate() {
        let place = if big { width - 1 - index } else { index };
        *byte = (value >> (8 * place)) as u8;
    }
}
