//! The difference of two sides in logarithms, and what it is worth.

use super::statistics::{student_quantile, student_tail};
use serde::Serialize;

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
