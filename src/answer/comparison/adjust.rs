//! Values of runs as they would be if another quantity, which the change does not touch, were the same in all of them.
//!
//! A machine that is slower in one run makes all its durations longer, among them those of a fixed piece of work. That share of
//! a metric's deviation is known, and can be taken out (analysis of covariance; in A/B tests, CUPED):
//!
//! ```text
//!   ln(value) - b (ln(x) - mean of ln(x))
//! ```
//!
//! b is the slope of Theil (1950) and Sen (1968), the median of the slopes of all pairs of points: between the differences of the
//! pairs of runs, or between the runs of a side. A run that something else disturbed does not move it.

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
