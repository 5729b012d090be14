//! `rtrace synth remove`.

use super::{able, definitions, instances};
use crate::cli::args::{WriteArgs, called};
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{events_with_hists, hist_triggers, remove_all};
use crate::cli::holders::remove_event;
use anyhow::anyhow;
use rtrace::hist::spec::{Do, HistSpec};
use rtrace::syntax::did_you_mean;
use rtrace::synth::SynthDef;
use rtrace::tracefs::{EventName, Instance, Journal, Tracefs, WriteMode};
use rtrace::trigger::Trigger;

#[derive(clap::Args)]
pub(super) struct Args {
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

/// Removes, in every instance, what fires the event, and then the event.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let tracefs = able(args.write.open()?)?;
    let doomed = match args.all {
        true => definitions(&tracefs)?,
        false => args.name.iter().map(|name| definition(&tracefs, name)).collect::<Result<_, _>>()?,
    };
    let instances = instances(&tracefs)?;
    if !args.force {
        doomed.iter().try_for_each(|def| unused(&instances, &def.name))?;
    }
    let mut journal = args.write.journal(&tracefs);
    for def in doomed {
        let mut own = Vec::new();
        for instance in &instances {
            own.extend(triggers_of(instance, &def)?.into_iter().map(|(event, spec)| (instance, event, spec)));
        }
        remove_one(&mut journal, &instances, &def).map_err(|failure| put_back(&mut journal, own, failure))?;
    }
    if let Ok(instance) = tracefs.instance(super::LONG_LIVED)
        && events_with_hists(&instance)?.is_empty()
    {
        journal.remove_instance(super::LONG_LIVED)?;
    }
    journal.keep()?;
    Ok(Exit::Success)
}

/// Fails if someone records or counts the event, and says who.
fn unused(instances: &[Instance], name: &str) -> Result<(), Failure> {
    let event = EventName::new("synthetic", name);
    let users = users_of(instances, &event);
    if users.is_empty() {
        return Ok(());
    }
    let failure = Failure::from(anyhow!("failed to remove `{name}`: it is in use"));
    let failure = users.into_iter().fold(failure, Failure::hint);
    Err(failure.hint("`--force` ends that, too"))
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
    let mut users = Vec::new();
    for instance in instances {
        let at = called(instance);
        if is_enabled(instance, event) {
            users.push(format!("{event} is enabled in {at}"));
        }
        for line in instance.triggers(event).unwrap_or_default() {
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

/// The definition of a synthetic event.
pub(super) fn definition(tracefs: &Tracefs, name: &str) -> Result<SynthDef, Failure> {
    let all = definitions(tracefs)?;
    if let Some(found) = all.iter().find(|d| d.name == name) {
        return Ok(found.clone());
    }
    let failure = Failure::new(Exit::Usage, anyhow!("failed to find `{name}`: there is no such synthetic event"));
    Err(match did_you_mean(name, all.iter().map(|d| d.name.as_str())) {
        Some(hint) => failure.hint(hint),
        None => failure.hint("`rtrace synth list` shows them."),
    })
}

/// The triggers that fire an event, those that `rtrace synth` made for it, and those whose variables they use and
/// nobody else.
pub(super) fn triggers_of(instance: &Instance, def: &SynthDef) -> Result<Vec<(EventName, HistSpec)>, Failure> {
    let mut all = Vec::new();
    for event in events_with_hists(instance)? {
        for echo in hist_triggers(instance, &event)? {
            all.push((event.clone(), echo.spec));
        }
    }
    let fires = |spec: &HistSpec| {
        spec.actions.iter().any(|a| matches!(&a.value.what, Do::Trace { event, .. } if event.value == def.name))
    };
    // One that only saves or takes snapshots does not name the event; its variables do.
    let made = |spec: &HistSpec| !spec.vars.is_empty() && spec.vars.iter().all(|v| def.has_variable(&v.name.value));
    let uses = |spec: &HistSpec, other: &HistSpec| {
        let text = spec.to_string();
        other.vars.iter().any(|v| text.contains(&format!("${}", v.name.value)))
    };
    // A trigger that keeps values for the one that fires, and that no third one reads.
    let own = |spec: &HistSpec| {
        fires(spec)
            || made(spec)
            || (all.iter().any(|(_, s)| fires(s) && uses(s, spec))
                && all.iter().filter(|(_, s)| uses(s, spec)).all(|(_, s)| fires(s)))
    };
    Ok(all.iter().filter(|(_, spec)| own(spec)).cloned().collect())
}
