//! `--wall`: times by the wall clock.

use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;

/// The clock that points of time are shown by.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct WallArgs {
    /// Show points of time as local time, as in 2026-11-26T12:03:05.250123
    ///
    /// By the clock that the recorder read beside the trace clock, when it began and when it ended; $TZ is the zone.
    #[arg(long)]
    wall: bool,
}

impl WallArgs {
    /// True if they are to be local time.
    pub(crate) fn is_wanted(self) -> bool {
        self.wall
    }
}

/// The refusal of local time.
pub(super) fn unknown_wall_clock(recording: &str) -> Failure {
    let error = anyhow!("{recording} does not say what time of day it was");
    Failure::new(Exit::Usage, error).hint(
        "`record` stores it since version 0.1.0, for clocks that count nanoseconds; trace-cmd stores it with `record --date`.",
    )
}
