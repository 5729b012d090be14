//! `rtrace hist -i FILE EVENT`, and `rtrace hist --in-user EVENT`.

use super::super::output::OutputArgs;
use super::super::place::syntax_failure;
use super::super::spec::SpecArgs;
use super::against::{self, AgainstArgs, Side};
use super::{Answered, RecordedArgs, Streamed, find_format};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, HistTrigger, SetupError};
use rtrace::hist::render::sort_classes;
use rtrace::hist::spec::HistSpec;
use rtrace::synth::SynthDef;
use rtrace::tracefs::EventName;
use serde_json::json;

/// Further triggers on the recording's events, which this one refers to.
#[derive(clap::Args)]
pub(in super::super) struct TriggerArgs {
    /// With -i: another trigger, set before this one: 'sched:sched_waking hist:keys=pid:ts0=common_timestamp'
    #[arg(long, value_name = "EVENT TRIGGER", requires = "input", hide_short_help = true)]
    with: Vec<String>,
    /// With -i: a synthetic event, as `synthetic_events` takes it: 'wakeup u64 lat; pid_t pid'
    #[arg(long, value_name = "NAME FIELDS", requires = "input", value_parser = definition, hide_short_help = true)]
    synthetic: Vec<SynthDef>,
}

fn definition(text: &str) -> Result<SynthDef, String> {
    SynthDef::parse(text).map_err(|error| format!("\n{error}"))
}

impl TriggerArgs {
    /// The other triggers, each with its text.
    fn parsed(&self) -> Result<Vec<(&str, &str, HistSpec)>, Failure> {
        let mut all = Vec::new();
        for text in &self.with {
            let (event, trigger) = text.trim().split_once(char::is_whitespace).unwrap_or((text, ""));
            let trigger = trigger.trim();
            let spec =
                HistSpec::parse(trigger).map_err(|e| syntax_failure("trigger of --with", &e.diagnostic(trigger)))?;
            all.push((event, trigger, spec));
        }
        Ok(all)
    }
}

/// The trigger on an event of the recording, or on a synthetic one.
fn trigger(input: &Input, more: &TriggerArgs, event: &str, spec: HistSpec) -> Result<HistTrigger, Failure> {
    let bare = event.strip_prefix("synthetic:").or_else(|| event.strip_prefix("synthetic/")).unwrap_or(event);
    if more.synthetic.iter().any(|definition| definition.name == bare) {
        return Ok(HistTrigger { system: "synthetic".to_owned(), event: bare.to_owned(), spec });
    }
    let format = find_format(input, event)?;
    Ok(HistTrigger { system: format.system.clone(), event: format.name.clone(), spec })
}

/// Counts the events of the recording, and prints the table.
pub(in super::super) fn count(
    recorded: &RecordedArgs,
    spec: &SpecArgs,
    more: &TriggerArgs,
    against: &AgainstArgs,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    let event = spec.event_text().unwrap_or_default();
    let (text, own) = spec.parsed()?;
    let others = more.parsed()?;
    let mut texts: Vec<&str> = others.iter().map(|other| other.1).collect();
    texts.push(&text);
    let setup = |input: &Input| {
        let mut triggers = Vec::new();
        for (event, _, spec) in others.iter().cloned().chain([(event, "", own.clone())]) {
            triggers.push(trigger(input, more, event, spec)?);
        }
        Ok(HistSetup { definitions: more.synthetic.clone(), triggers, ..HistSetup::default() })
    };
    let wrong = |error: SetupError| {
        syntax_failure("trigger", &error.problem.diagnostic(texts.get(error.trigger).unwrap_or(&"")))
    };
    let Some(other) = against.file() else {
        let show = |answered: &Answered<'_>| show_table(answered, others.len(), output).map(|()| Exit::Success);
        return recorded.ask(setup, wrong, show);
    };
    let (mut before, mut after) = (None, None);
    let side = |to: &mut Option<Side>, answered: &Answered<'_>| {
        *to = Some(Side::of(answered, others.len(), output)?);
        Ok(Exit::Success)
    };
    let of_other = recorded.ask_of(other, setup, wrong, |answered| side(&mut before, answered))?;
    let of_file = recorded.ask(setup, wrong, |answered| side(&mut after, answered))?;
    let Some((before, after)) = before.zip(after) else {
        return Err(anyhow!("there are no tables to compare").into());
    };
    let exit = against::print(&before, &after, output)?;
    // Damage in either is the outcome, where nothing else is.
    Ok([exit, of_other, of_file].into_iter().find(|exit| *exit != Exit::Success).unwrap_or(Exit::Success))
}

/// Counts the events that come while a command runs, and prints the table.
pub(in super::super) fn count_now(
    streamed: &Streamed<'_>,
    event: EventName,
    spec: HistSpec,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    let text = spec.to_string();
    let setup = HistSetup {
        triggers: vec![HistTrigger { system: event.system, event: event.name, spec }],
        ..HistSetup::default()
    };
    streamed.ask(
        setup,
        |error| syntax_failure("trigger", &error.problem.diagnostic(&text)),
        |answered| show_table(answered, 0, output),
    )
}

/// Prints the table of the trigger with this number.
pub(in crate::cli) fn show_table(answered: &Answered<'_>, number: usize, output: &OutputArgs) -> Result<(), Failure> {
    let Some((table, (_, format))) = answered.table(number).zip(answered.findings.trigger(number)) else {
        return Err(anyhow!("the trigger has no table").into());
    };
    let event = EventName::new(&format.system, &format.name);
    let printer = output.printer_of(&event, format.clone());
    let mut tables = [table];
    tables.iter_mut().for_each(|table| sort_classes(table, printer.options()));
    let counts = answered.findings.counts(number).unwrap_or_default();
    let more = json!({"recording": answered.json(), "unmatched": counts.unmatched, "censored": counts.censored});
    printer.print_with(&tables, &output.live(), more)?;
    answered.note_losses(output.max_lost())?;
    output.verdict(&tables, None).map(drop)
}
