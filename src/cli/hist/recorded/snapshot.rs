//! Snapshots that actions would have taken, as recordings.

use super::answered::Answered;
use crate::cli::convert::{RecordingCopy, write_edited};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::trace_file::{Overwrite, open};
use anyhow::Context;
use rtrace::internal::trace_dat::write::CopiedPart;
use rtrace::units::{counted, parse_duration};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The events before a snapshot.
#[derive(clap::Args)]
pub(super) struct SnapshotArgs {
    /// With -i: write the events before the last snapshot() of each trigger to DIR, a recording each
    #[arg(long, value_name = "DIR", requires_all = ["input", "event"], conflicts_with = "against", value_hint = clap::ValueHint::DirPath, hide_short_help = true)]
    snapshot_to: Option<PathBuf>,
    /// Only the events of this time before it [default: all]
    #[arg(long, value_name = "TIME", requires = "snapshot_to", value_parser = parse_duration, hide_short_help = true)]
    snapshot_span: Option<Duration>,
}

/// A snapshot: its file's name, and its time in the clock's unit.
pub(super) struct HistSnapshot {
    name: String,
    time: u64,
}

impl SnapshotArgs {
    /// The snapshots of all triggers up to the one with the number `last`, if they are asked for.
    pub(super) fn moments(&self, answered: &Answered<'_>, last: usize) -> Vec<HistSnapshot> {
        let moment = |number: usize| {
            let (snapshot, (_, format)) = answered.findings.snapshot(number).zip(answered.findings.trigger(number))?;
            Some(HistSnapshot { name: format!("{}-{}.dat", number + 1, format.name), time: snapshot.time.0 })
        };
        if self.snapshot_to.is_some() { (0..=last).filter_map(moment).collect() } else { Vec::new() }
    }

    /// Writes what the recording at `input` holds before them. `exit`: that of the first look at it.
    pub(super) fn write(&self, input: &Path, moments: &[HistSnapshot], exit: Exit) -> Result<Exit, Failure> {
        let Some(dir) = &self.snapshot_to else { return Ok(exit) };
        std::fs::create_dir_all(dir).with_context(|| format!("failed to create {}", dir.display()))?;
        if moments.is_empty() {
            print("no snapshot was taken\n")?;
            return Ok(exit);
        }
        let trace = open(input)?;
        let damage = DamageReport::of(input, &trace);
        let span = self.snapshot_span.map(|span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        let done = moments.iter().try_for_each(|HistSnapshot { name, time }| {
            // The event that takes it is its last one.
            let window = span.map_or(0, |span| time.saturating_sub(span))..time.saturating_add(1);
            let (version, overwrite) = (RecordingCopy::version_of(&trace), Overwrite::default());
            let (path, slice) = (dir.join(name), CopiedPart::Time(window));
            let copy = RecordingCopy { version, overwrite, slice, cpus: None, selection: None, edit: None };
            let events = write_edited(&trace, (input, &path), copy, &damage)?;
            print(&format!("{}: {}\n", path.display(), counted(events, "event"))).map(drop)
        });
        let of_copy = damage.outcome(done)?;
        Ok(if exit == Exit::Success { of_copy } else { exit })
    }
}
