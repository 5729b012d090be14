//! One side of a comparison: a metric's value in its runs, and how far that can be trusted.
//! Options of a comparison.

use super::statistics::{SplitMix64, Weights};
use super::summary::{CellSeries, SavedRun, block_length};
use crate::answer::analysis::{Missing, durations_of};
use crate::answer::assertion::{Interval, Metric, Quantity, Reducer};
use serde::Serialize;

/// Sections that a run is cut into, to see how it varies over long times.
const SECTIONS: usize = 8;
/// Blocks that a side must have at least, by their mean length.
const LEAST_BLOCKS: f64 = 8.0;

/// A metric's value and its standard error in logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) error: f64,
    pub(super) freedom: f64,
    /// Mean length of a block, in cells.
    pub(super) block: f64,
}

/// Number of durations or events of the metric's rarest series in these runs.
pub(super) fn samples(metric: &Metric, runs: &[&SavedRun]) -> u64 {
    let of = |quantity: &&Quantity| {
        let name = quantity.series()?;
        let is_counted = !matches!(quantity, Quantity::Busy | Quantity::Run(_));
        let total = |run: &&SavedRun| run.series.get(&name).map_or(0, |series| series.total());
        is_counted.then(|| runs.iter().map(total).fold(0u64, u64::saturating_add))
    };
    metric.quantities().iter().filter_map(of).min().unwrap_or(u64::MAX)
}

/// The least number of samples that the metric says something of: ten beyond each quantile, 20 of anything else.
pub(super) fn least_samples(metric: &Metric) -> u64 {
    let of = |quantity: &&Quantity| match quantity {
        Quantity::Reduced(Reducer::Quantile(percent), _) => {
            let beyond = (100.0 - percent).min(*percent) / 100.0;
            ((10.0 / beyond - 1e-6).ceil() as u64).max(20)
        }
        _ => 20,
    };
    metric.quantities().iter().map(of).max().unwrap_or(0)
}

/// The value in each run, of those that have one.
pub(super) fn values(metric: &Metric, runs: &[&SavedRun]) -> Vec<Option<f64>> {
    runs.iter().map(|run| Grid::new(metric, &[run])?.value(&Weights::once(&[run.cells.into()]))).collect()
}

/// The least and the greatest value of these runs together, whatever the durations that lack an end were; `None` if nothing bounds it.
pub(super) fn bounds(metric: &Metric, runs: &[&SavedRun]) -> Option<(f64, f64)> {
    let cells: Vec<usize> = runs.iter().map(|run| run.cells.into()).collect();
    Grid::new(metric, runs)?.bounds(&Weights::once(&cells))
}

/// The value of all runs together, by the block bootstrap.
///
/// # Errors
/// Why nothing can be said.
pub(super) fn bootstrap(
    metric: &Metric,
    runs: &[&SavedRun],
    options: &CompareOptions,
    side: &str,
) -> Result<Estimate, String> {
    let grid = Grid::new(metric, runs).ok_or("a series is missing")?;
    let cells: Vec<usize> = runs.iter().map(|run| run.cells.into()).collect();
    let all = Weights::once(&cells);
    let value = grid.value(&all).ok_or("it is 0")?;
    if cells.iter().any(|cells| *cells < SECTIONS) {
        return Err("the saved runs are wholes, which five or more on a side are compared by".to_owned());
    }
    let (mut block, mut blocks) = (1.0f64, 0.0);
    for (run, count) in cells.iter().enumerate() {
        let influence: Vec<f64> = (0..*count)
            .map(|cell| {
                let mut without = all.clone();
                without.0[run][cell] = 0.0;
                grid.value(&without).map_or(0.0, |without| (value / without).ln())
            })
            .collect();
        block = block.max(block_length(&influence));
    }
    for count in &cells {
        blocks += *count as f64 / block;
    }
    if blocks < LEAST_BLOCKS {
        return Err(format!("it varies too slowly: {blocks:.1} blocks of independent time"));
    }
    let mut rng = SplitMix64::named(options.seed, &format!("{side} {metric}"));
    let mut weights = all.clone();
    let drawn: Vec<f64> = (0..options.resamples)
        .filter_map(|_| {
            weights.draw(block, &mut rng);
            grid.value(&weights).map(f64::ln)
        })
        .collect();
    if (drawn.len() as f64) < 0.99 * f64::from(options.resamples) {
        return Err(
            "it is 0, or has no value, in parts of the time: five runs or more on a side are compared as wholes"
                .to_owned(),
        );
    }
    let mut estimate = Estimate { value, error: variance(&drawn).sqrt(), freedom: blocks - 1.0, block };
    if let Some((error, sections)) = by_sections(&grid, &cells)
        && error > estimate.error
    {
        (estimate.error, estimate.freedom) = (error, estimate.freedom.min(sections - 1.0));
    }
    Ok(estimate)
}

/// The standard error by the values of long sections, and their number. Slow changes that blocks do not see are in it.
fn by_sections(grid: &Grid<'_>, cells: &[usize]) -> Option<(f64, f64)> {
    let mut logs = Vec::new();
    for (run, count) in cells.iter().enumerate() {
        for section in 0..SECTIONS {
            let mut weights = Weights(cells.iter().map(|count| vec![0.0; *count]).collect());
            let (from, to) = (section * count / SECTIONS, (section + 1) * count / SECTIONS);
            weights.0[run][from..to].fill(1.0);
            logs.push(grid.value(&weights)?.ln());
        }
    }
    Some(((variance(&logs) / logs.len() as f64).sqrt(), logs.len() as f64))
}

/// The unbiased variance; 0 of less than two.
pub(super) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Options of a comparison; with the summaries they give the same answer again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CompareOptions {
    /// The least change that counts, as a share: 0.05.
    pub min_effect: f64,
    /// The probability that no metric is wrongly called changed: 0.99.
    pub confidence: f64,
    /// The standard deviation of ln(value) between runs, for sides of less than five; without it those have no verdict.
    pub run_spread: Option<f64>,
    /// True if the runs of both sides are pairs, recorded one after the other.
    pub paired: bool,
    /// Seed of the resampling.
    pub seed: u64,
    /// Number of resamples.
    pub resamples: u32,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions { min_effect: 0.05, confidence: 0.99, run_spread: None, paired: false, seed: 1, resamples: 1000 }
    }
}

impl CompareOptions {
    /// The least change that counts, in logarithms.
    pub(super) fn threshold(&self) -> f64 {
        self.min_effect.ln_1p()
    }

    /// The probability that is left for false alarms.
    pub(super) fn alpha(&self) -> f64 {
        1.0 - self.confidence
    }
}

// A metric's value of cells, each counted any number of times.

/// The series of a metric in some runs, laid out for resampling.
struct Grid<'m> {
    metric: &'m Metric,
    /// For each quantity of the metric.
    parts: Vec<GridPart<'m>>,
    /// Length of a cell of each run, in nanoseconds.
    cell_length: Vec<f64>,
    cpus: f64,
}

struct GridPart<'m> {
    quantity: &'m Quantity,
    runs: Vec<Dense>,
    /// Bins that have durations, ascending.
    bins: Vec<u16>,
    /// Durations that lack one end; the longest is `u64::MAX` if nothing bounds them.
    missing: Missing,
}

/// Durations that are not known, taken to be the shortest and the longest of all.
#[derive(Clone, Copy, Default)]
struct Edges {
    /// Number of those that took no time.
    shortest: f64,
    /// Number of the longest.
    longest: f64,
    /// The duration of these, if it is bounded.
    most: Option<f64>,
}

/// Numbers by cell.
struct Dense {
    count: Vec<f64>,
    sum: Vec<f64>,
    /// By cell: index into the bins, and how many durations.
    bins: Vec<Vec<(usize, f64)>>,
}

impl<'m> Grid<'m> {
    /// Of `runs`; `None` if a series is not there.
    fn new(metric: &'m Metric, runs: &[&SavedRun]) -> Option<Self> {
        let part = |quantity: &'m Quantity| {
            let Some(name) = quantity.series() else {
                return Some(GridPart { quantity, runs: Vec::new(), bins: Vec::new(), missing: Missing::default() });
            };
            let series: Option<Vec<&CellSeries>> = runs.iter().map(|run| run.series.get(&name)).collect();
            Some(GridPart::new(quantity, &series?))
        };
        let parts = metric.quantities().into_iter().map(part).collect::<Option<Vec<_>>>()?;
        let cell_length = runs.iter().map(|run| run.duration as f64 / f64::from(run.cells.max(1))).collect();
        let cpus = runs.iter().map(|run| f64::from(run.cpus)).sum::<f64>() / runs.len().max(1) as f64;
        Some(Grid { metric, parts, cell_length, cpus })
    }

    /// The least and the greatest value, whatever the durations that lack an end were; `None` if nothing bounds it, or it can be 0.
    fn bounds(&self, weights: &Weights) -> Option<(f64, f64)> {
        let value = self.metric.interval(&mut |quantity| {
            let part = self.parts.iter().find(|part| std::ptr::eq(part.quantity, quantity))?;
            part.bounds(weights, &self.cell_length, self.cpus)
        })?;
        (value.least > 0.0 && value.most.is_finite()).then_some((value.least, value.most))
    }

    /// The value with each cell counted as often as `weights` says; `None` without any, or if it is not above 0.
    fn value(&self, weights: &Weights) -> Option<f64> {
        let value = self.metric.value(&mut |quantity| {
            let part = self.parts.iter().find(|part| std::ptr::eq(part.quantity, quantity))?;
            part.value(weights, &self.cell_length, self.cpus)
        })?;
        (value > 0.0 && value.is_finite()).then_some(value)
    }
}

/// The middle of a bin's durations.
fn middle(bin: u16) -> f64 {
    let range = durations_of(bin);
    (range.start as f64 + range.end as f64 - 1.0) / 2.0
}

impl<'m> GridPart<'m> {
    fn new(quantity: &'m Quantity, series: &[&CellSeries]) -> Self {
        let mut bins: Vec<u16> = Vec::new();
        if matches!(
            quantity,
            Quantity::Reduced(Reducer::Quantile(_) | Reducer::Trimmed | Reducer::Min | Reducer::Max, _)
        ) {
            for one in series {
                bins.extend((0..one.bins.len()).flat_map(|cell| one.bins_of(cell)).map(|(bin, _)| bin));
            }
            bins.sort_unstable();
            bins.dedup();
        }
        let dense = |one: &&CellSeries| {
            let cell = |cell: usize| {
                let index = |(bin, count): (u16, u64)| Some((bins.binary_search(&bin).ok()?, count as f64));
                one.bins_of(cell).filter_map(index).collect()
            };
            Dense {
                count: one.count.iter().map(|count| *count as f64).collect(),
                sum: one.sum.iter().map(|sum| *sum as f64).collect(),
                bins: (0..one.count.len()).map(cell).collect(),
            }
        };
        let mut missing = Missing::default();
        series.iter().for_each(|one| missing.merge(&one.missing()));
        GridPart { quantity, runs: series.iter().map(dense).collect(), bins, missing }
    }

    /// The value, and what the durations that lack an end leave of it.
    fn bounds(&self, weights: &Weights, cell_length: &[f64], cpus: f64) -> Option<Interval> {
        let observed = self.value(weights, cell_length, cpus)?;
        let exact = Interval::exactly(observed, self.quantity.dimension());
        let Quantity::Reduced(by, _) = self.quantity else { return Some(exact) };
        let Missing { count: more, longest, total } = self.missing;
        if more == 0 {
            return Some(exact);
        }
        let known = |time: u64| (time != u64::MAX).then_some(time as f64);
        let (count, sum) = (self.total(weights, |run| &run.count), self.total(weights, |run| &run.sum));
        let more = more as f64;
        let short = Edges { shortest: more, ..Edges::default() };
        let long = Edges { longest: more, most: known(longest), ..Edges::default() };
        let longer = known(total).map_or(f64::INFINITY, |time| sum + time);
        let (least, most) = match by {
            Reducer::Count => (count, count + more),
            Reducer::Sum => (sum, longer),
            Reducer::Mean => (sum / (count + more), longer / count),
            Reducer::Quantile(percent) => {
                let of = |edges| self.quantile(percent / 100.0, weights, count, edges);
                (of(short)?, of(long)?)
            }
            Reducer::Trimmed => (self.trimmed(weights, count, short)?, self.trimmed(weights, count, long)?),
            Reducer::Min => (0.0, observed),
            Reducer::Max => (observed, known(longest)?.max(observed)),
        };
        Some(Interval { least: least.min(observed), most: most.max(observed), ..exact })
    }

    fn total(&self, weights: &Weights, of: fn(&Dense) -> &Vec<f64>) -> f64 {
        let runs = self.runs.iter().zip(&weights.0);
        runs.map(|(run, weights)| of(run).iter().zip(weights).map(|(one, weight)| one * weight).sum::<f64>()).sum()
    }

    fn value(&self, weights: &Weights, cell_length: &[f64], cpus: f64) -> Option<f64> {
        let (count, sum) = (|| self.total(weights, |run| &run.count), || self.total(weights, |run| &run.sum));
        let time = || -> f64 {
            weights.0.iter().zip(cell_length).map(|(weights, length)| weights.iter().sum::<f64>() * length).sum()
        };
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        match self.quantity {
            Quantity::Count(_) | Quantity::Errors(_) | Quantity::Reduced(Reducer::Count, _) => Some(count()),
            Quantity::Rate(_) => share(count() * 1e9, time()),
            Quantity::Reduced(Reducer::Mean, _) => share(sum(), count()),
            Quantity::Reduced(Reducer::Sum, _) | Quantity::Run(_) => Some(sum()),
            Quantity::Reduced(Reducer::Quantile(percent), _) => {
                self.quantile(percent / 100.0, weights, count(), Edges::default())
            }
            Quantity::Reduced(Reducer::Trimmed, _) => self.trimmed(weights, count(), Edges::default()),
            Quantity::Busy => share(sum(), time() * cpus),
            Quantity::Duration => Some(time()),
            Quantity::Lost | Quantity::Faults(_) | Quantity::Live(_) => None,
            // Of runs as wholes: no cell has weights but one and none. The middle of a bin is off by 0.8 % at most.
            Quantity::Reduced(Reducer::Min, _) => self.bins.first().map(|bin| middle(*bin)),
            Quantity::Reduced(Reducer::Max, _) => self.bins.last().map(|bin| middle(*bin)),
        }
    }

    /// Number of durations by bin.
    fn sums(&self, weights: &Weights) -> Vec<f64> {
        let mut sums = vec![0.0; self.bins.len()];
        for (run, weights) in self.runs.iter().zip(&weights.0) {
            for (cell, weight) in run.bins.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
                cell.iter().for_each(|(bin, durations)| sums[*bin] += durations * weight);
            }
        }
        sums
    }

    /// The mean without the shortest and the longest twentieth; the durations of a bin are taken as spread evenly.
    fn trimmed(&self, weights: &Weights, count: f64, edges: Edges) -> Option<f64> {
        let count = count + edges.shortest + edges.longest;
        let (from, to) = (count * 0.05, count * 0.95);
        let (mut before, mut total) = (edges.shortest, 0.0);
        for (bin, sum) in self.bins.iter().zip(&self.sums(weights)).filter(|(_, sum)| **sum > 0.0) {
            let (first, last) = (from.max(before), to.min(before + sum));
            if last > first {
                let range = durations_of(*bin);
                let (least, width) = (range.start as f64, (range.end - range.start) as f64);
                // Bins of one duration are exact.
                let share = ((first + last) / 2.0 - before) / sum;
                total += (last - first) * if width > 1.0 { least + width * share } else { least };
            }
            before += sum;
        }
        if to > before && edges.longest > 0.0 {
            total += (to - from.max(before)) * edges.most?;
        }
        (count > 0.0).then(|| total / (to - from))
    }

    /// By the nearest rank within the bins, whose durations are taken as spread evenly.
    fn quantile(&self, share: f64, weights: &Weights, count: f64, edges: Edges) -> Option<f64> {
        let sums = self.sums(weights);
        let (rank, mut before) = (share * (count + edges.shortest + edges.longest), edges.shortest);
        if rank < before {
            return Some(0.0);
        }
        for (bin, sum) in self.bins.iter().zip(&sums).filter(|(_, sum)| **sum > 0.0) {
            if before + sum >= rank {
                let range = durations_of(*bin);
                let (least, width) = (range.start as f64, (range.end - range.start) as f64);
                // Bins of one duration are exact.
                return Some(if width > 1.0 { least + width * (rank - before) / sum } else { least });
            }
            before += sum;
        }
        edges.most.filter(|_| edges.longest > 0.0)
    }
}
