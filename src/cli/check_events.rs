//! `rtrace check-events`.

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::format::EventFormat;
use rtrace::tracefs::{EventName, Tracefs};
use std::io::{self, Write};

/// Check that every event of this kernel is understood
///
/// Parses the format of each event, writes it back and compares. Exits with 1 and a list if one is not understood.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace check-events            0 if all is well\n  rtrace check-events --verbose  each event's name, too"
)]
pub(crate) struct Args {
    /// Name each event
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Checks all of them, whatever the first says.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let tracefs = args.tracefs.open()?;
    let top = tracefs.top();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut checked, mut bad) = (0usize, 0usize);
    for system in top.systems()? {
        for event in top.events_of(&system)? {
            checked += 1;
            match check(&tracefs, &event) {
                Ok(()) if args.verbose => writeln!(out, "{event}")?,
                Ok(()) => {}
                Err(error) => {
                    bad += 1;
                    writeln!(out, "{event}: {error:#}")?;
                }
            }
        }
    }
    if bad > 0 {
        out.flush()?;
        return Err(anyhow!("{bad} of {checked} events are not understood").into());
    }
    writeln!(out, "{checked} events, all understood")?;
    out.flush()?;
    Ok(Exit::Success)
}

fn check(tracefs: &Tracefs, event: &EventName) -> anyhow::Result<()> {
    let text = tracefs.top().event_format(event)?;
    let format = EventFormat::parse(&event.system, &text)?;
    if format.to_string() != text {
        return Err(anyhow!("the format written back differs from the kernel's"));
    }
    Ok(())
}
