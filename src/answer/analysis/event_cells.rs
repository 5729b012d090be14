//! The number of events of each type, by the part of the window.

use super::Analysis;
use super::cells::{CellPlan, Cells};
use crate::base::abi::Abi;
use crate::base::units::EventId;
use crate::kernel::event::{Common, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// Counts the events of each type by cell; an [`Analysis`].
#[derive(Clone, Copy, Debug)]
pub struct EventCells {
    abi: Abi,
    common: Common,
    plan: CellPlan,
}

impl EventCells {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, plan: CellPlan) -> Self {
        EventCells { abi, common: formats.into_iter().next().map_or_else(Common::default, Common::of), plan }
    }
}

impl Analysis for EventCells {
    type Part = BTreeMap<EventId, Cells>;
    type Finding = BTreeMap<EventId, Cells>;

    fn begin(&self) -> Self::Part {
        BTreeMap::new()
    }

    fn fork(&self, _: Option<Self::Part>) -> Self::Part {
        BTreeMap::new()
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut Self::Part) {
        let id = EventId(self.common.event_id(self.abi, record.data));
        part.entry(id).or_insert_with(|| Cells::new(self.plan)).count(record.timestamp.0);
    }

    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
        for (id, cells) in std::mem::take(later) {
            match known.get_mut(&id) {
                Some(ours) => ours.merge(&cells),
                None => {
                    known.insert(id, cells);
                }
            }
        }
    }

    fn finish(self, known: Self::Part) -> Self::Finding {
        known
    }
}
