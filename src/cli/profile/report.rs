//! Profiles of some buffers, written to wherever they are wanted.

use super::json;
use super::layout::{LayoutArgs, ProfileLayout};
use crate::cli::exit::Failure;
use crate::cli::helper_programs;
use crate::cli::query::{ClockUnit, add_wall};
use crate::cli::terminal::{Guard, stderr, stdout, table_width};
use crate::cli::trace_file::Overwrite;
use anyhow::Context;
use rtrace::analysis::Profile;
use rtrace::internal::answers::ALL_COLUMNS;
use rtrace::internal::safe_file;
use rtrace::internal::trace_dat::WallClock;
use rtrace::symbols::Symbols;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Layout and destination of a profile.
#[derive(clap::Args, Clone)]
pub(super) struct ProfileOutputArgs {
    /// Write the profile to FILE
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the profile to standard error, so that CMD has standard output for itself
    #[arg(long, conflicts_with = "output")]
    stderr: bool,
    /// One JSON document instead of text
    #[arg(long, conflicts_with_all = ["layout", "limit", "wide"])]
    json: bool,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    overwrite: Overwrite,
}

/// The destination of a profile, opened before the work is begun.
pub(super) struct ProfileOutput {
    to: BufWriter<Box<dyn Write>>,
    /// True if it is standard output.
    is_standard: bool,
    json: bool,
    layout: LayoutArgs,
}

impl ProfileOutputArgs {
    /// True if all tasks and stack traces are shown.
    pub(super) fn is_in_trace_cmds_layout(&self) -> bool {
        self.layout.layout() == ProfileLayout::TraceCmd
    }

    /// True if no point in time is shown in a form for people.
    pub(super) fn has_no_points(&self) -> bool {
        self.json || self.is_in_trace_cmds_layout()
    }

    pub(super) fn open(&self) -> Result<ProfileOutput, Failure> {
        // trace-cmd's scripts expect the file to be written anew, and a device is no file that is lost.
        if let Some(path) =
            self.output.as_deref().filter(|path| path.is_file() && helper_programs::name() != "trace-cmd")
        {
            self.overwrite.check(path)?;
        }
        let to: Box<dyn Write> = match &self.output {
            Some(path) => Box::new(Guard::new(
                safe_file::create(path, 0o666).with_context(|| format!("failed to create {}", path.display()))?,
            )),
            None if self.stderr => Box::new(stderr()),
            None => Box::new(stdout()),
        };
        let is_standard = self.output.is_none() && !self.stderr;
        Ok(ProfileOutput { to: BufWriter::new(to), is_standard, json: self.json, layout: self.layout })
    }
}

impl ProfileOutput {
    /// Writes the profiles of these buffers, each with its name.
    pub(super) fn write(
        mut self,
        file: Option<&str>,
        profiles: &[(String, Profile)],
        symbols: &Symbols,
        by_comm: bool,
        (unit, clock): (ClockUnit, Option<WallClock>),
    ) -> io::Result<()> {
        let (out, width) = (&mut self.to, table_width(self.layout.wide).filter(|_| self.is_standard));
        if self.json {
            let one = |(name, profile): &(String, Profile)| json::buffer(file, name, profile, symbols, by_comm);
            let mut document = json::document(profiles.iter().map(one).collect());
            add_wall(&mut document, &["max_at", "min_at"], clock);
            writeln!(out, "{document:#}")?;
        } else {
            for (name, profile) in profiles {
                if !name.is_empty() {
                    writeln!(out, "\nInstance: {name}")?;
                }
                self.layout.write(profile, symbols, by_comm, unit, (width, ALL_COLUMNS), out)?;
            }
        }
        out.flush()
    }
}
