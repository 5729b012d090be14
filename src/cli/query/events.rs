//! The events of a query, and what can be done with them.

use super::QueryInput;
use super::select::{export_failure, failure};
use crate::cli::exit::Failure;
use rtrace::analysis::Analysis;
use rtrace::export::Exporter;
use rtrace::recording::{Outcome, Query};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The events that are asked for.
#[derive(Clone)]
pub(crate) struct QueryEvents<'a> {
    pub(crate) inputs: &'a [QueryInput],
    pub(crate) query: Query<'a>,
    /// Number of events handed out so far, to any exporter or analysis.
    pub(crate) shown: Arc<AtomicU64>,
}

impl<'a> QueryEvents<'a> {
    /// The events of `query` on `inputs`. A mistake in a filter is an error here, before anything is written.
    pub(crate) fn new(inputs: &'a [QueryInput], query: Query<'a>) -> Result<Self, Failure> {
        query.resolve().map_err(|error| failure(error, inputs))?;
        Ok(QueryEvents { inputs, query, shown: Arc::default() })
    }

    /// Feeds the events to `analysis`; gives what it found.
    pub(crate) fn analyse<A: Analysis>(&self, analysis: A) -> Result<A::Finding, Failure> {
        let analysed = self.query.analyse(analysis);
        let (finding, outcome) = analysed.map_err(|error| failure(error, self.inputs))?;
        self.count(outcome.events);
        Ok(finding)
    }

    /// Writes the events with `exporter`; gives its last state, and what was handed out and lost.
    pub(crate) fn export<E: Exporter>(
        &self,
        exporter: &E,
        out: &mut (impl Write + Send),
    ) -> Result<(E::State, Outcome), Failure> {
        let done = self.query.export(exporter, out).map_err(|error| export_failure(error, self.inputs))?;
        self.count(done.1.events);
        Ok(done)
    }

    /// Adds to the number of events that were handed out.
    pub(crate) fn count(&self, events: u64) {
        self.shown.fetch_add(events, Ordering::Relaxed);
    }
}
