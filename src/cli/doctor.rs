//! `rtrace doctor`.

mod finding;
mod kernel;
mod machine;
mod users;

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use super::helper_programs::VERSION;
use crate::cli::terminal::stdout;
use finding::{Findings, Severity};
use machine::ExaminedMachine;
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;

/// Check whether recording works here, and what would disturb it
///
/// Looks at tracefs and its rights, lockdown, what this kernel has for each command, who traces now, memory, what
/// killed recordings left behind, clocks, and what makes times vary. Each finding has a severity and, where something
/// can be done, says what. Nothing is changed, but for tracefs, which is mounted for root if it is not.
///
/// `error`: recording does not work; the exit status is 5. `warning`: it works, but events or times may not be what
/// they seem. `note`: worth knowing; a feature that is missing, too. `ok`: checked, nothing to do.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace doctor                everything, with what to do
  rtrace doctor -q             warnings and errors only
  rtrace doctor --json         for a program; `rtrace schema rtrace.doctor` has the layout")]
pub(crate) struct DoctorArgs {
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Warnings and errors only
    #[arg(short, long)]
    quiet: bool,
    /// Directory with the `proc`, `sys` and `boot` to look at
    #[arg(long, value_name = "DIR", hide = true, default_value = "/")]
    machine: PathBuf,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Exit, Failure> {
    let machine = ExaminedMachine::new(&args.machine);
    let mut findings = Findings::default();
    // Before it is opened, which mounts it.
    users::mounts(&machine, &mut findings);
    let tracefs = users::open(&args.tracefs, &mut findings);
    users::lockdown(&machine, &mut findings);
    if let Some(tracefs) = &tracefs {
        users::rights(tracefs, &mut findings);
        kernel::features(tracefs, &machine, &mut findings);
        kernel::symbols(&machine, &mut findings);
        users::instances(tracefs, &machine, &mut findings);
        users::processes(tracefs, &machine, &mut findings);
        machine::rings(tracefs, &machine, &mut findings);
    }
    machine::disk(&machine, &mut findings);
    users::stale_journals(&args.tracefs.journal_dir(), &mut findings);
    if let Some(tracefs) = &tracefs {
        users::stale_instances(tracefs, &args.tracefs.journal_dir(), &machine, &mut findings);
        kernel::trace_clock(tracefs, &mut findings);
    }
    kernel::source(&machine, &mut findings);
    kernel::offline_cpus(&machine, &mut findings);
    machine::frequency(&machine, &mut findings);
    machine::virtualisation(&machine, &mut findings);

    let works = findings.count(Severity::Error) == 0;
    let mut out = io::BufWriter::new(stdout().lock());
    if args.json {
        let document = json!({
            "schema": "rtrace.doctor",
            "version": 1,
            "rtrace": VERSION,
            "works": works,
            "errors": findings.count(Severity::Error),
            "warnings": findings.count(Severity::Warning),
            "findings": findings.to_json(args.quiet),
        });
        serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        findings.print(args.quiet, &mut out)?;
    }
    out.flush()?;
    Ok(if works { Exit::Success } else { Exit::Unable })
}
