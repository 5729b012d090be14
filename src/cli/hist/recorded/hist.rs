//! `rtrace hist -i FILE EVENT`, and `rtrace hist --in-user EVENT`.
//! Snapshots that actions would have taken, as recordings.

use super::super::live::HistDisplay;
use super::super::output::{HistOutputArgs, Printer};
use super::super::place::syntax_failure;
use super::super::spec::SpecArgs;
use super::compared::{self, AgainstArgs, HistSide, OverTimeArgs};
use super::stream::HistRefresh;
use super::{Answered, HistStream, RecordedArgs, find_format};
use crate::cli::convert::{RecordingCopy, write_edited};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use crate::cli::trace_file::{Overwrite, open};
use anyhow::{Context, anyhow};
use rtrace::analysis::{EventTrigger, HistSetup, HistTrigger, SetupError};
use rtrace::hist::render::sort_classes;
use rtrace::hist::spec::HistSpec;
use rtrace::hist::table::HistTable;
use rtrace::internal::trace_dat::write::CopiedPart;
use rtrace::synth::SynthDef;
use rtrace::tracefs::EventName;
use rtrace::trigger::Trigger;
use rtrace::units::{counted, parse_duration};
use serde_json::json;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Further triggers on the recording's events.
#[derive(clap::Args)]
pub(in crate::cli) struct TriggerArgs {
    /// With -i: another trigger, set before this one: 'sched:sched_waking hist:keys=pid:ts0=common_timestamp'
    ///
    /// Also enable_hist and disable_hist, traceon, traceoff, enable_event and disable_event; histograms count on while tracing
    /// is off, unless --only-held is given.
    #[arg(long, value_name = "EVENT TRIGGER", requires = "input", hide_short_help = true)]
    with: Vec<String>,
    /// With -i: a synthetic event, as `synthetic_events` takes it: 'wakeup u64 lat; pid_t pid'
    #[arg(long, value_name = "NAME FIELDS", requires = "input", value_parser = definition, hide_short_help = true)]
    synthetic: Vec<SynthDef>,
}

fn definition(text: &str) -> Result<SynthDef, String> {
    SynthDef::parse(text).map_err(|error| format!("\n{error}"))
}

/// Triggers of the command line, each with its event and its text.
#[derive(Default)]
pub(in crate::cli) struct Triggers<'a> {
    pub(in crate::cli) hists: Vec<(&'a str, &'a str, HistSpec)>,
    pub(in crate::cli) gates: Vec<(&'a str, &'a str, Trigger)>,
}

impl TriggerArgs {
    /// The other triggers.
    pub(in crate::cli) fn parsed(&self) -> Result<Triggers<'_>, Failure> {
        let mut all = Triggers::default();
        for text in &self.with {
            let (event, trigger) = text.trim().split_once(char::is_whitespace).unwrap_or((text, ""));
            let trigger = trigger.trim();
            if trigger.is_empty() || trigger.starts_with("hist") {
                let spec = HistSpec::parse(trigger)
                    .map_err(|e| syntax_failure("trigger of --with", &e.diagnostic(trigger)))?;
                all.hists.push((event, trigger, spec));
            } else {
                let parsed = trigger.parse().map_err(|e| syntax_failure("trigger of --with", &e))?;
                all.gates.push((event, trigger, parsed));
            }
        }
        Ok(all)
    }

    /// System and name of an event of the recording, or of a synthetic one.
    fn find(&self, input: &QueryInput, event: &str) -> Result<(String, String), Failure> {
        let bare = event.strip_prefix("synthetic:").or_else(|| event.strip_prefix("synthetic/")).unwrap_or(event);
        if self.synthetic.iter().any(|definition| definition.name == bare) {
            return Ok(("synthetic".to_owned(), bare.to_owned()));
        }
        let format = find_format(input, event)?;
        Ok((format.system.clone(), format.name.clone()))
    }

    /// The triggers on the events of a recording.
    pub(in crate::cli) fn setup(&self, input: &QueryInput, triggers: &Triggers<'_>) -> Result<HistSetup, Failure> {
        let mut setup = HistSetup { definitions: self.synthetic.clone(), ..HistSetup::default() };
        for (event, _, spec) in &triggers.hists {
            let (system, event) = self.find(input, event)?;
            setup.triggers.push(HistTrigger { system, event, spec: spec.clone() });
        }
        for (event, _, trigger) in &triggers.gates {
            let (system, event) = self.find(input, event)?;
            setup.gates.push(EventTrigger { system, event, trigger: trigger.clone() });
        }
        Ok(setup)
    }
}

impl Triggers<'_> {
    /// The error of one of them, at its place.
    pub(in crate::cli) fn failure(&self, error: &SetupError) -> Failure {
        let hists = self.hists.iter().map(|trigger| trigger.1);
        let mut texts = hists.chain(self.gates.iter().map(|trigger| trigger.1));
        syntax_failure("trigger", &error.problem.diagnostic(texts.nth(error.trigger).unwrap_or("")))
    }
}

/// The way in which a recording's events are counted.
#[derive(clap::Args)]
pub(in super::super) struct CountArgs {
    /// With -i: count only events that the triggers of --with let into the ring buffer
    #[arg(long, requires = "with", hide_short_help = true)]
    only_held: bool,
    /// With -i: keep only some N keys at a time, the heaviest; counts may be too low, by no more than is said
    #[arg(long, value_name = "N", requires_all = ["input", "event"], conflicts_with_all = ["val", "trigger", "with", "kernel_map", "every", "against"], value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    heaviest: Option<u32>,
    #[command(flatten)]
    over_time: OverTimeArgs,
    #[command(flatten)]
    snapshot: SnapshotArgs,
    #[command(flatten)]
    against: AgainstArgs,
}

/// Counts the events of the recording, and prints the table.
pub(in super::super) fn count(
    recorded: &RecordedArgs,
    spec: &SpecArgs,
    more: &TriggerArgs,
    CountArgs { only_held, heaviest, over_time, snapshot, against }: &CountArgs,
    output: &HistOutputArgs,
) -> Result<Exit, Failure> {
    let (text, own) = spec.parsed()?;
    let mut triggers = more.parsed()?;
    triggers.hists.push((spec.event_text().unwrap_or_default(), &text, own));
    let number = triggers.hists.len() - 1;
    let setup = |input: &QueryInput| {
        Ok(HistSetup {
            only_held: *only_held,
            every: over_time.every(),
            heaviest: *heaviest,
            ..more.setup(input, &triggers)?
        })
    };
    let wrong = |error: SetupError| triggers.failure(&error);
    let Some(other) = against.file() else {
        let mut snapshots = Vec::new();
        let exit = recorded.ask(setup, wrong, |answered| {
            match over_time.every() {
                Some(_) => over_time.show(answered, number, output)?,
                None => show_table(answered, number, output)?,
            }
            snapshots = snapshot.moments(answered, number);
            Ok(Exit::Success)
        })?;
        return match recorded.file() {
            Some(file) => snapshot.write(file, &snapshots, exit),
            None => Ok(exit),
        };
    };
    let (mut before, mut after) = (None, None);
    let side = |to: &mut Option<HistSide>, answered: &Answered<'_>| {
        *to = Some(HistSide::of(answered, number, output)?);
        Ok(Exit::Success)
    };
    let of_other = recorded.ask_of(other, setup, wrong, |answered| side(&mut before, answered))?;
    let of_file = recorded.ask(setup, wrong, |answered| side(&mut after, answered))?;
    let Some((before, after)) = before.zip(after) else {
        return Err(anyhow!("there are no tables to compare").into());
    };
    let exit = compared::print(&before, &after, output)?;
    // Damage in either is the outcome, where nothing else is.
    Ok([exit, of_other, of_file].into_iter().find(|exit| *exit != Exit::Success).unwrap_or(Exit::Success))
}

/// Counts the events that come while a command runs, and prints the table.
pub(in super::super) fn count_now(
    streamed: &HistStream<'_>,
    event: EventName,
    spec: HistSpec,
    output: &HistOutputArgs,
) -> Result<Exit, Failure> {
    let text = spec.to_string();
    let setup = HistSetup {
        triggers: vec![HistTrigger { system: event.system, event: event.name, spec }],
        ..HistSetup::default()
    };
    let (earlier, live) = (RefCell::new(None), RefCell::new(output.live()));
    let mut reading = |answered: &Answered<'_>| {
        with_table(answered, 0, output, |printer, table| {
            let next = printer.follow(vec![table], &mut earlier.borrow_mut(), &live.borrow())?;
            live.borrow_mut().show(&next)
        })
    };
    let following = output.interval().map(|interval| HistRefresh { interval, show: &mut reading });
    let wrong = |error: SetupError| syntax_failure("trigger", &error.problem.diagnostic(&text));
    streamed.ask(setup, wrong, following, |answered| show_table_after(answered, 0, output, &live.borrow()))
}

/// Prints the table of the trigger with this number.
pub(in crate::cli) fn show_table(
    answered: &Answered<'_>,
    number: usize,
    output: &HistOutputArgs,
) -> Result<(), Failure> {
    show_table_after(answered, number, output, &output.live())
}

/// Calls `act` with a table that is ready to be shown.
fn with_table<T>(
    answered: &Answered<'_>,
    number: usize,
    output: &HistOutputArgs,
    act: impl FnOnce(&Printer<'_>, HistTable) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some((mut table, (_, format))) = answered.table(number, output).zip(answered.findings.trigger(number)) else {
        return Err(anyhow!("the trigger has no table").into());
    };
    let event = EventName::new(&format.system, &format.name);
    let printer = output.printer_of(&event, format.clone());
    sort_classes(&mut table, printer.options());
    act(&printer, table)
}

/// The same as [`show_table`], after the readings that `live` showed.
fn show_table_after(
    answered: &Answered<'_>,
    number: usize,
    output: &HistOutputArgs,
    live: &HistDisplay,
) -> Result<(), Failure> {
    let counts = answered.findings.counts(number).unwrap_or_default();
    let more = json!({
        "recording": answered.json(),
        "unmatched": counts.unmatched,
        "censored": counts.censored,
        "too_low_by": answered.findings.heaviest(number),
    });
    let tables = with_table(answered, number, output, |printer, table| {
        let tables = [table];
        printer.print_with(&tables, live, more)?;
        Ok(tables)
    })?;
    if let Some(low) = answered.findings.heaviest(number) {
        note!(
            "rtrace: only the heaviest keys were kept: each count is at most {low} too low, and a key with more hits than that is there"
        );
    }
    answered.note_losses(output.max_lost())?;
    output.verdict(&tables, None).map(drop)
}

/// The events before a snapshot.
#[derive(clap::Args)]
struct SnapshotArgs {
    /// With -i: write the events before the last snapshot() of each trigger to DIR, a recording each
    #[arg(long, value_name = "DIR", requires_all = ["input", "event"], conflicts_with = "against", value_hint = clap::ValueHint::DirPath, hide_short_help = true)]
    snapshot_to: Option<PathBuf>,
    /// Only the events of this time before it [default: all]
    #[arg(long, value_name = "TIME", requires = "snapshot_to", value_parser = parse_duration, hide_short_help = true)]
    snapshot_span: Option<Duration>,
}

/// A snapshot: its file's name, and its time in the clock's unit.
struct HistSnapshot {
    name: String,
    time: u64,
}

impl SnapshotArgs {
    /// The snapshots of all triggers up to the one with the number `last`, if they are asked for.
    fn moments(&self, answered: &Answered<'_>, last: usize) -> Vec<HistSnapshot> {
        let moment = |number: usize| {
            let (snapshot, (_, format)) = answered.findings.snapshot(number).zip(answered.findings.trigger(number))?;
            Some(HistSnapshot { name: format!("{}-{}.dat", number + 1, format.name), time: snapshot.time.0 })
        };
        if self.snapshot_to.is_some() { (0..=last).filter_map(moment).collect() } else { Vec::new() }
    }

    /// Writes what the recording at `input` holds before them. `exit`: that of the first look at it.
    fn write(&self, input: &Path, moments: &[HistSnapshot], exit: Exit) -> Result<Exit, Failure> {
        let Some(dir) = &self.snapshot_to else { return Ok(exit) };
        std::fs::create_dir_all(dir).with_context(|| format!("failed to create {}", dir.display()))?;
        if moments.is_empty() {
            print("no snapshot was taken\n")?;
            return Ok(exit);
        }
        let trace = open(input)?;
        let damage = DamageReport::of(input, &trace);
        let span = self.snapshot_span.map(|span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        let done = moments.iter().try_for_each(|HistSnapshot { name, time }| {
            // The event that takes it is its last one.
            let window = span.map_or(0, |span| time.saturating_sub(span))..time.saturating_add(1);
            let (version, overwrite) = (RecordingCopy::version_of(&trace), Overwrite::default());
            let (path, slice) = (dir.join(name), CopiedPart::Time(window));
            let copy = RecordingCopy { version, overwrite, slice, cpus: None, selection: None, edit: None };
            let events = write_edited(&trace, (input, &path), copy, &damage)?;
            print(&format!("{}: {}\n", path.display(), counted(events, "event"))).map(drop)
        });
        let of_copy = damage.outcome(done)?;
        Ok(if exit == Exit::Success { of_copy } else { exit })
    }
}
