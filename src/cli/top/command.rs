//! `rtrace top`: rings and screen joined.

use super::args::TopArgs;
use super::lines::TopLines;
use super::screen::TopScreen;
use crate::cli::exit::{Exit, Failure};
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::{NoScreen, Screen, note};
use anyhow::anyhow;
use rtrace::record::{LiveStream, RecordError};

pub(crate) fn run(args: &TopArgs) -> Result<Exit, Failure> {
    if !args.json {
        Screen::check().map_err(no_screen)?;
    }
    let tracefs = args.tracefs.open()?;
    let events = tracefs.top().events()?;
    let plan = args.plan(|name| events.iter().any(|event| event.to_string() == name));
    let refused = |error: RecordError| match explain(&tracefs, &error) {
        Some(known) => known,
        None => failure(error, |exit| exit),
    };
    let warn = |text: &str| note!("rtrace: warning: {text}");
    let set_up = LiveStream::set_up(&plan, args.tracefs.journal(&tracefs, args.verbose), warn);
    let (stream, facts) = set_up.map_err(refused)?;
    let streamed = if args.json {
        stream.run(&mut TopLines::new(&facts, args.interval, args.duration))
    } else {
        let mut table = TopScreen::new(&facts, Screen::open(false).map_err(no_screen)?, args.interval);
        let streamed = stream.run(&mut table);
        table.close();
        streamed
    };
    match streamed.map_err(refused)?.output {
        // The way in which a key ends the stream, or a reader that has read enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, anyhow!("failed to write the table: {error}")))
        }
        _ => Ok(Exit::Success),
    }
}

fn no_screen(error: NoScreen) -> Failure {
    let exit = if matches!(error, NoScreen::Failed(_)) { Exit::Failed } else { Exit::Usage };
    Failure::new(exit, anyhow!(error))
        .hint("top draws on a terminal; with `--json` it prints, as `rtrace profile` and `rtrace stream` do.")
}
