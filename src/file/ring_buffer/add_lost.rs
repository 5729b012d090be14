//! Losses noted in a sub-buffer's header, as the kernel notes them.

use super::cut::put;
use super::page::{MISSED_EVENTS, MISSED_STORED};
use super::{Lost, PageError, PageLayout};

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
