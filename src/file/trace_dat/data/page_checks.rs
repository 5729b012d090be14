//! Sub-buffers that are copied, not read: what each says by itself, then whether each follows the one before.

use crate::file::ring_buffer::{PageError, PageLayout, PageMark, PageOrder, Walker};
use std::collections::VecDeque;

/// Check of a sub-buffer by itself: the records after its header, or their defect.
pub(super) struct PageCheck(Result<CheckedRun, PageError>);

struct CheckedRun {
    mark: PageMark,
    /// All its records have the time that it starts with.
    clock_stands: bool,
    /// The defect of its records.
    defect: Option<PageError>,
}

impl PageCheck {
    /// The checks of all sub-buffers of `chunk`.
    pub(super) fn of_chunk(layout: &PageLayout, chunk: &[u8]) -> impl Iterator<Item = PageCheck> {
        chunk.chunks(layout.size.max(1)).map(|data| PageCheck::of(layout, data))
    }

    fn of(layout: &PageLayout, data: &[u8]) -> PageCheck {
        PageCheck(layout.page(data).map(|page| {
            let mut last = page.timestamp;
            let walked = Walker::new(layout.abi, 0, &page).walk(data, usize::MAX, |item| last = item.timestamp);
            let clock_stands = walked.is_ok() && last == page.timestamp;
            CheckedRun { mark: PageMark::new(&page, data), clock_stands, defect: walked.err() }
        }))
    }
}

/// The sub-buffers of a CPU so far.
#[derive(Default)]
pub(super) struct PageChecks {
    order: PageOrder,
    number: u64,
}

impl PageChecks {
    /// Adds the defects of the next `pages` to `found`, with their numbers from 0.
    pub(super) fn add(&mut self, pages: impl IntoIterator<Item = PageCheck>, found: &mut VecDeque<(u64, PageError)>) {
        for PageCheck(page) in pages {
            match page {
                Ok(CheckedRun { mark, clock_stands, defect }) => {
                    let order = self.order.add(mark, self.number).err();
                    let order = order.filter(|error| !(clock_stands && *error == PageError::Repeated));
                    found.extend(order.into_iter().chain(defect).map(|error| self.defect(error)));
                }
                Err(error) => found.push_back(self.defect(error)),
            }
            self.number = self.number.saturating_add(1);
        }
    }

    /// Adds what is wrong at the end of the data.
    pub(super) fn end(&mut self, found: &mut VecDeque<(u64, PageError)>) {
        if let Err(error) = self.order.end() {
            found.push_back(self.defect(error));
        }
    }

    fn defect(&self, error: PageError) -> (u64, PageError) {
        let number = if let PageError::Hole { .. } = error { self.order.hole() } else { self.number };
        (number, error)
    }
}
