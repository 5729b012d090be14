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
mod block;
mod bootstrap;
mod comparability;
mod compare;
mod difference;
mod error;
mod grid;
mod holm;
mod judged;
mod options;
mod reach;
mod rng;
mod runs;
mod series;
mod set_aside;
mod side;
mod student;
mod summary;
#[cfg(test)]
mod tests;
mod verdict;

pub use block::block_length;
pub use bootstrap::Weights;
pub use comparability::{Aspect, Comparability};
pub use compare::{Comparison, compare};
pub use difference::{Difference, Method};
pub use error::SummaryError;
pub use holm::holm;
pub use options::CompareOptions;
pub use reach::Reach;
pub use rng::SplitMix64;
pub use series::CellSeries;
pub use set_aside::SetAside;
pub use student::{student_quantile, student_tail};
pub use summary::{SavedRun, SavedRuns};
pub use verdict::{ChangeVerdict, Compared};
