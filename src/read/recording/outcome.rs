//! The outcome of a query.

use super::unknown::{UnknownEvents, UnknownIds};
use crate::base::syntax::Diagnostic;
use crate::base::units::{CpuId, Timestamp};
use crate::file::trace_dat::FileError;
use crate::kernel::events::NoEvent;

/// The outcome of a query.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Events handed out.
    pub events: u64,
    /// Events that the kernel dropped before those handed out, as far as it counted them.
    pub lost: u64,
    /// Places where the kernel dropped events without counting them.
    pub gaps: u64,
    /// Damaged places.
    pub damage: Damage,
    /// Events whose text was asked for and whose print format could not be compiled: their text lists the fields.
    pub undecoded: u64,
    pub(super) unknown: UnknownIds,
}

impl Outcome {
    /// The events read whose id no format of their recording describes, selected or not, by recording and id.
    pub fn unknown(&self) -> Vec<UnknownEvents> {
        self.unknown.list()
    }
}

/// Damaged places of recordings: all are counted, the first 100 kept.
#[derive(Debug, Default)]
pub struct Damage {
    /// Number of damaged places.
    pub count: u64,
    /// The first of them.
    pub first: Vec<FileError>,
}

impl Damage {
    const KEPT: usize = 100;

    pub(super) fn note(&mut self, error: FileError) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(error);
        }
    }
}

/// A defect of a recording, reported at the moment it is found: see [`Query::on_notice`](super::Query::on_notice).
#[derive(Debug)]
pub enum Notice<'n> {
    /// A place is damaged; reading goes on after it.
    Damage {
        /// The recording: index into those of the query.
        recording: usize,
        /// The damage.
        error: &'n FileError,
    },
    /// Events have an id that no format describes; reported once per id, at the query's end.
    Unknown(UnknownEvents),
    /// The time stamps of a CPU go backwards; reported if [`Query::check_order`](super::Query::check_order) asks for it.
    Backwards {
        /// The recording: index into those of the query.
        recording: usize,
        /// The CPU.
        cpu: CpuId,
        /// The time stamp before.
        before: Timestamp,
        /// The earlier one that follows it.
        now: Timestamp,
    },
}

/// A query that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The filter cannot be parsed.
    #[error("invalid filter:\n{0}")]
    Filter(#[from] Diagnostic),
    /// The filter does not fit the fields of any event that it names.
    #[error("invalid filter for `{event}`:\n{error}")]
    Mismatch {
        /// The recording: index into those of the query.
        recording: usize,
        /// The event's name; empty for a filter of trace-cmd's language.
        event: String,
        /// The misfit.
        error: Box<Diagnostic>,
    },
    /// No recording has an event of that name.
    #[error(transparent)]
    NoEvent(#[from] NoEvent),
    /// The recording does not hold which process a task belongs to.
    #[error("the recording does not hold which process a task belongs to")]
    NoProcesses {
        /// The recording: index into those of the query.
        recording: usize,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}
