//! A part of one sub-buffer as a sub-buffer of its own.
//! Losses noted in a sub-buffer's header, as the kernel notes them.

use super::page::{COMMIT_MASK, MISSED_EVENTS, MISSED_STORED};
use super::{Lost, PageError, PageLayout, Walker};
use crate::base::abi::{Abi, Endian};
use std::ops::Range;

impl PageLayout {
    /// The records `keep` (counted from 0) of the sub-buffer in `page`, with the time stamps they have: what comes before
    /// them is left out and the first of them starts the new sub-buffer's time. Losses that the sub-buffer reports stay with
    /// its first record. `None` if there are no such records.
    ///
    /// # Errors
    /// [`PageError`] if the sub-buffer cannot be walked.
    pub fn cut(&self, page: &[u8], keep: Range<u64>) -> Result<Option<Vec<u8>>, PageError> {
        let header = self.page(page)?;
        if keep.is_empty() {
            return Ok(None);
        }
        let mut walker = Walker::new(self.abi, 0, &header);
        let (mut number, mut before) = (0u64, header.start);
        let mut first = None; // where the first record kept starts, and its time
        let mut end = header.start;
        let mut more = false;
        while let Some(item) = walker.step(page)? {
            let after = item.range().end;
            if number == keep.start {
                let start = if number == 0 { header.start } else { item_start(self.abi, page, before, item.start()) };
                first = Some((start, if number == 0 { header.timestamp } else { item.timestamp }));
            }
            if keep.contains(&number) {
                end = after;
            } else if number >= keep.end {
                more = true;
                break;
            }
            before = after;
            number = number.saturating_add(1);
        }
        let Some((start, timestamp)) = first else { return Ok(None) };
        if !more && number > keep.start {
            end = header.end; // with whatever stands after the last record
        }
        let items = page.get(start..end).unwrap_or_default();
        let long = usize::from(self.abi.long_size);
        let word = self.abi.uint(page, 8, long).unwrap_or(0);
        let flags = if start == header.start { word & !COMMIT_MASK } else { 0 };
        let mut new = vec![0; self.size];
        put(self.abi, &mut new, 0, 8, timestamp);
        put(self.abi, &mut new, 8, long, flags | items.len() as u64);
        let data = self.data_offset;
        let data_end = data.saturating_add(items.len());
        if let Some(room) = new.get_mut(data..data_end) {
            room.copy_from_slice(items);
        }
        if start != header.start {
            without_delta(self.abi, &mut new, data);
        }
        if flags & MISSED_STORED != 0
            && let Some(count) = self.abi.uint(page, header.end, long)
        {
            put(self.abi, &mut new, data_end, long, count);
        }
        Ok(Some(new))
    }
}

/// Start of the item whose record starts at `record`; before it, from `at` on, are only items without a record.
fn item_start(abi: Abi, page: &[u8], mut at: usize, record: usize) -> usize {
    while at < record {
        let word = abi.uint(page, at, 4).unwrap_or(0) as u32;
        let kind = if abi.endian == Endian::Little { word & 31 } else { word >> 27 };
        let size = match kind {
            29 => abi.uint(page, at.saturating_add(4), 4).unwrap_or(0).saturating_add(4) as usize,
            30 | 31 => 8,
            _ => return at,
        };
        at = at.saturating_add(size);
    }
    record
}

/// Sets the time delta of the item at `at` to nothing.
fn without_delta(abi: Abi, page: &mut [u8], at: usize) {
    let word = abi.uint(page, at, 4).unwrap_or(0) as u32;
    let kind = if abi.endian == Endian::Little { word & 31 } else { word & 0xf800_0000 };
    put(abi, page, at, 4, kind.into());
}

/// Writes the low `len` bytes of `n` at `at`, if there is room.
pub(super) fn put(abi: Abi, page: &mut [u8], at: usize, len: usize, n: u64) {
    let Some(room) = page.get_mut(at..).and_then(|rest| rest.get_mut(..len)) else { return };
    let low = n.to_le_bytes();
    let low = low.iter().take(len);
    match abi.endian {
        Endian::Little => room.iter_mut().zip(low).for_each(|(to, byte)| *to = *byte),
        Endian::Big => room.iter_mut().zip(low.rev()).for_each(|(to, byte)| *to = *byte),
    }
}

impl PageLayout {
    /// Adds `lost` to the events dropped just before the sub-buffer in `data`. Their number is stored if there is room after
    /// the items, as by the kernel.
    ///
    /// # Errors
    /// As [`PageLayout::page`]; `data` is unchanged then.
    pub fn add_lost(&self, data: &mut [u8], lost: Lost) -> Result<(), PageError> {
        let page = self.page(data)?;
        let long = usize::from(self.abi.long_size);
        let sum = page.lost.plus(lost);
        let has_room = self.size.saturating_sub(page.end) >= long;
        let flags = match sum {
            Lost::None => 0,
            Lost::Count(count) if has_room => {
                put(self.abi, data, page.end, long, count);
                MISSED_EVENTS | MISSED_STORED
            }
            Lost::Count(_) | Lost::Unknown => MISSED_EVENTS,
        };
        let word = self.abi.uint(data, 8, long).unwrap_or(0) & !(MISSED_EVENTS | MISSED_STORED);
        put(self.abi, data, 8, long, word | flags);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::{Abi, Endian};

    fn layout(endian: Endian) -> PageLayout {
        PageLayout { abi: Abi { endian, long_size: 8 }, data_offset: 16, size: 128 }
    }

    /// A sub-buffer of four records of 4, 4, 200 and 8 bytes' worth of kinds, with a time extend and an absolute stamp
    /// between them, and a count of lost events after.
    fn page(layout: &PageLayout) -> Vec<u8> {
        let abi = layout.abi;
        let word =
            |kind: u32, delta: u32| if abi.endian == Endian::Little { delta << 5 | kind } else { kind << 27 | delta };
        let mut words: Vec<u32> = vec![word(1, 10), 0xa0];
        words.extend([word(30, 5), 1]); // 5 + (1 << 27)
        words.extend([word(1, 7), 0xa1]);
        words.extend([word(0, 3), 16, 0xa2, 0xb2, 0xc2]); // long form: 12 bytes
        words.extend([word(2, 1), 0xa3, 0xb3]);
        let mut page = vec![0; layout.size];
        put(abi, &mut page, 0, 8, 1000);
        put(abi, &mut page, 8, 8, (words.len() * 4) as u64 | 3 << 30);
        for (i, word) in words.iter().enumerate() {
            put(abi, &mut page, 16 + 4 * i, 4, (*word).into());
        }
        put(abi, &mut page, 16 + 4 * words.len(), 8, 77);
        page
    }

    fn records(layout: &PageLayout, page: &[u8]) -> (crate::file::ring_buffer::Lost, Vec<(u64, Vec<u8>)>) {
        let header = layout.page(page).unwrap();
        let mut walker = Walker::new(layout.abi, 0, &header);
        let mut found = Vec::new();
        while let Some(item) = walker.step(page).unwrap() {
            found.push((item.timestamp, page[item.range()].to_vec()));
        }
        (header.lost, found)
    }

    #[test]
    fn every_part_has_the_records_and_their_times() {
        use crate::file::ring_buffer::Lost;
        for endian in [Endian::Little, Endian::Big] {
            let layout = layout(endian);
            let page = page(&layout);
            let (lost, all) = records(&layout, &page);
            assert_eq!((lost, all.len()), (Lost::Count(77), 4));
            for from in 0..5u64 {
                for to in from..6 {
                    let cut = layout.cut(&page, from..to).unwrap();
                    let wanted = all.get(from as usize..(to as usize).min(4)).unwrap_or_default();
                    match cut {
                        None => assert!(from >= 4 || wanted.is_empty(), "{from}..{to}"),
                        Some(cut) => {
                            let (lost, found) = records(&layout, &cut);
                            assert_eq!(found, wanted, "{from}..{to}");
                            assert_eq!(lost, if from == 0 { Lost::Count(77) } else { Lost::None });
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn losses_are_added_as_the_kernel_stores_them() {
        for endian in [Endian::Little, Endian::Big] {
            let layout = PageLayout { abi: Abi { endian, long_size: 8 }, data_offset: 16, size: 64 };
            let mut page = [0u8; 64];
            put(layout.abi, &mut page, 8, 8, 32);
            let mut add = |lost, len: u64| {
                let flags = layout.abi.uint(&page, 8, 8).unwrap() & !0xff;
                put(layout.abi, &mut page, 8, 8, flags | len);
                layout.add_lost(&mut page, lost).unwrap();
                let read = layout.page(&page).unwrap();
                assert_eq!(read.end, 16 + len as usize);
                read.lost
            };
            assert_eq!(add(Lost::None, 32), Lost::None);
            assert_eq!(add(Lost::Count(7), 32), Lost::Count(7));
            assert_eq!(add(Lost::Count(70), 32), Lost::Count(77));
            assert_eq!(add(Lost::None, 32), Lost::Count(77));
            assert_eq!(add(Lost::Unknown, 32), Lost::Unknown);
            page = [0; 64];
            let mut add = |len: u64| {
                put(layout.abi, &mut page, 8, 8, len);
                layout.add_lost(&mut page, Lost::Count(3)).unwrap();
                layout.page(&page).unwrap().lost
            };
            assert_eq!((add(40), add(41), add(48)), (Lost::Count(3), Lost::Unknown, Lost::Unknown), "room for 8 bytes");
            assert!(layout.add_lost(&mut page[..63], Lost::Unknown).is_err());
        }
    }
}
