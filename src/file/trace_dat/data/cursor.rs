//! A place among a CPU's sub-buffers, and the step to the next record.

use super::batch::Batch;
use crate::file::ring_buffer::{Lost, PageError, PageLayout, PageMark, PageOrder, Walker};
use crate::file::trace_dat::{Head, Sieve};
use std::ops::Range;

/// A position in a chunk of sub-buffers. It holds no bytes: each step is given the chunk, so that a position can be
/// copied, kept, and gone on from by another reader of the same chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageCursor {
    layout: PageLayout,
    walker: Walker,
    next_page: usize,
    /// The page being walked, and the first of the next chunk.
    page: u64,
    first_page: u64,
    lost: Lost,
    order: PageOrder,
}

impl PageCursor {
    pub(crate) fn new(layout: PageLayout) -> Self {
        PageCursor {
            layout,
            walker: Walker::empty(layout.abi),
            next_page: 0,
            page: 0,
            first_page: 0,
            lost: Lost::None,
            order: PageOrder::default(),
        }
    }

    /// Goes to the start of the next chunk, which has `len` bytes.
    pub(crate) fn enter(&mut self, len: usize) {
        self.next_page = 0;
        self.walker = Walker::empty(self.layout.abi);
        self.page = self.first_page;
        self.first_page = self.first_page.saturating_add(self.layout.pages_in(len) as u64);
    }

    /// The sub-buffer being walked, from 0.
    pub(crate) fn page(&self) -> u64 {
        self.page
    }

    /// The sub-buffer that `error`, just returned, is about.
    pub(crate) fn page_of(&self, error: &PageError) -> u64 {
        if let PageError::Hole { .. } = error { self.order.hole() } else { self.page }
    }

    /// The order of the sub-buffers so far.
    pub(crate) fn order(&self) -> &PageOrder {
        &self.order
    }

    /// Ends the data.
    ///
    /// # Errors
    /// [`PageError::Hole`] if its last sub-buffers have no header.
    pub(crate) fn end(&mut self) -> Result<(), PageError> {
        self.order.end()
    }

    /// Notes that events of unknown number are missing before the next record.
    pub(crate) fn lose(&mut self) {
        self.lost = Lost::Unknown;
    }

    /// The next record in `chunk`, its time stamp uncorrected; `None` at the chunk's end.
    #[inline(always)]
    pub(crate) fn step(&mut self, chunk: &[u8]) -> Result<Option<Head>, PageError> {
        loop {
            match self.walker.step(chunk)? {
                Some(item) => {
                    let lost = std::mem::take(&mut self.lost);
                    return Ok(Some(Head { item, lost, page: self.page }));
                }
                None if self.next_page >= chunk.len() => return Ok(None),
                None => self.turn_page(chunk)?,
            }
        }
    }

    /// Puts the records that follow in the sub-buffer being walked, or in the next one that has any, into `batch`: those
    /// that pass the sieve, their time stamps uncorrected. Gives the first of them; `None` at the chunk's end.
    pub(crate) fn fill(
        &mut self,
        chunk: &[u8],
        sieve: Option<&Sieve>,
        batch: &mut Batch,
    ) -> Result<Option<Head>, PageError> {
        batch.clear();
        loop {
            let (lost, most, items) = (&mut self.lost, batch.most(), &mut batch.items);
            items.reserve(most);
            let walked = match sieve {
                None => self.walker.walk(chunk, most, |item| items.push(item)),
                Some(sieve) => self.walker.walk(chunk, most, |item| {
                    let follows_loss = || items.is_empty() && *lost != Lost::None;
                    if sieve.passes(item.bytes(chunk)) || follows_loss() {
                        items.push(item);
                    }
                }),
            };
            if !batch.items.is_empty() {
                batch.set_page(self.page);
                batch.error = walked.err();
                return Ok(batch.first(std::mem::take(&mut self.lost)));
            }
            if walked? {
                if self.next_page >= chunk.len() {
                    return Ok(None);
                }
                self.turn_page(chunk)?;
            }
        }
    }

    /// Skips the sub-buffers whose successor in `chunk` begins at a time of which `earlier` says so.
    pub(crate) fn skip_pages(
        &mut self,
        chunk: &[u8],
        headers: &PageHeaders,
        mut earlier: impl FnMut(u64) -> bool,
    ) -> Result<(), PageError> {
        let rest = headers.from(self.next_page());
        let count = rest.iter().take_while(|page| earlier(page.timestamp)).count();
        if count == 0 {
            return Ok(());
        }
        self.leave_page(chunk)?;
        self.pass(rest.get(..count.saturating_sub(1)).unwrap_or_default());
        self.turn_page(chunk)
    }

    /// Numbers of the sub-buffers of `chunk` that may hold records of the times that are neither `before` nor `after` those
    /// wanted; all of them where one is not sound, holds nothing, or begins earlier than the one before it.
    pub(crate) fn pages_within(
        &self,
        chunk: &[u8],
        before: impl Fn(u64) -> bool,
        after: impl Fn(u64) -> bool,
    ) -> Range<usize> {
        let (size, mut latest) = (self.layout.size.max(1), 0);
        let (mut first, mut end, mut count) = (0, None, 0usize);
        for (number, data) in chunk.chunks(size).enumerate() {
            count = number.saturating_add(1);
            let page = self.layout.page(data).ok().filter(|page| page.start < page.end && page.timestamp >= latest);
            let Some(page) = page else { return 0..usize::MAX };
            latest = page.timestamp;
            if before(latest) {
                first = number; // those before it end no later than it begins
            } else if after(latest) {
                end = end.or(Some(number));
            }
        }
        first..end.unwrap_or(count).max(first)
    }

    /// Leaves out the first `count` sub-buffers of the chunk that was just entered, which is given without them from now on.
    pub(crate) fn start_at(&mut self, count: usize) {
        self.page = self.page.saturating_add(count as u64);
        if count > 0 {
            self.lost = Lost::None;
        }
    }

    /// Skips all that is left of `chunk`.
    pub(crate) fn skip_chunk(&mut self, chunk: &[u8], headers: &PageHeaders) -> Result<(), PageError> {
        self.leave_page(chunk)?;
        self.pass(headers.from(self.next_page()));
        self.walker = Walker::empty(self.layout.abi);
        Ok(())
    }

    /// Losses are reported with the next record: one that is skipped takes them along.
    fn leave_page(&mut self, chunk: &[u8]) -> Result<(), PageError> {
        if self.walker.step(chunk)?.is_some() {
            self.lost = Lost::None;
        }
        Ok(())
    }

    /// Goes past whole sub-buffers, those that follow.
    fn pass(&mut self, pages: &[PageHeader]) {
        for page in pages {
            self.count_page();
            // They are in order, or the headers would not be used.
            let _ = self.order.add(page.mark, self.page);
            self.lost = if page.empty { self.lost.plus(page.lost) } else { Lost::None };
        }
    }

    fn count_page(&mut self) {
        if self.next_page > 0 {
            self.page = self.page.saturating_add(1);
        }
        self.next_page = self.next_page.saturating_add(self.layout.size);
    }

    /// Index of the chunk's sub-buffer that follows the one being walked.
    pub(crate) fn next_page(&self) -> usize {
        self.next_page.checked_div(self.layout.size).unwrap_or_default()
    }

    /// Layout of the sub-buffers.
    pub(crate) fn layout(&self) -> PageLayout {
        self.layout
    }

    #[inline(never)]
    fn turn_page(&mut self, chunk: &[u8]) -> Result<(), PageError> {
        let base = self.next_page;
        self.count_page();
        let cut = PageError::Cut { len: 0, wanted: self.layout.size };
        let page = chunk.get(base..).ok_or(cut).and_then(|data| Ok((self.layout.page(data)?, data)));
        match page {
            Ok((page, data)) => {
                self.walker = Walker::new(self.layout.abi, base, &page);
                self.lost = self.lost.plus(page.lost);
                self.order.add_page(&self.layout, &page, data, self.page)
            }
            Err(source) => {
                self.walker = Walker::empty(self.layout.abi);
                Err(source)
            }
        }
    }
}

// Page headers of a chunk, parsed by the thread that unpacked it, while cache-hot.

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
