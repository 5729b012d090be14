//! Durations by the part of the window in which they ended, for statistics over time.
//!
//! A bin holds the durations between two bounds that are 1/64 of a power of two apart: 1.6 % of the duration at most.
//!
//! ```text
//!   bin 0 .. 63      the durations 0 .. 63, exactly
//!   bin 64 .. 127    64 .. 127, exactly
//!   bin 128 ..       from 2^e on 64 bins of 2^(e - 6) each
//! ```
//!
//! The number of events of each type, by the part of the window.

use super::Analysis;
use crate::base::abi::Abi;
use crate::base::units::EventId;
use crate::kernel::event::{Common, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;
use std::ops::Range;

/// A window cut into cells of equal length. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPlan {
    begin: u64,
    end: u64,
    count: u16,
}

/// Durations by cell; cells without any have no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    plan: CellPlan,
    cells: Vec<(u16, Cell)>,
}

/// The durations of one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Number of durations.
    pub count: u64,
    /// Their sum; or the time that was spread over the cells.
    pub sum: u64,
    /// Number of durations by bin.
    pub bins: BTreeMap<u16, u64>,
}

/// Bins of each power of two.
const BINS: u64 = 64;
const BITS: u32 = BINS.ilog2();

impl CellPlan {
    /// The window from `begin` to `end`, both included, in `count` cells, at least one.
    pub fn new(begin: u64, end: u64, count: u16) -> Self {
        CellPlan { begin, end: end.max(begin), count: count.max(1) }
    }

    /// Number of cells.
    pub fn count(&self) -> u16 {
        self.count
    }

    /// From the begin to the end.
    pub fn length(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// The cell of a time; times outside are in the first or the last one.
    pub fn cell(&self, at: u64) -> u16 {
        let (at, length) = (u128::from(at.saturating_sub(self.begin)), u128::from(self.length()).saturating_add(1));
        let cell = at.saturating_mul(self.count.into()) / length;
        (cell as u64).min(u64::from(self.count).saturating_sub(1)) as u16
    }

    /// The time at which the cell begins.
    fn begin_of(&self, cell: u16) -> u64 {
        let length = u128::from(self.length()).saturating_add(1);
        let before = length.saturating_mul(cell.into()).div_ceil(self.count.into());
        self.begin.saturating_add(before as u64)
    }
}

impl Cells {
    /// None yet.
    pub fn new(plan: CellPlan) -> Self {
        Cells { plan, cells: Vec::new() }
    }

    /// The cells with something in them, in order.
    pub fn cells(&self) -> impl Iterator<Item = (u16, &Cell)> {
        self.cells.iter().map(|(number, cell)| (*number, cell))
    }

    /// The window and its cells.
    pub fn plan(&self) -> CellPlan {
        self.plan
    }

    fn cell(&mut self, number: u16) -> &mut Cell {
        let at = match self.cells.last() {
            Some((last, _)) if *last == number => self.cells.len() - 1,
            _ => match self.cells.binary_search_by_key(&number, |cell| cell.0) {
                Ok(at) => at,
                Err(at) => {
                    self.cells.insert(at, (number, Cell::default()));
                    at
                }
            },
        };
        &mut self.cells[at].1
    }

    /// Adds a duration that ended at `at`.
    pub fn add(&mut self, at: u64, duration: u64) {
        let cell = self.cell(self.plan.cell(at));
        cell.count = cell.count.saturating_add(1);
        cell.sum = cell.sum.saturating_add(duration);
        *cell.bins.entry(bin(duration)).or_default() += 1;
    }

    /// Adds an event without a duration.
    pub fn count(&mut self, at: u64) {
        let cell = self.cell(self.plan.cell(at));
        cell.count = cell.count.saturating_add(1);
    }

    /// Adds the time from `begin` to `end` to the sums of the cells that it covers, to each its share.
    pub fn spread(&mut self, begin: u64, end: u64) {
        let (mut from, end) = (begin.max(self.plan.begin), end.min(self.plan.end));
        while from < end {
            let number = self.plan.cell(from);
            let next = match number.checked_add(1).filter(|next| *next < self.plan.count) {
                Some(next) => self.plan.begin_of(next).min(end).max(from + 1),
                None => end,
            };
            let cell = self.cell(number);
            cell.sum = cell.sum.saturating_add(next - from);
            from = next;
        }
    }

    /// Adds the number of durations of `other`, and not the durations.
    pub fn merge_counts(&mut self, other: &Cells) {
        for (number, theirs) in other.cells() {
            let ours = self.cell(number);
            ours.count = ours.count.saturating_add(theirs.count);
        }
    }

    /// Adds those of another one with the same window.
    pub fn merge(&mut self, other: &Cells) {
        for (number, theirs) in other.cells() {
            let ours = self.cell(number);
            ours.count = ours.count.saturating_add(theirs.count);
            ours.sum = ours.sum.saturating_add(theirs.sum);
            for (bin, count) in &theirs.bins {
                *ours.bins.entry(*bin).or_default() += count;
            }
        }
    }
}

/// The bin of a duration.
pub fn bin(duration: u64) -> u16 {
    let exponent = duration.checked_ilog2().unwrap_or(0);
    match exponent.checked_sub(BITS) {
        Some(shift) => (u64::from(shift) * BINS + (duration >> shift)) as u16,
        None => duration as u16,
    }
}

/// The durations of a bin.
pub fn durations_of(bin: u16) -> Range<u64> {
    let bin = u64::from(bin);
    let shift = (bin / BINS).saturating_sub(1).min(u64::from(u64::BITS - 1 - BITS));
    let least = (bin - shift * BINS) << shift;
    least..least.saturating_add(1 << shift)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_falls_into_them() {
        let mut before = None;
        for duration in (0..5000).chain((13..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, (1 << bit) + 12_345])) {
            let range = durations_of(bin(duration));
            assert!(range.contains(&duration) || duration == u64::MAX, "{duration}: {range:?}");
            assert!(range.end - range.start <= 1.max(range.start / 64), "{range:?}");
            if duration < 5000 {
                let next = before.is_none_or(|before| bin(duration) == before || bin(duration) == before + 1);
                assert!(next, "{duration}");
                before = Some(bin(duration));
            }
        }
        assert_eq!(durations_of(bin(u64::MAX)).end, u64::MAX);
    }

    #[test]
    fn times_fall_into_cells() {
        let plan = CellPlan::new(100, 199, 4);
        for (at, cell) in [(0, 0), (100, 0), (124, 0), (125, 1), (174, 2), (175, 3), (199, 3), (500, 3)] {
            assert_eq!(plan.cell(at), cell, "{at}");
        }
        let mut cells = Cells::new(plan);
        cells.spread(90, 160);
        cells.spread(160, 1000);
        cells.add(130, 7);
        let found: Vec<_> = cells.cells().map(|(number, cell)| (number, cell.sum, cell.count)).collect();
        assert_eq!(found, [(0, 25, 0), (1, 32, 1), (2, 25, 0), (3, 24, 0)]);
        let mut twice = cells.clone();
        twice.merge(&cells);
        assert_eq!(twice.cells().map(|(_, cell)| cell.sum).sum::<u64>(), 2 * (99 + 7));
    }
}
