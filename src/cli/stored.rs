//! The contents of ring buffers that become a recording: `extract`, `snapshot save`, `instance save`.

use super::args::sudo_caller;
use super::exit::{Exit, Failure};
use super::piped::{self, Outgoing};
use super::record_error;
use super::terminal::note;
use rtrace::record::{Compression, Ring, extract};
use rtrace::tracefs::Instance;
use rtrace::units::{ByteSize, CpuId};
use serde_json::json;
use std::path::Path;

/// The rings to be stored, and how.
pub(crate) struct StoredRings<'a> {
    pub(crate) instances: &'a [Instance],
    pub(crate) ring: Ring,
    /// No CPU means all of them.
    pub(crate) cpus: &'a [CpuId],
    pub(crate) compression: Compression,
    /// Microseconds of the wall clock when the trace clock was zero.
    pub(crate) date: Option<u64>,
}

/// The way to say what was stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    Text,
    Json,
    Nothing,
}

impl Say {
    /// `quiet` goes before.
    pub(crate) fn of(json: bool, quiet: bool) -> Self {
        match (quiet, json) {
            (true, _) => Say::Nothing,
            (_, true) => Say::Json,
            _ => Say::Text,
        }
    }
}

impl StoredRings<'_> {
    /// Moves what is in the rings to a recording at `output`; says what that was.
    pub(crate) fn to(&self, output: &Path, say: Say) -> Result<Exit, Failure> {
        piped::check(output, say == Say::Json)?;
        let outgoing = Outgoing::new(output)?;
        let path = outgoing.as_ref().map_or(output.to_owned(), Outgoing::path);
        let cpus = (!self.cpus.is_empty()).then_some(self.cpus);
        let stored = extract(self.instances, self.ring, cpus, &path, self.compression, self.date, sudo_caller())
            .map_err(|error| record_error::failure(error, |exit| exit))?;
        outgoing.map_or(Ok(()), Outgoing::send)?;
        match say {
            Say::Nothing => {}
            Say::Text => {
                let (size, raw) = (ByteSize(stored.file_size), ByteSize(stored.raw));
                note!("{}: {raw} of events, {size} written", piped::named(output));
            }
            Say::Json => {
                let document = json!({
                    "schema": "rtrace.extract", "version": 1, "file": output.to_string_lossy(), "size": stored.file_size,
                    "bytes_raw": stored.raw, "failures": stored.failures,
                });
                piped::say_of(output, &format!("{document:#}\n"))?;
            }
        }
        match stored.failures.first() {
            None => Ok(Exit::Success),
            Some(failure) => {
                Err(Failure::new(Exit::Incomplete, anyhow::anyhow!("{failure}; the file holds everything else")))
            }
        }
    }
}
