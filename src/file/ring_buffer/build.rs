//! Sub-buffers made of single records.

use super::PageLayout;
use super::cut::put;
use super::page::{MISSED_EVENTS, MISSED_STORED};
use crate::base::abi::Endian;
use crate::file::ring_buffer::Lost;

/// The largest record that has its length in the item's first word, in bytes.
const SHORT: usize = 28 * 4;
/// Bits of a time delta in the item's first word.
const DELTA_BITS: u32 = 27;
/// The first bit that a time extend has no room for.
const EXTEND_BITS: u32 = 59;

/// Packs the records of one CPU into sub-buffers, in their order.
#[derive(Clone, Debug)]
pub struct PageBuilder {
    layout: PageLayout,
    page: Vec<u8>,
    /// Offset of the next item in `page`; 0 before the first.
    at: usize,
    /// Time of the last record, raw.
    now: u64,
    lost: Lost,
    /// A loss before the next record.
    pending: Lost,
    done: Vec<u8>,
}

impl PageBuilder {
    /// Sub-buffers of this layout; none yet.
    pub fn new(layout: PageLayout) -> Self {
        PageBuilder { layout, page: Vec::new(), at: 0, now: 0, lost: Lost::None, pending: Lost::None, done: Vec::new() }
    }

    /// Says that events were lost before the next record.
    pub fn lose(&mut self, lost: Lost) {
        self.pending = self.pending.plus(lost);
    }

    /// Adds a record with its time as the ring buffer counts it, uncorrected. Returns false for one that no sub-buffer has
    /// room for.
    #[must_use]
    pub fn push(&mut self, time: u64, data: &[u8]) -> bool {
        let size = data.len().next_multiple_of(4);
        let head = if size == 0 || size > SHORT { 8usize } else { 4 };
        let item = head.saturating_add(size);
        // The last long is left for the number of lost events.
        let limit = self.layout.size.saturating_sub(self.layout.abi.long_size.into());
        if self.layout.data_offset.saturating_add(item) > limit {
            return false;
        }
        let delta = time.checked_sub(self.now).filter(|delta| *delta < 1 << EXTEND_BITS);
        let extend = if delta.is_some_and(|delta| delta >= 1 << DELTA_BITS) { 8usize } else { 0 };
        let fits = self.at.saturating_add(extend).saturating_add(item) <= limit;
        let mut delta = match delta {
            Some(delta) if self.at > 0 && fits && self.pending == Lost::None => delta,
            _ => {
                self.end_page();
                self.page.resize(self.layout.size, 0);
                put(self.layout.abi, &mut self.page, 0, 8, time);
                self.at = self.layout.data_offset;
                self.lost = std::mem::take(&mut self.pending);
                0
            }
        };
        if delta >= 1 << DELTA_BITS {
            self.word(30, delta & ((1 << DELTA_BITS) - 1));
            self.put(4, delta >> DELTA_BITS);
            delta = 0;
        }
        if head == 8 {
            self.word(0, delta);
            self.put(4, size.saturating_add(4) as u64);
        } else {
            self.word(size as u64 / 4, delta);
        }
        let end = self.at.saturating_add(data.len());
        if let Some(place) = self.page.get_mut(self.at..end) {
            place.copy_from_slice(data);
        }
        self.at = self.at.saturating_add(size);
        self.now = time;
        true
    }

    /// An item's first word.
    fn word(&mut self, kind: u64, delta: u64) {
        let word =
            if self.layout.abi.endian == Endian::Little { delta << 5 | kind } else { kind << DELTA_BITS | delta };
        self.put(4, word);
    }

    fn put(&mut self, len: usize, number: u64) {
        put(self.layout.abi, &mut self.page, self.at, len, number);
        self.at = self.at.saturating_add(len);
    }

    fn end_page(&mut self) {
        if self.at == 0 {
            return;
        }
        let long = usize::from(self.layout.abi.long_size);
        let flags = match self.lost {
            Lost::None => 0,
            Lost::Unknown => MISSED_EVENTS,
            Lost::Count(count) => {
                put(self.layout.abi, &mut self.page, self.at, long, count);
                MISSED_EVENTS | MISSED_STORED
            }
        };
        let commit = self.at.saturating_sub(self.layout.data_offset) as u64;
        put(self.layout.abi, &mut self.page, 8, long, flags | commit);
        self.done.append(&mut self.page);
        (self.at, self.lost) = (0, Lost::None);
    }

    /// Bytes of whole sub-buffers that wait to be taken.
    pub fn full(&self) -> usize {
        self.done.len()
    }

    /// Takes the whole sub-buffers.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.done)
    }

    /// Takes all sub-buffers, the last one as far as it is filled.
    pub fn finish(&mut self) -> Vec<u8> {
        self.end_page();
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Abi;
    use crate::file::ring_buffer::Walker;

    #[test]
    fn records_come_back_with_their_times_and_losses() {
        for endian in [Endian::Little, Endian::Big] {
            for long_size in [4, 8] {
                let layout = PageLayout { abi: Abi { endian, long_size }, data_offset: 16, size: 512 };
                let mut builder = PageBuilder::new(layout);
                let mut wanted = Vec::new();
                let mut time = 5u64;
                for number in 0..400usize {
                    // Sizes on both sides of the short form, deltas of all three kinds, times that go back.
                    let data = vec![number as u8; 4 * (number * 7 % 40)];
                    time = match number % 9 {
                        0 => time + (1 << 27),
                        1 => time + (1 << 40),
                        2 => time - 3,
                        _ => time + number as u64,
                    };
                    let lost = match number % 50 {
                        7 => Lost::Count(number as u64),
                        13 => Lost::Unknown,
                        _ => Lost::None,
                    };
                    builder.lose(lost);
                    assert!(builder.push(time, &data));
                    wanted.push((time, lost, data));
                }
                assert!(!builder.push(time, &[0; 600]));
                let pages = builder.finish();
                let mut found = Vec::new();
                for page in pages.chunks(layout.size) {
                    let header = layout.page(page).unwrap();
                    let mut lost = header.lost;
                    let mut walker = Walker::new(layout.abi, 0, &header);
                    while let Some(item) = walker.step(page).unwrap() {
                        found.push((item.timestamp, std::mem::take(&mut lost), item.bytes(page).unwrap().to_vec()));
                    }
                }
                assert_eq!(found, wanted);
            }
        }
    }
}
