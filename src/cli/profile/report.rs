//! Profiles of some buffers, as text or JSON, written to wherever they are wanted.

use super::{table, text};
use crate::cli::exit::Failure;
use crate::cli::helper_programs;
use crate::cli::query::{ClockUnit, add_wall};
use crate::cli::terminal::{Guard, stderr, stdout, table_width};
use crate::cli::trace_file::Overwrite;
use anyhow::Context;
use rtrace::analysis::{Profile, ProfiledEvent, ProfiledTask, StackNode, Times, Who};
use rtrace::internal::answers::ALL_COLUMNS;
use rtrace::internal::safe_file;
use rtrace::internal::trace_dat::WallClock;
use rtrace::symbols::Symbols;
use serde_json::{Value, json};
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
            let one = |(name, profile): &(String, Profile)| json_buffer(file, name, profile, symbols, by_comm);
            let mut document = json_document(profiles.iter().map(one).collect());
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

/// The document, of what each buffer says: its name and its tasks.
pub(crate) fn json_document(buffers: Vec<Value>) -> Value {
    json!({"schema": "rtrace.profile", "version": 1, "buffers": buffers})
}

/// One buffer.
pub(crate) fn json_buffer(
    file: Option<&str>,
    name: &str,
    profile: &Profile,
    symbols: &Symbols,
    by_comm: bool,
) -> Value {
    let tasks = profile.tasks(symbols, by_comm);
    let tasks: Vec<Value> = tasks.map(|one| task(&one, symbols)).collect();
    let name = (!name.is_empty()).then_some(name);
    json!({"file": file, "buffer": name, "limits": profile.limits(), "tasks": tasks})
}

fn task(task: &ProfiledTask<'_>, symbols: &Symbols) -> Value {
    let (kind, pid, cpu) = match task.who {
        Who::Global => ("global", None, None),
        Who::Cpu(cpu) => ("cpu", None, Some(cpu.0)),
        Who::Group => ("group", None, None),
        Who::Task(pid) => ("task", Some(pid.0), None),
    };
    let comm = (!task.comm.is_empty()).then(|| String::from_utf8_lossy(&task.comm));
    let events: Vec<Value> = task.events.iter().map(|one| event(one, symbols)).collect();
    json!({"kind": kind, "pid": pid, "cpu": cpu, "comm": comm, "events": events})
}

fn event(event: &ProfiledEvent<'_>, symbols: &Symbols) -> Value {
    let stacks = nodes(&event.stacks(), symbols);
    let label = event.label(symbols);
    let (system, name, value) = (event.system(), event.name(), event.value);
    json!({
        "system": system, "event": name, "value": value, "label": label, "times": times(&event.times()), "stacks": stacks,
    })
}

fn times(times: &Times) -> Value {
    json!({
        "count": times.count, "total": times.known(times.total), "average": times.known(times.average()),
        "max": times.known(times.max), "max_at": times.known(times.max_at), "min": times.min, "min_at": times.min_at,
    })
}

fn nodes(all: &[StackNode], symbols: &Symbols) -> Vec<Value> {
    let function = |address: u64| {
        let name = symbols.kallsyms.lookup(address).map(|found| String::from_utf8_lossy(found.name));
        json!({"address": format!("{address:#x}"), "function": name})
    };
    let one = |node: &StackNode| {
        let path: Vec<Value> = std::iter::once(&node.address).chain(&node.path).map(|at| function(*at)).collect();
        json!({
            "percent": node.percent, "times": times(&node.times), "path": path, "callers": nodes(&node.callers, symbols),
        })
    };
    all.iter().map(one).collect()
}

/// A layout of text.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileLayout {
    /// One table, the longest times first
    Table,
    /// All tasks and stack traces, as trace-cmd has them
    TraceCmd,
}

/// The layout, and how much of it.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct LayoutArgs {
    /// Layout of a profile's text [default: table, of report --profile trace-cmd]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) layout: Option<ProfileLayout>,
    /// Number of rows of the table; 0 for all; --top N is the same
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) limit: usize,
    /// All columns of the table, also where the terminal is too narrow for them
    #[arg(long)]
    pub(crate) wide: bool,
}

impl LayoutArgs {
    /// The layout; a script that calls `trace-cmd profile` gets what it expects.
    pub(crate) fn layout(self) -> ProfileLayout {
        let usual = if helper_programs::name() == "trace-cmd" { ProfileLayout::TraceCmd } else { ProfileLayout::Table };
        self.layout.unwrap_or(usual)
    }

    /// Writes the profile of one buffer, a table in lines of `fit.0` characters, with `fit.1` as the hint on how to see all columns.
    pub(crate) fn write(
        self,
        profile: &Profile,
        symbols: &Symbols,
        by_comm: bool,
        unit: ClockUnit,
        fit: (Option<usize>, &str),
        mut out: &mut impl Write,
    ) -> io::Result<()> {
        match self.layout() {
            ProfileLayout::Table => {
                let limit = (self.limit > 0).then_some(self.limit);
                table::write(profile, symbols, by_comm, limit, unit, fit, &mut out)
            }
            ProfileLayout::TraceCmd => text::write(profile, symbols, by_comm, out),
        }
    }
}
