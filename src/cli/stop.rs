//! `rtrace stop` and `rtrace restart`.

use super::args::{InstancesArgs, WriteArgs, called};
use super::exit::{Exit, Failure};
use crate::cli::terminal::remark;
use rtrace::tracefs::WriteMode;

/// Pause tracing (buffers keep their contents)
///
/// Works on the top level by default. Events and tracers stay enabled, at their cost; `rtrace reset`
/// disables them, `rtrace restart` goes on.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace stop            stop the top level\n  rtrace stop -B web     stop instance web\n  rtrace stop -a -t      stop all there is"
)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    on_off: OnOff,
}

/// Resume tracing after `stop`
///
/// Works on the top level by default.
#[derive(clap::Args)]
#[command(after_help = "EXAMPLES:\n  rtrace restart         let the top level's ring buffers take events again")]
pub(crate) struct RestartArgs {
    #[command(flatten)]
    on_off: OnOff,
}

#[derive(clap::Args)]
struct OnOff {
    #[command(flatten)]
    instances: InstancesArgs,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn stop(args: &StopArgs) -> Result<Exit, Failure> {
    switch(&args.on_off, "0")
}

pub(crate) fn restart(args: &RestartArgs) -> Result<Exit, Failure> {
    switch(&args.on_off, "1")
}

fn switch(args: &OnOff, bit: &str) -> Result<Exit, Failure> {
    let tracefs = args.write.open()?;
    let mut journal = args.write.changes(&tracefs);
    let instances = args.instances.open(&tracefs)?;
    if instances.is_empty() {
        remark("there is no instance; `-t` takes the top level");
    }
    for instance in instances {
        // Always written: a trigger may switch it between our look and now.
        journal.act(&instance, "tracing_on", bit, WriteMode::Truncate)?;
        let of = instance.name().map_or(String::new(), |name| format!(" -B {name}"));
        remark(&match bit {
            "0" => format!("tracing in {} is paused; `rtrace restart{of}` goes on", called(&instance)),
            _ => format!("tracing in {} goes on; `rtrace stop{of}` pauses it", called(&instance)),
        });
    }
    Ok(Exit::Success)
}
