//! A query's events through an exporter, on any number of threads.

use super::resolved::Resolved;
use super::selector::Seen;
use super::{Exporter, Outflow};
use super::{Outcome, Query, QueryError};
use crate::file::ring_buffer::RecordPlace;
use crate::file::trace_dat::FileError;
use crate::kernel::event::{Consumed, Record};
use crate::read::merge::MergeError;
use crate::read::merge::ahead::{self, Commit, Following, UnorderedWork, Work, WorkDivision};
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Output gathered before it is written, in bytes.
const GATHER: usize = 256 << 10;

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The query cannot be run.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl From<FileError> for ExportError {
    fn from(error: FileError) -> Self {
        ExportError::Query(error.into())
    }
}

impl Query<'_> {
    /// Writes the events with `exporter`, on as many threads as [`Query::threads`] says where their order allows it.
    /// Gives the exporter's last state.
    ///
    /// # Errors
    /// [`ExportError`]: as [`Query::resolve`], and whatever writing to `out` gives.
    pub fn export<E: Exporter>(
        &self,
        exporter: &E,
        out: &mut (impl Write + Send),
    ) -> Result<(E::State, Outcome), ExportError> {
        let mut resolved = self.resolve()?;
        let (mut state, mut text) = (exporter.state(), Vec::new());
        exporter.begin(&mut state, &mut text);
        let (mut state, mut outcome) = if resolved.is_unlimited() {
            out.write_all(&text)?;
            resolved.on_threads(exporter, state, out)?
        } else {
            resolved.in_order(exporter, state, text, out)?
        };
        let sink = &mut |part: &[u8]| out.write_all(part);
        let mut rest = Outflow::new(sink);
        exporter.end(&mut state, &mut rest.bytes);
        rest.relieve()?;
        exporter.rest(&mut state, &mut rest)?;
        rest.flush()?;
        outcome.undecoded = exporter.undecoded(&state);
        Ok((state, outcome))
    }
}

impl Resolved<'_> {
    /// All events of the window, on threads.
    pub(super) fn on_threads<E: Exporter>(
        &mut self,
        exporter: &E,
        state: E::State,
        out: &mut (impl Write + Send),
    ) -> Result<(E::State, Outcome), ExportError> {
        let query = self.query;
        let mut streams = self.streams(&query.window)?;
        let mut outcome = Outcome::default();
        let mut tallied = false;
        if self.is_everything()
            && let Some(tally) = exporter.unordered()
        {
            let damage = &mut |error: MergeError| Self::damage(query, &mut outcome, error);
            let (events, counted) = ahead::tally(&CountedTally(tally), streams, query.threads, damage);
            if !tally.any(&counted, &|source, id| self.selector.is_unknown(source, id)) {
                let mut state = state;
                tally.add(&mut state, counted);
                outcome.events = events;
                return Ok((state, outcome));
            }
            // Once more in the order of time, which says where the unknown events are.
            streams = self.streams(&query.window)?;
            tallied = true;
        }
        let damage = &mut |error: MergeError| {
            if !tallied {
                Self::damage(query, &mut outcome, error);
            }
        };
        let effort = WorkDivision::new(if exporter.is_serial() { 1 } else { query.threads });
        let sink = &mut |text: &[u8]| out.write_all(text);
        let mut known = SegmentState { seen: self.seen.clone(), counts: Outcome::default(), state };
        let consumer = Consumer { exporter, resolved: self, all: self.is_everything() };
        ahead::run(&consumer, streams, effort, &mut known, sink, damage)?;
        outcome.add(&known.counts);
        known.seen.losses.rest().for_each(|lost| outcome.lose(lost));
        Self::unknown(query, &outcome);
        Ok((known.state, outcome))
    }

    /// The events one after the other, on this thread.
    fn in_order<E: Exporter>(
        &mut self,
        exporter: &E,
        mut state: E::State,
        mut gathered: Vec<u8>,
        out: &mut impl Write,
    ) -> Result<(E::State, Outcome), ExportError> {
        gathered.reserve(GATHER + (64 << 10));
        let outcome = self.walk(|current| {
            current.export(exporter, &mut state, &mut gathered);
            if gathered.len() >= GATHER {
                out.write_all(&gathered)?;
                gathered.clear();
            }
            Ok::<_, ExportError>(ControlFlow::Continue(()))
        })?;
        out.write_all(&gathered)?;
        Ok((state, outcome))
    }
}

/// An exporter as the consumer of a merge.
struct Consumer<'a, 'q, E> {
    exporter: &'a E,
    resolved: &'a Resolved<'q>,
    /// True if it gets every event.
    all: bool,
}

/// The state that the events of a segment leave.
struct SegmentState<S> {
    seen: Seen,
    /// Events and losses.
    counts: Outcome,
    state: S,
}

impl<E: Exporter> Work for Consumer<'_, '_, E> {
    type State = SegmentState<E::State>;

    const FOLLOWING: Following = E::FOLLOWING;

    fn fork(&self, known: &SegmentState<E::State>, used: Option<SegmentState<E::State>>) -> SegmentState<E::State> {
        let state = self.exporter.fork(&known.state, used.map(|used| used.state));
        SegmentState { seen: known.seen.fork(), counts: Outcome::default(), state }
    }

    #[inline(always)]
    fn record<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        part: &mut SegmentState<E::State>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let Resolved { query, selector, .. } = self.resolved;
        let outside = |time| query.window.is_before(time) || query.window.is_over(time);
        if !self.all && outside(record.timestamp) {
            return Consumed::One;
        }
        selector.check(record, &mut part.counts.unknown);
        if self.all || selector.is_everything() {
            part.counts.count(record.lost);
            return self.exporter.event(record, next, &mut part.state, out);
        }
        if !selector.accepts(&mut part.seen, record) {
            part.seen.losses.refuse(record);
            return Consumed::One;
        }
        let record = Record { lost: part.seen.losses.hand_out(record), ..*record };
        part.counts.count(record.lost);
        self.exporter.event(&record, next, &mut part.state, out)
    }

    fn commit(
        &self,
        known: &mut SegmentState<E::State>,
        done: &mut SegmentState<E::State>,
        out: &mut Vec<u8>,
    ) -> Commit {
        // Nothing may be taken over of a segment that is done again in order.
        if known.seen.matters_to(&done.seen) {
            return Commit::Serialize;
        }
        let commit = self.exporter.commit(&mut known.state, &mut done.state, out);
        if commit == Commit::Accept {
            known.seen.join(&mut done.seen);
            known.counts.add(&done.counts);
        }
        commit
    }

    fn settle(&self, done: &mut SegmentState<E::State>) {
        self.exporter.settle(&mut done.state);
    }
}

/// A tally that counts its records.
struct CountedTally<'t, S>(&'t dyn UnorderedWork<State = S>);

impl<S: Send> UnorderedWork for CountedTally<'_, S> {
    type State = (u64, S);

    fn nothing(&self) -> (u64, S) {
        (0, self.0.nothing())
    }

    fn records(&self, (events, state): &mut (u64, S), buffer: usize, items: &[RecordPlace], data: &[u8]) {
        *events += items.len() as u64;
        self.0.records(state, buffer, items, data);
    }

    fn add(&self, (events, known): &mut (u64, S), more: (u64, S)) {
        *events += more.0;
        self.0.add(known, more.1);
    }

    fn any(&self, (_, state): &(u64, S), wanted: &dyn Fn(usize, u16) -> bool) -> bool {
        self.0.any(state, wanted)
    }
}

impl Outcome {
    /// Adds the events and losses of `more`.
    fn add(&mut self, more: &Outcome) {
        self.events += more.events;
        self.lost = self.lost.saturating_add(more.lost);
        self.gaps += more.gaps;
        self.unknown.add(&more.unknown);
    }
}
