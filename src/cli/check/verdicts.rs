//! The verdicts about a recording.

use crate::cli::exit::Exit;
use crate::cli::query::ClockUnit;
use rtrace::analysis::Extent;
use rtrace::internal::assertion::{AssertionVerdict, Checked};
use rtrace::internal::trace_dat::WallClock;
use std::path::Path;

/// An assertion's verdict, its name, and the events around the place that it is about.
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) checked: Checked,
    pub(super) context: Vec<String>,
}

/// All verdicts about a recording.
pub(super) struct Verdicts<'a> {
    pub(super) path: &'a Path,
    pub(super) buffer: &'a str,
    pub(super) clock: &'a str,
    pub(super) unit: ClockUnit,
    /// True if the recording is unfinished.
    pub(super) unfinished: bool,
    pub(super) extent: Extent,
    /// The recorded machine's name, if the file has it.
    pub(super) host: Option<String>,
    /// The wall clock of the first event, in nanoseconds since 1970, if it is known.
    pub(super) began: Option<i64>,
    /// Local time by the buffer's clock, if the recording knows it.
    pub(super) wall: Option<WallClock>,
    pub(super) results: Vec<Judged>,
}

impl Verdicts<'_> {
    /// The verdict on all together: as bad as the worst.
    pub(super) fn all(&self) -> AssertionVerdict {
        let has = |verdict| self.results.iter().any(|result| result.checked.verdict == verdict);
        match (has(AssertionVerdict::Fail), has(AssertionVerdict::Indeterminate)) {
            (true, _) => AssertionVerdict::Fail,
            (_, true) => AssertionVerdict::Indeterminate,
            _ => AssertionVerdict::Pass,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self.all() {
            AssertionVerdict::Pass => Exit::Success,
            AssertionVerdict::Fail => Exit::Unmet,
            AssertionVerdict::Indeterminate => Exit::Incomplete,
        }
    }

    pub(super) fn count(&self, verdict: AssertionVerdict) -> usize {
        self.results.iter().filter(|result| result.checked.verdict == verdict).count()
    }
}

/// A verdict as JSON and tables have it.
pub(super) fn word(verdict: AssertionVerdict) -> &'static str {
    match verdict {
        AssertionVerdict::Pass => "pass",
        AssertionVerdict::Fail => "fail",
        AssertionVerdict::Indeterminate => "indeterminate",
    }
}
