//! The units everything is counted in. No other module defines one.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A CPU's number, as in `per_cpu/cpuN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

/// A thread's id as tracing sees it (`common_pid`); 0 is a CPU's idle task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub i32);

impl Pid {
    /// No task: of events that tell none.
    pub const NONE: Pid = Pid(-1);
}

/// An event's number, unique within one boot (`common_type`, the `ID:` line of a format file).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u16);

/// A trace clock's reading: nanoseconds for most clocks, raw ticks for `counter` and `x86-tsc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// A number of bytes. Parsed from a decimal number with an optional binary unit: `4096`, `64K`, `2M`, `1.5G`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ByteSize {
    /// Parses like [`FromStr`], but a bare number counts `unit` bytes (trace-cmd's `-b 4096` is KiB).
    ///
    /// # Errors
    /// [`UnitError`] if `text` is not a number with an optional unit, or does not fit 64 bits.
    pub fn parse_with_unit(text: &str, unit: u64) -> Result<Self, UnitError> {
        let bad =
            || UnitError { what: "size", text: text.to_owned(), expect: "a number with an optional K, M, G or T" };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
            "" => unit,
            "b" => 1,
            "k" | "kb" | "kib" => 1 << 10,
            "m" | "mb" | "mib" => 1 << 20,
            "g" | "gb" | "gib" => 1 << 30,
            "t" | "tb" | "tib" => 1 << 40,
            _ => return Err(bad()),
        };
        scaled(digits, unit).map(ByteSize).ok_or_else(bad)
    }
}

impl FromStr for ByteSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::parse_with_unit(text, 1)
    }
}

impl fmt::Display for ByteSize {
    /// Three or four significant digits and a binary unit: `512 B`, `1.4 KiB`, `28.1 MiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1023.95 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 event`, `1,234 events`, `2 switches`, `0 entries`.
pub fn counted(n: u64, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if n == 1 => (noun, ""),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => (stem, "ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => (noun, "es"),
        _ => (noun, "s"),
    };
    format!("{} {stem}{ending}", grouped(n))
}

/// A duration in seconds with milliseconds: `1.500 s`.
pub fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// A clock of the ring buffer: the one list of them (kernel/trace/trace.c, `trace_clocks`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedClock {
    /// The unit of its time stamps.
    pub tick: ClockTick,
    /// True if reports show its time stamps as seconds, as trace-cmd does, whatever they count.
    pub shown_as_seconds: bool,
    /// True if time stamps of different CPUs can be compared; `local` may differ between them.
    pub spans_cpus: bool,
}

/// The unit of a trace clock's time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockTick {
    /// A nanosecond.
    Nanosecond,
    /// As many nanoseconds: `uptime` counts 1/100 s (USER_HZ).
    Nanoseconds(u64),
    /// A cycle of the CPU's counter, of a length that the clock does not tell.
    Cycle,
    /// An event: `counter` does not count time.
    Event,
}

impl RecordedClock {
    /// The clock of this name; the empty name is the default clock's.
    pub fn of(name: &str) -> Self {
        let tick = match name {
            "" | "local" | "global" | "perf" | "tai" | "boot" | "tsc2nsec" => ClockTick::Nanosecond,
            "uptime" => ClockTick::Nanoseconds(10_000_000),
            "counter" => ClockTick::Event,
            _ if name.starts_with("mono") => ClockTick::Nanosecond,
            _ => ClockTick::Cycle,
        };
        let shown_as_seconds = matches!(tick, ClockTick::Nanosecond | ClockTick::Nanoseconds(_));
        RecordedClock { tick, shown_as_seconds, spans_cpus: !matches!(name, "" | "local") }
    }

    /// True if it counts nanoseconds.
    pub fn counts_nanoseconds(self) -> bool {
        self.tick == ClockTick::Nanosecond
    }

    /// True if it counts time finely enough to measure the distance of two events of a microsecond or less.
    pub fn is_fine(self) -> bool {
        matches!(self.tick, ClockTick::Nanosecond | ClockTick::Cycle)
    }
}

/// Parses a span of time: `10` and `10s` are seconds; `500ms`, `20us`, `3ns`, `2m`, `1h`, `0.25`.
///
/// # Errors
/// [`UnitError`] if `text` is not a non-negative number with an optional unit, or is too long for 64 bits of ns.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let bad =
        || UnitError { what: "time", text: text.to_owned(), expect: "a number with an optional ns, us, ms, s, m or h" };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" | "sec" => 1_000_000_000,
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(bad()),
    };
    scaled(digits, unit).map(Duration::from_nanos).ok_or_else(bad)
}

/// `digits` (a decimal number, perhaps with a fraction) times `unit`, exactly; a rest below 1 is cut off.
fn scaled(digits: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = u128::from(whole.checked_mul(unit)?);
    if !fraction.is_empty() {
        total += fraction.parse::<u128>().ok()? * u128::from(unit) / 10u128.pow(fraction.len() as u32);
    }
    u64::try_from(total).ok()
}

/// A text that is not the number it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} `{text}`: expected {expect}")]
pub struct UnitError {
    what: &'static str,
    text: String,
    expect: &'static str,
}

/// Number of events that the kernel dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// None.
    #[default]
    None,
    /// This many.
    Count(u64),
    /// Some; the kernel did not have the room to say how many.
    Unknown,
}

impl Lost {
    /// The sum.
    pub fn plus(self, other: Lost) -> Lost {
        match (self, other) {
            (Lost::None, other) | (other, Lost::None) => other,
            (Lost::Count(a), Lost::Count(b)) => Lost::Count(a.saturating_add(b)),
            _ => Lost::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!("4096".parse(), Ok(ByteSize(4096)));
        assert_eq!("64K".parse(), Ok(ByteSize(65536)));
        assert_eq!("1.5M".parse(), Ok(ByteSize(3 << 19)));
        assert_eq!(ByteSize::parse_with_unit("1408", 1024), Ok(ByteSize(1408 << 10)));
        assert_eq!(ByteSize::parse_with_unit("2g", 1024), Ok(ByteSize(2 << 30)));
        for bad in ["", "K", "-1", "1X", "1..2", "99999999999999999999", "17179869184G"] {
            assert!(bad.parse::<ByteSize>().is_err(), "{bad}");
        }
        assert_eq!(ByteSize(1023).to_string(), "1023 B");
        assert_eq!(ByteSize(1434).to_string(), "1.4 KiB");
        assert_eq!(ByteSize(1 << 20).to_string(), "1.0 MiB");
    }

    #[test]
    fn numbers_with_their_nouns() {
        assert_eq!(
            [counted(1, "event"), counted(0, "event"), counted(1234, "event")],
            ["1 event", "0 events", "1,234 events"]
        );
        assert_eq!(
            [counted(2, "switch"), counted(2, "entry"), counted(1, "entry")],
            ["2 switches", "2 entries", "1 entry"]
        );
        assert_eq!(
            (counted(2, "delay"), seconds(Duration::from_micros(1_234_567))),
            ("2 delays".into(), "1.235 s".into())
        );
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("20us"), Ok(Duration::from_micros(20)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "s", "1 s", "-3", "1e9", "1d", "999999999999h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
