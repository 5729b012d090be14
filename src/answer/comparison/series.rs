//! A series over time as a summary stores it.

use crate::answer::analysis::{Cells, Missing, bin};
use serde::{Deserialize, Serialize};

/// Durations, events or times by cell of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellSeries {
    /// Number of durations or events by cell.
    pub count: Vec<u64>,
    /// Their sum, or the time, by cell, in nanoseconds.
    pub sum: Vec<u64>,
    /// Number of durations by bin, for each cell, from bin 0 on: a negative number stands for a run of that many empty bins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<Vec<i64>>,
    /// Number of durations of which one end is missing although nothing was lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: u64,
    /// The longest that one of these can be, and all together; `None` if nothing bounds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_most: Option<(u64, u64)>,
    /// Durations, until there, of those that go on at the window's end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub going_on: Vec<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Numbers by bin, from bin 0 on: a negative number stands for a run of that many empty bins.
fn coded(bins: impl IntoIterator<Item = (u16, u64)>) -> Vec<i64> {
    let (mut coded, mut next) = (Vec::new(), 0);
    for (bin, count) in bins {
        if bin > next {
            coded.push(-i64::from(bin - next));
        }
        coded.push(i64::try_from(count).unwrap_or(i64::MAX));
        next = bin + 1;
    }
    coded
}

/// Bins that there can be: [`crate::answer::analysis::bin`] of the longest duration is below.
const MOST_BINS: u64 = 3776;

impl CellSeries {
    /// Of `cells`, with the durations of which one end is missing, and those that go on at the window's end.
    pub fn new(cells: &Cells, missing: Missing, going_on: Vec<u64>) -> Self {
        let count = usize::from(cells.plan().count());
        let (sum, bins) = (vec![0; count], vec![Vec::new(); count]);
        let is_bounded = missing.count > 0 && missing.longest < u64::MAX;
        let missing_most = is_bounded.then_some((missing.longest, missing.total));
        let mut series =
            CellSeries { count: vec![0; count], sum, bins, missing: missing.count, missing_most, going_on };
        for (number, cell) in cells.cells() {
            let number = usize::from(number);
            (series.count[number], series.sum[number]) = (cell.count, cell.sum);
            series.bins[number] = coded(cell.bins.iter().map(|(bin, durations)| (*bin, *durations)));
        }
        if series.bins.iter().all(Vec::is_empty) {
            series.bins.clear();
        }
        series
    }

    /// Durations of which one end is missing.
    pub(super) fn missing(&self) -> Missing {
        let (longest, total) = match self.missing {
            0 => (0, 0),
            _ => self.missing_most.unwrap_or((u64::MAX, u64::MAX)),
        };
        Missing { count: self.missing, longest, total }
    }

    /// Number of durations or events.
    pub fn total(&self) -> u64 {
        self.count.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The bins of a cell with durations, and how many each has.
    pub(super) fn bins_of(&self, cell: usize) -> impl Iterator<Item = (u16, u64)> {
        let mut next = 0u64;
        self.bins.get(cell).into_iter().flatten().filter_map(move |number| {
            let bin = next;
            next = next.saturating_add(if *number < 0 { number.unsigned_abs() } else { 1 });
            (*number > 0).then_some((bin.min(MOST_BINS - 1) as u16, number.unsigned_abs()))
        })
    }

    /// The mistake in a series of `cells` cells, if there is one.
    pub(super) fn mistake(&self, cells: usize) -> Option<&'static str> {
        if self.count.len() != cells || self.sum.len() != cells {
            return Some("not one number for each cell");
        }
        if self.bins.is_empty() {
            return None;
        }
        if self.bins.len() != cells {
            return Some("not bins for each cell");
        }
        for (cell, bins) in self.bins.iter().enumerate() {
            let width = bins
                .iter()
                .fold(0u64, |sum, number| sum.saturating_add(if *number < 0 { number.unsigned_abs() } else { 1 }));
            if width > MOST_BINS {
                return Some("more bins than there are");
            }
            let durations = self.bins_of(cell).fold(0u64, |sum, (_, count)| sum.saturating_add(count));
            if durations != self.count[cell] {
                return Some("the bins of a cell do not hold as many durations as it has");
            }
        }
        None
    }

    /// The same as a whole, as if those that go on at the window's end ended there.
    pub(super) fn ended(&self) -> Self {
        let mut bins = std::collections::BTreeMap::<u16, u64>::new();
        let whole = self.whole();
        let ongoing = self.going_on.iter().map(|time| (bin(*time), 1));
        whole.bins_of(0).chain(ongoing).for_each(|(bin, count)| *bins.entry(bin).or_default() += count);
        let of = |one: &[u64]| one.iter().chain(&self.going_on).fold(0u64, |sum, one| sum.saturating_add(*one));
        let count = whole.total().saturating_add(self.going_on.len() as u64);
        CellSeries { count: vec![count], sum: vec![of(&whole.sum)], bins: vec![coded(bins)], ..CellSeries::default() }
    }

    /// All cells as one, for runs that are compared as wholes.
    pub fn whole(&self) -> Self {
        let mut bins = std::collections::BTreeMap::<u16, u64>::new();
        for cell in 0..self.bins.len() {
            for (bin, count) in self.bins_of(cell) {
                let sum = bins.entry(bin).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let coded = coded(bins);
        let sum = self.sum.iter().fold(0u64, |sum, one| sum.saturating_add(*one));
        let bins = if coded.is_empty() { Vec::new() } else { vec![coded] };
        CellSeries {
            count: vec![self.total()],
            sum: vec![sum],
            bins,
            going_on: self.going_on.clone(),
            missing: self.missing,
            missing_most: self.missing_most,
        }
    }
}
