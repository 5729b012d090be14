//! Rows of one recording that were not given to be encoded yet.

use super::derived::DerivedRows;
use super::rows::Records;
use std::collections::BTreeSet;

/// Records by their type, rows of derived tables, and counts.
pub(super) struct PendingRows {
    /// By event id. Their memory stays, for more.
    pub(super) events: Vec<Records>,
    /// The ids that have records.
    pub(super) ids: BTreeSet<u16>,
    pub(super) derived: DerivedRows,
    pub(super) count: u64,
    pub(super) lost: u64,
    /// Times of the first and the last event.
    pub(super) span: Option<(u64, u64)>,
}

impl PendingRows {
    pub(super) fn new() -> Self {
        let (events, ids, derived) = (Vec::new(), BTreeSet::new(), DerivedRows::new());
        PendingRows { events, ids, derived, count: 0, lost: 0, span: None }
    }

    /// The records of an event type, to which one is added.
    #[inline]
    pub(super) fn event(&mut self, id: u16) -> &mut Records {
        let index = usize::from(id);
        if self.events.len() <= index {
            self.events.resize_with(index + 1, Records::default);
        }
        let records = &mut self.events[index];
        if records.len() == 0 {
            self.ids.insert(id);
        }
        records
    }
}
