//! The time of day where this runs, by the C library's rules: TZ, or /etc/localtime.

use nix::libc::{TIME_ERROR, adjtimex, localtime_r, mktime, timex, tm};
use nix::sys::statvfs::Statvfs;
use std::mem::MaybeUninit;

/// A point of time in the local calendar, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalTime {
    pub(crate) year: i32,
    /// From 1 on.
    pub(crate) month: i32,
    /// From 1 on.
    pub(crate) day: i32,
    pub(crate) hour: i32,
    pub(crate) minute: i32,
    pub(crate) second: i32,
    /// Seconds that the local time is ahead of UTC.
    pub(crate) utc_offset: i64,
}

impl LocalTime {
    /// The local time at `seconds` since 1970; `None` for years that have no number.
    pub(crate) fn of(seconds: i64) -> Option<Self> {
        let seconds = narrow(seconds)?;
        let mut parts = MaybeUninit::<tm>::zeroed();
        // SAFETY: both point to values that live until the call ends. `tm` is plain data, which the call fills; all zero is a
        // value of it.
        let parts = unsafe { localtime_r(&raw const seconds, parts.as_mut_ptr()).as_ref().copied() }?;
        Some(LocalTime {
            year: parts.tm_year.checked_add(1900)?,
            month: parts.tm_mon + 1,
            day: parts.tm_mday,
            hour: parts.tm_hour,
            minute: parts.tm_min,
            second: parts.tm_sec,
            utc_offset: wide(parts.tm_gmtoff),
        })
    }

    /// Seconds since 1970 at this local time, whatever `utc_offset` says; days beyond the end of a month are those of the next
    /// one. `None` for times that have no number.
    pub(crate) fn seconds(&self) -> Option<i64> {
        // SAFETY: `tm` is plain data of which all zero is a value.
        let mut parts: tm = unsafe { MaybeUninit::zeroed().assume_init() };
        parts.tm_year = self.year.checked_sub(1900)?;
        parts.tm_mon = self.month - 1;
        (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec) = (self.day, self.hour, self.minute, self.second);
        // The zone's rules say whether it is summer time.
        parts.tm_isdst = -1;
        // SAFETY: it points to a value that lives until the call ends; the call reads and corrects its numbers.
        let seconds = unsafe { mktime(&raw mut parts) };
        // -1 is an error, and the last second of 1969.
        (seconds != -1).then_some(wide(seconds))
    }
}

/// True if the kernel takes the wall clock for synchronised: somebody steers it by another clock (adjtimex(2)).
pub(crate) fn is_clock_synchronised() -> bool {
    // SAFETY: `timex` is plain data of which all zero is a value; the call fills it and sets nothing, as `modes` is 0.
    let mut facts: timex = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: it points to a value that lives until the call ends.
    let state = unsafe { adjtimex(&raw mut facts) };
    (0..TIME_ERROR).contains(&state)
}

// Numbers of the C library that are narrower on 32-bit machines. Generic functions convert them: a conversion by name is one to the
// same type elsewhere.

/// A number as wide as it is on 64-bit machines.
pub(crate) fn wide<W>(number: impl Into<W>) -> W {
    number.into()
}

/// A number as the C library takes it; `None` if it has no room for it.
fn narrow<N: TryFrom<i64>>(number: i64) -> Option<N> {
    N::try_from(number).ok()
}

/// Bytes that can still be written to a file system.
pub(crate) fn free_bytes(disk: &Statvfs) -> u64 {
    wide::<u64>(disk.blocks_available()).saturating_mul(wide(disk.fragment_size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for seconds in [0, 951_782_400, 1_764_234_000, 4_102_444_800_i64] {
            let local = LocalTime::of(seconds).unwrap();
            assert_eq!(local.seconds(), Some(seconds), "{local:?}");
        }
        let local = LocalTime::of(1_764_234_000).unwrap();
        let tomorrow = LocalTime { day: local.day + 1, ..local };
        assert!((82_800..=90_000).contains(&(tomorrow.seconds().unwrap() - 1_764_234_000)));
        assert_eq!(LocalTime::of(i64::MAX), None);
    }
}
