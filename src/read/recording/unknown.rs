//! Events with an id that no format of their recording describes.

use crate::base::units::{CpuId, EventId, Timestamp};
use crate::kernel::event::Record;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The events of a recording with an id that none of its formats describes: damage, or a recorder that left the format
/// out. Their text is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownEvents {
    /// The recording: index into those of the query.
    pub recording: usize,
    /// Number of the unknown event type.
    pub id: EventId,
    /// Number of events.
    pub count: u64,
    /// The time stamp of the first one.
    pub first: Timestamp,
    /// The CPU of the first one.
    pub cpu: CpuId,
}

/// All unknown events, by recording and id.
#[derive(Debug, Default)]
pub(super) struct UnknownIds(BTreeMap<(usize, u16), UnknownEvents>);

impl UnknownIds {
    #[cold]
    pub(super) fn note(&mut self, recording: usize, id: u16, record: &Record<'_>) {
        let (first, cpu) = (record.timestamp, record.cpu);
        self.add_one(UnknownEvents { recording, id: EventId(id), count: 1, first, cpu });
    }

    /// Adds those of a part of the recording; the parts may come in any order.
    pub(super) fn add(&mut self, more: &UnknownIds) {
        more.0.values().for_each(|events| self.add_one(*events));
    }

    pub(super) fn list(&self) -> Vec<UnknownEvents> {
        self.0.values().copied().collect()
    }

    fn add_one(&mut self, more: UnknownEvents) {
        match self.0.entry((more.recording, more.id.0)) {
            Entry::Vacant(free) => drop(free.insert(more)),
            Entry::Occupied(known) => {
                let known = known.into_mut();
                known.count = known.count.saturating_add(more.count);
                if (more.first, more.cpu) < (known.first, known.cpu) {
                    (known.first, known.cpu) = (more.first, more.cpu);
                }
            }
        }
    }
}
