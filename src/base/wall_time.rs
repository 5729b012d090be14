//! Points of the wall clock as people write them, by the local calendar.

use crate::base::sys::{LocalTime, wide};
use nix::time::{ClockId, clock_gettime};
use std::fmt;
use std::io;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// The wall clock in nanoseconds since 1970.
///
/// # Errors
/// The kernel's.
pub(crate) fn now() -> io::Result<i64> {
    let now = clock_gettime(ClockId::CLOCK_REALTIME)?;
    Ok(wide::<i64>(now.tv_sec()) * 1_000_000_000 + wide::<i64>(now.tv_nsec()))
}

/// A point of the wall clock: `12:03`, `12:03:05.25`, `2026-11-26 12:03`, `2026-11-26T12:03:05Z`, `today`, `today 12:03`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallPoint {
    /// Year, month, day; of a time alone the day that the recording was made on.
    date: Option<(i32, i32, i32)>,
    /// Seconds of the day.
    second: i32,
    /// Nanoseconds of the second.
    nanosecond: u32,
    /// Seconds that the zone is ahead of UTC, if one is written.
    zone: Option<i64>,
}

impl WallPoint {
    /// Reads one; `None` if the text looks like none.
    ///
    /// # Errors
    /// A sentence about what is wrong, if it looks like one and names no time.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (Some(date), Some(time.trim())),
            None if text.contains(':') => (None, Some(text)),
            None => (Some(text), None),
        };
        let is_date = |date: &str| date == "today" || (date.len() == 10 && date.split('-').count() == 3);
        if !date.is_none_or(is_date) || !time.is_none_or(|time| time.contains(':')) {
            return None;
        }
        let point = WallPoint { date: None, second: 0, nanosecond: 0, zone: None };
        let read = || {
            let mut point = time.map_or(Some(point), |time| point.with_time(time))?;
            point.date = match date {
                Some(date) => Some(day(date)?),
                None => None,
            };
            Some(point)
        };
        let wrong = || format!("`{text}` is no time of a day: 12:03, 12:03:05.25, 2026-11-26 12:03 and `today` are");
        Some(read().ok_or_else(wrong))
    }

    /// With a time of the day in place of midnight.
    fn with_time(mut self, text: &str) -> Option<Self> {
        let (text, zone) = match text.find(['+', '-']) {
            _ if text.ends_with(['Z', 'z']) => (&text[..text.len() - 1], Some(0)),
            Some(at) => {
                let sign = if text[at..].starts_with('-') { -1 } else { 1 };
                let (hours, minutes) = text[at + 1..].split_once(':')?;
                let zone = i64::from(below(hours, 24)?) * 3600 + i64::from(below(minutes, 60)?) * 60;
                (&text[..at], Some(sign * zone))
            }
            None => (text, None),
        };
        let mut parts = text.splitn(3, ':');
        let (hour, minute) = (below(parts.next()?, 24)?, below(parts.next()?, 60)?);
        let (second, fraction) = match parts.next() {
            Some(seconds) => seconds.split_once('.').map_or((seconds, None), |(whole, rest)| (whole, Some(rest))),
            None => ("0", None),
        };
        self.second = hour * 3600 + minute * 60 + below(second, 60)?;
        self.zone = zone;
        if let Some(digits) = fraction {
            let sound = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            self.nanosecond = format!("{digits:0<9}").parse().ok().filter(|_| sound)?;
        }
        Some(self)
    }

    /// Nanoseconds since 1970. A time without a day is the first one not before `start` and not after `end` (both in
    /// nanoseconds since 1970), else that of the day of `start`. `None` for times that have no number.
    pub fn nanoseconds(&self, start: i64, end: i64) -> Option<i64> {
        if let Some(date) = self.date {
            return self.on(date);
        }
        let at = |days: i64| {
            let noon = start.div_euclid(SECOND).checked_add(days * DAY)?;
            let local = LocalTime::of(noon)?;
            self.on((local.year, local.month, local.day))
        };
        let days = (end.saturating_sub(start) / SECOND / DAY).clamp(0, 3_660);
        let within = (0..=days + 1).filter_map(at).find(|point| (start..=end).contains(point));
        within.or_else(|| at(0))
    }

    fn on(&self, (year, month, day): (i32, i32, i32)) -> Option<i64> {
        let (hour, minute, second) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        let local = LocalTime { year, month, day, hour, minute, second, utc_offset: 0 };
        let seconds = match self.zone {
            Some(zone) => days_since_1970(year, month, day) * DAY + i64::from(self.second) - zone,
            None => local.seconds()?,
        };
        seconds.checked_mul(SECOND)?.checked_add(self.nanosecond.into())
    }
}

impl fmt::Display for WallPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((year, month, day)) = self.date {
            write!(f, "{year:04}-{month:02}-{day:02}T")?;
        }
        let (hour, minute, second) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        write!(f, "{hour:02}:{minute:02}:{second:02}.{:09}", self.nanosecond)?;
        match self.zone {
            Some(0) => f.write_str("Z"),
            Some(zone) => {
                let sign = if zone < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", zone.abs() / 3600, zone.abs() / 60 % 60)
            }
            None => Ok(()),
        }
    }
}

/// A decimal number of one or two digits below `limit`.
fn below(text: &str, limit: i32) -> Option<i32> {
    let sound = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| sound && *number < limit)
}

/// Year, month and day of `2026-11-26`, or of `today`.
fn day(text: &str) -> Option<(i32, i32, i32)> {
    if text == "today" {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        let local = LocalTime::of(now.as_secs().try_into().ok()?)?;
        return Some((local.year, local.month, local.day));
    }
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, below(parts.next()?, 13)?, below(parts.next()?, 32)?);
    let year = year.parse().ok().filter(|year: &i32| (1970..=9999).contains(year))?;
    (month > 0 && day > 0 && day <= days_of(year, month)).then_some((year, month, day))
}

fn days_of(year: i32, month: i32) -> i32 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    (days_since_1970(next_year, next, 1) - days_since_1970(year, month, 1)) as i32
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years begin in March here, so that the day that leap years add is
/// the last one.
fn days_since_1970(year: i32, month: i32, day: i32) -> i64 {
    let (year, month) = if month > 2 { (i64::from(year), month - 3) } else { (i64::from(year) - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * i64::from(month) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// `2026-11-26T12:03:05`: the local time at a wall clock's nanoseconds since 1970, and the nanoseconds that remain.
pub fn local_second(wall: i64) -> (String, u32) {
    let (seconds, rest) = (wall.div_euclid(SECOND), wall.rem_euclid(SECOND) as u32);
    let text = LocalTime::of(seconds).map(|at| {
        let LocalTime { year, month, day, hour, minute, second, .. } = at;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    });
    (text.unwrap_or_else(|| format!("@{seconds}")), rest)
}

/// `2026-11-26`: the day in UTC of a wall clock's nanoseconds since 1970.
pub fn utc_day(wall: i64) -> String {
    utc_second(wall).split('T').next().unwrap_or_default().to_owned()
}

/// `2026-11-26T12:03:05`: the same in UTC, without the nanoseconds.
pub fn utc_second(wall: i64) -> String {
    let (seconds, days) = (wall.div_euclid(SECOND), wall.div_euclid(SECOND * DAY));
    // As in `days_since_1970`, the other way.
    let (era, day) = ((days + 719_468).div_euclid(146_097), (days + 719_468).rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let of_day = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}", year + era * 400)
}

/// `2026-11-26T12:03:05.250123000+01:00`: the same with the zone, for programs.
pub fn with_zone(wall: i64) -> String {
    let ahead = LocalTime::of(wall.div_euclid(SECOND)).map_or(0, |at| at.utc_offset);
    let ((text, rest), sign) = (local_second(wall), if ahead < 0 { '-' } else { '+' });
    format!("{text}.{rest:09}{sign}{:02}:{:02}", ahead.abs() / 3600, ahead.abs() / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> WallPoint {
        WallPoint::parse(text).unwrap().unwrap()
    }

    #[test]
    fn points_as_they_are_written() {
        let at = |text: &str| point(text).nanoseconds(0, 0);
        // date -u -d 2026-11-26T12:03:05Z +%s
        assert_eq!(at("2026-11-26T12:03:05.25Z"), Some(1_795_694_585_250_000_000));
        assert_eq!(at("2026-11-26 13:03:05.25+01:00"), Some(1_795_694_585_250_000_000));
        assert_eq!(at("2024-02-29T00:00Z"), Some(1_709_164_800 * SECOND));
        for text in ["12:03:05.250000000", "2026-11-26T12:03:00.000000000", "2026-11-26T12:03:05.000000000-05:30"] {
            assert_eq!(point(text).to_string(), text);
        }
        assert_eq!(point("2026-11-26"), point("2026-11-26 00:00"));
        assert!(point("today 9:30").date.is_some());
    }

    #[test]
    fn what_names_no_time() {
        assert!(["167.716832", "3", "start", "+1.5s", "5ms", "", "a b"].iter().all(|t| WallPoint::parse(t).is_none()));
        for text in
            ["24:00", "12:60", "12:3x", "2026-02-30", "2026-13-01 1:00", "12:03:05.", "12:03:05.1234567890", ":"]
        {
            assert!(WallPoint::parse(text).unwrap().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_alone_is_of_the_recordings_day() {
        let start = point("2026-11-26 23:50").nanoseconds(0, 0).unwrap();
        let hour = 3600 * SECOND;
        let on = |text: &str| local_second(point(text).nanoseconds(start, start + hour).unwrap()).0;
        assert_eq!(on("23:55"), "2026-11-26T23:55:00");
        assert_eq!(on("0:10"), "2026-11-27T00:10:00", "after midnight, and within the recording");
        assert_eq!(on("12:00"), "2026-11-26T12:00:00", "outside: of the day that it began on");
    }

    #[test]
    fn seconds_in_utc() {
        let of = |seconds: i64| utc_second(seconds * SECOND);
        assert_eq!([of(0), of(86_399), of(-1)], ["1970-01-01T00:00:00", "1970-01-01T23:59:59", "1969-12-31T23:59:59"]);
        // date -u -d 2024-02-29 +%s, and the like
        let days = [1_709_164_800, 1_709_251_200, 951_782_400, 4_102_444_800, 1_798_761_599].map(of);
        let days = days.each_ref().map(|day| &day[..10]);
        assert_eq!(days, ["2024-02-29", "2024-03-01", "2000-02-29", "2100-01-01", "2026-12-31"]);
    }

    #[test]
    fn text_of_the_wall_clock_is_read_back() {
        let wall = 1_795_694_585_250_123_456;
        let (second, rest) = local_second(wall);
        assert_eq!(rest, 250_123_456);
        assert_eq!(point(&format!("{second}.{rest:09}")).nanoseconds(0, 0), Some(wall));
        assert_eq!(point(&with_zone(wall)).nanoseconds(0, 0), Some(wall));
    }
}
