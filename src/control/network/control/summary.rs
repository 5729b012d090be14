//! The outcome of a guest's recording.

use crate::base::units::{ByteSize, RecordedClock, counted};
use crate::file::trace_dat::ClockComparison;
use serde_json::json;
use std::fmt;
use std::path::PathBuf;

/// A guest's recording that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestSummary {
    /// Name of the guest.
    pub name: String,
    /// File of the guest's events.
    pub path: PathBuf,
    /// Size of the file, in bytes.
    pub size: u64,
    /// Events that came, as far as they were counted.
    pub events: Option<u64>,
    /// Quality of the comparison of its clock with the host's.
    pub clocks: ClockComparison,
    /// To be added to its times at the end, in the clock's unit; of its first CPU.
    pub offset: Option<i64>,
    /// The reason why its clock was not compared until the end, if it was not.
    pub unsynchronized: Option<String>,
    /// Its data came through FIFOs, not over connections.
    pub through_fifos: bool,
    /// The reason why it is incomplete, if it is.
    pub incomplete: Option<String>,
}

impl fmt::Display for GuestSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: guest {}: ", self.path.display(), self.name)?;
        if let Some(events) = self.events {
            write!(f, "{}, ", counted(events, "event"))?;
        }
        write!(f, "{} written", ByteSize(self.size))?;
        if self.through_fifos {
            f.write_str(" from FIFOs")?;
        }
        match (&self.clocks, self.offset) {
            (ClockComparison::Not(why), _) => write!(f, ", clocks not compared: {why}")?,
            (clocks, offset) => {
                let offset = offset.unwrap_or_default();
                let which = if offset < 0 { "ahead" } else { "behind" };
                write!(f, ", times {clocks}: its own was {} {which}", shown(offset))?;
            }
        }
        if let Some(why) = &self.unsynchronized {
            write!(f, ", not to the end: {why}")?;
        }
        match &self.incomplete {
            Some(why) => write!(f, ", INCOMPLETE: {why}"),
            None => Ok(()),
        }
    }
}

/// A span of the clock, without its sign: nanoseconds as seconds. Ticks are close to it.
fn shown(offset: i64) -> String {
    let span = offset.unsigned_abs();
    format!("{}.{:09} s", span / 1_000_000_000, span % 1_000_000_000)
}

impl GuestSummary {
    /// The fields of a recording's summary about it.
    pub fn json(&self) -> serde_json::Value {
        let clock = match &self.clocks {
            ClockComparison::Not(why) => json!({"not_compared": why}),
            ClockComparison::Compared { host, error, rounds } => json!({
                "host": host,
                "unit": if RecordedClock::of(host).counts_nanoseconds() { "ns" } else { "ticks" },
                "offset": self.offset,
                "error": error,
                "measurements": rounds,
                "failed": self.unsynchronized,
            }),
        };
        json!({
            "name": self.name,
            "file": self.path.to_string_lossy(),
            "file_size": self.size,
            "events": self.events,
            "clock": clock,
            "through_fifos": self.through_fifos,
            "incomplete": self.incomplete,
        })
    }
}
