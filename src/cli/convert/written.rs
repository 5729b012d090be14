//! The line about what was written.

use super::target::ConvertTarget;
use crate::cli::exit::Failure;
use crate::cli::piped::{named, say_of};
use rtrace::units::{ByteSize, counted};
use serde_json::json;
use std::path::Path;

/// The outcome: the number of events, and what could not be, each with its reason.
pub(super) struct ConvertOutcome {
    pub(super) events: u64,
    pub(super) left_out: Vec<String>,
}

impl ConvertOutcome {
    /// The line about a file of `size` bytes.
    pub(super) fn summary(&self, name: &str, target: ConvertTarget, size: u64) -> String {
        line(name, target, (Some(self.events), &self.left_out, size))
    }

    /// Prints it, of a file of `size` bytes.
    pub(super) fn tell(&self, output: &Path, target: ConvertTarget, size: u64, json: bool) -> Result<(), Failure> {
        tell(output, target, (Some(self.events), &self.left_out, size), json)
    }
}

/// `run.csv: 12 events as csv, 1.2 KiB; left out: nothing`.
fn line(name: &str, target: ConvertTarget, (events, left_out, size): (Option<u64>, &[String], u64)) -> String {
    let what = events.map_or("a copy".to_owned(), |events| counted(events, "event"));
    let left_out = if left_out.is_empty() { "nothing".to_owned() } else { left_out.join(", ") };
    format!("{name}: {what} as {}, {}; left out: {left_out}", target.name(), ByteSize(size))
}

/// Prints `run.csv: 12 events as csv, 1.2 KiB; left out: nothing`, or as JSON: schema `rtrace.convert`, version 1. The
/// number of events is not known of a recording whose chunks were copied.
pub(super) fn tell(
    output: &Path,
    target: ConvertTarget,
    (events, left_out, size): (Option<u64>, &[String], u64),
    json: bool,
) -> Result<(), Failure> {
    if json {
        let document = json!({
            "schema": "rtrace.convert", "version": 1, "file": output.to_string_lossy(), "format": target.name(),
            "events": events, "size": size, "left_out": left_out,
        });
        return Ok(say_of(output, &format!("{document:#}\n"))?);
    }
    let of_ours = if output == Path::new("-") { "rtrace: " } else { "" };
    let line = line(&named(output), target, (events, left_out, size));
    Ok(say_of(output, &format!("{of_ours}{line}\n"))?)
}
