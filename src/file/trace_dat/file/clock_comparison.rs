//! The quality of a guest's clock measurements: the content of our RTRACE_CLOCKS option, beside TIME_SHIFT.
//!
//! A text of lines `NAME VALUE`:
//!
//! ```text
//! host local         the clock of the host's recording, by which the guest's times are shown
//! error 18250        the most by which a measurement can be wrong, in that clock's unit; left out if unknown
//! rounds 3           number of measurements of each CPU
//! not compared WHY   instead of all that: times are the guest's own
//! ```

use crate::file::trace_dat::RawOption;
use std::fmt;

/// Quality of the comparison of a guest's clock with its host's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockComparison {
    /// It was measured.
    Compared {
        /// The clock of the host's recording.
        host: String,
        /// The most by which a measurement can be wrong, in that clock's unit.
        error: Option<u64>,
        /// Number of measurements of each CPU.
        rounds: u32,
    },
    /// It was not, and why.
    Not(String),
}

const NOT: &str = "not compared ";

impl ClockComparison {
    /// Reads the bytes of an RTRACE_CLOCKS option; `None` if they say nothing of the kind.
    pub fn read(option: &RawOption) -> Option<Self> {
        let text = option.text();
        if let Some(why) = text.strip_prefix(NOT) {
            return Some(ClockComparison::Not(why.trim_end().to_owned()));
        }
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let error = value("error").map(|text| text.parse().ok());
        Some(ClockComparison::Compared {
            host: value("host")?.to_owned(),
            error: match error {
                Some(error) => Some(error?),
                None => None,
            },
            rounds: value("rounds")?.parse().ok()?,
        })
    }

    /// The option's bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut text = match self {
            ClockComparison::Compared { host, error, rounds } => {
                let error = error.map_or_else(String::new, |error| format!("error {error}\n"));
                format!("host {host}\n{error}rounds {rounds}\n")
            }
            ClockComparison::Not(why) => format!("{NOT}{}\n", why.replace(['\0', '\n'], " ")),
        };
        text.push('\0');
        text.into_bytes()
    }
}

impl fmt::Display for ClockComparison {
    /// The words of a report: `by the host's clock local, within 18.250 us (3 measurements)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClockComparison::Compared { host, error, rounds } => {
                write!(f, "by the host's clock {host}")?;
                match error {
                    Some(error) if crate::base::units::RecordedClock::of(host).counts_nanoseconds() => {
                        write!(f, ", within {}.{:03} us", error / 1000, error % 1000)?;
                    }
                    Some(error) => write!(f, ", within {error} ticks")?,
                    None => f.write_str(", with an unknown error")?,
                }
                write!(f, " ({rounds} measurement{})", if *rounds == 1 { "" } else { "s" })
            }
            ClockComparison::Not(why) => write!(f, "by the guest's own clock, which was not compared: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::RTRACE_CLOCKS, data, offset: 0, place: FilePart::Prefix };
        let compared = |error| ClockComparison::Compared { host: "mono".to_owned(), error, rounds: 3 };
        for (comparison, says) in [
            (compared(Some(18_250)), "by the host's clock mono, within 18.250 us (3 measurements)"),
            (compared(None), "by the host's clock mono, with an unknown error (3 measurements)"),
            (ClockComparison::Not("it is x".to_owned()), "by the guest's own clock, which was not compared: it is x"),
        ] {
            assert_eq!(ClockComparison::read(&option(comparison.write())), Some(comparison.clone()));
            assert_eq!(comparison.to_string(), says);
        }
        for wrong in ["", "host mono\n", "host mono\nerror x\nrounds 2\n", "error 5\nrounds 2\n", "host m\nrounds -1\n"]
        {
            assert_eq!(ClockComparison::read(&option(wrong.as_bytes().to_vec())), None, "{wrong}");
        }
    }
}
