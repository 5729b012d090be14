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

mod comparability;
mod compare;
mod judged;
mod runs;
mod side;
mod statistics;
mod summary;
#[cfg(test)]
mod tests;

pub use comparability::{Aspect, Comparability, Reach, SetAside};
pub use compare::{Comparison, compare};
pub use judged::{ChangeVerdict, Compared};
pub use runs::{Difference, Method};
pub use side::CompareOptions;
pub use statistics::{SplitMix64, Weights, holm, student_quantile, student_tail};
pub use summary::{CellSeries, SavedRun, SavedRuns, SummaryError, block_length};
