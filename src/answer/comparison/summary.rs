//! Summaries of recordings: all that a comparison needs of them.
//! A series over time as a summary stores it.
//! The length of the blocks of a bootstrap, chosen from the data.

use crate::answer::analysis::{Cells, Missing, bin};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Some runs, as a file holds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedRuns {
    /// `rtrace.baseline`.
    pub schema: String,
    /// Version of the layout.
    pub version: u32,
    /// Recordings of the same thing.
    pub runs: Vec<SavedRun>,
}

/// A recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedRun {
    /// Path of the file as it was named.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The system, as uname(1) has it, without the machine's name; `None` if the file does not say.
    pub system: Option<String>,
    /// Name of the buffer; empty of the main one.
    pub buffer: String,
    /// The trace clock.
    pub clock: String,
    /// True if the clock counts something else than time.
    pub in_ticks: bool,
    /// Number of CPUs.
    pub cpus: u32,
    /// Events that were enabled from begin to end, each with its filter; `None` if the file does not say.
    pub enabled: Option<Vec<String>>,
    /// Tasks and CPUs that the recording was restricted to, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Metrics that were asked for when it was summarised: a comparison has them beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// Options that chose the part of the recording; empty of the whole.
    pub options: String,
    /// From the first event to the last, or of that the part that was chosen, in nanoseconds.
    pub duration: u64,
    /// Number of events.
    pub events: u64,
    /// Events that the kernel dropped, with a place.
    pub lost: u64,
    /// Places where it dropped some without counting them.
    pub gaps: u64,
    /// Events that the rings' counters say were dropped.
    pub dropped: u64,
    /// Damaged places; an unfinished recording's end is one.
    pub damaged: u64,
    /// True if the recording was unfinished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Number of cells of the window.
    pub cells: u16,
    /// Series by name, as [`crate::answer::assertion::Quantity::series`] has it.
    pub series: BTreeMap<String, CellSeries>,
    /// Series that were asked for and are not there: why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// Cells of a window: blocks of them are resampled.
const MOST_CELLS: u16 = 1024;

impl SavedRuns {
    /// The name of the layout.
    pub const SCHEMA: &str = "rtrace.baseline";
    /// The version of the layout.
    pub const VERSION: u32 = 1;
    /// Number of cells that windows are cut into.
    pub const CELLS: u16 = 64;
    /// Number of runs from which on they are compared as wholes.
    pub const RUNS: usize = 5;

    /// Of some runs.
    pub fn new(runs: Vec<SavedRun>) -> Self {
        SavedRuns { schema: SavedRuns::SCHEMA.to_owned(), version: SavedRuns::VERSION, runs }
    }

    /// The same, smaller: of five runs or more the cells are not needed, because those are compared as wholes.
    pub fn compact(mut self) -> Self {
        if self.runs.len() >= SavedRuns::RUNS {
            for run in &mut self.runs {
                run.cells = 1;
                run.series.values_mut().for_each(|series| *series = series.whole());
            }
        }
        self
    }

    /// Checks what anybody may have written.
    ///
    /// # Errors
    /// [`SummaryError`]: numbers that do not fit together.
    pub fn check(&self) -> Result<(), SummaryError> {
        if self.schema != SavedRuns::SCHEMA || self.version != SavedRuns::VERSION {
            return Err(SummaryError::Schema(self.schema.clone(), self.version));
        }
        if self.runs.is_empty() {
            return Err(SummaryError::Empty);
        }
        for (number, run) in self.runs.iter().enumerate() {
            let of = |series: &str, what| SummaryError::Series { run: number + 1, series: series.to_owned(), what };
            if run.cells == 0 || run.cells > MOST_CELLS {
                return Err(of("", "no such number of cells"));
            }
            for (name, series) in &run.series {
                if let Some(what) = series.mistake(run.cells.into()) {
                    return Err(of(name, what));
                }
            }
        }
        Ok(())
    }
}

impl SavedRun {
    /// True if events are missing, or may be.
    pub fn has_losses(&self) -> bool {
        self.lost > 0 || self.gaps > 0 || self.dropped > 0 || self.damaged > 0
    }
}

/// A summary that cannot be one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Not a summary, or one of a later version.
    #[error("not a saved summary of this version: schema `{0}`, version {1}")]
    Schema(String, u32),
    /// It holds no run.
    #[error("holds no run")]
    Empty,
    /// Numbers that do not fit together.
    #[error("run {run}, series `{series}`: {what}")]
    Series {
        /// Number of the run, from 1.
        run: usize,
        /// Name of the series.
        series: String,
        /// The mistake in its numbers.
        what: &'static str,
    },
}

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
