//! The extent of some events: from when to when, how many of which types, and what the kernel dropped among them.
//! The number of some events.
//! Sums by key, as a hist trigger of the kernel makes them.

use super::by_event::RecordNumber;
use super::cells::{CellPlan, Cells};
use super::chosen::Chosen;
use super::interface::Map;
use super::pairs::{KeyPart, Spot, write_key};
use super::{Analysis, InOrder};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, EventId, Timestamp};
use crate::kernel::event::{Common, Lost, Record};
use crate::kernel::format::EventFormat;

/// Finds an [`Extent`]; an [`Analysis`].
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    abi: Abi,
    common: Common,
}

/// The extent of some events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Times of the first and the last event; `None` without any.
    pub window: Option<(Timestamp, Timestamp)>,
    /// Number of events.
    pub events: u64,
    /// Events that the kernel dropped before one of these, as far as it counted them.
    pub lost: u64,
    /// Places where it dropped some without counting them.
    pub gaps: u64,
    /// The first event after such a place or after dropped ones, and its CPU.
    pub first_loss: Option<(Timestamp, CpuId)>,
    /// A bit for each id of an event's type that occurs.
    types: Vec<u64>,
}

impl Extents {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Extents { abi, common: formats.into_iter().next().map_or_else(Common::default, Common::of) }
    }
}

impl Extent {
    /// True if there is an event of that type.
    pub fn has(&self, id: EventId) -> bool {
        self.types.get(usize::from(id.0 / 64)).is_some_and(|word| word >> (id.0 % 64) & 1 != 0)
    }

    fn note(&mut self, id: u16) {
        let at = usize::from(id / 64);
        if self.types.len() <= at {
            self.types.resize(at.saturating_add(1), 0);
        }
        if let Some(word) = self.types.get_mut(at) {
            *word |= 1 << (id % 64);
        }
    }

    fn add(&mut self, other: &Extent) {
        self.window = match (self.window, other.window) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.events = self.events.saturating_add(other.events);
        self.lost = self.lost.saturating_add(other.lost);
        self.gaps = self.gaps.saturating_add(other.gaps);
        self.first_loss = self.first_loss.or(other.first_loss);
        if self.types.len() < other.types.len() {
            self.types.resize(other.types.len(), 0);
        }
        self.types.iter_mut().zip(&other.types).for_each(|(ours, theirs)| *ours |= theirs);
    }
}

impl Analysis for Extents {
    type Part = Extent;
    type Finding = Extent;

    fn begin(&self) -> Extent {
        Extent::default()
    }

    fn fork(&self, used: Option<Extent>) -> Extent {
        let mut types = used.map(|used| used.types).unwrap_or_default();
        types.fill(0);
        Extent { types, ..Extent::default() }
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut Extent) {
        let at = record.timestamp;
        part.window = Some(part.window.map_or((at, at), |(begin, end)| (begin.min(at), end.max(at))));
        part.events = part.events.saturating_add(1);
        part.note(self.common.event_id(self.abi, record.data));
        match record.lost {
            Lost::None => return,
            Lost::Count(lost) => part.lost = part.lost.saturating_add(lost),
            Lost::Unknown => part.gaps = part.gaps.saturating_add(1),
        }
        part.first_loss = part.first_loss.or(Some((at, record.cpu)));
    }

    fn merge(&self, known: &mut Extent, later: &mut Extent) {
        known.add(later);
    }

    fn finish(self, known: Extent) -> Extent {
        known
    }
}

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

    /// Counts from 0 again, and forgets the one beyond the limit.
    pub fn go_on(&mut self) {
        (self.found.count, self.found.beyond) = (0, None);
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

/// Sums of a field, or numbers of events, by key; an [`Analysis`](super::Analysis). Every key has its entry: there is no size
/// beyond which some are dropped, as in the kernel.
#[derive(Clone, Debug)]
pub struct EventEntries<'a> {
    events: Chosen<'a, EntryFields>,
    sums: Map<Vec<u8>, i64>,
    key: Vec<u8>,
}

/// The fields of an event that say which entry it counts for, and how much.
#[derive(Clone, Debug, Default)]
pub struct EntryFields {
    keys: Vec<KeyPart>,
    /// The field, and true if it has a sign.
    value: Option<(RecordNumber, bool)>,
}

impl EntryFields {
    /// Each event counts 1 for the entry of its `keys`.
    pub fn counted(keys: Vec<KeyPart>) -> Self {
        EntryFields { keys, value: None }
    }

    /// Each event counts as much as its field `value` says; `None` if that is no number.
    pub fn summed(keys: Vec<KeyPart>, format: &EventFormat, value: &str) -> Option<Self> {
        let number = RecordNumber::of(format, value).filter(|number| number.is_number())?;
        let field = format.field(value).filter(|field| !field.is_string())?;
        Some(EntryFields { keys, value: Some((number, field.is_signed())) })
    }
}

/// The sums of all entries, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryReport {
    /// Modulo 2^64, as the kernel's.
    pub sums: Vec<i64>,
}

impl<'a> EventEntries<'a> {
    /// Sums over `events`.
    pub fn new(events: Chosen<'a, EntryFields>) -> Self {
        EventEntries { events, sums: Map::default(), key: Vec::new() }
    }
}

impl InOrder for EventEntries<'_> {
    type Finding = EntryReport;

    fn reads(&self, id: u16) -> bool {
        self.events.reads(id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        self.events.meaning(record).is_some()
    }

    fn record(&mut self, record: &Record<'_>) {
        let Some(fields) = self.events.meaning(record) else { return };
        write_key(&self.events, &fields.keys, record, &mut self.key);
        let abi = self.events.abi();
        let value = match fields.value {
            None => 1,
            Some((number, true)) => number.read_signed(abi, record.data),
            Some((number, false)) => number.read(abi, record.data) as i64,
        };
        match self.sums.get_mut(&self.key) {
            Some(sum) => *sum = sum.wrapping_add(value),
            None => {
                self.sums.insert(self.key.clone(), value);
            }
        }
    }

    fn finish(self) -> EntryReport {
        EntryReport { sums: self.sums.into_values().collect() }
    }
}
