//! The wall clock of a recording: the content of our RTRACE_WALL_CLOCK options, one of the begin and one of the end.
//!
//! Options that say how time stamps become the ones that are shown: DATE, OFFSET, TSC2NSEC, TIME_SHIFT. They are read
//! once; a malformed one is damage, and the recording is read without it.

use super::time_shift::{ClockSample, TimeShift};
use crate::base::abi::Abi;
use crate::file::trace_dat::{FileError, OptionId, RawOption};
use std::fmt;
use std::sync::Arc;

/// One comparison of the trace clock with the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The trace clock, in nanoseconds.
    pub trace: u64,
    /// The wall clock at that time, in nanoseconds since 1970 (UTC).
    pub wall: i64,
    /// Half the time that the comparison took, in nanoseconds: the wall clock is known to within that.
    pub error: u64,
}

impl ClockReading {
    /// Reads `TRACE WALL ERROR`; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let (trace, wall, error) = (words.next()?, words.next()?, words.next()?);
        let reading = ClockReading { trace: trace.parse().ok()?, wall: wall.parse().ok()?, error: error.parse().ok()? };
        words.next().is_none().then_some(reading)
    }
}

impl fmt::Display for ClockReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.trace, self.wall, self.error)
    }
}

/// The way from times as they are shown to the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallClock {
    begin: ClockReading,
    /// The last reading, unless the wall clock was set meanwhile.
    end: Option<ClockReading>,
    /// Nanoseconds by which the wall clock was set while the recording was made.
    step: i64,
}

/// Parts in a million by which the two clocks may run apart before the wall clock counts as set: adjtimex(2) slews by at most
/// 500, and the counters of CPUs are off by less than that.
const SLEW: u64 = 1_000;

impl WallClock {
    /// The clock of times that are nanoseconds since 1970 themselves, once `offset` is added to them.
    pub fn of_offset(offset: i64) -> Self {
        WallClock { begin: ClockReading { trace: 0, wall: offset, error: 1_000 }, end: None, step: 0 }
    }

    /// The clock that was read at the begin of a recording, and at its end if it has one.
    pub fn of_readings(begin: ClockReading, end: Option<ClockReading>) -> Self {
        let span = |end: &ClockReading| end.trace.checked_sub(begin.trace).filter(|span| *span > 0);
        let Some((end, span)) = end.and_then(|end| Some((end, span(&end)?))) else {
            return WallClock { begin, end: None, step: 0 };
        };
        let step = end.wall.saturating_sub(begin.wall).saturating_sub_unsigned(span);
        let allowed = (span / 1_000_000).saturating_mul(SLEW).saturating_add(begin.error).saturating_add(end.error);
        match step.unsigned_abs() > allowed.saturating_add(1_000_000) {
            true => WallClock { begin, end: None, step },
            false => WallClock { begin, end: Some(end), step: 0 },
        }
    }

    /// Nanoseconds by which the wall clock was set while the recording was made; 0 if it was not. Times are by the clock
    /// as it was at the begin.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// The first reading, by times as they are shown.
    pub fn begin(&self) -> ClockReading {
        self.begin
    }

    /// The wall clock is known to within this, in nanoseconds.
    pub fn error(&self) -> u64 {
        self.begin.error.max(self.end.map_or(0, |end| end.error))
    }

    /// The same clock for times that are shown `by` nanoseconds later.
    #[must_use]
    pub fn shifted(mut self, by: i64) -> Self {
        for reading in std::iter::once(&mut self.begin).chain(&mut self.end) {
            reading.trace = reading.trace.wrapping_add_signed(by);
        }
        self
    }

    /// The wall clock at `time`, in nanoseconds since 1970.
    pub fn wall(&self, time: u64) -> i64 {
        let since = i128::from(time).saturating_sub(self.begin.trace.into());
        let elapsed = match self.rate() {
            Some((trace, wall)) => since.saturating_mul(wall).checked_div_euclid(trace).unwrap_or(since),
            None => since,
        };
        i128::from(self.begin.wall).saturating_add(elapsed).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The first time at which the wall clock showed `wall` nanoseconds since 1970 or more; 0 if that was before time 0.
    pub fn first_time(&self, wall: i64) -> u64 {
        let since = i128::from(wall).saturating_sub(self.begin.wall.into());
        self.after_begin(match self.rate() {
            // The least time that is not before it: rounded up.
            Some((trace, wall)) => {
                let before = since.saturating_neg().saturating_mul(trace).checked_div_euclid(wall);
                before.map_or(since, i128::saturating_neg)
            }
            None => since,
        })
    }

    /// The last time at which the wall clock showed `wall` nanoseconds since 1970 or less; 0 if that was before time 0.
    pub fn last_time(&self, wall: i64) -> u64 {
        let since = i128::from(wall).saturating_sub(self.begin.wall.into());
        self.after_begin(match self.rate() {
            Some((trace, wall)) => {
                let next = since.saturating_add(1).saturating_mul(trace);
                next.saturating_sub(1).checked_div_euclid(wall).unwrap_or(since)
            }
            None => since,
        })
    }

    fn after_begin(&self, elapsed: i128) -> u64 {
        i128::from(self.begin.trace).saturating_add(elapsed).clamp(0, u64::MAX.into()) as u64
    }

    /// Nanoseconds of the trace clock between both readings, and of the wall clock.
    fn rate(&self) -> Option<(i128, i128)> {
        let end = self.end?;
        let trace = i128::from(end.trace).saturating_sub(self.begin.trace.into());
        let wall = i128::from(end.wall).saturating_sub(self.begin.wall.into());
        (trace > 0 && wall > 0).then_some((trace, wall))
    }
}

/// Facts in a file's options about its times.
#[derive(Clone, Debug, Default)]
pub(in crate::file::trace_dat) struct FileTimes {
    /// To be added where the date is wanted, in nanoseconds.
    pub(in crate::file::trace_dat) date: i64,
    /// To be added, in the clock's unit.
    pub(in crate::file::trace_dat) offset: i64,
    /// From ticks to nanoseconds: multiplier and shift.
    pub(in crate::file::trace_dat) tsc: Option<(u32, u32)>,
    /// From the guest's clock to its host's, by CPU.
    pub(in crate::file::trace_dat) shifts: Shifts,
    /// True if the time between two samples is interpolated.
    pub(in crate::file::trace_dat) interpolate: bool,
}

/// Each CPU's samples.
type Shifts = Vec<Arc<[ClockSample]>>;

impl FileTimes {
    /// Reads the facts of `options`; malformed ones go to `damage`.
    pub(in crate::file::trace_dat) fn read(options: &[RawOption], abi: Abi, damage: &mut Vec<FileError>) -> Self {
        let mut times = FileTimes::default();
        for option in options {
            damage.extend(times.take(option, abi).err());
        }
        times
    }

    fn take(&mut self, option: &RawOption, abi: Abi) -> Result<(), FileError> {
        let error = |what| option.error(what);
        match option.id {
            OptionId::DATE => self.date = self.date.wrapping_add(date(option).map_err(error)?),
            OptionId::OFFSET => {
                let offset: i64 = option.text().trim().parse().map_err(|_| error("it is not a number"))?;
                self.offset = self.offset.wrapping_add(offset);
            }
            OptionId::TSC2NSEC => self.tsc = Some(tsc(option, abi).map_err(error)?),
            OptionId::TIME_SHIFT => {
                let shift = TimeShift::read(option, abi)?;
                self.shifts = shift.cpus.into_iter().map(Arc::from).collect();
                self.interpolate = shift.interpolate;
            }
            _ => {}
        }
        Ok(())
    }
}

/// `0x<hex>` microseconds, to nanoseconds.
pub(super) fn date(option: &RawOption) -> Result<i64, &'static str> {
    let text = option.text();
    let text = text.trim();
    let us = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map(|n| n as i64),
        None => text.parse(),
    };
    us.ok().and_then(|us| us.checked_mul(1000)).ok_or("it is not a hexadecimal number")
}

/// u32 multiplier, u32 shift, u64 offset, which is not used.
fn tsc(option: &RawOption, abi: Abi) -> Result<(u32, u32), &'static str> {
    let mut scan = option.scan(abi);
    let cut = |_| "it ends too early";
    let (mult, shift) = (scan.u32().map_err(cut)?, scan.u32().map_err(cut)?);
    if mult == 0 || shift > 63 {
        return Err("its multiplier or shift cannot be");
    }
    Ok((mult, shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::FilePart;

    const SECOND: i64 = 1_000_000_000;

    fn reading(trace: u64, wall: i64) -> ClockReading {
        ClockReading { trace, wall, error: 700 }
    }

    #[test]
    fn readings_are_read_as_they_are_written() {
        let one = reading(5_000, 1_764_000_000 * SECOND);
        assert_eq!(ClockReading::parse(&one.to_string()), Some(one));
        assert!(["", "1 2", "1 2 3 4", "-1 2 3", "a b c"].iter().all(|text| ClockReading::parse(text).is_none()));
    }

    #[test]
    fn clocks_that_run_apart_agree_at_both_ends() {
        let (begin, end) = (reading(100, 7 * SECOND), reading(1_000_000_000_100, 1_007 * SECOND + 40_000));
        let clock = WallClock::of_readings(begin, Some(end));
        assert_eq!((clock.step(), clock.error()), (0, 700));
        assert_eq!((clock.wall(100), clock.wall(end.trace)), (begin.wall, end.wall));
        assert_eq!((clock.first_time(begin.wall), clock.last_time(end.wall)), (100, end.trace));
        assert_eq!(clock.wall(500_000_000_100), 507 * SECOND + 20_000);
        assert_eq!(clock.first_time(6 * SECOND), 0, "before the trace clock began");
        assert_eq!(clock.shifted(-100).wall(0), begin.wall);
    }

    #[test]
    fn a_time_is_found_by_what_the_wall_clock_showed_then() {
        for drift in [-900_007, -1, 0, 1, 900_007] {
            let end = reading(1_000_000_000_100, 1_007 * SECOND + drift);
            let clock = WallClock::of_readings(reading(100, 7 * SECOND), Some(end));
            for time in [0, 99, 100, 101, 123_456_789_012, 999_999_999_999, 1_000_000_000_100, 2_000_000_000_001] {
                let wall = clock.wall(time);
                assert!((clock.first_time(wall)..=clock.last_time(wall)).contains(&time), "{time} {drift}");
                assert!(clock.last_time(wall) - clock.first_time(wall) < 2, "{time} {drift}");
            }
        }
    }

    #[test]
    fn a_clock_that_was_set_is_the_one_of_the_begin() {
        let (begin, end) = (reading(0, 7 * SECOND), reading(SECOND as u64, 3_608 * SECOND));
        let clock = WallClock::of_readings(begin, Some(end));
        assert_eq!((clock.step(), clock.wall(SECOND as u64)), (3_600 * SECOND, 8 * SECOND));
        let back = WallClock::of_readings(begin, Some(reading(SECOND as u64, 5 * SECOND)));
        assert_eq!((back.step(), back.last_time(8 * SECOND)), (-3 * SECOND, SECOND as u64));
    }

    fn read(id: OptionId, data: &[u8]) -> (FileTimes, usize) {
        let option = RawOption { id, data: data.to_vec(), offset: 0, place: FilePart::Prefix };
        let mut damage = Vec::new();
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        (FileTimes::read(&[option], abi, &mut damage), damage.len())
    }

    #[test]
    fn what_is_malformed_is_damage_and_counts_for_nothing() {
        assert_eq!(read(OptionId::DATE, b"0x10\0").0.date, 16_000);
        assert_eq!(read(OptionId::OFFSET, b"-5\0").0.offset, -5);
        for (id, data) in [
            (OptionId::DATE, &b"0x1g\0"[..]),
            (OptionId::OFFSET, b"5x\0"),
            (OptionId::TSC2NSEC, b"\0\0\0\0\x01\0\0\0"),
            (OptionId::TIME_SHIFT, b"\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\xff\0\0\0"),
        ] {
            let (times, damage) = read(id, data);
            assert_eq!(damage, 1, "{id}");
            assert!(times.date == 0 && times.offset == 0 && times.tsc.is_none() && times.shifts.is_empty());
        }
    }
}
