//! `rtrace synth remove`.

use super::{definitions, instances, open};
use crate::cli::args::TracefsArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{events_with_hists, hist_triggers, remove_all};
use anyhow::anyhow;
use rtrace::hist::spec::{Do, HistSpec};
use rtrace::syntax::did_you_mean;
use rtrace::synth::SynthDef;
use rtrace::tracefs::{EventName, Instance, Tracefs, WriteMode};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The events, without `synthetic:`
    #[arg(required_unless_present = "all")]
    name: Vec<String>,
    /// All synthetic events
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Show each write to tracefs as a shell line
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Removes, in every instance, what fires the event and what it fires, and then the event.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let tracefs = open(&args.tracefs)?;
    let names: Vec<String> =
        if args.all { definitions(&tracefs)?.into_iter().map(|d| d.name).collect() } else { args.name.clone() };
    for name in &names {
        definition(&tracefs, name)?;
    }
    let mut journal = args.tracefs.journal(&tracefs, args.verbose);
    for name in names {
        let event = EventName::new("synthetic", &name);
        for instance in instances(&tracefs)? {
            if instance.read(&event.file("enable")).is_ok_and(|on| on.starts_with('1')) {
                journal.act(&instance, &event.file("enable"), "0", WriteMode::Truncate)?;
            }
            let mut left = triggers_of(&instance, &name)?;
            for echo in hist_triggers(&instance, &event)? {
                left.push((event.clone(), echo.spec));
            }
            remove_all(&mut journal, &instance, left)?;
        }
        let removed = journal.act(&tracefs.top(), "synthetic_events", &format!("!{name}"), WriteMode::Append);
        removed.map_err(|error| {
            Failure::from(error).hint("something still uses it: a trigger, a running recording or perf")
        })?;
    }
    if let Ok(instance) = tracefs.instance(super::LONG_LIVED)
        && events_with_hists(&instance)?.is_empty()
    {
        journal.remove_instance(super::LONG_LIVED)?;
    }
    journal.keep()?;
    Ok(Exit::Success)
}

/// The definition of a synthetic event.
pub(super) fn definition(tracefs: &Tracefs, name: &str) -> Result<SynthDef, Failure> {
    let all = definitions(tracefs)?;
    if let Some(found) = all.iter().find(|d| d.name == name) {
        return Ok(found.clone());
    }
    let failure = Failure::new(Exit::Failed, anyhow!("failed to find `{name}`: there is no such synthetic event"));
    Err(match did_you_mean(name, all.iter().map(|d| d.name.as_str())) {
        Some(hint) => failure.hint(hint),
        None => failure.hint("`rtrace synth list` shows them."),
    })
}

/// The triggers that fire an event, and those whose variables they use and nobody else.
pub(super) fn triggers_of(instance: &Instance, name: &str) -> Result<Vec<(EventName, HistSpec)>, Failure> {
    let mut all = Vec::new();
    for event in events_with_hists(instance)? {
        for echo in hist_triggers(instance, &event)? {
            all.push((event.clone(), echo.spec));
        }
    }
    let fires = |spec: &HistSpec| {
        spec.actions.iter().any(|a| matches!(&a.value.what, Do::Trace { event, .. } if event.value == name))
    };
    let uses = |spec: &HistSpec, other: &HistSpec| {
        let text = spec.to_string();
        other.vars.iter().any(|v| text.contains(&format!("${}", v.name.value)))
    };
    // A trigger of ours that keeps values for the one that fires, and that no third one reads.
    let own = |spec: &HistSpec| {
        fires(spec)
            || (all.iter().any(|(_, s)| fires(s) && uses(s, spec))
                && all.iter().filter(|(_, s)| uses(s, spec)).all(|(_, s)| fires(s)))
    };
    Ok(all.iter().filter(|(_, spec)| own(spec)).cloned().collect())
}
