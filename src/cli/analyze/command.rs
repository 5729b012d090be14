//! Arguments of `rtrace analyze`, and which analysis it is.

use super::{all, faults, functions, io, irq, locks, memory, osnoise, sched, syscalls, timerlat};
use crate::cli::exit::{Exit, Failure};

/// Say where time went in a recording
///
/// Each analysis is defined in `rtrace help analyses`: which event begins and ends each interval, what counts at the edges of
/// the recording, and what lost events do.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for sched -- make; rtrace analyze sched
  rtrace record --for sched,irq,syscalls,io -- make; rtrace analyze all --top 5
  rtrace analyze sched run.dat --since -1s --top 5
  rtrace analyze sched run.dat --timehist --comm make
  rtrace record --for irq -- sleep 5; rtrace analyze irq --kind softirq,work
  rtrace record --for syscalls -- ls; rtrace analyze syscalls --sort errors
  rtrace record --for functions -g vfs_read -- cat /etc/passwd; rtrace analyze functions
  rtrace record --for locks,memory,faults -- make; rtrace analyze all
  rtrace record --for timerlat -- sleep 10; rtrace analyze timerlat --beyond 50us
  rtrace analyze sched run.dat --json | jq '.buffers[0].waits.p99'")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    All(all::Args),
    Faults(faults::Args),
    Functions(functions::Args),
    Io(io::Args),
    Irq(irq::Args),
    Locks(locks::Args),
    Memory(memory::Args),
    Osnoise(osnoise::Args),
    Sched(sched::Args),
    Syscalls(syscalls::Args),
    Timerlat(timerlat::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.what {
        What::All(args) => all::run(args),
        What::Faults(args) => faults::run(args),
        What::Functions(args) => functions::run(args),
        What::Io(args) => io::run(args),
        What::Irq(args) => irq::run(args),
        What::Locks(args) => locks::run(args),
        What::Memory(args) => memory::run(args),
        What::Osnoise(args) => osnoise::run(args),
        What::Sched(args) => sched::run(args),
        What::Syscalls(args) => syscalls::run(args),
        What::Timerlat(args) => timerlat::run(args),
    }
}
