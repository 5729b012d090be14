//! Comparison of sides of several runs by the runs' values.
//! The difference of two sides in logarithms, and what it is worth.
//! Values of runs as they would be if another quantity, which the change does not touch, were the same in all of them.

use super::side::variance;
use super::statistics::{student_quantile, student_tail};
use super::summary::SavedRuns;
use serde::Serialize;

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

/// ln(new) - ln(base), with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// ln(new / base).
    pub change: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// Degrees of freedom of that.
    pub freedom: f64,
    /// Standard deviation of the difference of one run a side, or of one pair: the error by the root of their number.
    pub spread: f64,
    /// Number of runs a side, or of pairs: the mean of both sides.
    pub runs: f64,
    /// Method of the error's estimate.
    pub method: Method,
    /// Change of ln(value) by that of ln of the quantity that was adjusted for.
    pub slope: Option<f64>,
    /// Mean length of the blocks of each side, in cells, if blocks were resampled.
    pub blocks: [Option<f64>; 2],
}

/// The way to a standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Blocks of time resampled.
    Blocks,
    /// Values of whole runs.
    Runs,
    /// Differences of pairs of runs.
    Pairs,
}

impl Difference {
    /// The same of values from which a slope has been taken out: it counts as one number known from them, and has an error.
    pub(super) fn adjusted(self, slope: f64, inflation: f64) -> Self {
        let (error, spread) = (self.error * inflation.sqrt(), self.spread * inflation.sqrt());
        Difference { error, spread, freedom: (self.freedom - 1.0).max(1.0), slope: Some(slope), ..self }
    }

    /// The probability of a change so great where there is none.
    pub fn probability(&self) -> f64 {
        match (self.error > 0.0, self.change == 0.0) {
            (true, _) => student_tail(self.change.abs() / self.error, self.freedom),
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }

    /// The interval that holds the change but with the probability `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = student_quantile(alpha, self.freedom) * self.error;
        (self.change - half, self.change + half)
    }
}

// A machine that is slower in one run makes all its durations longer, among them those of a fixed piece of work. That share of
// a metric's deviation is known, and can be taken out (analysis of covariance; in A/B tests, CUPED):
//
// ```text
//   ln(value) - b (ln(x) - mean of ln(x))
// ```
//
// b is the slope of Theil (1950) and Sen (1968), the median of the slopes of all pairs of points: between the differences of the
// pairs of runs, or between the runs of a side. A run that something else disturbed does not move it.

/// Values of both sides, adjusted.
pub(super) struct Adjusted {
    pub(super) values: [Vec<f64>; 2],
    /// Change of ln(value) by that of ln(x).
    pub(super) slope: f64,
    /// The squared error of the difference by that without the slope's own error.
    pub(super) inflation: f64,
}

/// Points whose slopes count: those of a group lie on one line.
fn slope(groups: &[Vec<(f64, f64)>]) -> f64 {
    let mut slopes = Vec::new();
    for group in groups {
        for (at, (x, y)) in group.iter().enumerate() {
            let others = group[at + 1..].iter().filter(|(other, _)| other != x);
            slopes.extend(others.map(|(other, of_other)| (of_other - y) / (other - x)));
        }
    }
    slopes.sort_by(f64::total_cmp);
    match slopes.len() {
        0 => 0.0,
        count if count % 2 == 1 => slopes[count / 2],
        count => (slopes[count / 2 - 1] + slopes[count / 2]) / 2.0,
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// The values of both sides with what `by` explains taken out.
pub(super) fn adjusted(values: [&[f64]; 2], by: [&[f64]; 2], paired: bool) -> Adjusted {
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let ([y0, y1], [x0, x1]) = (values.map(logs), by.map(logs));
    let points = |x: &[f64], y: &[f64]| x.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>();
    let less = |new: &[f64], base: &[f64]| new.iter().zip(base).map(|(new, base)| new - base).collect::<Vec<f64>>();
    let groups = match paired {
        true => vec![points(&less(&x1, &x0), &less(&y1, &y0))],
        false => vec![points(&x0, &y0), points(&x1, &y1)],
    };
    // The slope's own error counts as far as the sides differ in x.
    let squares = groups.iter().map(|group| {
        let middle = mean(group.iter().map(|point| point.0));
        group.iter().map(|point| (point.0 - middle).powi(2)).sum::<f64>()
    });
    let apart = mean(x1.iter().copied()) - mean(x0.iter().copied());
    let weight = if paired { 1.0 / x0.len() as f64 } else { 1.0 / x0.len() as f64 + 1.0 / x1.len() as f64 };
    let more = apart * apart / squares.sum::<f64>() / weight;
    let (slope, reference) = (slope(&groups), mean([&x0[..], &x1].concat().into_iter()));
    let without = |y: &[f64], x: &[f64]| y.iter().zip(x).map(|(y, x)| (y - slope * (x - reference)).exp()).collect();
    Adjusted {
        values: [without(&y0, &x0), without(&y1, &x1)],
        slope,
        inflation: 1.0 + if more.is_finite() { more } else { 0.0 },
    }
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

    /// Values that are a power of the machine's speed, times 1.03 on the new side, with or without runs that something disturbed.
    #[test]
    fn the_machine_is_taken_out() {
        for (paired, disturbed) in [(true, 0), (true, 3), (false, 0), (false, 1)] {
            let mut rng = SplitMix64::new(7);
            let mut speeds = || (0..20).map(|_| 1.0 + rng.unit()).collect::<Vec<f64>>();
            let by = [speeds(), speeds()];
            let mut values = by.clone().map(|side| side.iter().map(|x| 500.0 * x.powf(0.8)).collect::<Vec<f64>>());
            values[1].iter_mut().for_each(|value| *value *= 1.03);
            (0..disturbed).for_each(|nth| values[0][nth * 5] *= 40.0);
            let found = adjusted([&values[0], &values[1]], [&by[0], &by[1]], paired);
            assert!((found.slope - 0.8).abs() < 0.05, "{paired} {disturbed}: {}", found.slope);
            let ratio = found.values[1][1] / found.values[0][1];
            assert!((ratio - 1.03).abs() < 0.05 && found.inflation < 1.2, "{paired} {disturbed}: {ratio}");
        }
        let same = [&[2.0; 5][..], &[2.0; 5]];
        let found = adjusted([&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0; 5]], same, false);
        assert_eq!((found.slope, found.inflation), (0.0, 1.0));
        assert!((found.values[0][2] - 3.0).abs() < 1e-12);
    }
}
