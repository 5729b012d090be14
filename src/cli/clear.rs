//! `rtrace clear`.

use super::args::{InstancesArgs, WriteArgs, called};
use super::exit::{Exit, Failure};
use crate::cli::terminal::remark;
use rtrace::tracefs::WriteMode;

/// Empty the ring buffers
///
/// Works on the top level by default; -a takes all instances, and the top level. Settings stay, and tracing goes on if it is on.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace clear           empty the top level's ring buffers\n  rtrace clear -B web    those of instance web"
)]
pub(crate) struct ClearArgs {
    #[command(flatten)]
    instances: InstancesArgs,
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
        journal.act(&instance, "trace", "", WriteMode::Truncate)?;
        remark(&format!("the ring buffers of {} are empty; what is traced stays", called(&instance)));
    }
    Ok(Exit::Success)
}
