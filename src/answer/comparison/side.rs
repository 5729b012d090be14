//! One side of a comparison: a metric's value in its runs, and how far that can be trusted.
//! Options of a comparison.

use super::grid::Grid;
use super::series::block_length;
use super::statistics::{SplitMix64, Weights};
use super::summary::SavedRun;
use crate::answer::assertion::{Metric, Quantity, Reducer};
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
