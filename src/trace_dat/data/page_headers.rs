//! What the headers of a chunk's sub-buffers say, taken down while they are in the cache of whoever unpacked them.

use crate::ring_buffer::Lost;
use crate::ring_buffer::{PageError, PageLayout, Walker};

/// A chunk's sub-buffers, one after the other.
pub(crate) struct Outline(Vec<Page>);

/// One sub-buffer.
#[derive(Clone, Copy)]
pub(in crate::trace_dat) struct Page {
    /// The time stamp it begins at, uncorrected.
    pub(in crate::trace_dat) timestamp: u64,
    /// What was lost before it.
    pub(in crate::trace_dat) lost: Lost,
    /// Whether it holds no record.
    pub(in crate::trace_dat) empty: bool,
}

impl Outline {
    /// Of `chunk`, whose sub-buffers are laid out so.
    ///
    /// # Errors
    /// [`PageError`] if the start of a sub-buffer is damaged.
    pub(crate) fn of(layout: &PageLayout, chunk: &[u8]) -> Result<Self, PageError> {
        let page = |base: usize| {
            let head = layout.page(&chunk[base..])?;
            let first = Walker::new(layout.abi, base, &head).step(chunk)?;
            Ok(Page { timestamp: head.timestamp, lost: head.lost, empty: first.is_none() })
        };
        (0..chunk.len()).step_by(layout.size.max(1)).map(page).collect::<Result<_, _>>().map(Outline)
    }

    /// When the sub-buffers from number `first` on begin, uncorrected.
    pub(crate) fn starts(&self, first: usize) -> impl Iterator<Item = u64> {
        self.from(first).iter().map(|page| page.timestamp)
    }

    /// The sub-buffers from number `first` on.
    pub(in crate::trace_dat) fn from(&self, first: usize) -> &[Page] {
        self.0.get(first..).unwrap_or_default()
    }
}
