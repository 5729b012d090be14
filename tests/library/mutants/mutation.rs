//! Changes to a file: bits, bytes, zeroed, cut and repeated ranges, numbers at their edges.

use super::bytes::{number, put};
use super::layout::Layout;
use crate::common::synthetic::Random;
use std::fmt;
use std::ops::Range;

/// One way to damage a file.
pub(super) enum Mutation {
    /// A bit is flipped.
    Bit(usize, u8),
    /// A byte is another one.
    Byte(usize, u8),
    /// Bytes are zeros.
    Zeroed(Range<usize>),
    /// Bytes are missing, and what follows moves up.
    Cut(Range<usize>),
    /// Bytes stand there twice, and what follows moves down.
    Repeated(Range<usize>),
    /// A number is another one.
    Number(Range<usize>, u64),
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mutation::Bit(at, bit) => write!(f, "bit {bit} of byte {at:#x} flipped"),
            Mutation::Byte(at, to) => write!(f, "byte {at:#x} made {to:#x}"),
            Mutation::Zeroed(range) => write!(f, "{range:#x?} zeroed"),
            Mutation::Cut(range) => write!(f, "{range:#x?} cut out"),
            Mutation::Repeated(range) => write!(f, "{range:#x?} repeated"),
            Mutation::Number(range, to) => write!(f, "the number at {range:#x?} made {to:#x}"),
        }
    }
}

impl Mutation {
    pub(super) fn new(file: &[u8], layout: &Layout, random: &mut Random) -> Self {
        match random.below(20) {
            0..6 => Self::number(file, layout, random),
            6..10 => Mutation::Bit(place(file, layout, random), random.below(8) as u8),
            10..12 => Mutation::Byte(place(file, layout, random), random.below(256) as u8),
            12..15 => Mutation::Zeroed(range(file, layout, random)),
            15..17 => Mutation::Cut(range(file, layout, random)),
            17..19 => Mutation::Repeated(range(file, layout, random)),
            _ => Mutation::Cut(place(file, layout, random)..file.len()),
        }
    }

    fn number(file: &[u8], layout: &Layout, random: &mut Random) -> Self {
        let at = layout.numbers[random.below(layout.numbers.len())].clone();
        let is = number(&file[at.clone()], layout.big);
        let bits = 8 * at.len();
        let most = u64::MAX >> (64 - bits);
        let size = file.len() as u64;
        let edges = [
            0,
            1,
            is.wrapping_sub(1),
            is.wrapping_add(1),
            is.wrapping_mul(2),
            is / 2,
            is ^ 1 << random.below(bits),
            is.wrapping_sub(4096),
            is.wrapping_add(4096),
            most,
            most - 1,
            most / 2,
            size,
            size - 1,
        ];
        Mutation::Number(at, edges[random.below(edges.len())] & most)
    }

    pub(super) fn apply(&self, file: &[u8]) -> Vec<u8> {
        let mut to = file.to_vec();
        match self {
            Mutation::Bit(at, bit) => to[*at] ^= 1 << bit,
            Mutation::Byte(at, byte) => to[*at] = *byte,
            Mutation::Zeroed(range) => to[range.clone()].fill(0),
            Mutation::Cut(range) => drop(to.drain(range.clone())),
            Mutation::Repeated(range) => {
                let again = file[range.clone()].to_vec();
                to.splice(range.end..range.end, again);
            }
            Mutation::Number(..) => {}
        }
        to
    }
}

/// Anywhere, or near a number, of which most of a file is far away.
fn place(file: &[u8], layout: &Layout, random: &mut Random) -> usize {
    if random.below(2) == 0 {
        return random.below(file.len());
    }
    let at = layout.numbers[random.below(layout.numbers.len())].start;
    (at + random.below(24)).saturating_sub(8).min(file.len() - 1)
}

/// 1 byte to 64 KiB, half of them whole pages of memory or sectors.
fn range(file: &[u8], layout: &Layout, random: &mut Random) -> Range<usize> {
    let len = 1usize << random.below(17);
    let len = len + random.below(len);
    let start = place(file, layout, random);
    let unit = [1, 1, 512, 4096][random.below(4)];
    let (start, len) = (start / unit * unit, len.next_multiple_of(unit).min(64 << 10));
    start..(start + len).min(file.len())
}

/// Applies it, with numbers in the file's byte order.
pub(super) fn damaged(file: &[u8], layout: &Layout, mutation: &Mutation) -> Vec<u8> {
    let mut to = mutation.apply(file);
    if let Mutation::Number(at, value) = mutation {
        put(&mut to[at.clone()], layout.big, *value);
    }
    to
}
