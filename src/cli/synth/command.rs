//! `rtrace synth`: arguments, and the subcommand that they name.

use super::show::{self, SynthShowArgs};
use super::{create, define, remove, sql};
use crate::cli::args::ListArgs;
use crate::cli::exit::{Exit, Failure};

/// Create synthetic events that combine two events
///
/// A synthetic event fires when an END event follows a START event with equal fields. It can hold fields of both, and
/// differences of them.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace synth create wakeup --start sched:sched_waking --end sched:sched_switch \\
      --match pid=next_pid --delta usecs:lat --field start.prio --field end.next_comm=comm
  rtrace synth sql -n waited 'select end.TIMESTAMP_USECS - start.TIMESTAMP_USECS as lat
      from sched_waking as start join sched_switch as end on start.pid = end.next_pid'
  rtrace synth sql -i run.dat 'select end.next_comm as comm, TIMESTAMP_DELTA_USECS as lat
      from sched_waking as start join sched_switch as end on start.pid = end.next_pid'
  rtrace synth create wakeup -i run.dat --start sched:sched_waking --end sched:sched_switch \\
      --match pid=next_pid --delta usecs:lat
  rtrace synth define stall 'u64 lat; pid_t pid; char comm[]'
  rtrace synth list
  rtrace record -e synthetic:wakeup sleep 1
  rtrace synth remove wakeup
`rtrace help synth` explains all of it.")]
pub(crate) struct SynthArgs {
    #[command(subcommand)]
    command: SynthCommand,
}

#[derive(clap::Subcommand)]
enum SynthCommand {
    /// Make a synthetic event
    Create(create::SynthCreateArgs),
    /// Make a synthetic event by its fields alone, for the action `trace()` of histograms to fire
    Define(define::SynthDefineArgs),
    /// List the synthetic events
    List(ListArgs),
    /// Show a synthetic event and the triggers that fire it
    Show(SynthShowArgs),
    /// Remove synthetic events and the triggers that fire them
    Remove(remove::SynthRemoveArgs),
    /// Make a synthetic event or a histogram from an SQL statement
    Sql(sql::SynthSqlArgs),
}

/// Runs the subcommand.
pub(crate) fn run(args: &SynthArgs) -> Result<Exit, Failure> {
    match &args.command {
        SynthCommand::Create(args) => create::run(args),
        SynthCommand::Define(args) => define::run(args),
        SynthCommand::List(args) => show::list(args),
        SynthCommand::Show(args) => show::show(args),
        SynthCommand::Remove(args) => remove::run(args),
        SynthCommand::Sql(args) => sql::run(args),
    }
}
