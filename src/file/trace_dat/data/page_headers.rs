//! Page headers of a chunk, parsed by the thread that unpacked it, while cache-hot.

use crate::file::ring_buffer::Lost;
use crate::file::ring_buffer::{PageError, PageLayout, Walker};
use crate::file::ring_buffer::{PageMark, PageOrder};

/// A chunk's sub-buffers, one after the other.
pub(crate) struct PageHeaders(Vec<PageHeader>);

/// One sub-buffer.
#[derive(Clone, Copy)]
pub(in crate::file::trace_dat) struct PageHeader {
    /// The time stamp it begins at, uncorrected.
    pub(in crate::file::trace_dat) timestamp: u64,
    /// Events lost before it.
    pub(in crate::file::trace_dat) lost: Lost,
    /// True if it holds no record.
    pub(in crate::file::trace_dat) empty: bool,
    /// The mark that distinguishes it from its neighbours.
    pub(in crate::file::trace_dat) mark: PageMark,
}

impl PageHeaders {
    /// Of `chunk`, whose sub-buffers are laid out so.
    ///
    /// # Errors
    /// [`PageError`] if the start of a sub-buffer is damaged.
    pub(crate) fn of(layout: &PageLayout, chunk: &[u8]) -> Result<Self, PageError> {
        let page = |base: usize| {
            let data = chunk.get(base..).unwrap_or_default();
            let head = layout.page(data)?;
            let mark = PageMark::new(&head, data);
            let first = Walker::new(layout.abi, base, &head).step(chunk)?;
            Ok(PageHeader { timestamp: head.timestamp, lost: head.lost, empty: first.is_none(), mark })
        };
        (0..chunk.len()).step_by(layout.size.max(1)).map(page).collect::<Result<_, _>>().map(PageHeaders)
    }

    /// Times of the sub-buffers from number `first` on, uncorrected.
    pub(crate) fn starts(&self, first: usize) -> impl Iterator<Item = u64> {
        self.from(first).iter().map(|page| page.timestamp)
    }

    /// Adds the sub-buffers to `order`; `false` if they do not follow those before them, or one has no header.
    pub(crate) fn is_in_order(&self, order: &mut PageOrder) -> bool {
        self.0.iter().all(|page| order.add(page.mark, 0).is_ok()) && !order.is_open()
    }

    /// The sub-buffers from number `first` on.
    pub(in crate::file::trace_dat) fn from(&self, first: usize) -> &[PageHeader] {
        self.0.get(first..).unwrap_or_default()
    }
}
