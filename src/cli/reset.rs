//! `rtrace reset`.

use super::args::{TracefsArgs, to_stderr};
use super::exit::{Exit, Failure};
use rtrace::tracefs::find_orphans;
use std::io::Write;

/// Put tracing back as it was
///
/// A recording that was killed (kill -9) cannot clean up. It leaves a journal under /run/rtrace, which says how each
/// file of tracefs was before; `--stale` puts them back and removes the instances that were made for the recording. Recordings
/// that are still running are left alone.
#[derive(clap::Args)]
#[command(after_help = "EXAMPLES:\n  rtrace reset --stale      put back what killed recordings left behind")]
pub(crate) struct Args {
    /// Undo what killed recordings left behind
    #[arg(long, required = true)]
    stale: bool,
    /// Show each write to tracefs as a shell line
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Undoes every orphan, the newest first; each that fails is reported, and the others are still undone.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut out = std::io::stdout().lock();
    args.tracefs.open_quietly()?;
    let mut orphans = find_orphans(args.tracefs.journal_dir())?;
    orphans.reverse();
    if orphans.is_empty() {
        writeln!(out, "nothing is left behind")?;
        return Ok(Exit::Success);
    }
    let mut exit = Exit::Success;
    for orphan in orphans {
        let instances = orphan.instances();
        let removed = match instances.as_slice() {
            [] => String::new(),
            names => format!(", instance {} removed", names.join(", ")),
        };
        let done = format!("put back what `{}` (process {}) left behind{removed}", orphan.command(), orphan.pid());
        match orphan.undo(args.verbose.then(to_stderr)) {
            Ok(()) => writeln!(out, "{done}")?,
            Err(error) => {
                eprintln!("rtrace: {error}");
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}
