//! A second recording below the first one, in the first one's time.

use super::model::Model;
use super::picture::{PictureLook, WindowPicture};
use super::scan::ViewScan;
use super::source::ViewSource;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{Align, QueryEvents, moment, parse_align, shifted};
use anyhow::anyhow;
use rtrace::analysis::StripScale;
use rtrace::recording::QueryError;
use std::path::PathBuf;

/// The moment that is taken as the same in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Alignment {
    /// An event of each.
    Event(Align),
    /// The wall clock.
    Wall,
}

impl Default for Alignment {
    fn default() -> Self {
        Alignment::Event(Align::Start)
    }
}

impl Alignment {
    /// `start`, `end`, `wall`, or an event.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "wall" { Ok(Alignment::Wall) } else { parse_align(text).map(Alignment::Event) }
    }

    /// The same in words.
    pub(super) fn words(&self) -> &str {
        match self {
            Alignment::Event(Align::Start) => "start",
            Alignment::Event(Align::End) => "end",
            Alignment::Event(Align::Event(name)) => name,
            Alignment::Wall => "wall clock",
        }
    }
}

/// A recording that is to be shown below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecondRequest {
    pub(super) path: PathBuf,
    pub(super) alignment: Alignment,
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
        let (here, there) = match &self.alignment {
            Alignment::Event(at) => (
                moment(at, first.input, first.events.query.clone())?,
                moment(at, &events.inputs[0], events.query.clone())?,
            ),
            Alignment::Wall => (self.by_wall_clock(first, events, begin.0)?, begin.0),
        };
        let shift = i128::from(here) - i128::from(there);
        if i128::from(begin.0) + shift < 0 || i128::from(end.0) + shift > i128::from(u64::MAX) {
            let error = anyhow!("aligned by {}, {name} begins before time 0 of the first one", self.alignment.words());
            return Err(Failure::new(Exit::Usage, error));
        }
        let shift = here.wrapping_sub(there) as i64;
        let sources = events.query.sources().iter().map(|source| shifted(source, shift)).collect();
        let events = QueryEvents { query: events.query.clone().of_sources(sources), ..events.clone() };
        Ok(ViewSource::new(&events)?.ok_or_else(|| anyhow!("{name} holds no event to look at"))?)
    }

    /// The first one's time of the moment that is `there` in the second one.
    fn by_wall_clock(&self, first: &ViewSource<'_>, events: &QueryEvents<'_>, there: u64) -> Result<u64, Failure> {
        let clock = |events: &QueryEvents<'_>| {
            let clocks = events.query.sources().iter();
            clocks.filter_map(|source| source.wall_clock(events.query.recordings())).next()
        };
        let (Some(one), Some(other)) = (clock(&first.events), clock(events)) else {
            return Err(Failure::new(Exit::Usage, anyhow!("one of the recordings does not know the wall clock")));
        };
        match one.first_time(other.wall(there)) {
            0 => Err(Failure::new(Exit::Usage, anyhow!("{} is older than the first one's boot", self.path.display()))),
            here => Ok(here),
        }
    }
}

/// The second recording on the screen.
pub(super) struct SecondView<'b> {
    pub(super) source: &'b ViewSource<'b>,
    pub(super) alignment: Alignment,
    picture: WindowPicture<'b>,
    /// Events and losses of all of it, once they are known.
    pub(super) totals: Option<(u64, u64)>,
}

impl<'b> SecondView<'b> {
    pub(super) fn new(source: &'b ViewSource<'b>, scan: Option<&'b ViewScan>, alignment: &Alignment) -> Self {
        let (alignment, picture) = (alignment.clone(), WindowPicture::new(scan));
        SecondView { source, alignment, picture, totals: source.overview.totals() }
    }

    /// The picture of the first one's window.
    pub(super) fn model(&self) -> Option<&Model> {
        self.picture.model()
    }

    /// Reads what the screen is to show and does not have yet.
    /// Gives the error that ended the work in the background.
    pub(super) fn refresh(&mut self, scale: StripScale) -> Result<Option<String>, QueryError> {
        let ended = self.picture.refresh(self.source, &PictureLook { scale, filter: None, pins: &[], found: None });
        self.totals = self.picture.totals(self.source).or(self.totals);
        ended
    }
}
