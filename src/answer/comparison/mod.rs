//! Internal. Comparison of recordings by metrics: are they comparable, what changed, by how much, and is that more than chance. `rtrace
//! help comparisons` defines each number.
//!
//! A [`SavedRuns`] holds some [`SavedRun`]s: facts of each recording, and [`CellSeries`] of durations, events and times by cell of its
//! window. [`compare()`] needs no more than two summaries, so that a saved one and its recordings give the same answer.
//!
//! ```text
//! one to four runs a side   stationary block bootstrap of each run's cells --> standard error of ln(value)
//! five runs or more         ln(value) of each run --> Welch's t, or of pairs
//! both                      --> p, Holm over the metrics, interval --> better, worse, same, indeterminate
//! ```

mod adjust;
mod comparability;
mod compare;
mod difference;
mod judged;
mod runs;
mod series;
mod side;
mod statistics;
mod summary;
#[cfg(test)]
mod tests;

pub use comparability::{Aspect, Comparability, Reach, SetAside};
pub use compare::{Comparison, compare};
pub use difference::{Difference, Method};
pub use judged::{ChangeVerdict, Compared};
pub use series::{CellSeries, block_length};
pub use side::CompareOptions;
pub use statistics::{SplitMix64, Weights, holm, student_quantile, student_tail};
pub use summary::SummaryError;
pub use summary::{SavedRun, SavedRuns};
