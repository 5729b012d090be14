//! The wall clock beside the trace clock. Every recording stores it, so that its events can be asked for by the time of day;
//! `--date` has the time of the trace clock's zero.

use super::error::RecordError;
use super::setup::SetUpBuffer;
use super::trace_clock::trace_clock;
use crate::base::units::{CpuId, RecordedClock};
pub(super) use crate::base::wall_time::now;
use crate::control::tracefs::{Instance, Journal, WriteMode};
use crate::file::trace_dat::ClockReading;
use std::fs::OpenOptions;
use std::io::{self, Write};

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

/// Number of comparisons of the clocks; the closest one counts.
const ROUNDS_OF_ZERO: usize = 30;
const STAMP: &str = "rtrace date";

/// The wall clock's microseconds when `clock` was zero, accurate to the microsecond that the kernel prints; `None` if
/// `clock` does not count time.
///
/// It writes into an instance of its own, which `journal` removes again: what is to be recorded is not touched.
///
/// # Errors
/// [`RecordError`] if the instance cannot be made, written or read.
pub fn wall_clock_at_zero(journal: &mut Journal, clock: &str) -> Result<Option<u64>, RecordError> {
    let instance = journal.create_own_instance(&format!("rtrace-{}-date", std::process::id()))?;
    journal.set_clock(&instance, clock)?;
    let brackets = stamp(&instance).map_err(RecordError::Start)?;
    let text = instance.read("trace")?;
    let closest = text
        .lines()
        .filter(|line| line.ends_with(STAMP))
        .filter_map(micros)
        .zip(brackets)
        .min_by_key(|(_, (before, after))| after - before);
    Ok(closest.map(|(trace, (before, after))| ((before + after) / 2000).saturating_sub(trace)))
}

/// The writes of [`wall_clock_at_zero`], where none is done: the first stamp stands for all.
pub(super) fn show_writes(journal: &mut Journal, clock: &str) -> Result<(), RecordError> {
    let instance = journal.create_own_instance(&format!("rtrace-{}-date", std::process::id()))?;
    journal.set_clock(&instance, clock)?;
    Ok(journal.act(&instance, "trace_marker", STAMP, WriteMode::Truncate)?)
}

/// Writes stamps, and gives the wall clock's nanoseconds before and after each.
fn stamp(instance: &Instance) -> io::Result<Vec<(u64, u64)>> {
    let mut marker = OpenOptions::new().write(true).open(instance.path("trace_marker"))?;
    let mut brackets = Vec::with_capacity(ROUNDS_OF_ZERO);
    for _ in 0..ROUNDS {
        let before = now()?.unsigned_abs();
        marker.write_all(STAMP.as_bytes())?;
        brackets.push((before, now()?.unsigned_abs()));
    }
    Ok(brackets)
}

/// The time stamp of a line of `trace`: `sh-12 [001] ..... 5835.033094: tracing_mark_write: rtrace date`. A clock that
/// does not count time has no point in it.
fn micros(line: &str) -> Option<u64> {
    let time = line.split(": ").next()?.rsplit(' ').next()?;
    let (seconds, micros) = time.split_once('.')?;
    if micros.len() != 6 {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_clocks_that_count_time() {
        let line = |time: &str| format!("              sh-17378 [001] ...1.  {time}: tracing_mark_write: rtrace date");
        assert_eq!(micros(&line("5835.033094")), Some(5_835_033_094));
        assert_eq!(micros(&line("124518")), None);
        assert_eq!(micros(""), None);
    }
}
