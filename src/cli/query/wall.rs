//! Local time: `--wall`, and points of time by the day.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::internal::trace_dat::WallClock;
use rtrace::recording::Query;
use std::sync::Once;

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

/// The wall clock by the times of a query: that of the first source that has one.
pub(super) fn wall_clock(query: &Query<'_>) -> Option<WallClock> {
    query.sources().iter().find_map(|source| source.wall_clock(query.recordings()))
}

/// Says, once, that local time after some point is not what the machine showed, if its wall clock was set meanwhile.
pub(super) fn tell_of_step(clock: &WallClock) {
    static TOLD: Once = Once::new();
    let (step, sign) = (clock.step().unsigned_abs() / 1_000_000, if clock.step() < 0 { '-' } else { '+' });
    if step > 0 {
        TOLD.call_once(|| {
            note!(
                "rtrace: the wall clock was set by {sign}{}.{:03} s while this was recorded: local time here is by the clock as \
                 it was at the begin",
                step / 1000,
                step % 1000
            );
        });
    }
}

/// The refusal of local time.
pub(super) fn unknown_wall_clock(recording: &str) -> Failure {
    let error = anyhow!("{recording} does not say what time of day it was");
    Failure::new(Exit::Usage, error).hint(
        "`record` stores it since version 0.1.0, for clocks that count nanoseconds; trace-cmd stores it with `record --date`.",
    )
}
