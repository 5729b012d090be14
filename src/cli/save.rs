//! `rtrace save`.

use super::exit::{Exit, Failure};
use super::piped;
use super::record::recorder;
use super::trace_file::{OutputFile, Overwrite};
use crate::cli::terminal::{note, stdout};
use anyhow::{Context, anyhow};
use rtrace::internal::safe_file::PRIVATE;
use rtrace::record::ask_to_save;
use rtrace::units::{ByteSize, counted, parse_duration};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Save the newest events of a recording that goes on
///
/// The recorder writes what it has until this moment, from its spools and the ring buffers, to a recording of its own, and
/// goes on without a gap. A flight recorder (`record --ring`) has its newest events, any other all of them.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace save -o incident.dat                 what the recorder of trace.dat keeps
  rtrace save --last 10s -o incident.dat      the last ten seconds of it
  rtrace save /run/rtrace.pid --last 1m -o -  of the recorder of that PID file, to standard output
  kill -USR2 $(cat /run/rtrace.pid)           the same, to a file beside the recording that is named after the time")]
pub(crate) struct SaveArgs {
    /// File that is being recorded, PID of its recorder, or the file that --pid-file wrote it to
    #[arg(value_name = "FILE|PID", default_value = "trace.dat", value_hint = clap::ValueHint::FilePath)]
    recorder: String,
    /// Write to FILE; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,
    /// Only the last TIME
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    last: Option<Duration>,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Say what was saved as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overwrite: Overwrite,
}

pub(crate) fn run(args: &SaveArgs) -> Result<Exit, Failure> {
    piped::check(&args.output, args.json)?;
    let pid = recorder(&args.recorder, "save")?;
    let (output, file) = OutputFile::new(&args.output, PRIVATE, args.overwrite)?;
    let failed = || format!("failed to let process {pid} save its recording");
    let save = match ask_to_save(pid, &file, args.last) {
        Ok(save) => save,
        Err(error) => {
            let refused = error.kind() == ErrorKind::ConnectionRefused;
            let failure = Failure::from(anyhow!(error).context(failed()));
            return Err(match refused {
                true => failure.hint(
                    "it belongs to another user, runs in another network namespace, or records to another machine.",
                ),
                false => failure,
            });
        }
    };
    if let Some(error) = &save.error {
        return Err(anyhow!("{error}").context(failed()).into());
    }
    output.keep()?;
    if args.json {
        let document = json!({
            "schema": "rtrace.save", "version": 1, "file": args.output.to_string_lossy(), "size": save.size,
            "events": save.events, "from_ns": save.from_ns, "until_ns": save.until_ns, "seconds": save.seconds,
        });
        writeln!(stdout(), "{document:#}").context("failed to say so")?;
    } else if !args.quiet {
        let events = save.events.map_or("events".to_owned(), |events| counted(events, "event"));
        note!(
            "{}: {events}, {} written; process {pid} goes on recording",
            piped::named(&args.output),
            ByteSize(save.size)
        );
    }
    Ok(Exit::Success)
}
