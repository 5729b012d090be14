//! Records found ahead of their turn.

use crate::ring_buffer::Lost;
use crate::ring_buffer::{Item, PageError};

/// A record's place in the stream's current chunk.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Time and place.
    pub item: Item,
    /// Events that the kernel dropped just before.
    pub lost: Lost,
    /// Which of the CPU's sub-buffers holds it, from 0.
    pub page: u64,
}

/// Records of one sub-buffer, found in one go: walking a page item by item, with its state in registers, takes half as
/// long as coming back to it for each record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub(in crate::trace_dat) items: Vec<Item>,
    next: usize,
    /// The sub-buffer they are in, from 0.
    page: u64,
    /// What is wrong behind them.
    pub(in crate::trace_dat) error: Option<PageError>,
}

impl Batch {
    /// How many records a batch holds at most: whoever merges many streams should not need more memory for these than
    /// for the data.
    pub(in crate::trace_dat) const MOST: usize = 128;

    /// Forgets what it holds.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.next = 0;
        self.error = None;
    }

    /// The next record, unless it is the first or there is none.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Head> {
        let item = *self.items.get(self.next)?;
        self.next += 1;
        Some(Head { item, lost: Lost::None, page: self.page })
    }

    /// The next record, if it is earlier than `limit`.
    #[inline(always)]
    pub(crate) fn next_before(&mut self, limit: u64) -> Option<Head> {
        let item = *self.items.get(self.next)?;
        if item.timestamp >= limit {
            return None;
        }
        self.next += 1;
        Some(Head { item, lost: Lost::None, page: self.page })
    }

    /// The record given last and those behind it.
    #[inline]
    pub(crate) fn rest(&self) -> &[Item] {
        self.next.checked_sub(1).and_then(|last| self.items.get(last..)).unwrap_or_default()
    }

    /// Gives up to `count` records at once; the last of them, if there were that many.
    #[inline]
    pub(crate) fn give(&mut self, count: usize) -> Option<Head> {
        let item = *self.items.get((self.next + count).checked_sub(1)?)?;
        self.next += count;
        Some(Head { item, lost: Lost::None, page: self.page })
    }

    /// Whether it holds no record, given or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The first record, before which `lost` events were dropped.
    pub(in crate::trace_dat) fn first(&mut self, lost: Lost) -> Option<Head> {
        let item = *self.items.first()?;
        self.next = 1;
        Some(Head { item, lost, page: self.page })
    }

    /// Says where its records are from.
    pub(in crate::trace_dat) fn set_page(&mut self, page: u64) {
        self.page = page;
    }

    /// Cuts off the records from the first on for which `is_end` holds, with the error behind them, and gives that
    /// record.
    pub(crate) fn cut(&mut self, is_end: impl Fn(&Item) -> bool) -> Option<Item> {
        let end = self.items.iter().position(is_end)?;
        let item = self.items[end];
        self.items.truncate(end);
        self.error = None;
        Some(item)
    }

    /// Notes what is wrong behind its records.
    pub(crate) fn end_with(&mut self, error: PageError) {
        self.error = Some(error);
    }

    /// Takes what is wrong behind its records.
    pub(crate) fn take_error(&mut self) -> Option<PageError> {
        self.error.take()
    }

    /// Its records, to correct their times.
    pub(crate) fn items_mut(&mut self) -> &mut [Item] {
        &mut self.items
    }

    /// Its records, given or not.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }
}
