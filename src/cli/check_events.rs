//! `rtrace check-events`.

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::abi::Abi;
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::format::EventFormat;
use rtrace::print_fmt::Semantics;
use rtrace::symbols::Symbols;
use rtrace::tracefs::{EventName, Tracefs};
use rtrace::units::counted;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Check that every event of this kernel is understood
///
/// Parses the format of each event, writes it back and compares, and compiles its print format. Exits with 1 and a list if an
/// event is not understood; `report` and `record` show such an event's fields one by one.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace check-events            0 if all is well\n  rtrace check-events --verbose  each event's name, too"
)]
pub(crate) struct CheckEventsArgs {
    /// Name each event
    #[arg(short, long)]
    verbose: bool,
    /// Leave out the events' own handlers: only what print formats say
    #[arg(short = 'N', long)]
    no_plugins: bool,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Checks all of them, whatever the first says.
pub(crate) fn run(args: &CheckEventsArgs) -> Result<Exit, Failure> {
    let tracefs = args.tracefs.open()?;
    let (formats, mut bad) = formats(&tracefs)?;
    let checked = formats.len() + bad.len();
    let abi = tracefs.header_page()?.1.abi(Abi::HOST.endian);
    let options = DecodeOptions { semantics: Semantics::Kernel, plugins: !args.no_plugins, ..DecodeOptions::default() };
    let symbols = Symbols::default();
    let types = EventTypes::new(&formats, abi, &symbols, &options);
    for (kind, error) in types.failed() {
        let name = EventName::new(kind.format.system.clone(), kind.format.name.clone());
        bad.insert(name, format!("print format: {error}"));
    }
    drop(types);
    let mut out = io::BufWriter::new(stdout().lock());
    if args.json {
        let bad: serde_json::Map<String, serde_json::Value> =
            bad.iter().map(|(event, error)| (event.to_string(), error.as_str().into())).collect();
        let document = serde_json::json!({
            "schema": "rtrace.check-events", "version": 1, "checked": checked, "not_understood": bad,
        });
        writeln!(out, "{document:#}")?;
        out.flush()?;
        return Ok(if bad.is_empty() { Exit::Success } else { Exit::Failed });
    }
    if args.verbose {
        let mut good: Vec<EventName> = formats.into_iter().map(|f| EventName::new(f.system, f.name)).collect();
        good.retain(|event| !bad.contains_key(event));
        good.iter().try_for_each(|event| writeln!(out, "{event}"))?;
    }
    for (event, error) in &bad {
        writeln!(out, "{event}: {error}")?;
    }
    if bad.is_empty() {
        writeln!(out, "{}, all understood", counted(checked as u64, "event"))?;
    }
    out.flush()?;
    match bad.len() {
        0 => Ok(Exit::Success),
        count => Err(anyhow!("{count} of {checked} events are not understood").into()),
    }
}

/// The formats that parse and give their text back, and what is wrong with the others.
fn formats(tracefs: &Tracefs) -> Result<(Vec<EventFormat>, BTreeMap<EventName, String>), Failure> {
    let top = tracefs.top();
    let (mut formats, mut bad) = (Vec::new(), BTreeMap::new());
    for system in top.systems()? {
        for event in top.events_of(&system)? {
            let text = top.event_format(&event)?;
            match EventFormat::parse(&event.system, &text) {
                Ok(format) if format.to_string() == text => formats.push(format),
                Ok(_) => drop(bad.insert(event, "the format written back differs from the kernel's".to_owned())),
                Err(error) => drop(bad.insert(event, error.to_string())),
            }
        }
    }
    Ok((formats, bad))
}
