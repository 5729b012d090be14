//! A guest's clock against its host's: the content of TIME_SHIFT options.
//!
//! ```text
//! u64 peer's TRACEID, u32 flags (bit 0: interpolated), u32 CPUs
//! per CPU  u32 n, n times, n offsets, n scalings
//! per CPU  n fraction bits: not in older files
//! ```
//!
//! All but the counts are u64.
//!
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
//!
//! Trace clocks whose times can be converted to each other.

use crate::base::abi::Abi;
use crate::base::units::RecordedClock;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{FileError, RawOption};
use std::fmt;

const INTERPOLATE: u32 = 1;

/// Measurements of a guest's clock against its host's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeShift {
    /// TRACEID of the host's recording.
    pub peer: u64,
    /// True if the offset between two samples is interpolated.
    pub interpolate: bool,
    /// Each CPU's samples.
    pub cpus: Vec<Vec<ClockSample>>,
}

/// One measurement: from `time` on, `ts * scaling >> fraction + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSample {
    /// The guest's time.
    pub time: u64,
    /// To be added to its times.
    pub offset: i64,
    /// Factor of its times.
    pub scaling: u64,
    /// Bits of the product to be cut off.
    pub fraction: u64,
}

impl ClockSample {
    /// A sample of a clock that runs as fast as its host's.
    pub fn new(time: u64, offset: i64) -> Self {
        ClockSample { time, offset, scaling: 1, fraction: 0 }
    }
}

impl TimeShift {
    /// Reads the bytes of a TIME_SHIFT option. Samples are in the order of their times.
    ///
    /// # Errors
    /// [`FileError::Option`] if they end too early or go on.
    pub fn read(option: &RawOption, abi: Abi) -> Result<Self, FileError> {
        const COLUMNS: u64 = 3 * 8;
        let mut scan = option.scan(abi);
        let cut = || option.error("it ends too early");
        let mut shift = TimeShift { peer: scan.u64().map_err(|_| cut())?, ..TimeShift::default() };
        shift.interpolate = scan.u32().map_err(|_| cut())? & INTERPOLATE != 0;
        for _ in 0..scan.u32().map_err(|_| cut())? {
            let count = u64::from(scan.u32().map_err(|_| cut())?);
            if count.saturating_mul(COLUMNS) > scan.remain() {
                return Err(cut());
            }
            let mut samples = vec![ClockSample { time: 0, offset: 0, scaling: 0, fraction: 0 }; count as usize];
            let mut column = |put: &dyn Fn(&mut ClockSample, u64)| {
                samples.iter_mut().try_for_each(|sample| scan.u64().map(|n| put(sample, n)).map_err(|_| cut()))
            };
            column(&|sample, n| sample.time = n)?;
            column(&|sample, n| sample.offset = n.cast_signed())?;
            column(&|sample, n| sample.scaling = n)?;
            shift.cpus.push(samples);
        }
        if scan.remain() > 0 {
            for sample in shift.cpus.iter_mut().flatten() {
                sample.fraction = scan.u64().map_err(|_| cut())?;
            }
        }
        if scan.remain() > 0 {
            return Err(option.error("it goes on after its end"));
        }
        shift.cpus.iter_mut().for_each(|samples| samples.sort_by_key(|sample| sample.time));
        Ok(shift)
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.u64(self.peer).u32(if self.interpolate { INTERPOLATE } else { 0 }).u32(self.cpus.len() as u32);
        for samples in &self.cpus {
            out.u32(samples.len() as u32);
            let mut column = |of: &dyn Fn(&ClockSample) -> u64| {
                for sample in samples {
                    out.u64(of(sample));
                }
            };
            column(&|sample| sample.time);
            column(&|sample| sample.offset.cast_unsigned());
            column(&|sample| sample.scaling);
        }
        for sample in self.cpus.iter().flatten() {
            out.u64(sample.fraction);
        }
        out.bytes
    }
}

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

/// The reason why times of the clock `guest` cannot be converted to the clock `host`, if they cannot.
pub fn incomparable_clocks(guest: &str, host: &str) -> Option<String> {
    let [of_guest, of_host] = [guest, host].map(RecordedClock::of);
    match () {
        () if !of_host.is_fine() => Some(format!("the host's clock {host} does not count time")),
        () if !of_guest.is_fine() => Some(format!("its clock {guest} does not count time")),
        // Counters of ticks: the measurements say how fast one runs by the other.
        () if guest == host => None,
        () if of_guest.counts_nanoseconds() && of_host.counts_nanoseconds() => None,
        () => Some(format!("its clock is {guest}, the host's is {host}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::TIME_SHIFT, data, offset: 0, place: FilePart::Prefix };
        let cpus = vec![
            vec![ClockSample::new(5, -7), ClockSample { time: 9, offset: 8, scaling: 3, fraction: 32 }],
            Vec::new(),
            vec![ClockSample::new(u64::MAX, i64::MIN)],
        ];
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            for interpolate in [false, true] {
                let shift = TimeShift { peer: 77, interpolate, cpus: cpus.clone() };
                let bytes = shift.write(abi);
                assert_eq!(TimeShift::read(&option(bytes.clone()), abi).unwrap(), shift);
                assert!(TimeShift::read(&option(bytes[..bytes.len() - 1].to_vec()), abi).is_err());
                assert!(TimeShift::read(&option([&bytes[..], &[0]].concat()), abi).is_err());
                // trace-cmd 2.9 has no fractions
                let older = TimeShift::read(&option(bytes[..bytes.len() - 3 * 8].to_vec()), abi).unwrap();
                assert_eq!((older.cpus[0][0], older.cpus[0][1].fraction), (cpus[0][0], 0));
            }
        }
    }

    #[test]
    fn what_is_written_is_read_of_clock_comparison() {
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

    #[test]
    fn clocks_that_can_be_compared() {
        for (guest, host) in [("local", "local"), ("mono", "boot"), ("x86-tsc", "x86-tsc")] {
            assert_eq!(incomparable_clocks(guest, host), None);
        }
        for (guest, host) in [("counter", "counter"), ("uptime", "mono"), ("mono", "counter"), ("x86-tsc", "local")] {
            assert!(incomparable_clocks(guest, host).is_some(), "{guest} {host}");
        }
    }
}
