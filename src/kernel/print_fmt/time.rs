//! The kernel's `%pt`: dates and times (lib/vsprintf.c, `time_and_date()`).

use crate::base::abi::Abi;
use crate::base::text::num;

/// The form of a time, and its stored unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// `time64_t`; else `struct rtc_time`.
    seconds: bool,
    date: bool,
    time: bool,
    /// Year and month as they are stored: from 1900, from 0.
    raw: bool,
    /// A blank between date and time.
    blank: bool,
}

/// Year, month, day, hour, minute, second, as `struct rtc_time` counts them.
type Parts = [i64; 6];

impl Time {
    /// `tT[dt][r][s]`, `tR[dt][r][s]`.
    pub(super) fn parse(extension: &[u8]) -> Option<Self> {
        let (seconds, mut options) = match extension {
            [b't', b'T', options @ ..] => (true, options),
            [b't', b'R', options @ ..] => (false, options),
            _ => return None,
        };
        let (mut date, mut time) = (true, true);
        match options {
            [b'd', rest @ ..] => (time, options) = (false, rest),
            [b't', rest @ ..] => (date, options) = (false, rest),
            _ => {}
        }
        let options: Vec<u8> = options.iter().take_while(|b| matches!(b, b'r' | b's')).copied().collect();
        let has = |option: u8| options.contains(&option);
        Some(Time { seconds, date, time, raw: has(b'r'), blank: has(b's') })
    }

    pub(super) fn write(self, out: &mut Vec<u8>, data: &[u8], abi: Abi) {
        let [year, month, day, hour, minute, second] = self.parts(data, abi);
        if self.date {
            padded(out, year.saturating_add(if self.raw { 0 } else { 1900 }), 4);
            out.push(b'-');
            padded(out, month.saturating_add(if self.raw { 0 } else { 1 }), 2);
            out.push(b'-');
            padded(out, day, 2);
        }
        if self.date && self.time {
            out.push(if self.blank { b' ' } else { b'T' });
        }
        if self.time {
            padded(out, hour, 2);
            out.push(b':');
            padded(out, minute, 2);
            out.push(b':');
            padded(out, second, 2);
        }
    }

    fn parts(self, data: &[u8], abi: Abi) -> Parts {
        if self.seconds {
            return split(abi.int(data, 0, 8).unwrap_or(0));
        }
        let part = |at: usize| abi.int(data, at, 4).unwrap_or(0);
        [part(20), part(16), part(12), part(8), part(4), part(0)]
    }
}

fn padded(out: &mut Vec<u8>, value: i64, width: usize) {
    if value < 0 {
        return num::signed(out, value);
    }
    num::dec_pad(out, value as u64, width, b'0');
}

/// Seconds since 1970 in the Gregorian calendar, whose years are taken to begin in March.
#[expect(clippy::arithmetic_side_effects, reason = "an era has 146,097 days, and there are fewer than 2^30 eras")]
fn split(seconds: i64) -> Parts {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    [year - 1900, month, day, rest / 3600, rest / 60 % 60, rest % 60]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    #[test]
    fn dates() {
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        let text = |extension: &[u8], seconds: i64| {
            let mut out = Vec::new();
            Time::parse(extension).unwrap().write(&mut out, &seconds.to_le_bytes(), abi);
            String::from_utf8(out).unwrap()
        };
        // what `date -u` makes of these numbers
        assert_eq!(text(b"tT", 1_700_000_000), "2023-11-14T22:13:20");
        assert_eq!(text(b"tTd", 951_782_400), "2000-02-29");
        assert_eq!(text(b"tTts", -1), "23:59:59");
        assert_eq!(text(b"tTs", 0), "1970-01-01 00:00:00");
        assert_eq!(text(b"tTr", 0), "0070-00-01T00:00:00");
        assert_eq!(Time::parse(b"tX"), None);
        assert!(text(b"tT", i64::MIN).len() < 64);
    }
}
