//! Records of one CPU that wait for their turn.

use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::{PageError, PageLayout, Walker};
use crate::kernel::event::{Lost, Record};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// One CPU's events, in their order.
pub(super) struct CpuQueue {
    pub(super) buffer: usize,
    cpu: CpuId,
    layout: PageLayout,
    events: VecDeque<WaitingPage>,
    /// Losses that are reported with the next event.
    lost: Lost,
    /// The latest event taken in.
    pub(super) latest: u64,
    /// More is known to come, from after the latest.
    pub(super) unfinished: bool,
}

struct WaitingPage {
    time: u64,
    lost: Lost,
    page: Arc<[u8]>,
    place: Range<usize>,
}

impl CpuQueue {
    pub(super) fn new(buffer: usize, cpu: CpuId, layout: PageLayout) -> Self {
        let events = VecDeque::new();
        CpuQueue { buffer, cpu, layout, events, lost: Lost::None, latest: 0, unfinished: false }
    }

    /// Takes in a sub-buffer; gives what is wrong with it, if anything is.
    pub(super) fn page(&mut self, page: &[u8]) -> Result<(), PageError> {
        // The kernel fills up what it gives to a whole sub-buffer, or hands out less.
        let mut whole = page.to_vec();
        whole.resize(self.layout.size, 0);
        let page: Arc<[u8]> = whole.into();
        let header = self.layout.page(&page)?;
        if header.lost != Lost::None {
            self.lost = header.lost;
        }
        let mut walker = Walker::new(self.layout.abi, 0, &header);
        while let Some(item) = walker.step(&page)? {
            self.latest = self.latest.max(item.timestamp);
            self.events.push_back(WaitingPage {
                time: item.timestamp,
                lost: std::mem::take(&mut self.lost),
                page: Arc::clone(&page),
                place: item.range(),
            });
        }
        Ok(())
    }

    pub(super) fn first_time(&self) -> Option<u64> {
        self.events.front().map(|event| event.time)
    }

    /// The event that waits at place `at`.
    pub(super) fn get(&self, at: usize) -> Option<Record<'_>> {
        let event = self.events.get(at)?;
        Some(Record {
            timestamp: Timestamp(event.time),
            cpu: self.cpu,
            buffer: self.buffer,
            lost: event.lost,
            data: event.page.get(event.place.clone()).unwrap_or_default(),
        })
    }

    /// Takes the event at place `at` out.
    pub(super) fn remove(&mut self, at: usize) {
        self.events.remove(at);
    }
}
