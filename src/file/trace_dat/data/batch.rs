//! Records found ahead of their turn.

use crate::file::ring_buffer::Lost;
use crate::file::ring_buffer::{PageError, RecordPlace};

/// A record's place in the stream's current chunk.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Time and place.
    pub item: RecordPlace,
    /// Events missing just before: dropped by the kernel, or in a damaged place of the file, whose number is unknown.
    pub lost: Lost,
    /// Index of its sub-buffer among those of the CPU.
    pub page: u64,
}

/// Records of one sub-buffer, found in one go: walking a page item by item, with its state in registers, takes half as
/// long as coming back to it for each record.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(in crate::file::trace_dat) items: Vec<RecordPlace>,
    next: usize,
    /// The sub-buffer they are in, from 0.
    page: u64,
    /// The error after them.
    pub(in crate::file::trace_dat) error: Option<PageError>,
    most: usize,
}

/// Limit of the records in a batch of few streams.
const MOST: usize = 128;
/// The same of very many streams.
const LEAST: usize = 32;
/// Limit of the records in the batches of all merged streams, unless these are very many: they stay in a core's cache.
const MOST_IN_ALL: usize = 4096;

impl Default for Batch {
    fn default() -> Self {
        Batch { items: Vec::new(), next: 0, page: 0, error: None, most: MOST }
    }
}

impl Batch {
    /// An empty batch for one of `streams` that are merged.
    pub(crate) fn among(streams: usize) -> Self {
        let most = MOST_IN_ALL.checked_div(streams).unwrap_or(MOST).clamp(LEAST, MOST);
        Batch { most, ..Batch::default() }
    }

    /// Limit of its records.
    pub(in crate::file::trace_dat) fn most(&self) -> usize {
        self.most
    }

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
        self.next = self.next.wrapping_add(1); // at most the number of items
        Some(Head { item, lost: Lost::None, page: self.page })
    }

    /// The next record, if it is earlier than `limit`.
    #[inline(always)]
    pub(crate) fn next_before(&mut self, limit: u64) -> Option<Head> {
        let item = *self.items.get(self.next)?;
        if item.timestamp >= limit {
            return None;
        }
        self.next = self.next.wrapping_add(1); // at most the number of items
        Some(Head { item, lost: Lost::None, page: self.page })
    }

    /// The record given last and those after it.
    #[inline]
    pub(crate) fn rest(&self) -> &[RecordPlace] {
        self.next.checked_sub(1).and_then(|last| self.items.get(last..)).unwrap_or_default()
    }

    /// Gives up to `count` records at once; the last of them, if there were that many.
    #[inline]
    pub(crate) fn advance_by(&mut self, count: usize) -> Option<Head> {
        let item = *self.items.get(self.next.checked_add(count)?.checked_sub(1)?)?;
        self.next = self.next.saturating_add(count);
        Some(Head { item, lost: Lost::None, page: self.page })
    }

    /// True if it holds no record, given or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The first record, before which `lost` events were dropped.
    pub(in crate::file::trace_dat) fn first(&mut self, lost: Lost) -> Option<Head> {
        let item = *self.items.first()?;
        self.next = 1;
        Some(Head { item, lost, page: self.page })
    }

    /// Says where its records are from.
    pub(in crate::file::trace_dat) fn set_page(&mut self, page: u64) {
        self.page = page;
    }

    /// Cuts off the records from the first on for which `is_end` holds, with the error after them, and gives that
    /// record.
    pub(crate) fn cut(&mut self, is_end: impl Fn(&RecordPlace) -> bool) -> Option<RecordPlace> {
        let (end, item) = self.items.iter().copied().enumerate().find(|(_, item)| is_end(item))?;
        self.items.truncate(end);
        self.error = None;
        Some(item)
    }

    /// Notes what is wrong after its records.
    pub(crate) fn end_with(&mut self, error: PageError) {
        self.error = Some(error);
    }

    /// Takes what is wrong after its records.
    pub(crate) fn take_error(&mut self) -> Option<PageError> {
        self.error.take()
    }

    /// Its records, to correct their times.
    pub(crate) fn items_mut(&mut self) -> &mut [RecordPlace] {
        &mut self.items
    }

    /// Its records, given or not.
    pub(crate) fn items(&self) -> &[RecordPlace] {
        &self.items
    }
}
