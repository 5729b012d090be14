//! `rtrace profile`: arguments, and which of its parts they ask for; the profile of a file.

use super::functions;
use super::live::{self, TraceArgs};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::wall_clock;
use crate::cli::trace_file::{open_recording, threads_for};
use rtrace::analysis::Grouped;
use rtrace::internal::trace_dat::OptionId;
use rtrace::recording::{BufferSource, Notice, Recording};
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
    Functions(functions::ProfileFunctionsArgs),
}

pub(crate) fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    match &args.what {
        Some(ProfileCommand::Functions(args)) => functions::run(args),
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
