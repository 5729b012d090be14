//! Options of a comparison.

use serde::Serialize;

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
