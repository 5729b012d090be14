//! The picture of a window, made again when it is of another one or better known.

use super::chosen_events::ChosenEvents;
use super::model::{Model, Quality};
use super::pyramid::Pyramid;
use super::scan::{ViewScan, WantedWindow};
use super::source::{AT_ONCE, ViewSource};
use rtrace::analysis::StripScale;
use rtrace::recording::QueryError;
use rtrace::units::Pid;

/// A filter, and the words it was typed in.
#[derive(Clone)]
pub(super) struct TypedFilter {
    pub(super) text: String,
    pub(super) filter: ChosenEvents,
}

/// Contents of a picture.
pub(super) struct PictureLook<'p> {
    pub(super) scale: StripScale,
    pub(super) filter: Option<&'p TypedFilter>,
    pub(super) pins: &'p [Pid],
    /// Places of the filter's matches in the whole recording.
    pub(super) found: Option<&'p Pyramid>,
}

impl PictureLook<'_> {
    /// True if each piece that is searched may add to the matches shown.
    fn has_more_matches(&self, source: &ViewSource<'_>, scan: &ViewScan) -> bool {
        let is_large = || source.overview.estimate(self.scale.from(), self.scale.to()) > AT_ONCE;
        self.found.is_some() && is_large() && scan.whole.serves(&self.scale)
    }
}

/// A picture, and the work in the background that makes it better.
pub(super) struct WindowPicture<'a> {
    /// Without it, windows of very many events show the file's index alone.
    pub(super) scan: Option<&'a ViewScan>,
    scanned: u64,
    model: Option<Model>,
    /// Finished pictures of windows that were left, the last one last.
    left: Vec<Model>,
}

/// The most cells of pictures that are kept.
const CELLS: usize = 200_000;

impl<'a> WindowPicture<'a> {
    pub(super) fn new(scan: Option<&'a ViewScan>) -> Self {
        WindowPicture { scan, scanned: 0, model: None, left: Vec::new() }
    }

    /// The picture, as [`WindowPicture::refresh`] left it.
    pub(super) fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// Events and losses of the whole recording, if this is the exact picture of it; places of uncounted losses count as one.
    pub(super) fn totals(&self, source: &ViewSource<'_>) -> Option<(u64, u64)> {
        let is_whole = |model: &&Model| model.scale.from() <= source.begin && source.end <= model.scale.to();
        let sum = self.model().filter(|model| model.quality == Quality::Exact).filter(is_whole)?.sum();
        Some((sum.events, sum.lost.saturating_add(sum.gaps)))
    }

    /// Filter or tasks are others.
    pub(super) fn forget(&mut self) {
        self.model = None;
        self.left.clear();
    }

    /// Keeps a finished picture for those who come back to its window.
    fn leave(&mut self) {
        let Some(model) = self.model.take().filter(|model| model.quality == Quality::Exact) else { return };
        self.left.push(model);
        let cells = |model: &Model| model.scale.columns() * (model.strips.len() + 1);
        while self.left.iter().map(cells).sum::<usize>() > CELLS {
            self.left.remove(0);
        }
    }

    /// Makes the picture if it is not there; gives the error that ended the work in the background.
    pub(super) fn refresh(
        &mut self,
        source: &ViewSource<'_>,
        look: &PictureLook<'_>,
    ) -> Result<Option<String>, QueryError> {
        let mut ended = None;
        if let Some(scan) = self.scan {
            let version = scan.version();
            let is_rough = self.model().is_none_or(|model| model.quality != Quality::Exact);
            if version != self.scanned && (is_rough || look.has_more_matches(source, scan)) {
                self.model = None;
            }
            // Those that were left have the matches of then.
            if version != self.scanned && look.found.is_some() {
                self.left.clear();
            }
            self.scanned = version;
            ended = scan.error();
        }
        if self.model().is_none_or(|model| model.scale != look.scale) {
            self.leave();
            let known = self.left.iter().position(|model| model.scale == look.scale);
            self.model = Some(match known {
                Some(place) => self.left.remove(place),
                None => self.made(source, look)?,
            });
        }
        Ok(ended)
    }

    fn made(&self, source: &ViewSource<'_>, look: &PictureLook<'_>) -> Result<Model, QueryError> {
        let (from, to) = (look.scale.from(), look.scale.to());
        if source.overview.estimate(from, to) <= AT_ONCE {
            let mut model = Model::exact(source, look.scale)?;
            model.add_all(source, look.filter.map(|typed| &typed.filter), look.pins)?;
            return Ok(model);
        }
        let Some(scan) = self.scan else { return Ok(Model::estimate(source, look.scale)) };
        scan.look_at(from.midpoint(to));
        let mut model = if scan.whole.serves(&look.scale) {
            Model::of_pyramid(source, look.scale, &scan.whole)
        } else {
            let filter = look.filter.map(|typed| (typed.text.clone(), typed.filter.clone()));
            let wanted = WantedWindow { scale: look.scale, filter, pins: look.pins.to_vec() };
            match scan.window(&wanted) {
                Some(model) => return Ok(model),
                None => Model::estimate(source, look.scale),
            }
        };
        if let Some(found) = look.found {
            model.add_found(source, found);
        }
        Ok(model)
    }
}
