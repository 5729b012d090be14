//! `rtrace profile`: arguments, and which of its parts they ask for.

use super::live::{self, TraceArgs};
use super::{file, functions};
use crate::cli::exit::{Exit, Failure};

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
                Some(path) => file::run(path, &args.trace),
                None => live::run(&args.trace),
            }
        }
    }
}
