//! A recording that grows: opened anew now and then, while the view stays.

use super::app::{App, Focus, Place};
use super::asked::Outlier;
use super::picture::TypedFilter;
use super::second_request::SecondRequest;
use crate::cli::query::QueryInput;
use rtrace::internal::safe_file::open_seekable;
use rtrace::internal::trace_dat::Siblings;
use rtrace::units::Pid;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The files of a recording that is being made.
pub(super) struct Growth {
    spools: Vec<PathBuf>,
    /// Their size together as the recording was opened, in bytes.
    size: u64,
    opened: Instant,
    /// The time from then until it is opened anew, once it has grown; `None` before the first picture.
    wait: Option<Duration>,
}

/// The least time between two openings.
const LEAST: Duration = Duration::from_secs(1);

impl Growth {
    /// Of a recording whose opening began at `opened`; `None` if it is complete.
    pub(super) fn of(input: &QueryInput, opened: Instant) -> Option<Self> {
        let table = input.trace.spools.as_ref()?;
        let siblings = Siblings::of(&input.path, &open_seekable(&input.path).ok()?).ok()?;
        let spools = table.entries.iter().map(|entry| siblings.spool_path(&entry.buffer, entry.cpu)).collect();
        let mut growth = Growth { spools, size: 0, opened, wait: None };
        growth.size = growth.size_now();
        Some(growth)
    }

    /// The first picture is there: openings take a fifth of the time at most.
    pub(super) fn is_shown(&mut self) {
        let taken = self.opened.elapsed();
        self.wait.get_or_insert_with(|| LEAST.max(taken * 5));
    }

    /// True if it has grown, or is complete, and it is time to look.
    pub(super) fn is_due(&self) -> bool {
        self.wait.is_some_and(|wait| self.opened.elapsed() >= wait) && self.size_now() != self.size
    }

    fn size_now(&self) -> u64 {
        let sizes = self.spools.iter().map(|path| path.symlink_metadata().map_or(0, |file| file.len()));
        sizes.fold(0, u64::saturating_add)
    }
}

/// A view without its recording.
pub(super) struct KeptView {
    window: (u64, u64),
    /// True if the window was the whole recording, or ended with it; if the cursor was at the end.
    is_whole: bool,
    ends: bool,
    is_last: bool,
    cursor: u64,
    cpu: Option<String>,
    focus: Focus,
    filter: Option<TypedFilter>,
    pins: Vec<Pid>,
    marks: Vec<u64>,
    density: bool,
    pub(super) commands: Vec<String>,
    second: Option<SecondRequest>,
    is_active: bool,
    follows: bool,
    status: String,
    outliers: Vec<Outlier>,
    places: Vec<Place>,
}

impl App<'_> {
    /// Goes with the end of a recording that grows, or stays.
    pub(super) fn follow(&mut self) {
        self.follows = !self.follows;
        self.status = match (self.grows, self.follows) {
            (false, _) => "the recording is complete: it does not grow".to_owned(),
            (true, true) => {
                self.pan(self.end);
                self.go_to(self.end);
                "goes with the end".to_owned()
            }
            (true, false) => "stays here".to_owned(),
        };
    }

    /// True if nobody reads or types what another opening would change.
    pub(super) fn may_turn(&self) -> bool {
        self.prompt.is_none() && self.pane.is_none()
    }

    /// The view, to be shown of the same recording opened anew.
    pub(super) fn keep(self) -> KeptView {
        let source = self.source;
        KeptView {
            window: (self.from, self.to),
            is_whole: (self.from, self.to) == (source.begin, source.end),
            ends: self.to == source.end,
            is_last: self.cursor == source.end,
            cursor: self.cursor,
            cpu: source.cpus.get(self.cpu).map(|cpu| cpu.label.clone()),
            focus: self.focus,
            filter: self.filter,
            pins: self.pins,
            marks: self.marks,
            density: self.density,
            commands: self.commands,
            second: self.second,
            is_active: self.is_active,
            follows: self.follows,
            status: self.status,
            outliers: self.outliers,
            places: self.places,
        }
    }

    /// Shows what was kept, or what has come since then.
    pub(super) fn resume(&mut self, kept: KeptView) {
        let (from, to) = kept.window;
        match (kept.follows, kept.is_whole, kept.ends) {
            (true, true, _) => {}
            (true, _, true) => self.show(self.source.end.saturating_sub(to - from), self.source.end),
            _ => self.show(from, to),
        }
        self.set_cursor(if kept.follows && kept.is_last { self.source.end } else { kept.cursor });
        self.set_cursor(self.cursor.clamp(self.from, self.to));
        self.cpu = self.source.cpus.iter().position(|cpu| Some(&cpu.label) == kept.cpu.as_ref()).unwrap_or(0);
        self.focus = kept.focus;
        (self.pins, self.marks, self.density) = (kept.pins, kept.marks, kept.density);
        (self.commands, self.second, self.follows) = (kept.commands, kept.second, kept.follows);
        (self.outliers, self.places) = (kept.outliers, kept.places);
        self.is_active = kept.is_active;
        if kept.filter.is_some() {
            self.filter_by(kept.filter);
        }
        self.status = kept.status;
    }
}
