//! A series over time as a summary stores it.
//! The length of the blocks of a bootstrap, chosen from the data.

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

/// The mean length of blocks for the stationary bootstrap, in cells, at least 1: Politis and White, "Automatic block-length
/// selection for the dependent bootstrap" (2004), with the correction of Patton, Politis and White (2009).
pub fn block_length(values: &[f64]) -> f64 {
    let n = values.len();
    let count = n as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let covariance = |lag: usize| {
        let products = values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (a - mean) * (b - mean));
        products.sum::<f64>() / count
    };
    let variance = covariance(0);
    if n < 8 || variance <= 0.0 {
        return 1.0;
    }
    // Number of consecutive lags below the limit after which only noise is left.
    let quiet = (count.log10().sqrt().ceil() as usize).max(5);
    let limit = 2.0 * (count.log10() / count).sqrt();
    let most = (count.sqrt().ceil() as usize + quiet).min(n - 1);
    let correlations: Vec<f64> = (1..=most).map(|lag| (covariance(lag) / variance).abs()).collect();
    let is_quiet = |from: &usize| correlations.iter().skip(*from).take(quiet).all(|one| *one < limit);
    let last = match (0..most).find(is_quiet) {
        Some(last) => last,
        None => correlations.iter().rposition(|one| *one >= limit).map_or(0, |lag| lag + 1),
    };
    let window = (2 * last).clamp(1, most);
    let (mut sum, mut weighted) = (variance, 0.0);
    for lag in 1..=window {
        let part = lag as f64 / window as f64;
        let weight = if part <= 0.5 { 1.0 } else { 2.0 * (1.0 - part) };
        let both = 2.0 * weight * covariance(lag);
        sum += both;
        weighted += both * lag as f64;
    }
    let spread = 2.0 * sum * sum;
    let greatest = (3.0 * count.sqrt()).min(count / 3.0).ceil();
    if spread <= 0.0 {
        return 1.0;
    }
    (2.0 * weighted * weighted / spread * count).cbrt().clamp(1.0, greatest)
}
