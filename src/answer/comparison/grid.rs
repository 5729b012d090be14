//! A metric's value of cells, each counted any number of times.

use super::series::CellSeries;
use super::statistics::Weights;
use super::summary::SavedRun;
use crate::answer::analysis::{Missing, durations_of};
use crate::answer::assertion::{Interval, Metric, Quantity, Reducer};

/// The series of a metric in some runs, laid out for resampling.
pub(super) struct Grid<'m> {
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
    pub(super) fn new(metric: &'m Metric, runs: &[&SavedRun]) -> Option<Self> {
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
    pub(super) fn bounds(&self, weights: &Weights) -> Option<(f64, f64)> {
        let value = self.metric.interval(&mut |quantity| {
            let part = self.parts.iter().find(|part| std::ptr::eq(part.quantity, quantity))?;
            part.bounds(weights, &self.cell_length, self.cpus)
        })?;
        (value.least > 0.0 && value.most.is_finite()).then_some((value.least, value.most))
    }

    /// The value with each cell counted as often as `weights` says; `None` without any, or if it is not above 0.
    pub(super) fn value(&self, weights: &Weights) -> Option<f64> {
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
