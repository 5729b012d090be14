//! Comparison of sides of several runs by the runs' values.

use super::difference::{Difference, Method};
use super::side::variance;
use super::summary::SavedRuns;

/// Pairs from which on the lowest and the highest fifth are set aside: the rest of fewer says too little.
const TRIMMED: usize = 20;

/// The middle of some numbers, and how far it can be trusted: the trimmed mean with Yuen's error (1974), which with nothing
/// set aside are the mean and its standard error. A pair that something else disturbed moves neither much.
struct Middle {
    mean: f64,
    squared_error: f64,
    freedom: f64,
    /// Indices of the values that survived trimming.
    kept: Vec<usize>,
}

impl Middle {
    fn of(values: &[f64]) -> Self {
        let count = values.len();
        let aside = if count >= TRIMMED { count / 5 } else { 0 };
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
        let kept = order[aside..count - aside].to_vec();
        let (least, most) = (values[kept[0]], values[kept[kept.len() - 1]]);
        let drawn_in: Vec<f64> = values.iter().map(|value| value.clamp(least, most)).collect();
        let left = kept.len() as f64;
        let squares = variance(&drawn_in) * (count as f64 - 1.0);
        Middle {
            mean: kept.iter().map(|at| values[*at]).sum::<f64>() / left,
            squared_error: squares / (left * (left - 1.0)),
            freedom: left - 1.0,
            kept,
        }
    }
}

/// The geometric mean of the values at some places.
fn geometric(values: &[f64], places: &[usize]) -> f64 {
    (places.iter().map(|at| values[*at].ln()).sum::<f64>() / places.len() as f64).exp()
}

/// The middle difference of pairs of runs, with its standard error, and the values of both sides in the pairs that it is of.
pub(super) fn by_pairs(base: &[f64], new: &[f64]) -> (Difference, [f64; 2]) {
    let changes: Vec<f64> = base.iter().zip(new).map(|(base, new)| (new / base).ln()).collect();
    let middle = Middle::of(&changes);
    let difference = Difference {
        change: middle.mean,
        error: middle.squared_error.sqrt(),
        freedom: middle.freedom,
        spread: (middle.squared_error * changes.len() as f64).sqrt(),
        runs: changes.len() as f64,
        method: Method::Pairs,
        slope: None,
        blocks: [None, None],
    };
    (difference, [base, new].map(|values| geometric(values, &middle.kept)))
}

/// The difference of the means of logarithms, with Welch's standard error and degrees of freedom, and the values of both sides.
/// With less than five runs on one side both are taken to vary alike: the error is that of all runs together.
pub(super) fn by_runs(base: &[f64], new: &[f64]) -> (Difference, [f64; 2]) {
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.ln()).collect() };
    let (base, new) = (logs(base), logs(new));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (a, b) = (base.len() as f64, new.len() as f64);
    let (of_base, of_new) = (variance(&base), variance(&new));
    let (error, freedom, spread) = if base.len().min(new.len()) >= SavedRuns::RUNS {
        let (one, other) = (of_base / a, of_new / b);
        let freedom = (one + other).powi(2) / (one * one / (a - 1.0) + other * other / (b - 1.0));
        let freedom = if freedom.is_finite() { freedom } else { a + b - 2.0 };
        ((one + other).sqrt(), freedom, (of_base + of_new).sqrt())
    } else {
        let freedom = a + b - 2.0;
        let pooled = (of_base * (a - 1.0) + of_new * (b - 1.0)) / freedom;
        ((pooled * (1.0 / a + 1.0 / b)).sqrt(), freedom, (2.0 * pooled).sqrt())
    };
    let values = [mean(&base), mean(&new)];
    let (change, runs, method) = (values[1] - values[0], (a + b) / 2.0, Method::Runs);
    let difference = Difference { change, error, freedom, spread, runs, method, slope: None, blocks: [None, None] };
    (difference, values.map(f64::exp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::comparison::SplitMix64;

    /// The errors of [`Middle`] are those that many of them show, and a disturbed tenth hardly moves it.
    #[test]
    fn a_middle_is_of_what_is_not_disturbed() {
        let mut rng = SplitMix64::new(5);
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        for count in [5, 19, 20, 30] {
            let middles: Vec<Middle> =
                (0..2_000).map(|_| Middle::of(&(0..count).map(|_| normal()).collect::<Vec<_>>())).collect();
            let actual = variance(&middles.iter().map(|middle| middle.mean).collect::<Vec<_>>());
            let expected = middles.iter().map(|middle| middle.squared_error).sum::<f64>() / 2_000.0;
            assert!((0.85..1.2).contains(&(expected / actual)), "{count}: {expected} for {actual}");
        }
        let mut values: Vec<f64> = (0..20).map(|nth| f64::from(nth) / 100.0).collect();
        let quiet = Middle::of(&values);
        (values[7], values[12]) = (9.0, 30.0);
        let disturbed = Middle::of(&values);
        assert!((disturbed.mean - quiet.mean).abs() < 0.02, "{} {}", quiet.mean, disturbed.mean);
        assert!(disturbed.squared_error < 3.0 * quiet.squared_error);
    }

    /// Sides that differ by 5 % in all but the pairs that something else disturbed: their values do, too.
    #[test]
    fn the_values_of_both_sides_are_those_of_the_kept_pairs() {
        let base: Vec<f64> = (0..20).map(|nth| 100.0 + f64::from(nth)).collect();
        let mut new: Vec<f64> = base.iter().map(|value| value * 1.05).collect();
        (new[3], new[8]) = (1e6, 1.0);
        let (difference, [one, other]) = by_pairs(&base, &new);
        assert!((difference.change - 1.05f64.ln()).abs() < 1e-12 && (other / one - 1.05).abs() < 1e-12);
    }
}
