//! `rtrace synth remove`.

use super::argument::able_tracefs;
use super::create::LONG_LIVED;
use crate::cli::args::{WriteArgs, called};
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{definitions, events_with_hists, hist_triggers, instances, remove_all, triggers_of};
use crate::cli::holders::{event_probes, remove_event};
use anyhow::anyhow;
use rtrace::hist::spec::{Echo, HistSpec};
use rtrace::syntax::did_you_mean;
use rtrace::synth::SynthDef;
use rtrace::tracefs::{EventName, Instance, Journal, WriteMode};
use rtrace::trigger::Trigger;

#[derive(clap::Args)]
pub(super) struct SynthRemoveArgs {
    /// The events, without `synthetic:`
    #[arg(required_unless_present = "all")]
    name: Vec<String>,
    /// All synthetic events
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Also those that are in use: disable them and remove their own triggers, wherever that is
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Removes, in every instance, what fires the events, and then the events: those that others are made of last.
pub(super) fn run(args: &SynthRemoveArgs) -> Result<Exit, Failure> {
    let tracefs = able_tracefs(args.write.open()?)?;
    let all = definitions(&tracefs)?;
    let doomed: Vec<SynthDef> = match args.all {
        true => all,
        false => args.name.iter().map(|name| definition(&all, name)).collect::<Result<_, _>>()?,
    };
    let instances = instances(&tracefs)?;
    let mut chains = Vec::with_capacity(doomed.len());
    for def in doomed {
        let mut own = Vec::new();
        for instance in &instances {
            own.extend(triggers_of(instance, &def)?.into_iter().map(|(event, spec)| (instance, event, spec)));
        }
        chains.push((def, own));
    }
    for (def, _) in &chains {
        // Before anything of it is changed, since these stay even with `--force`.
        let probes = event_probes(&tracefs, &EventName::new("synthetic", &def.name));
        if !probes.is_empty() {
            return Err(probes.into_iter().fold(in_use(&def.name), Failure::hint));
        }
    }
    if !args.force {
        for (def, _) in &chains {
            unused(&instances, &def.name, &chains)?;
        }
    }
    let mut journal = args.write.journal(&tracefs);
    for (def, own) in in_order(chains) {
        remove_one(&mut journal, &instances, &def).map_err(|failure| put_back(&mut journal, own, failure))?;
    }
    if let Ok(instance) = tracefs.instance(LONG_LIVED)
        && events_with_hists(&instance)?.is_empty()
    {
        journal.remove_instance(LONG_LIVED)?;
    }
    journal.keep()?;
    Ok(Exit::Success)
}

/// A synthetic event and the triggers that are removed with it.
type Chain<'a> = (SynthDef, Vec<(&'a Instance, EventName, HistSpec)>);

/// The events so that each comes before those that its triggers are set on.
fn in_order(mut chains: Vec<Chain<'_>>) -> Vec<Chain<'_>> {
    let mut ordered = Vec::with_capacity(chains.len());
    while !chains.is_empty() {
        let is_base = |def: &SynthDef| {
            let event = EventName::new("synthetic", &def.name);
            chains.iter().any(|(other, own)| other.name != def.name && own.iter().any(|(_, at, _)| *at == event))
        };
        // Two that are made of each other: the kernel decides.
        let next = chains.iter().position(|(def, _)| !is_base(def)).unwrap_or(0);
        ordered.push(chains.remove(next));
    }
    ordered
}

/// Fails if someone records or counts the event whose triggers do not go, too, and says who.
fn unused(instances: &[Instance], name: &str, doomed: &[Chain<'_>]) -> Result<(), Failure> {
    let event = EventName::new("synthetic", name);
    let goes = |instance: &Instance, line: &str| {
        let spec = Echo::parse(line).map(|echo| echo.spec);
        let own = doomed.iter().flat_map(|(_, own)| own);
        spec.is_ok_and(|spec| {
            own.into_iter().any(|(at, of, own)| at.name() == instance.name() && *of == event && *own == spec)
        })
    };
    let users = users_besides(instances, &event, &goes);
    if users.is_empty() {
        return Ok(());
    }
    Err(users.into_iter().fold(in_use(name), Failure::hint).hint("`--force` ends that, too"))
}

fn in_use(name: &str) -> Failure {
    anyhow!("failed to remove `{name}`: it is in use").into()
}

fn remove_one(journal: &mut Journal, instances: &[Instance], def: &SynthDef) -> Result<(), Failure> {
    let name = &def.name;
    for instance in instances {
        end_use(journal, instance, name)?;
        let left = triggers_of(instance, def)?;
        remove_all(journal, instance, left)?;
    }
    let top = journal.tracefs().top();
    let event = EventName::new("synthetic", name);
    // Nothing in tracefs is left that could use it.
    remove_event(&event, Vec::new, || journal.act(&top, "synthetic_events", &format!("!{name}"), WriteMode::Append))
}

/// An event that cannot be removed stays what it was: its triggers come back, those with the variables first.
fn put_back(journal: &mut Journal, own: Vec<(&Instance, EventName, HistSpec)>, failure: Failure) -> Failure {
    let mut gone = own;
    gone.retain(|(instance, event, spec)| {
        !hist_triggers(instance, event).is_ok_and(|now| now.iter().any(|echo| echo.spec == *spec))
    });
    loop {
        let before = gone.len();
        gone.retain(|(instance, event, spec)| {
            journal.act(instance, &event.file("trigger"), &spec.to_string(), WriteMode::Append).is_err()
        });
        if gone.is_empty() || gone.len() == before {
            let lost = gone.into_iter().map(|(_, event, spec)| format!("this trigger of {event} is lost: {spec}"));
            return lost.fold(failure, Failure::hint);
        }
    }
}

/// Instances that keep an event busy: it is enabled there or has triggers.
pub(crate) fn users_of<'a>(instances: impl IntoIterator<Item = &'a Instance>, event: &EventName) -> Vec<String> {
    users_besides(instances, event, &|_, _| false)
}

/// The same without triggers of which `goes` says that they do not count.
fn users_besides<'a>(
    instances: impl IntoIterator<Item = &'a Instance>,
    event: &EventName,
    goes: &dyn Fn(&Instance, &str) -> bool,
) -> Vec<String> {
    let mut users = Vec::new();
    for instance in instances {
        let at = called(instance);
        if is_enabled(instance, event) {
            users.push(format!("{event} is enabled in {at}"));
        }
        let lines = instance.triggers(event).unwrap_or_default();
        for line in lines.into_iter().filter(|line| !goes(instance, line)) {
            users.push(format!("{event} has a trigger in {at}: {line}"));
        }
    }
    users
}

fn is_enabled(instance: &Instance, event: &EventName) -> bool {
    instance.read(&event.file("enable")).is_ok_and(|on| on.starts_with('1'))
}

/// Disables the event in an instance and removes its own triggers there.
fn end_use(journal: &mut Journal, instance: &Instance, name: &str) -> Result<(), Failure> {
    let event = EventName::new("synthetic", name);
    if is_enabled(instance, &event) {
        journal.act(instance, &event.file("enable"), "0", WriteMode::Truncate)?;
    }
    let hists = hist_triggers(instance, &event)?.into_iter().map(|echo| (event.clone(), echo.spec)).collect();
    remove_all(journal, instance, hists)?;
    for line in instance.triggers(&event)? {
        if let Ok(trigger) = line.parse::<Trigger>() {
            journal.act(instance, &event.file("trigger"), &trigger.removal(), WriteMode::Append)?;
        }
    }
    Ok(())
}

/// The definition of a synthetic event, one of `all`.
pub(super) fn definition(all: &[SynthDef], name: &str) -> Result<SynthDef, Failure> {
    if let Some(found) = all.iter().find(|d| d.name == name) {
        return Ok(found.clone());
    }
    let failure = Failure::new(Exit::Usage, anyhow!("failed to find `{name}`: there is no such synthetic event"));
    Err(match did_you_mean(name, all.iter().map(|d| d.name.as_str())) {
        Some(hint) => failure.hint(hint),
        None => failure.hint("`rtrace synth list` shows them."),
    })
}
