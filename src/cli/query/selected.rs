//! Selected events as a change to a copy of their recording.

use super::{QueryInput, select};
use crate::cli::exit::Failure;
use rtrace::event::Record;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord};
use rtrace::recording::{Query, Resolved, Window};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The events that a query of one recording selects, wherever its window lies.
pub(crate) struct Selected<'q> {
    resolved: Resolved<'q>,
    /// By buffer: its source.
    sources: Vec<usize>,
    /// The part of them that is wanted; all without it.
    part: Option<LimitedPart>,
}

/// The first or the last of the selected events in a window. Those of each stream are a run of its selected events there.
pub(crate) struct LimitedPart {
    window: Window,
    /// By source and CPU: how many come before the run, and how many are in it.
    runs: HashMap<(usize, u32), (u64, u64)>,
}

impl LimitedPart {
    /// The `first` or the `last` number of the events of `query`, which has this window.
    pub(crate) fn of(
        query: &Query<'_>,
        window: Window,
        (first, last): (Option<u64>, Option<u64>),
    ) -> Result<Self, Failure> {
        let (mut runs, mut before) = (HashMap::<_, (u64, u64)>::new(), 0);
        let walk = |query: &Query<'_>, see: &mut dyn FnMut((usize, u32))| {
            let walked = query.resolve()?.walk(|current| {
                let record = current.record();
                see((record.buffer, record.cpu.0));
                Ok::<_, Failure>(ControlFlow::Continue(()))
            });
            walked.map(drop)
        };
        let query = match (first, last) {
            (Some(first), _) => query.clone().first(first),
            (None, Some(last)) => {
                let mut count = 0u64;
                walk(query, &mut |_| count += 1)?;
                before = count.saturating_sub(last);
                query.clone()
            }
            (None, None) => query.clone(),
        };
        walk(&query, &mut |stream| {
            let run = runs.entry(stream).or_default();
            if before > 0 {
                (run.0, before) = (run.0 + 1, before - 1);
            } else {
                run.1 += 1;
            }
        })?;
        Ok(LimitedPart { window, runs })
    }

    /// True if the next selected event of a stream is wanted.
    fn wants(&mut self, record: &Record<'_>) -> bool {
        if self.window.is_before(record.timestamp) || self.window.is_over(record.timestamp) {
            return false;
        }
        let Some((before, wanted)) = self.runs.get_mut(&(record.buffer, record.cpu.0)) else { return false };
        match (*before, *wanted) {
            (0, 0) => false,
            (0, left) => {
                *wanted = left - 1;
                true
            }
            (left, _) => {
                *before = left - 1;
                false
            }
        }
    }
}

impl<'q> Selected<'q> {
    /// Of `query`, whose one recording is `inputs`.
    pub(crate) fn of(query: &'q Query<'_>, inputs: &[QueryInput]) -> Result<Self, Failure> {
        let sources = query.sources();
        let last = sources.iter().map(|source| source.buffer).max().unwrap_or(0);
        let place = |buffer| sources.iter().position(|source| source.buffer == buffer).unwrap_or(0);
        let resolved = query.resolve().map_err(|error| select::failure(error, inputs))?;
        Ok(Selected { resolved, sources: (0..=last).map(place).collect(), part: None })
    }

    /// A part of them.
    pub(crate) fn limited(self, part: LimitedPart) -> Self {
        Selected { part: Some(part), ..self }
    }
}

impl Edit for Selected<'_> {
    fn keeps(&mut self, record: &StoredRecord<'_>) -> bool {
        let StoredRecord { stream, cpu, timestamp, lost, data } = *record;
        let Some(buffer) = self.sources.get(stream.0).copied() else { return false };
        let record = Record { timestamp, cpu, buffer, lost, data };
        self.resolved.selects(&record) && self.part.as_mut().is_none_or(|part| part.wants(&record))
    }
}
