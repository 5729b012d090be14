//! A place among a CPU's sub-buffers, and the step to the next record.

use super::batch::Batch;
use super::page_headers::{Outline, Page};
use crate::ring_buffer::Lost;
use crate::ring_buffer::{PageError, PageLayout, Walker};
use crate::trace_dat::{Head, Sieve};

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
}

impl PageCursor {
    pub(crate) fn new(layout: PageLayout) -> Self {
        PageCursor { layout, walker: Walker::empty(layout.abi), next_page: 0, page: 0, first_page: 0, lost: Lost::None }
    }

    /// Goes to the start of the next chunk, which has `len` bytes.
    pub(crate) fn enter(&mut self, len: usize) {
        self.next_page = 0;
        self.walker = Walker::empty(self.layout.abi);
        self.page = self.first_page;
        self.first_page += len.div_ceil(self.layout.size) as u64;
    }

    /// The sub-buffer being walked, from 0.
    pub(crate) fn page(&self) -> u64 {
        self.page
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
            let (lost, items) = (&mut self.lost, &mut batch.items);
            items.reserve(Batch::MOST);
            let walked = match sieve {
                None => self.walker.walk(chunk, Batch::MOST, |item| items.push(item)),
                Some(sieve) => self.walker.walk(chunk, Batch::MOST, |item| {
                    if sieve.passes(chunk.get(item.start..item.start + item.len)) {
                        items.push(item);
                    } else if items.is_empty() {
                        *lost = Lost::None; // told with the record that is dropped
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
        outline: &Outline,
        mut earlier: impl FnMut(u64) -> bool,
    ) -> Result<(), PageError> {
        let rest = outline.from(self.next_page / self.layout.size);
        let count = rest.iter().take_while(|page| earlier(page.timestamp)).count();
        if count == 0 {
            return Ok(());
        }
        self.leave_page(chunk)?;
        self.pass(&rest[..count - 1]);
        self.turn_page(chunk)
    }

    /// Skips all that is left of `chunk`.
    pub(crate) fn skip_chunk(&mut self, chunk: &[u8], outline: &Outline) -> Result<(), PageError> {
        self.leave_page(chunk)?;
        self.pass(outline.from(self.next_page / self.layout.size));
        self.walker = Walker::empty(self.layout.abi);
        Ok(())
    }

    /// Losses are told with the next record: one that is skipped takes them along.
    fn leave_page(&mut self, chunk: &[u8]) -> Result<(), PageError> {
        if self.walker.step(chunk)?.is_some() {
            self.lost = Lost::None;
        }
        Ok(())
    }

    /// Goes past whole sub-buffers, those that follow.
    fn pass(&mut self, pages: &[Page]) {
        for page in pages {
            self.count_page();
            self.lost = if page.empty { add(self.lost, page.lost) } else { Lost::None };
        }
    }

    fn count_page(&mut self) {
        if self.next_page > 0 {
            self.page += 1;
        }
        self.next_page = self.next_page.saturating_add(self.layout.size);
    }

    /// Which of the chunk's sub-buffers follows the one being walked.
    pub(crate) fn next_page(&self) -> usize {
        self.next_page / self.layout.size.max(1)
    }

    /// How the sub-buffers are laid out.
    pub(crate) fn layout(&self) -> PageLayout {
        self.layout
    }

    #[inline(never)]
    fn turn_page(&mut self, chunk: &[u8]) -> Result<(), PageError> {
        let base = self.next_page;
        self.count_page();
        let cut = PageError::Cut { len: 0, wanted: self.layout.size };
        match chunk.get(base..).ok_or(cut).and_then(|data| self.layout.page(data)) {
            Ok(page) => {
                self.walker = Walker::new(self.layout.abi, base, &page);
                self.lost = add(self.lost, page.lost);
                Ok(())
            }
            Err(source) => {
                self.walker = Walker::empty(self.layout.abi);
                Err(source)
            }
        }
    }
}

/// Losses before pages that held no record add up.
fn add(a: Lost, b: Lost) -> Lost {
    match (a, b) {
        (Lost::None, other) | (other, Lost::None) => other,
        (Lost::Count(a), Lost::Count(b)) => Lost::Count(a.saturating_add(b)),
        _ => Lost::Unknown,
    }
}
