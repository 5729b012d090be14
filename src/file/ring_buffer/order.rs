//! The order of a CPU's sub-buffers: time does not go back from one to the next, none repeats, none is missing its header.
//!
//! The kernel starts each sub-buffer with the time of its first event, or of the last one before (a sub-buffer that was read
//! while it was being written: then two of them may start at the same time). It never gives one away that holds nothing, so
//! a header of zeros is a hole: a block that was never written or was lost.
//!
//! A clock may stand: where the kernel takes its time stamp counter for unstable, `sched_clock` does not run past the next
//! tick, and when that is late, sub-buffers fill within one reading. Such ones may look alike without being the same.

use super::{Page, PageError, PageLayout, Walker};

/// A sub-buffer's header and the ends of its items: enough to tell it from its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageMark {
    /// The time stamp it starts with, uncorrected.
    timestamp: u64,
    /// Bytes of items.
    len: usize,
    /// Sum of their words. Records of one size are alike at their ends while the clock stands, so all of them count.
    sum: u64,
}

impl PageMark {
    /// The mark of the sub-buffer that starts `data`.
    #[inline]
    pub fn new(page: &Page, data: &[u8]) -> Self {
        let items = data.get(page.start..page.end).unwrap_or_default();
        let (words, rest) = items.as_chunks();
        let rest = rest.first_chunk().map_or(0, |half| u64::from(u32::from_ne_bytes(*half)));
        let sum = words.iter().fold(rest, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
        PageMark { timestamp: page.timestamp, len: items.len(), sum }
    }

    fn is_zero(&self) -> bool {
        self.timestamp == 0 && self.len == 0
    }
}

/// The sub-buffers seen so far, as far as the next one is compared with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageOrder {
    first: Option<PageMark>,
    last: Option<PageMark>,
    /// Sub-buffers without a header since `last`, and the number of the first of them.
    zeros: u64,
    hole: u64,
}

impl PageOrder {
    /// Adds the next sub-buffer, which is number `number`.
    ///
    /// # Errors
    /// [`PageError::Hole`], [`PageError::Backwards`], [`PageError::Repeated`]. The sub-buffer is added all the same.
    #[inline]
    pub fn add(&mut self, page: PageMark, number: u64) -> Result<(), PageError> {
        if page.len == 0 {
            if page.is_zero() {
                self.hole = if self.zeros == 0 { number } else { self.hole };
                self.zeros = self.zeros.saturating_add(1);
            }
            return Ok(());
        }
        let before = self.last.replace(page);
        self.first = self.first.or(self.last);
        self.end()?;
        match before {
            Some(before) => before.precedes(&page),
            None => Ok(()),
        }
    }

    /// Adds the sub-buffer that starts `data`, which is number `number`; one in which the clock stands repeats none.
    ///
    /// # Errors
    /// As [`PageOrder::add`].
    #[inline]
    pub fn add_page(&mut self, layout: &PageLayout, page: &Page, data: &[u8], number: u64) -> Result<(), PageError> {
        match self.add(PageMark::new(page, data), number) {
            Err(PageError::Repeated) if clock_stands(layout, page, data) => Ok(()),
            added => added,
        }
    }

    /// Ends a hole.
    ///
    /// # Errors
    /// [`PageError::Hole`] if the last sub-buffers had no header.
    #[inline]
    pub fn end(&mut self) -> Result<(), PageError> {
        match std::mem::take(&mut self.zeros) {
            0 => Ok(()),
            pages => Err(PageError::Hole { pages }),
        }
    }

    /// The number of the first sub-buffer of the last hole.
    pub fn hole(&self) -> u64 {
        self.hole
    }

    /// True if the sub-buffers end with a hole.
    pub fn is_open(&self) -> bool {
        self.zeros > 0
    }

    /// True if the sub-buffers of `next` can follow these.
    pub fn precedes(&self, next: &PageOrder) -> bool {
        match (&self.last, &next.first) {
            (Some(last), Some(first)) => last.precedes(first).is_ok(),
            _ => true,
        }
    }
}

impl PageMark {
    #[inline]
    fn precedes(&self, next: &PageMark) -> Result<(), PageError> {
        if next.timestamp > self.timestamp {
            return Ok(());
        }
        match self.timestamp.checked_sub(next.timestamp) {
            Some(0) if self != next => Ok(()),
            Some(0) => Err(PageError::Repeated),
            by => Err(PageError::Backwards { by: by.unwrap_or(0) }),
        }
    }
}

/// True if all records of the sub-buffer that starts `data` have the time that it starts with.
#[cold]
fn clock_stands(layout: &PageLayout, page: &Page, data: &[u8]) -> bool {
    let mut last = page.timestamp;
    let walked = Walker::new(layout.abi, 0, page).walk(data, usize::MAX, |item| last = item.timestamp);
    walked.is_ok() && last == page.timestamp
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(timestamp: u64, len: usize) -> PageMark {
        PageMark { timestamp, len, ..PageMark::default() }
    }

    fn errors(pages: &[PageMark]) -> Vec<(u64, PageError)> {
        let mut order = PageOrder::default();
        let mut found = Vec::new();
        for (page, number) in pages.iter().zip(0..) {
            let error = order.add(*page, number).err();
            found.extend(
                error.map(|error| (if let PageError::Hole { .. } = error { order.hole() } else { number }, error)),
            );
        }
        found.extend(order.end().err().map(|error| (order.hole(), error)));
        found
    }

    #[test]
    fn what_does_not_follow_is_named() {
        assert_eq!(errors(&[mark(5, 40), mark(5, 44), mark(9, 0), mark(7, 40)]), []);
        assert_eq!(
            errors(&[mark(5, 40), mark(9, 40), mark(7, 40), mark(8, 40)]),
            [(2, PageError::Backwards { by: 2 })]
        );
        assert_eq!(errors(&[mark(5, 40), mark(5, 40), mark(6, 40)]), [(1, PageError::Repeated)]);
        let zero = mark(0, 0);
        let holes = errors(&[zero, mark(5, 40), zero, zero, mark(6, 40), zero]);
        let hole = |at, pages| (at, PageError::Hole { pages });
        assert_eq!(holes, [hole(0, 1), hole(2, 2), hole(5, 1)]);
    }

    #[test]
    fn parts_follow_each_other_as_their_pages_do() {
        let part = |pages: &[PageMark]| {
            let mut order = PageOrder::default();
            pages.iter().zip(0..).for_each(|(page, number)| order.add(*page, number).unwrap());
            order
        };
        let (early, late) = (part(&[mark(5, 40), mark(9, 40)]), part(&[mark(9, 44), mark(11, 40)]));
        assert!(early.precedes(&late) && !late.precedes(&early) && early.precedes(&part(&[])));
        assert!(part(&[mark(5, 40), mark(0, 0)]).is_open() && !early.is_open());
    }
}
