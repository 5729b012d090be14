//! The stationary bootstrap (Politis and Romano, 1994).

use super::rng::SplitMix64;

/// Number of draws of each cell of each run.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights(pub Vec<Vec<f64>>);

impl Weights {
    /// Each cell once.
    pub fn once(cells: &[usize]) -> Self {
        Weights(cells.iter().map(|count| vec![1.0; *count]).collect())
    }

    /// Draws as many cells of each run as it has: blocks that begin anywhere, are `length` cells long on average (their
    /// lengths are geometric), and go on at the run's begin where they pass its end.
    pub fn draw(&mut self, length: f64, rng: &mut SplitMix64) {
        for run in &mut self.0 {
            run.fill(0.0);
            let (count, mut at) = (run.len(), 0);
            for drawn in 0..count {
                let begins = drawn == 0 || rng.unit() * length < 1.0;
                at = if begins { rng.below(count) } else { (at + 1) % count };
                run[at] += 1.0;
            }
        }
    }
}
