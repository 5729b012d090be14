//! Sums by key, as a hist trigger of the kernel makes them.

use super::InOrder;
use super::by_event::RecordNumber;
use super::chosen::Chosen;
use super::map::Map;
use super::pairs::{KeyPart, write_key};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

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
