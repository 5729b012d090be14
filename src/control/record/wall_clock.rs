//! The wall clock beside a buffer's trace clock, read without writing anything: every recording stores it, so that its events
//! can be asked for by the time of day.

use super::setup::SetUpBuffer;
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

/// The trace clock in nanoseconds by a `stats` file's line `now ts:   805.767522` (kernel/trace/trace.c,
/// `tracing_stats_read()`; since Linux 2.6.39); `None` of a clock that counts something else.
fn trace_clock(stats: &str) -> Option<u64> {
    let text = stats.lines().find_map(|line| line.strip_prefix("now ts:"))?.trim();
    let (seconds, micros) = text.split_once('.').filter(|(_, micros)| micros.len() == 6)?;
    let (seconds, micros): (u64, u64) = (seconds.parse().ok()?, micros.parse().ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(micros * 1_000)
}

#[cfg(test)]
mod tests {
    use super::trace_clock;

    #[test]
    fn the_time_of_the_statistics() {
        let stats =
            |now: &str| format!("entries: 0\noldest event ts:     1.000000\nnow ts: {now}\ndropped events: 0\n");
        assert_eq!(trace_clock(&stats("  805.767522")), Some(805_767_522_000));
        assert!([stats("123456"), stats("x.000000"), String::new()].iter().all(|text| trace_clock(text).is_none()));
    }
}
