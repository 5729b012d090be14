//! The clock of this machine's recording, for the comparison with those of guests.

use super::RecordArgs;
use rtrace::internal::network::control::GuestTarget;
use rtrace::record::{self, Plan, TraceClockReader, wall_clock_at_zero};
use rtrace::tracefs::Tracefs;

/// Reads the clock that `plan` records by, to be compared with that of `target`; else says why it is not.
pub(super) fn host_clock(
    args: &RecordArgs,
    target: &GuestTarget,
    plan: &Plan,
    tracefs: &Tracefs,
) -> Result<TraceClockReader, String> {
    if target.sync_every.is_none() {
        return Err("--tsync-interval says so".to_owned());
    }
    if plan.tsc2nsec {
        return Err("the host's ticks are shown in nanoseconds (--tsc2nsec)".to_owned());
    }
    let clock = record::main_clock(plan, tracefs).map_err(|error| error.to_string())?;
    let reader = TraceClockReader::new(args.traced.journal(tracefs), clock.as_deref());
    reader.map_err(|error| error.to_string())
}

/// Measures the wall clock's time once for all recordings: they would differ by as much as it is inexact. `None` if recording
/// is to find out itself that this does not work.
pub(super) fn date(args: &RecordArgs, plan: &Plan, tracefs: &Tracefs) -> Option<u64> {
    let clock = record::main_clock(plan, tracefs).ok()?;
    let reader = TraceClockReader::new(args.traced.journal(tracefs), clock.as_deref()).ok()?;
    wall_clock_at_zero(&mut args.traced.journal(tracefs), reader.name()).ok()?
}
