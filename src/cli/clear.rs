//! `rtrace clear`.

use super::args::{InstancesArgs, WriteArgs, called};
use super::exit::{Exit, Failure};
use crate::cli::terminal::remark;
use rtrace::tracefs::{Instance, WriteMode};
use rtrace::units::CpuId;

/// Empty the ring buffers
///
/// Works on the top level by default; -a takes all instances and, as in trace-cmd, the top level, with or without -t. Settings stay, and tracing goes on if it is on.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace clear           empty the top level's ring buffers\n  rtrace clear -B web    those of instance web\n  rtrace clear -c 1      CPU 1's alone"
)]
pub(crate) struct ClearArgs {
    #[command(flatten)]
    instances: InstancesArgs,
    /// One CPU's buffer only
    #[arg(short = 'c', long, value_name = "CPU")]
    cpu: Option<u32>,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn run(args: &ClearArgs) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let mut journal = args.write.changes(&tracefs);
    let mut instances = args.instances.open(&tracefs)?;
    if args.instances.are_all() && instances.iter().all(|instance| instance.name().is_some()) {
        instances.push(tracefs.top()); // here, as in trace-cmd, -a means the top level as well
    }
    for instance in instances {
        let Some(cpu) = args.cpu.map(CpuId) else {
            journal.act(&instance, "trace", "", WriteMode::Truncate)?;
            remark(&format!("the ring buffers of {} are empty; what is traced stays", called(&instance)));
            continue;
        };
        instance.require_cpu(cpu)?;
        journal.act(&instance, &Instance::cpu_file(cpu, "trace"), "", WriteMode::Truncate)?;
        remark(&format!("CPU {cpu}'s ring buffer of {} is empty; what is traced stays", called(&instance)));
    }
    Ok(Exit::Success)
}
