//! The changes that a comparison could find, and the runs that it takes to find smaller ones.
//!
//! The error of n pairs is s / √n, where s is the standard deviation of ln(new / base) of a pair; of n runs a side likewise,
//! with s² the sum of both sides' variances. t(q) is the number of errors that an estimate is off by, on either side, with the
//! probability q. A change is called one where its estimate is the least effect e or more, and t(p) errors or more, where p is
//! the part of each metric in the probability of false alarms. In nine of ten comparisons the estimate falls short of the change by
//! t(0.2) errors at most, and in nine of ten it is off by t(0.1) at most. So these find a change, and see that there is none, from
//!
//! ```text
//!   max(e, t(p) s / √n) + t(0.2) s / √n          and          n = ((t(p) + t(0.1)) s / e)²
//! ```
//!
//! on. The degrees of freedom of t grow with n.

use super::difference::Difference;
use super::student::student_quantile;
use super::summary::SavedRuns;
use serde::Serialize;

/// The probability with which a change is missed, or that there is none.
const MISSED: f64 = 0.1;

/// More runs than anybody makes.
const MOST_RUNS: u64 = 1_000_000;

/// The changes that a comparison could find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reach {
    /// The smallest change that comparisons like this one find in nine of ten, as a share of the base.
    pub finds: f64,
    /// The fewest runs a side, or pairs, with which nine of ten comparisons see that there is no change of the least effect.
    pub runs: Option<u64>,
}

impl Reach {
    /// Of a comparison that may call a change what is none with the probability `tail`; `least` is the least effect, in
    /// logarithms.
    pub(super) fn of(difference: &Difference, tail: f64, least: f64) -> Self {
        let Difference { error, freedom, spread, runs, .. } = *difference;
        let limit = (student_quantile(tail, freedom) * error).max(least);
        let finds = limit + student_quantile(2.0 * MISSED, freedom) * error;
        // The number of runs decides on the degrees of freedom, and these on the number.
        let enough = |number: u64| {
            let freedom = (freedom * number as f64 / runs).max(1.0);
            let errors = student_quantile(tail, freedom) + student_quantile(MISSED, freedom);
            errors * spread <= least * (number as f64).sqrt()
        };
        let (mut few, mut many) = (SavedRuns::RUNS as u64 - 1, SavedRuns::RUNS as u64);
        while !enough(many) && many < MOST_RUNS {
            (few, many) = (many, many * 2);
        }
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            if enough(middle) {
                many = middle;
            } else {
                few = middle;
            }
        }
        Reach { finds: finds.exp_m1(), runs: Some(many).filter(|many| *many <= MOST_RUNS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::comparison::{Method, SplitMix64};

    fn difference(spread: f64, runs: f64) -> Difference {
        let error = spread / runs.sqrt();
        let (freedom, method) = (runs - 1.0, Method::Pairs);
        Difference { change: 0.0, error, freedom, spread, runs, method, slope: None, blocks: [None; 2] }
    }

    /// With many runs t is the normal distribution's: 2.576 for 1 %, 1.645 for 10 %, 1.282 for 20 %.
    #[test]
    fn the_closed_form() {
        let reach = Reach::of(&difference(0.14, 1e6), 0.01, 0.01);
        let needed = ((2.5758 + 1.6449) * 0.14f64 / 0.01).powi(2);
        assert!((reach.runs.unwrap() as f64 / needed - 1.0).abs() < 0.01, "{reach:?} {needed}");
        assert!((reach.finds - (0.01f64 + 1.2816 * 0.14e-3).exp_m1()).abs() < 1e-6, "{reach:?}");
        let none = Reach::of(&difference(0.0, 5.0), 0.01, 0.05);
        assert_eq!((none.finds, none.runs), (0.05f64.exp_m1(), Some(5)));
    }

    /// Comparisons of normal numbers find that change, and are narrow with that many, in nine of ten.
    #[test]
    fn nine_of_ten_are_nine_of_ten() {
        let (tail, least, spread) = (0.01, 0.05, 0.1);
        let mut rng = SplitMix64::new(19);
        let mut draw = |runs: u64, change: f64| {
            let mut normal = || change + spread * ((0..12).map(|_| rng.unit()).sum::<f64>() - 6.0);
            let values: Vec<f64> = (0..runs).map(|_| normal()).collect();
            let mean = values.iter().sum::<f64>() / runs as f64;
            let error = (crate::answer::comparison::side::variance(&values) / runs as f64).sqrt();
            (mean, error * student_quantile(tail, runs as f64 - 1.0))
        };
        for runs in [6, 20, 60] {
            let change = Reach::of(&difference(spread, runs as f64), tail, least).finds.ln_1p();
            let found = (0..2_000).filter(|_| {
                let (mean, half) = draw(runs, change);
                mean >= half && mean >= least
            });
            let found = found.count();
            assert!((1_700..1_960).contains(&found), "{runs}: {found}");
        }
        let needed = Reach::of(&difference(spread, 8.0), tail, least).runs.unwrap();
        let narrow = (0..2_000).filter(|_| {
            let (mean, half) = draw(needed, 0.0);
            mean.abs() + half <= least
        });
        let narrow = narrow.count();
        assert!((1_700..1_960).contains(&narrow), "{needed}: {narrow}");
    }
}
