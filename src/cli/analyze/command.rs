//! Arguments of `rtrace analyze`, and which analysis it is.

use super::{
    all, answers, cgroups, faults, functions, idle, io, irq, locks, map, memory, migrations, net, osnoise, reclaim,
    requests, sched, syscalls, timehist, timerlat, wakers,
};
use crate::cli::exit::{Exit, Failure};
use crate::cli::page_args::WritePage;

/// Say where time went in a recording
///
/// Each analysis is defined in `rtrace help analyses`: which event begins and ends each interval, what counts at the edges of
/// the recording, and what lost events do.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for sched -- make; rtrace analyze sched
  rtrace record --for sched,irq,syscalls,io -- make; rtrace analyze all --top 5 --html run.html
  rtrace analyze sched run.dat --timehist --comm make
  rtrace record --for irq -- sleep 5; rtrace analyze irq --kind softirq,work
  rtrace record --for syscalls -- ls; rtrace analyze syscalls --sort errors
  rtrace record --for functions -g vfs_read -- cat /etc/passwd; rtrace analyze functions
  rtrace record --for timerlat -- sleep 10; rtrace analyze timerlat --beyond 50us
  rtrace analyze sched run.dat --json | jq '.buffers[0].waits.p99'")]
pub(crate) struct AnalyzeArgs {
    #[command(subcommand)]
    what: AnalyzeCommand,
}

#[derive(clap::Subcommand)]
enum AnalyzeCommand {
    All(all::AnalyzeAllArgs),
    Cgroups(cgroups::AnalyzeCgroupsArgs),
    Faults(faults::AnalyzeFaultsArgs),
    Functions(functions::AnalyzeFunctionsArgs),
    Idle(idle::AnalyzeIdleArgs),
    Io(io::AnalyzeIoArgs),
    Irq(irq::AnalyzeIrqArgs),
    Locks(locks::AnalyzeLocksArgs),
    Map(map::AnalyzeMapArgs),
    Memory(memory::AnalyzeMemoryArgs),
    Migrations(migrations::AnalyzeMigrationsArgs),
    Net(net::AnalyzeNetArgs),
    Osnoise(osnoise::AnalyzeOsnoiseArgs),
    Reclaim(reclaim::AnalyzeReclaimArgs),
    Requests(requests::AnalyzeRequestsArgs),
    Sched(sched::AnalyzeSchedArgs),
    Syscalls(syscalls::AnalyzeSyscallsArgs),
    Timerlat(timerlat::AnalyzeTimerlatArgs),
    Wakers(wakers::AnalyzeWakersArgs),
}

/// Says where time went; `write_page` makes the page of `--html`.
pub(crate) fn run(args: &AnalyzeArgs, write_page: WritePage<'_>) -> Result<Exit, Failure> {
    match &args.what {
        AnalyzeCommand::All(args) => all::run(args, write_page),
        AnalyzeCommand::Cgroups(args) => answers::run(args, write_page),
        AnalyzeCommand::Faults(args) => answers::run(args, write_page),
        AnalyzeCommand::Functions(args) => answers::run(args, write_page),
        AnalyzeCommand::Idle(args) => answers::run(args, write_page),
        AnalyzeCommand::Io(args) => answers::run(args, write_page),
        AnalyzeCommand::Irq(args) => answers::run(args, write_page),
        AnalyzeCommand::Locks(args) => answers::run(args, write_page),
        AnalyzeCommand::Map(args) => answers::run(args, write_page),
        AnalyzeCommand::Memory(args) => answers::run(args, write_page),
        AnalyzeCommand::Migrations(args) => answers::run(args, write_page),
        AnalyzeCommand::Net(args) => answers::run(args, write_page),
        AnalyzeCommand::Osnoise(args) => answers::run(args, write_page),
        AnalyzeCommand::Reclaim(args) => answers::run(args, write_page),
        AnalyzeCommand::Requests(args) => answers::run(args, write_page),
        AnalyzeCommand::Sched(args) if args.rows.timehist => timehist::run(args),
        AnalyzeCommand::Sched(args) => answers::run(args, write_page),
        AnalyzeCommand::Syscalls(args) => answers::run(args, write_page),
        AnalyzeCommand::Timerlat(args) => answers::run(args, write_page),
        AnalyzeCommand::Wakers(args) => answers::run(args, write_page),
    }
}
