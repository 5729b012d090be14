//! A second recording below the first one, in the first one's time.

use super::model::Model;
use super::picture::{PictureLook, WindowPicture};
use super::scan::ViewScan;
use super::source::ViewSource;
use crate::cli::exit::Failure;
use crate::cli::query::{Align, QueryEvents, before_zero, moment, shift, shifted};
use anyhow::anyhow;
use rtrace::analysis::StripScale;
use rtrace::recording::QueryError;
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
        Ok(ViewSource::new(&events)?.ok_or_else(|| anyhow!("{name} holds no event to look at"))?)
    }
}

/// The second recording on the screen.
pub(super) struct SecondView<'b> {
    pub(super) source: &'b ViewSource<'b>,
    pub(super) alignment: Align,
    picture: WindowPicture<'b>,
    /// Events and losses of all of it, once they are known.
    pub(super) totals: Option<(u64, u64)>,
}

impl<'b> SecondView<'b> {
    pub(super) fn new(source: &'b ViewSource<'b>, scan: Option<&'b ViewScan>, alignment: &Align) -> Self {
        let (alignment, picture) = (alignment.clone(), WindowPicture::new(scan));
        SecondView { source, alignment, picture, totals: source.overview.totals() }
    }

    /// The picture of the first one's window.
    pub(super) fn model(&self) -> Option<&Model> {
        self.picture.model()
    }

    /// The work in the background.
    pub(super) fn scan(&self) -> Option<&'b ViewScan> {
        self.picture.scan
    }

    /// Reads what the screen is to show and does not have yet.
    /// Gives the error that ended the work in the background.
    pub(super) fn refresh(&mut self, scale: StripScale) -> Result<Option<String>, QueryError> {
        let ended = self.picture.refresh(self.source, &PictureLook { scale, filter: None, pins: &[], found: None });
        self.totals = self.picture.totals(self.source).or(self.totals);
        ended
    }
}
