//! Verdicts about metrics.

use super::difference::Difference;
use super::reach::Reach;
use serde::Serialize;

/// The outcome for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeVerdict {
    /// It is better by the least effect or more, and not by chance.
    Better,
    /// It is worse by the least effect or more, and not by chance.
    Worse,
    /// Its change is below the least effect, whatever it is.
    Same,
    /// None of these is known.
    Indeterminate,
}

/// A metric of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The metric.
    pub metric: String,
    /// Outcome of the comparison.
    pub verdict: ChangeVerdict,
    /// True if more of it is better.
    pub more_is_better: bool,
    /// Its values, in nanoseconds, per second, or as a number.
    pub base: Option<f64>,
    /// Value on the new side.
    pub new: Option<f64>,
    /// The change as a share of the base: 0.1 is 10 % more.
    pub change: Option<f64>,
    /// The interval of confidence of the change, with all metrics together.
    pub interval: Option<(f64, f64)>,
    /// The probability of such a change by chance.
    pub p: Option<f64>,
    /// The same after Holm's correction.
    pub p_holm: Option<f64>,
    /// The difference that the verdict rests on.
    pub difference: Option<Difference>,
    /// The changes that this comparison could find; `None` if that is not known.
    pub reach: Option<Reach>,
    /// Number of durations or events of the rarest series, of either side.
    pub samples: [Option<u64>; 2],
    /// The value in each run, of either side.
    pub runs: [Vec<Option<f64>>; 2],
    /// Why it is indeterminate, or what else must be known.
    pub reasons: Vec<String>,
}
