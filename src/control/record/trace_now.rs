//! The trace clock of an instance at this moment, from the statistics of one of its rings.

use crate::base::units::RecordedClock;
use crate::control::tracefs::Instance;

/// A time by the trace clock of `instance` that is not before now; `None` of a clock that does not count nanoseconds.
pub(super) fn not_before(instance: &Instance) -> Option<u64> {
    // The kernel cuts off what is less than a microsecond.
    not_after(instance)?.checked_add(1_000)
}

/// A time by the trace clock of `instance` that is not after now; `None` of a clock that does not count nanoseconds.
pub(super) fn not_after(instance: &Instance) -> Option<u64> {
    let clock = instance.trace_clock().ok()?;
    if !RecordedClock::of(&clock.current).counts_nanoseconds() {
        return None;
    }
    trace_clock(&instance.cpu_stats_text(*instance.cpus().ok()?.first()?).ok()?)
}

/// The trace clock in nanoseconds by a `stats` file's line `now ts:   805.767522` (kernel/trace/trace.c,
/// `tracing_stats_read()`; since Linux 2.6.39); `None` of a clock that counts something else.
pub(super) fn trace_clock(stats: &str) -> Option<u64> {
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
