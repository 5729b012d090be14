//! Comparison of sides of several runs by the runs' values.

use super::difference::{Difference, Method};
use super::side::variance;
use super::summary::SavedRuns;

/// The mean difference of pairs of runs, with its standard error.
pub(super) fn by_pairs(base: &[f64], new: &[f64]) -> Difference {
    let changes: Vec<f64> = base.iter().zip(new).map(|(base, new)| (new / base).ln()).collect();
    let count = changes.len() as f64;
    Difference {
        change: changes.iter().sum::<f64>() / count,
        error: (variance(&changes) / count).sqrt(),
        freedom: count - 1.0,
        method: Method::Pairs,
        blocks: [None, None],
    }
}

/// The difference of the means of logarithms, with Welch's standard error and degrees of freedom. Where one side has less
/// than five runs, both are taken to vary alike: the error is that of all runs together.
pub(super) fn by_runs(base: &[f64], new: &[f64]) -> Difference {
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.ln()).collect() };
    let (base, new) = (logs(base), logs(new));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (a, b) = (base.len() as f64, new.len() as f64);
    let (of_base, of_new) = (variance(&base), variance(&new));
    let (error, freedom) = if base.len().min(new.len()) >= SavedRuns::RUNS {
        let (one, other) = (of_base / a, of_new / b);
        let freedom = (one + other).powi(2) / (one * one / (a - 1.0) + other * other / (b - 1.0));
        ((one + other).sqrt(), if freedom.is_finite() { freedom } else { a + b - 2.0 })
    } else {
        let freedom = a + b - 2.0;
        let pooled = (of_base * (a - 1.0) + of_new * (b - 1.0)) / freedom;
        ((pooled * (1.0 / a + 1.0 / b)).sqrt(), freedom)
    };
    Difference { change: mean(&new) - mean(&base), error, freedom, method: Method::Runs, blocks: [None, None] }
}
