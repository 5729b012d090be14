//! Entries of a table.
//! Counts of a trigger's events, besides its entries.

use super::super::durations::Durations;
use super::super::interface::Map;
use crate::base::units::{CpuId, Pid};
use std::sync::Arc;

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VariableValue {
    Number(u64),
    /// A text, or a stack as [`TriggerEvent::put_words`](super::key::TriggerEvent::put_words) has it.
    Bytes(Arc<[u8]>),
}

impl VariableValue {
    pub(super) fn number(&self) -> u64 {
        match self {
            VariableValue::Number(number) => *number,
            VariableValue::Bytes(_) => 0,
        }
    }
}

/// The entry of one key.
#[derive(Clone, Debug)]
pub(super) struct TableEntry {
    pub(super) key: Arc<[u8]>,
    pub(super) hits: u64,
    pub(super) sums: Box<[u64]>,
    pub(super) variables: Box<[Option<VariableValue>]>,
    /// By handler of the table: what onmax() and onchange() keep.
    pub(super) tracked: Box<[Track]>,
    /// Hits in intervals, by their numbers, which ascend.
    pub(super) cells: Vec<(u64, u64)>,
    /// True if it is among the table's touched ones.
    touched: bool,
}

/// A value that a handler follows, and what was saved with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    pub(super) value: u64,
    pub(super) saved: Vec<VariableValue>,
}

/// The place of a snapshot that the kernel would have taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) trigger: usize,
    pub(super) action: usize,
    pub(super) key: Arc<[u8]>,
    pub(super) value: u64,
    pub(super) time: u64,
    pub(super) cpu: CpuId,
    pub(super) task: Pid,
}

/// The widths of a table's rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Widths {
    pub(super) sums: usize,
    pub(super) variables: usize,
    pub(super) tracked: usize,
    /// Number of entries that there is room for.
    pub(super) room: usize,
    /// Length of the intervals whose hits are counted apart.
    pub(super) every: Option<u64>,
    /// Number of entries that are kept, the heaviest.
    pub(super) heaviest: Option<u32>,
    /// True if the values behind the classes of the last key are kept.
    pub(super) measures: bool,
}

/// A table: what one trigger counts, or several of one name.
#[derive(Clone, Debug)]
pub(super) struct TriggerTable {
    widths: Widths,
    map: Map<Arc<[u8]>, u32>,
    pub(super) rows: Vec<TableEntry>,
    /// Events counted.
    pub(super) hits: u64,
    /// Events that found no room.
    pub(super) dropped: u64,
    /// By how much counts may be too low, where only the heaviest are kept.
    pub(super) low: u64,
    /// Entries whose variables may have been set since the last loss.
    touched: Vec<u32>,
    /// Values behind the classes of the last key, by the bytes of the keys before it.
    pub(super) values: Map<Arc<[u8]>, Durations>,
}

impl TableEntry {
    /// Adds hits of an interval, which is none before the last one.
    fn add(&mut self, interval: u64, hits: u64) {
        match self.cells.last_mut() {
            Some(last) if last.0 == interval => last.1 = last.1.saturating_add(hits),
            _ => self.cells.push((interval, hits)),
        }
    }
}

impl TriggerTable {
    /// Counts a hit of `row` in its interval.
    #[inline]
    pub(super) fn hit_at(&mut self, key: &[u8], time: u64) -> Option<&mut TableEntry> {
        if self.widths.every.is_none() && self.widths.heaviest.is_none() {
            return self.hit(key);
        }
        if let Some(most) = self.widths.heaviest.and_then(|most| usize::try_from(most).ok())
            && self.rows.len() >= most.saturating_mul(2)
            && !self.map.contains_key(key)
        {
            self.keep_heaviest(most);
        }
        let every = self.widths.every;
        let row = self.hit(key)?;
        if let Some(interval) = every.and_then(|every| time.checked_div(every)) {
            row.add(interval, 1);
        }
        Some(row)
    }

    /// Takes as much off all counts as leaves at most `most` entries (Misra and Gries, 1982). The amounts taken off add up: no
    /// count is too low by more than that, and what has more hits is there.
    fn keep_heaviest(&mut self, most: usize) {
        let mut hits: Vec<u64> = self.rows.iter().map(|row| row.hits).collect();
        if most >= hits.len() {
            return;
        }
        let (_, least, _) = hits.select_nth_unstable_by(most, |a, b| b.cmp(a));
        let least = *least;
        self.low = self.low.saturating_add(least);
        self.rows.retain_mut(|row| {
            row.hits = row.hits.saturating_sub(least);
            row.hits > 0
        });
        self.map.clear();
        for (at, row) in self.rows.iter().enumerate() {
            self.map.insert(row.key.clone(), u32::try_from(at).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn new(widths: Widths) -> Self {
        TriggerTable {
            widths,
            map: Map::default(),
            rows: Vec::new(),
            hits: 0,
            dropped: 0,
            low: 0,
            touched: Vec::new(),
            values: Map::default(),
        }
    }

    /// Keeps the value behind the class that ends `key`, if values are kept. A negative one ends that: they are kept unsigned.
    #[inline]
    pub(super) fn measure(&mut self, key: &[u8], value: u64) {
        if !self.widths.measures {
            return;
        }
        if i64::try_from(value).is_err() {
            self.measure_no_more();
            return;
        }
        let group = key.get(..key.len().saturating_sub(size_of::<u64>())).unwrap_or_default();
        match self.values.get_mut(group) {
            Some(values) => values.add(value),
            None => self.values.entry(group.into()).or_default().add(value),
        }
    }

    fn measure_no_more(&mut self) {
        self.widths.measures = false;
        self.values.clear();
    }

    /// The entry of `key`, which counts the event. A new one takes room; without any left the event is dropped
    /// (`__tracing_map_insert()`).
    #[inline]
    fn hit(&mut self, key: &[u8]) -> Option<&mut TableEntry> {
        match self.map.get(key) {
            Some(&at) => {
                self.hits = self.hits.wrapping_add(1);
                let row = self.rows.get_mut(at as usize)?;
                row.hits = row.hits.wrapping_add(1);
                if !row.touched && !row.variables.is_empty() {
                    row.touched = true;
                    self.touched.push(at);
                }
                Some(row)
            }
            None => self.insert(key, 1),
        }
    }

    #[inline(never)]
    fn insert(&mut self, key: &[u8], hits: u64) -> Option<&mut TableEntry> {
        let at = u32::try_from(self.rows.len()).ok().filter(|at| (*at as usize) < self.widths.room);
        let Some(at) = at else {
            self.dropped = self.dropped.wrapping_add(hits);
            return None;
        };
        let key: Arc<[u8]> = key.into();
        self.map.insert(key.clone(), at);
        let Widths { sums, variables, tracked, .. } = self.widths;
        self.rows.push(TableEntry {
            key,
            hits,
            sums: vec![0; sums].into(),
            variables: vec![None; variables].into(),
            tracked: vec![Track::default(); tracked].into(),
            cells: Vec::new(),
            touched: variables > 0,
        });
        if variables > 0 {
            self.touched.push(at);
        }
        self.hits = self.hits.wrapping_add(hits);
        self.rows.last_mut()
    }

    /// The entry of `key`, if there is one.
    pub(super) fn find(&mut self, key: &[u8]) -> Option<&mut TableEntry> {
        let at = *self.map.get(key)?;
        self.rows.get_mut(at as usize)
    }

    /// Adds what later events counted, without variables and handlers.
    pub(super) fn merge(&mut self, later: &mut TriggerTable) {
        for row in later.rows.drain(..) {
            let known = match self.map.get(&*row.key) {
                Some(&at) => {
                    self.hits = self.hits.wrapping_add(row.hits);
                    let Some(known) = self.rows.get_mut(at as usize) else { continue };
                    known.hits = known.hits.wrapping_add(row.hits);
                    Some(known)
                }
                None => self.insert(&row.key, row.hits),
            };
            let Some(known) = known else { continue };
            if known.cells.is_empty() {
                known.cells = row.cells;
            } else {
                row.cells.iter().for_each(|(interval, hits)| known.add(*interval, *hits));
            }
            for (sum, more) in known.sums.iter_mut().zip(row.sums.iter()) {
                *sum = sum.wrapping_add(*more);
            }
        }
        match self.widths.measures && later.widths.measures {
            true => {
                later.values.drain().for_each(|(group, values)| self.values.entry(group).or_default().merge(&values))
            }
            false => self.measure_no_more(),
        }
        self.dropped = self.dropped.wrapping_add(later.dropped);
        later.map.clear();
        (later.hits, later.dropped) = (0, 0);
    }
}

impl TriggerTable {
    /// Unsets variables of all entries. Gives the number of entries that had one.
    pub(super) fn forget(&mut self, slots: impl Iterator<Item = usize> + Clone, waits: &[usize]) -> u64 {
        let mut forgotten = 0u64;
        for at in self.touched.drain(..) {
            let Some(row) = self.rows.get_mut(at as usize) else { continue };
            row.touched = false;
            let mut any = false;
            for slot in slots.clone() {
                let had_one = row.variables.get_mut(slot).and_then(Option::take).is_some();
                any |= had_one && waits.contains(&slot);
            }
            forgotten = forgotten.saturating_add(any.into());
        }
        forgotten
    }

    /// Number of entries in which one of these variables has a value.
    pub(super) fn waiting(&self, slots: &[usize]) -> u64 {
        let has = |row: &&TableEntry| slots.iter().any(|slot| row.variables.get(*slot).is_some_and(Option::is_some));
        self.rows.iter().filter(has).count() as u64
    }
}

/// Counts of a trigger's events, by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistCounts {
    /// Events that passed its filter.
    pub seen: u64,
    /// Of them, those for which a variable of another trigger had no value: they make no entry.
    pub unmatched: u64,
    /// Times that a variable that another trigger reads was set again before it was read.
    pub begun_again: u64,
    /// Entries whose variable waited for another event at the end.
    pub waiting: u64,
    /// Entries whose variable was forgotten, as the kernel dropped events while it waited.
    pub censored: u64,
}

impl HistCounts {
    pub(super) fn add(&mut self, more: HistCounts) {
        self.seen = self.seen.wrapping_add(more.seen);
        self.unmatched = self.unmatched.wrapping_add(more.unmatched);
        self.begun_again = self.begun_again.wrapping_add(more.begun_again);
        self.waiting = self.waiting.wrapping_add(more.waiting);
        self.censored = self.censored.wrapping_add(more.censored);
    }
}
