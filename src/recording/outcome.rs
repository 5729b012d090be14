//! How a query ended.

use crate::events::NoEvent;
use crate::syntax::Diagnostic;
use crate::trace_dat::FileError;

/// What a query went through.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many events were handed out.
    pub events: u64,
    /// Events that the kernel dropped within the window, as far as it counted them.
    pub lost: u64,
    /// Places within the window where the kernel dropped events without counting them.
    pub gaps: u64,
    /// Damaged places.
    pub damage: Damage,
    /// Events whose text was asked for and whose print format could not be compiled: their text lists the fields.
    pub undecoded: u64,
}

/// Damaged places of a recording: all are counted, the first 100 kept.
#[derive(Debug, Default)]
pub struct Damage {
    /// How many there are.
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

/// A query that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The filter cannot be parsed, or does not fit the event's fields.
    #[error("invalid filter:\n{0}")]
    Filter(#[from] Diagnostic),
    /// The recording has no event of that name.
    #[error(transparent)]
    NoEvent(#[from] NoEvent),
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}
