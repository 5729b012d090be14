//! `rtrace profile functions`.

use crate::cli::args::TracefsArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{HistSession, UntilArgs};
use crate::cli::terminal::stdout;
use clap::ValueEnum;
use rtrace::tracefs::{Feature, FunctionList, FunctionProfile};
use serde_json::json;
use std::io::{self, Write};

/// Count the kernel's functions and the time they take
///
/// The kernel's function profiler counts on each CPU; here the CPUs are added up. It is one for the whole machine; what was
/// set before is put back. The time is that of a function with all it calls, as far as the kernel traces them.
/// `rtrace analyze functions` has it of a recording, by task and without waits and interrupts.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace profile functions --duration 5s
  rtrace profile functions -l 'vfs_*' -l 'ext4_*' --sort avg -- tar cf /tmp/x.tar /etc
  rtrace profile functions --limit 10 --json -- make")]
pub(super) struct ProfileFunctionsArgs {
    /// Only these functions: names or the kernel's globs
    #[arg(short = 'l', long = "function", value_name = "FUNC")]
    functions: Vec<String>,
    /// Column to sort by
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    sort: ProfileSort,
    /// Number of functions; --top N is the same
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Show each write to tracefs as a shell line
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    until: UntilArgs,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProfileSort {
    Hits,
    #[default]
    Total,
    Avg,
    Deviation,
    Name,
}

pub(super) fn run(args: &ProfileFunctionsArgs) -> Result<Exit, Failure> {
    let outcome = functions(args);
    if args.until.has_command() { outcome.map_err(Failure::of_command) } else { outcome }
}

fn functions(args: &ProfileFunctionsArgs) -> Result<Exit, Failure> {
    let tracefs = args.tracefs.open()?;
    tracefs.require(&Feature::FunctionProfiler)?;
    let mut session = HistSession::prepare(&args.until)?;
    let mut journal = args.tracefs.journal(&tracefs, args.verbose);
    let top = tracefs.top();
    if !args.functions.is_empty() {
        journal.set_functions(&top, FunctionList::Filter, &args.functions)?;
    }
    journal.start_function_profile()?;
    session.run(None, || Ok(()))?;
    let mut all = FunctionProfile::read(&tracefs)?;
    journal.undo()?;
    match args.sort {
        ProfileSort::Hits => all.sort_by_key(|f| std::cmp::Reverse(f.hits)),
        ProfileSort::Total => all.sort_by(|a, b| b.total_us.total_cmp(&a.total_us).then(b.hits.cmp(&a.hits))),
        ProfileSort::Avg => all.sort_by(|a, b| b.average_us().total_cmp(&a.average_us())),
        ProfileSort::Deviation => all.sort_by(|a, b| b.deviation_us().total_cmp(&a.deviation_us())),
        ProfileSort::Name => all.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    all.truncate(args.limit.unwrap_or(usize::MAX));
    let mut out = io::BufWriter::new(stdout().lock());
    if args.json {
        let one = |f: &FunctionProfile| {
            json!({
                "function": f.name, "hits": f.hits, "total_us": f.total_us, "average_us": f.average_us(),
                "deviation_us": f.deviation_us(),
            })
        };
        let document = json!({
            "schema": "rtrace.profile.functions", "version": 1, "functions": all.iter().map(one).collect::<Vec<_>>(),
        });
        writeln!(out, "{document:#}")?;
    } else {
        writeln!(out, "{:>12} {:>16} {:>12} {:>12}  function", "hits", "total us", "average us", "deviation us")?;
        for f in &all {
            let (average, deviation) = (f.average_us(), f.deviation_us());
            writeln!(out, "{:>12} {:>16.3} {average:>12.3} {deviation:>12.3}  {}", f.hits, f.total_us, f.name)?;
        }
    }
    out.flush()?;
    Ok(session.status().map_or(Exit::Success, Exit::Command))
}
