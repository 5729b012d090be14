//! The recording that is to be shown below the first one, and its times.

use super::source::ViewSource;
use crate::cli::exit::Failure;
use crate::cli::query::{Align, QueryEvents, before_zero, moment, shift, shifted};
use anyhow::anyhow;
use std::path::PathBuf;

/// A recording that is to be shown below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecondRequest {
    pub(super) path: PathBuf,
    pub(super) alignment: Align,
}

impl SecondRequest {
    /// The recording of `events` by the times of `first`.
    ///
    /// # Errors
    /// If there is no such moment in one of them, if they count time in different units, or if a time would be negative.
    pub(super) fn aligned<'b>(
        &self,
        first: &ViewSource<'_>,
        events: &QueryEvents<'b>,
    ) -> Result<ViewSource<'b>, Failure> {
        let name = self.path.display();
        let in_ticks = |events: &QueryEvents<'_>| events.query.sources().iter().any(|source| source.in_ticks);
        if in_ticks(&first.events) != in_ticks(events) {
            return Err(anyhow!("{name} counts time in another unit: they cannot be aligned").into());
        }
        let (begin, end) = events.query.span()?.ok_or_else(|| anyhow!("{name} holds no event to look at"))?;
        let here = moment(&self.alignment, first.input, first.events.query.clone())?;
        let there = moment(&self.alignment, &events.inputs[0], events.query.clone())?;
        let by = shift(here, there, (begin.0, end.0));
        let by = by.ok_or_else(|| before_zero(&self.alignment, &self.path))?;
        let sources = events.query.sources().iter().map(|source| shifted(source, by)).collect();
        let events = QueryEvents { query: events.query.clone().of_sources(sources), ..events.clone() };
        let mut source = ViewSource::new(&events)?.ok_or_else(|| anyhow!("{name} holds no event to look at"))?;
        source.later = by;
        Ok(source)
    }
}
