//! Selected events as a change to a copy of their recording.

use super::{Input, select};
use crate::cli::exit::Failure;
use rtrace::event::Record;
use rtrace::recording::{Query, Resolved};
use rtrace::trace_dat::write::{Edit, StoredRecord};

/// The events that a query of one recording selects, wherever its window lies.
pub(crate) struct Selected<'q> {
    resolved: Resolved<'q>,
    /// By buffer: its source.
    sources: Vec<usize>,
}

impl<'q> Selected<'q> {
    /// Of `query`, whose one recording is `inputs`.
    pub(crate) fn of(query: &'q Query<'_>, inputs: &[Input]) -> Result<Self, Failure> {
        let sources = query.sources();
        let last = sources.iter().map(|source| source.buffer).max().unwrap_or(0);
        let place = |buffer| sources.iter().position(|source| source.buffer == buffer).unwrap_or(0);
        let resolved = query.resolve().map_err(|error| select::failure(error, inputs))?;
        Ok(Selected { resolved, sources: (0..=last).map(place).collect() })
    }
}

impl Edit for Selected<'_> {
    fn keeps(&mut self, record: &StoredRecord<'_>) -> bool {
        let StoredRecord { stream, cpu, timestamp, lost, data } = *record;
        let Some(buffer) = self.sources.get(stream.0).copied() else { return false };
        self.resolved.selects(&Record { timestamp, cpu, buffer, lost, data })
    }
}
