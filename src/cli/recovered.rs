//! The result of `recover` and `restore`, printed.

use super::analyze::words::percent;
use super::exit::{Exit, Failure};
use super::piped::{named, say_of};
use rtrace::record::Rings;
use rtrace::units::{ByteSize, counted, grouped};
use serde_json::json;
use std::path::Path;

/// Result of recovering or restoring a recording; sizes are in bytes.
pub(super) enum RecoveryOutcome {
    Nothing { is_whole: bool },
    Removed,
    Header { size: u64 },
    Recording { how: &'static str, size: u64, data: u64, dropped: u64 },
}

impl RecoveryOutcome {
    pub(super) fn tell(&self, file: &Path, json: bool) -> Result<Exit, Failure> {
        self.tell_with(file, None, None, json)
    }

    /// The same, with the result for the ring buffers of a killed recorder, and the number of events in the file if that is
    /// known.
    pub(super) fn tell_with(
        &self,
        file: &Path,
        rings: Option<&Rings>,
        events: Option<u64>,
        json: bool,
    ) -> Result<Exit, Failure> {
        let name = named(file);
        if json {
            let (what, size, data, dropped) = match *self {
                RecoveryOutcome::Nothing { .. } => ("complete", None, None, None),
                RecoveryOutcome::Removed => ("removed", None, None, None),
                RecoveryOutcome::Header { size } => ("header", Some(size), None, None),
                RecoveryOutcome::Recording { how, size, data, dropped } => (how, Some(size), Some(data), Some(dropped)),
            };
            let document = json!({
                "schema": "rtrace.recover", "version": 1, "file": file.to_string_lossy(), "done": what,
                "size": size, "data_size": data, "dropped": dropped,
                "rings": rings.map(|rings| json!({
                    "bytes": rings.bytes, "events": rings.events, "missing": rings.missing, "overrun": rings.overrun,
                    "failures": rings.failures, "put_back": rings.put_back,
                })),
            });
            say_of(file, &format!("{document:#}\n"))?;
            return Ok(Exit::Success);
        }
        let text = match *self {
            RecoveryOutcome::Nothing { is_whole } => {
                let what = if is_whole { "complete" } else { "finished" };
                format!("{name}: a {what} recording, nothing to recover\n")
            }
            RecoveryOutcome::Removed => format!("{name}: killed before its first event: what it left is cleared up\n"),
            RecoveryOutcome::Header { size } => {
                format!("{name}: {} of formats and symbols, for `rtrace restore -i`\n", ByteSize(size))
            }
            RecoveryOutcome::Recording { how, size, data, dropped } => {
                format!("{name}: {how}, {} with {} of events{}\n", ByteSize(size), ByteSize(data), torn(dropped))
            }
        };
        say_of(file, &(text + &rings.map(|rings| of_rings(&name, rings, events)).unwrap_or_default()))?;
        Ok(Exit::Success)
    }
}

/// The torn end that was left out.
fn torn(dropped: u64) -> String {
    if dropped == 0 { String::new() } else { format!(", {} of torn ends dropped", ByteSize(dropped)) }
}

/// The data that the ring buffers gave, and the state that they are in.
fn of_rings(name: &str, rings: &Rings, events: Option<u64>) -> String {
    let taken = match (rings.bytes, rings.events) {
        (0, _) => String::new(),
        (_, Some(events)) => format!("{name}: {} of it still in the ring buffers\n", counted(events, "event")),
        (bytes, None) => format!("{name}: {} of it still in the ring buffers\n", ByteSize(bytes)),
    };
    let put_back =
        if rings.put_back { format!("{name}: tracing is as it was before the recording\n") } else { String::new() };
    let missing = match rings.missing {
        Some(missing) if missing > 0 => {
            let share = events.map_or_else(String::new, |events| {
                format!(" ({} % of {})", percent(missing, events + missing), grouped(events + missing))
            });
            let missing = counted(missing, "event");
            format!("{name}: lost {missing}{share}: the killed recorder had read them and not yet written them\n")
        }
        _ => String::new(),
    };
    let overrun = match rings.overrun {
        Some(overrun) if overrun > 0 => {
            let overrun = counted(overrun, "event");
            format!("{name}: lost {overrun} to ring buffers that were full, as the file's marks say\n")
        }
        _ => String::new(),
    };
    taken + &missing + &overrun + &put_back
}
