//! The events of a query, and what can be done with them.

use super::select::{export_failure, failure};
use super::window::{tell_of_step, unknown_wall_clock};
use super::{ClockUnit, QueryInput, WallArgs};
use crate::cli::exit::Failure;
use rtrace::analysis::Analysis;
use rtrace::export::{Exporter, Pseudonyms};
use rtrace::internal::trace_dat::WallClock;
use rtrace::recording::{BufferSource, Outcome, Query};
use std::hash::RandomState;
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
    /// True if times are to be shown by the wall clock.
    pub(crate) wall: bool,
    /// The pseudonyms that replace names and texts (`--redact`).
    pub(crate) pseudonyms: Option<Pseudonyms>,
}

impl<'a> QueryEvents<'a> {
    /// The events of `query` on `inputs`. A mistake in a filter is an error here, before anything is written.
    pub(crate) fn new(inputs: &'a [QueryInput], query: Query<'a>) -> Result<Self, Failure> {
        query.resolve().map_err(|error| failure(error, inputs))?;
        Ok(QueryEvents { inputs, query, shown: Arc::default(), wall: false, pseudonyms: None })
    }

    /// Shows pseudonyms in place of names and texts, if that is wanted: the same in all that is written of these events.
    pub(crate) fn redacted(mut self, redact: bool) -> Self {
        self.pseudonyms = redact.then(|| Pseudonyms::new(RandomState::new()));
        self
    }

    /// Shows times as `args` say.
    ///
    /// # Errors
    /// If they are to be by the wall clock, and a recording does not know it.
    pub(crate) fn by_wall_clock(mut self, args: WallArgs) -> Result<Self, Failure> {
        self.wall = args.is_wanted();
        let unknown = |source: &&BufferSource| source.wall_clock(self.query.recordings()).is_none();
        if self.wall {
            let known = self.query.sources().iter().filter_map(|source| self.wall_clock(source));
            known.for_each(|clock| tell_of_step(&clock));
        }
        match self.query.sources().iter().find(unknown).filter(|_| self.wall) {
            Some(source) => Err(unknown_wall_clock(&self.inputs[source.recording].path.to_string_lossy())),
            None => Ok(self),
        }
    }

    /// The wall clock by times of `source`, if that is what times are to be shown by.
    pub(crate) fn wall_clock(&self, source: &BufferSource) -> Option<WallClock> {
        source.wall_clock(self.query.recordings()).filter(|_| self.wall)
    }

    /// The unit of times of a query of these events: ticks if any source has them.
    pub(crate) fn unit_of(&self, query: &Query<'_>) -> ClockUnit {
        let sources = query.sources();
        let one = sources.iter().find(|source| source.in_ticks).or(sources.first());
        one.map_or(ClockUnit::Nanoseconds, |source| self.unit(source))
    }

    /// The unit of times of `source`.
    pub(crate) fn unit(&self, source: &BufferSource) -> ClockUnit {
        match self.wall_clock(source) {
            Some(clock) => ClockUnit::Wall(clock),
            None => ClockUnit::of(source.in_ticks),
        }
    }

    /// Feeds the events to `analysis`; gives what it found.
    pub(crate) fn analyse<A: Analysis>(&self, analysis: A) -> Result<A::Finding, Failure> {
        self.analysed(analysis).map(|(finding, _)| finding)
    }

    /// The same, and what was handed out and lost.
    pub(crate) fn analysed<A: Analysis>(&self, analysis: A) -> Result<(A::Finding, Outcome), Failure> {
        let analysed = self.query.analyse(analysis);
        let (finding, outcome) = analysed.map_err(|error| failure(error, self.inputs))?;
        self.count(outcome.events);
        Ok((finding, outcome))
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
