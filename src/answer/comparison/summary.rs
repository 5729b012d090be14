//! Summaries of recordings: all that a comparison needs of them.

use super::series::CellSeries;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Some runs, as a file holds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedRuns {
    /// `rtrace.baseline`.
    pub schema: String,
    /// Version of the layout.
    pub version: u32,
    /// Recordings of the same thing.
    pub runs: Vec<SavedRun>,
}

/// A recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedRun {
    /// Path of the file as it was named.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The system, as uname(1) has it, without the machine's name; `None` if the file does not say.
    pub system: Option<String>,
    /// Name of the buffer; empty of the main one.
    pub buffer: String,
    /// The trace clock.
    pub clock: String,
    /// True if the clock counts something else than time.
    pub in_ticks: bool,
    /// Number of CPUs.
    pub cpus: u32,
    /// Events that were enabled from begin to end, each with its filter; `None` if the file does not say.
    pub enabled: Option<Vec<String>>,
    /// Tasks and CPUs that the recording was restricted to, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Metrics that were asked for when it was summarised: a comparison has them beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// Options that chose the part of the recording; empty of the whole.
    pub options: String,
    /// From the first event to the last, or of that the part that was chosen, in nanoseconds.
    pub duration: u64,
    /// Number of events.
    pub events: u64,
    /// Events that the kernel dropped, with a place.
    pub lost: u64,
    /// Places where it dropped some without counting them.
    pub gaps: u64,
    /// Events that the rings' counters say were dropped.
    pub dropped: u64,
    /// Damaged places; an unfinished recording's end is one.
    pub damaged: u64,
    /// True if the recording was unfinished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Number of cells of the window.
    pub cells: u16,
    /// Series by name, as [`crate::answer::assertion::Quantity::series`] has it.
    pub series: BTreeMap<String, CellSeries>,
    /// Series that were asked for and are not there: why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// Cells of a window: blocks of them are resampled.
const MOST_CELLS: u16 = 1024;

impl SavedRuns {
    /// The name of the layout.
    pub const SCHEMA: &str = "rtrace.baseline";
    /// The version of the layout.
    pub const VERSION: u32 = 1;
    /// Number of cells that windows are cut into.
    pub const CELLS: u16 = 64;
    /// Number of runs from which on they are compared as wholes.
    pub const RUNS: usize = 5;

    /// Of some runs.
    pub fn new(runs: Vec<SavedRun>) -> Self {
        SavedRuns { schema: SavedRuns::SCHEMA.to_owned(), version: SavedRuns::VERSION, runs }
    }

    /// The same, smaller: of five runs or more the cells are not needed, because those are compared as wholes.
    pub fn compact(mut self) -> Self {
        if self.runs.len() >= SavedRuns::RUNS {
            for run in &mut self.runs {
                run.cells = 1;
                run.series.values_mut().for_each(|series| *series = series.whole());
            }
        }
        self
    }

    /// Checks what anybody may have written.
    ///
    /// # Errors
    /// [`SummaryError`]: numbers that do not fit together.
    pub fn check(&self) -> Result<(), SummaryError> {
        if self.schema != SavedRuns::SCHEMA || self.version != SavedRuns::VERSION {
            return Err(SummaryError::Schema(self.schema.clone(), self.version));
        }
        if self.runs.is_empty() {
            return Err(SummaryError::Empty);
        }
        for (number, run) in self.runs.iter().enumerate() {
            let of = |series: &str, what| SummaryError::Series { run: number + 1, series: series.to_owned(), what };
            if run.cells == 0 || run.cells > MOST_CELLS {
                return Err(of("", "no such number of cells"));
            }
            for (name, series) in &run.series {
                if let Some(what) = series.mistake(run.cells.into()) {
                    return Err(of(name, what));
                }
            }
        }
        Ok(())
    }
}

impl SavedRun {
    /// True if events are missing, or may be.
    pub fn has_losses(&self) -> bool {
        self.lost > 0 || self.gaps > 0 || self.dropped > 0 || self.damaged > 0
    }
}

/// A summary that cannot be one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Not a summary, or one of a later version.
    #[error("not a saved summary of this version: schema `{0}`, version {1}")]
    Schema(String, u32),
    /// It holds no run.
    #[error("holds no run")]
    Empty,
    /// Numbers that do not fit together.
    #[error("run {run}, series `{series}`: {what}")]
    Series {
        /// Number of the run, from 1.
        run: usize,
        /// Name of the series.
        series: String,
        /// The mistake in its numbers.
        what: &'static str,
    },
}
