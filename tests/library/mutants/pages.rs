//! The records of bare sub-buffers: each is something that nothing vouches for.

use super::bytes::number;
use std::ops::Range;

/// The layout of a sub-buffer of the recording.
#[derive(Clone, Copy)]
pub(super) struct PageShape {
    pub(super) big: bool,
    /// Offset of its records, in bytes.
    pub(super) data_offset: usize,
}

/// Places of the time stamp, the word of lengths and flags, the records, the count of lost events and the rest of the
/// sub-buffer `page`, which lies at `base`. The word goes to `numbers`, all others to `unvouched`.
pub(super) fn page(
    page: &[u8],
    base: usize,
    shape: PageShape,
    numbers: &mut Vec<Range<usize>>,
    unvouched: &mut Vec<Range<usize>>,
) {
    let PageShape { big, data_offset } = shape;
    let long = data_offset - 8;
    let word = number(&page[8..data_offset], big);
    let end = data_offset + (word as usize & 0x7ff_ffff);
    unvouched.push(base..base + 8);
    numbers.push(base..base + 8);
    numbers.push(base + 8..base + data_offset);
    // the byte with the flags of lost events
    let flags = if big { data_offset - 4 } else { 11 };
    unvouched.push(base + flags..base + flags + 1);
    if word >> 30 == 3 {
        unvouched.push(base + end..base + end + long);
    }
    // what lies after the records is copied, and never read
    unvouched.push(base + end..base + page.len());
    let mut at = data_offset;
    while at + 4 <= end {
        let word = |at: usize| number(&page[at..at + 4], big) as usize;
        let (kind, delta) = if big { (word(at) >> 27, word(at) & 0x7ff_ffff) } else { (word(at) & 31, word(at) >> 5) };
        let len = match kind {
            29 if delta == 0 => end - at,
            0 | 29 => 4 + word(at + 4).next_multiple_of(4),
            30 | 31 => 8,
            words => 4 + 4 * words,
        };
        unvouched.push(base + at..base + at + len);
        at += len;
    }
}
