//! Times in the units that tables show them in.

use crate::base::wall_time::local_second;
use crate::file::trace_dat::WallClock;

/// The unit of a trace clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockUnit {
    /// Of a clock that counts nanoseconds.
    Nanoseconds,
    /// Of a clock that does not say how long they are.
    Ticks,
    /// Nanoseconds whose points are shown as local time.
    Wall(WallClock),
}

impl ClockUnit {
    /// Of a clock whose unit is unknown, or of another.
    pub fn of(in_ticks: bool) -> Self {
        if in_ticks { ClockUnit::Ticks } else { ClockUnit::Nanoseconds }
    }

    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            ClockUnit::Nanoseconds | ClockUnit::Wall(_) => "ns",
            ClockUnit::Ticks => "ticks",
        }
    }

    /// The unit of [`ClockUnit::long`].
    pub fn long_name(self) -> &'static str {
        match self {
            ClockUnit::Nanoseconds | ClockUnit::Wall(_) => "ms",
            ClockUnit::Ticks => "ticks",
        }
    }

    /// The unit of [`ClockUnit::short`].
    pub fn short_name(self) -> &'static str {
        match self {
            ClockUnit::Nanoseconds | ClockUnit::Wall(_) => "us",
            ClockUnit::Ticks => "ticks",
        }
    }

    /// A sum of times, in milliseconds.
    pub fn long(self, time: u64) -> String {
        match self {
            ClockUnit::Nanoseconds | ClockUnit::Wall(_) => decimals(time, 1_000_000),
            ClockUnit::Ticks => time.to_string(),
        }
    }

    /// A single time, in microseconds.
    pub fn short(self, time: u64) -> String {
        match self {
            ClockUnit::Nanoseconds | ClockUnit::Wall(_) => decimals(time, 1_000),
            ClockUnit::Ticks => time.to_string(),
        }
    }

    /// A point of time, in seconds with six decimals, as reports have it.
    pub fn micros(self, at: u64) -> String {
        match self {
            ClockUnit::Nanoseconds => format!("{}.{:06}", at / 1_000_000_000, at % 1_000_000_000 / 1000),
            ClockUnit::Wall(clock) => {
                let (second, rest) = local_second(clock.wall(at));
                format!("{second}.{:06}", rest / 1000)
            }
            ClockUnit::Ticks => at.to_string(),
        }
    }

    /// A point of time, in seconds with all nine decimals.
    pub fn point(self, at: u64) -> String {
        match self {
            ClockUnit::Nanoseconds => format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000),
            ClockUnit::Wall(clock) => {
                let (second, rest) = local_second(clock.wall(at));
                format!("{second}.{rest:09}")
            }
            ClockUnit::Ticks => at.to_string(),
        }
    }
}

/// `time / unit` with three decimals, rounded.
fn decimals(time: u64, unit: u64) -> String {
    let thousandth = unit / 1000;
    let rounded = time.saturating_add(thousandth / 2) / thousandth.max(1);
    format!("{}.{:03}", rounded / 1000, rounded % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_three_decimals() {
        let ns = ClockUnit::Nanoseconds;
        assert_eq!(
            (ns.long(1_234_567), ns.long(1_234_500), ns.long(499)),
            ("1.235".into(), "1.235".into(), "0.000".into())
        );
        assert_eq!((ns.short(1_234_567), ns.point(5_000_000_007)), ("1234.567".into(), "5.000000007".into()));
        assert_eq!((ClockUnit::Ticks.long(7), ClockUnit::Ticks.point(9)), ("7".into(), "9".into()));
    }
}
