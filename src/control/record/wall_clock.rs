//! The wall clock beside a buffer's trace clock, read without writing anything: every recording stores it, so that its events
//! can be asked for by the time of day.

use super::setup::SetUpBuffer;
use super::trace_now::trace_clock;
use crate::base::units::{CpuId, RecordedClock};
pub(super) use crate::base::wall_time::now;
use crate::control::tracefs::Instance;
use crate::file::trace_dat::ClockReading;

/// Number of readings; the one that took the least time counts.
const ROUNDS: usize = 5;

/// Half of the microsecond that the kernel rounds to, in nanoseconds.
const ROUNDING: u64 = 500;

/// Reads both clocks; `None` if the buffer's clock does not count nanoseconds, or if its events are of an earlier boot.
pub(super) fn read(buffer: &SetUpBuffer) -> Option<ClockReading> {
    if buffer.last_boot.is_some() || !RecordedClock::of(&buffer.clock.current).counts_nanoseconds() {
        return None;
    }
    let (cpu, _) = *buffer.cpus.first()?;
    (0..ROUNDS).filter_map(|_| one(&buffer.instance, cpu)).min_by_key(|reading| reading.error)
}

fn one(instance: &Instance, cpu: CpuId) -> Option<ClockReading> {
    let before = now().ok()?;
    let text = instance.cpu_stats_text(cpu).ok()?;
    let took = now().ok()?.checked_sub(before).filter(|took| *took >= 0)?;
    let error = took.unsigned_abs() / 2 + ROUNDING;
    Some(ClockReading { trace: trace_clock(&text)?, wall: before.checked_add(took / 2)?, error })
}
