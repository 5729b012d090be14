//! `rtrace trigger simulate`: triggers on the events of a recording.

use super::invalid;
use crate::cli::convert::{ALL, RecordingCopy, write_edited};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{Answered, RecordedArgs, TriggerArgs, Triggers};
use crate::cli::keywords::{FILTERS, TRIGGERS, words as offer};
use crate::cli::piped::is_stdout;
use crate::cli::terminal::stdout;
use crate::cli::trace_file::{Overwrite, open};
use anyhow::anyhow;
use rtrace::analysis::{Firings, Held, HistSetup};
use rtrace::filter::Filter;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord, StreamIndex};
use rtrace::syntax::widest;
use rtrace::trigger::{Trigger, TriggerAction};
use rtrace::units::{Timestamp, counted};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Show when a trigger would have acted in a recording, and what that would have held
///
/// The recording's events go through the trigger as they would in the kernel (as of Linux 6.12). Tracing is on at first, and
/// events that an enable_event trigger names are off. The table says of each event how many there are, and how many the
/// ring buffer would have taken.
#[derive(clap::Args)]
pub(super) struct TriggerSimulateArgs {
    #[command(flatten)]
    recorded: RecordedArgs,
    /// Event, then the trigger: 'traceoff if prev_state == 2', enable_event:SYSTEM:EVENT:1, snapshot, ...
    #[arg(value_name = "EVENT> <TRIGGER", num_args = 2, required = true, value_parser = offer(TRIGGERS), hide_possible_values = true)]
    what: Vec<String>,
    /// Act this many times, then no more
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Act only if the event passes this filter
    #[arg(long = "filter", visible_alias = "if", value_name = "FILTER", value_parser = offer(FILTERS), hide_possible_values = true)]
    filter: Option<String>,
    #[command(flatten)]
    more: TriggerArgs,
    /// Tracing is off at first, until a traceon trigger acts
    #[arg(long)]
    tracing_off: bool,
    /// Number of times to show at which a trigger acted
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Write what the recording would have held to FILE
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

impl TriggerSimulateArgs {
    /// The trigger with the options put in.
    fn trigger(&self, text: &str) -> Result<Trigger, Failure> {
        let twice = |what: &str| Failure::new(Exit::Usage, anyhow!("the trigger has a {what} already"));
        let mut trigger: Trigger = text.parse().map_err(|e| invalid("trigger", e))?;
        if matches!(trigger.action, TriggerAction::Hist(_)) {
            let failure = Failure::new(Exit::Usage, anyhow!("a hist trigger has a table to show"));
            return Err(failure.hint("`rtrace hist -i FILE EVENT 'hist:...'` shows it."));
        }
        if self.count.is_some_and(|count| trigger.count.replace(count).is_some()) {
            return Err(twice("count"));
        }
        if let Some(text) = &self.filter {
            let filter = Filter::parse(text).map_err(|e| invalid("filter", e))?;
            if trigger.filter.replace(filter).is_some() {
                return Err(twice("filter"));
            }
        }
        Ok(trigger)
    }
}

pub(super) fn run(args: &TriggerSimulateArgs) -> Result<Exit, Failure> {
    let Some(file) = args.recorded.file() else {
        return Err(Failure::new(Exit::Usage, anyhow!("no recording is named")).hint("-i FILE names it."));
    };
    args.recorded.check(None, &[])?;
    if args.output.is_some() && args.recorded.is_part() {
        let error =
            anyhow!("-o writes all that the recording would have held, whatever --since, --until and --around say");
        return Err(Failure::new(Exit::Usage, error).hint("`rtrace split` cuts a part of the time out of a recording."));
    }
    let [event, text] = &args.what[..] else {
        return Err(Failure::new(Exit::Usage, anyhow!("expected an event and a trigger")));
    };
    let own = args.trigger(text)?;
    let mut triggers = args.more.parsed()?;
    triggers.gates.push((event, text, own));
    if let Some(output) = &args.output {
        if is_stdout(output) {
            let error = anyhow!("the answer goes to standard output, so the recording cannot");
            return Err(Failure::new(Exit::Usage, error).hint("`-o FILE` names a file."));
        }
        args.overwrite.check(output)?;
    }
    let mut held = None;
    let exit = args.recorded.ask(
        |input| {
            let setup = args.more.setup(input, &triggers)?;
            Ok(HistSetup { note_held: true, tracing_off: args.tracing_off, ..setup })
        },
        |error| triggers.failure(&error),
        |answered| {
            let buffer = answered
                .of
                .and_then(|(input, buffer)| input.trace.buffers.iter().position(|other| std::ptr::eq(other, buffer)));
            held = Some((answered.findings.held().clone(), buffer.unwrap_or(0)));
            show(args, &triggers, answered)?;
            answered.note_losses(None)?;
            Ok(Exit::Success)
        },
    )?;
    match (&args.output, held) {
        (Some(output), Some((held, buffer))) => write(args, (file, output), HeldOnly::new(held, buffer), exit),
        _ => Ok(exit),
    }
}

/// Writes what would have been held. `exit`: that of the first look at the recording.
fn write(args: &TriggerSimulateArgs, paths: (&Path, &Path), mut edit: HeldOnly, exit: Exit) -> Result<Exit, Failure> {
    let trace = open(paths.0)?;
    let copy = RecordingCopy {
        version: RecordingCopy::version_of(&trace),
        overwrite: args.overwrite,
        slice: ALL,
        cpus: None,
        selection: None,
        edit: Some(&mut edit),
    };
    let damage = DamageReport::of(paths.0, &trace);
    let done = write_edited(&trace, paths, copy, &damage);
    let of_copy = damage.outcome(done.map(drop))?;
    Ok(if exit == Exit::Success { of_copy } else { exit })
}

/// The events of one buffer that would have been held; of the others all.
struct HeldOnly {
    held: Held,
    buffer: usize,
    /// By stream: the number of records seen.
    numbers: HashMap<StreamIndex, u64>,
}

impl HeldOnly {
    fn new(held: Held, buffer: usize) -> Self {
        HeldOnly { held, buffer, numbers: HashMap::new() }
    }
}

impl Edit for HeldOnly {
    fn keeps(&mut self, record: &StoredRecord<'_>) -> bool {
        if record.stream.0 != self.buffer {
            return true;
        }
        let number = self.numbers.entry(record.stream).or_default();
        let is_held = self.held.contains(record.cpu, *number);
        *number += 1;
        is_held
    }
}

fn show(args: &TriggerSimulateArgs, triggers: &Triggers<'_>, answered: &Answered<'_>) -> Result<(), Failure> {
    let held = answered.findings.held();
    let name = |id: u16| {
        let formats = answered.of.into_iter().flat_map(|(input, _)| input.formats());
        let format = formats.into_iter().find(|format| format.id.0 == id);
        format.map_or_else(|| format!("event {id}"), |format| format!("{}:{}", format.system, format.name))
    };
    let counts: Vec<(String, u64, u64)> =
        held.counts().into_iter().map(|(id, seen, held)| (name(id), seen, held)).collect();
    let gates = triggers.gates.iter().enumerate();
    let gates: Vec<(String, &Firings)> = gates
        .filter_map(|(number, (event, _, trigger))| {
            Some((format!("{event} {trigger}"), answered.findings.firings(number)?))
        })
        .collect();
    if args.json { as_json(&counts, &gates, held, answered) } else { as_text(args, &counts, &gates, held, answered) }
}

fn as_json(
    counts: &[(String, u64, u64)],
    gates: &[(String, &Firings)],
    held: &Held,
    answered: &Answered<'_>,
) -> Result<(), Failure> {
    let gates: Vec<Value> = gates
        .iter()
        .map(|(trigger, firings)| {
            let moments = firings.moments.iter().map(|moment| {
                let comm = answered.comm(moment.task);
                json!({"ts": moment.time.0, "cpu": moment.cpu.0, "pid": moment.task.0, "comm": comm})
            });
            let moments: Vec<Value> = moments.collect();
            json!({"trigger": trigger, "matched": firings.matched, "acted": firings.acted, "at": moments})
        })
        .collect();
    let events: Vec<Value> =
        counts.iter().map(|(event, seen, held)| json!({"event": event, "seen": seen, "held": held})).collect();
    let spans: Vec<Value> = held.spans().iter().map(|(begin, end)| json!({"begin": begin.0, "end": end.0})).collect();
    let document = json!({
        "schema": "rtrace.trigger-simulation",
        "version": 1,
        "recording": answered.json(),
        "triggers": gates,
        "on": spans,
        "events": events,
    });
    Ok(writeln!(stdout().lock(), "{document:#}")?)
}

fn as_text(
    args: &TriggerSimulateArgs,
    counts: &[(String, u64, u64)],
    gates: &[(String, &Firings)],
    held: &Held,
    answered: &Answered<'_>,
) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let seconds = |time: Timestamp| format!("{}.{:06}", time.0 / 1_000_000_000, time.0 % 1_000_000_000 / 1_000);
    for (trigger, firings) in gates {
        let (matched, acted) = (counted(firings.matched, "event"), counted(firings.acted, "time"));
        writeln!(out, "{trigger}: matched by {matched}, acts {acted}")?;
        for moment in firings.moments.iter().take(args.limit) {
            let task = format!("{}-{}", answered.comm(moment.task), moment.task.0);
            writeln!(out, "  {:>16}  [{:03}]  {task}", seconds(moment.time), moment.cpu.0)?;
        }
        let more = firings.acted.saturating_sub(args.limit.min(firings.moments.len()) as u64);
        if more > 0 {
            writeln!(out, "  and {more} more")?;
        }
    }
    writeln!(out)?;
    for (begin, end) in held.spans().iter().take(args.limit) {
        writeln!(out, "tracing is on from {} to {}", seconds(*begin), seconds(*end))?;
    }
    match held.spans().len() {
        0 => writeln!(out, "tracing is never on")?,
        spans if spans > args.limit => writeln!(out, "and {} more times", spans - args.limit)?,
        _ => {}
    }
    let width = widest(counts.iter().map(|(event, ..)| event.len())).max(5);
    writeln!(out, "\n{:width$} {:>12} {:>12}", "event", "seen", "held")?;
    let (mut all_seen, mut all_held) = (0u64, 0u64);
    for (event, seen, held) in counts {
        writeln!(out, "{event:width$} {seen:>12} {held:>12}")?;
        (all_seen, all_held) = (all_seen.saturating_add(*seen), all_held.saturating_add(*held));
    }
    Ok(writeln!(out, "{:width$} {all_seen:>12} {all_held:>12}", "all")?)
}
