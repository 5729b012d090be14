//! `--at`: tracing is switched on at a moment of the wall clock, so that several machines begin together.

use super::error::PlanError;
use super::stop::{Signals, wait};
use crate::base::units::parse_duration;
use crate::base::wall_time::{WallPoint, local_second, now};
use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Time before the moment that is slept by the clock alone: poll(2) knows milliseconds only.
const LAST: Duration = Duration::from_millis(5);
/// Time after which the wall clock is read again, which may be set meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// The moment, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartAt {
    /// That point; of a time without a day the next one.
    Point(WallPoint),
    /// The next whole multiple since 1970, at least one second.
    Every(Duration),
}

impl StartAt {
    /// `12:03`, `2026-11-26 12:03:05`, or `/10s`.
    ///
    /// # Errors
    /// A sentence about another text.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(every) = text.strip_prefix('/') {
            let every = parse_duration(every).map_err(|error| error.to_string())?;
            return if every < Duration::from_secs(1) {
                Err("at least 1 s".to_owned())
            } else {
                Ok(Self::Every(every))
            };
        }
        WallPoint::parse(text)
            .unwrap_or(Err("12:03, 12:03:05, 2026-11-26 12:03 and /10s are moments".to_owned()))
            .map(Self::Point)
    }

    /// The moment in nanoseconds since 1970, if it is `now`.
    ///
    /// # Errors
    /// [`PlanError::IsOver`] for a day's time that has passed.
    pub(super) fn moment(&self, now: i64) -> Result<i64, PlanError> {
        match self {
            StartAt::Point(point) => {
                let at = point.nanoseconds(now, now.saturating_add(DAY)).filter(|at| *at >= now);
                at.ok_or_else(|| PlanError::IsOver(point.to_string(), local_second(now).0))
            }
            StartAt::Every(every) => {
                let every = i64::try_from(every.as_nanos()).unwrap_or(i64::MAX);
                Ok(now.saturating_add(every - now.rem_euclid(every)))
            }
        }
    }
}

/// Waits until the wall clock shows `moment`, a signal comes or one of `others` is readable. Gives the time that is left, or
/// by which the moment was missed, negative.
pub(super) fn wait_until(moment: i64, signals: &Signals, others: &[BorrowedFd<'_>]) -> i64 {
    loop {
        let Ok(left) = now().map(|now| moment.saturating_sub(now)) else { return 0 };
        let ahead = Duration::from_nanos(u64::try_from(left).unwrap_or(0));
        if ahead <= LAST {
            sleep(ahead);
            return left.min(0);
        }
        let deadline = Instant::now() + (ahead - LAST).min(PATIENCE);
        wait(signals, None, others, Some(deadline));
        if Instant::now() < deadline {
            return left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        // 2026-11-26T12:03:05.25Z
        let now = 1_795_694_585_250_000_000;
        let moment = |text: &str| StartAt::parse(text).unwrap().moment(now);
        assert_eq!(moment("/10s"), Ok(1_795_694_590_000_000_000));
        assert_eq!(moment("/1h"), Ok(1_795_698_000_000_000_000));
        assert_eq!(moment("2026-11-26T12:04:00Z"), Ok(1_795_694_640_000_000_000));
        assert!(matches!(moment("2026-11-26T12:03:00Z"), Err(PlanError::IsOver(..))));
        // A time of the day is one of the next 24 hours.
        let next = moment("12:03:05").unwrap();
        assert!((now..now + DAY).contains(&next) && next % SECOND == 0, "{next}");
        assert!(["", "/0", "/1ms", "noon", "25:00"].iter().all(|text| StartAt::parse(text).is_err()));
    }
}
