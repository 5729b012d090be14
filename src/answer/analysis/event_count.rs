//! The number of some events.

use super::InOrder;
use super::cells::{CellPlan, Cells};
use super::chosen::Chosen;
use super::pairs::Spot;
use crate::kernel::event::Record;

/// Counts events; an [`Analysis`](super::Analysis).
#[derive(Clone, Debug)]
pub struct EventCount<'a> {
    events: Chosen<'a, ()>,
    limit: u64,
    found: EventCounts,
}

/// The number of some events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Number of events.
    pub count: u64,
    /// The first one that is beyond the limit.
    pub beyond: Option<Spot>,
    /// By cell, if they were asked for so.
    pub cells: Option<Cells>,
}

impl<'a> EventCount<'a> {
    /// Counts `events` and notes the first one after `limit` of them.
    pub fn new(events: Chosen<'a, ()>, limit: u64) -> Self {
        EventCount { events, limit, found: EventCounts::default() }
    }

    /// The events until now.
    pub fn so_far(&self) -> &EventCounts {
        &self.found
    }

    /// Counts them by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        self.found.cells = Some(Cells::new(plan));
        self
    }
}

impl InOrder for EventCount<'_> {
    type Finding = EventCounts;

    fn reads(&self, id: u16) -> bool {
        self.events.reads(id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        self.events.meaning(record).is_some()
    }

    fn record(&mut self, record: &Record<'_>) {
        if self.events.meaning(record).is_none() {
            return;
        }
        self.found.count = self.found.count.saturating_add(1);
        if let Some(cells) = &mut self.found.cells {
            cells.count(record.timestamp.0);
        }
        if self.found.count > self.limit && self.found.beyond.is_none() {
            let at = record.timestamp.0;
            let pid = Some(self.events.task(record));
            self.found.beyond = Some(Spot { begin: at, at, cpu: record.cpu, pid });
        }
    }

    fn finish(self) -> EventCounts {
        self.found
    }
}
