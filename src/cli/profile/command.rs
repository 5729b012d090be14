//! `rtrace profile` and `rtrace profile functions`: arguments, and which of its parts they ask for; the profile of a file.

use super::live::{self, TraceArgs};
use crate::cli::args::TracefsArgs;
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{HistSession, UntilArgs};
use crate::cli::query::wall_clock;
use crate::cli::terminal::stdout;
use crate::cli::trace_file::{open_recording, threads_for};
use clap::ValueEnum;
use rtrace::analysis::Grouped;
use rtrace::internal::trace_dat::OptionId;
use rtrace::recording::{BufferSource, Notice, Recording};
use rtrace::tracefs::{Feature, FunctionList, FunctionProfile};
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;

/// Show where tasks spend their time
///
/// Traces what record --profile records, until CMD ends, or without CMD until Ctrl-C, and then prints how long tasks slept
/// and why, waited for a CPU, and worked in the kernel: a table, the longest times first. `--layout trace-cmd` prints what
/// `report --profile` prints, with the stack traces of where they stopped and of who woke them. Nothing is stored on the way.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
EXAMPLES:
  rtrace profile -F -c -- make
  rtrace profile --duration 10s --by-comm --limit 50 -o profile.txt
  rtrace profile -p nop -H 'block_rq_issue,sector/block_rq_complete,sector,g' -- sync
  rtrace profile -S -e sched:sched_switch -R stacktrace -P 1234
  rtrace profile --input trace.dat --json
  rtrace profile --input trace.dat --since -1s --top 10
  rtrace profile --input trace.dat --layout trace-cmd
  rtrace profile functions --limit 10 -- make"
)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    what: Option<ProfileCommand>,
    #[command(flatten)]
    trace: TraceArgs,
}

#[derive(clap::Subcommand)]
enum ProfileCommand {
    Functions(ProfileFunctionsArgs),
}

pub(crate) fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    match &args.what {
        Some(ProfileCommand::Functions(args)) => of_functions(args),
        None => {
            args.trace.check_command()?;
            args.trace.check()?;
            match &args.trace.input {
                Some(path) => of_file(path, &args.trace),
                None => live::run(&args.trace),
            }
        }
    }
}

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
struct ProfileFunctionsArgs {
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

fn of_functions(args: &ProfileFunctionsArgs) -> Result<Exit, Failure> {
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

fn of_file(path: &Path, args: &TraceArgs) -> Result<Exit, Failure> {
    let recording = open_recording(path)?;
    let _pager = args.pager.start();
    let damage = DamageReport::of(path, &recording.trace);
    let done = write(path, args, &recording, &damage);
    damage.late(path, &recording);
    damage.outcome(done)
}

fn write(path: &Path, args: &TraceArgs, recording: &Recording, damage: &DamageReport) -> Result<(), Failure> {
    let Recording { trace, symbols, .. } = recording;
    let stored: Vec<String> = trace.options(OptionId::HOOK).map(|option| option.text()).collect();
    let hooks = args.what.hooks();
    let notice = |notice: Notice<'_>| damage.notice(|_| path, &notice);
    let query = recording.query().threads(threads_for(None, [&recording.trace])).on_notice(&notice);
    let window = args.window.within(&query, path)?;
    let query = query.window(window);
    let empty = |source: &BufferSource| {
        let profile = args.account.profile(trace.formats(), trace.abi, &hooks, &stored)?;
        let profile = if args.output.is_in_trace_cmds_layout() { profile.as_trace_cmd() } else { profile };
        Ok::<_, Failure>(profile.covering(query.coverage(source)?.0))
    };
    let empty = query.sources().iter().map(empty).collect::<Result<Vec<_>, _>>()?;
    let (found, _) = query.analyse(Grouped::by_buffer(empty))?;
    let name = |source: &BufferSource| trace.buffers[source.buffer].name.clone();
    let profiles: Vec<_> = query.sources().iter().map(name).zip(found).collect();
    let unit = args.wall.unit(&query, path)?;
    Ok(args.output.open()?.write(
        Some(&path.to_string_lossy()),
        &profiles,
        symbols,
        args.account.by_comm,
        (unit, wall_clock(&query)),
    )?)
}
