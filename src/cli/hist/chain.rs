//! Synthetic events, the triggers that fire them, and what the tables of those had no room for.

use super::place::{events_with_hists, hist_triggers};
use crate::cli::args::called;
use crate::cli::exit::Failure;
use rtrace::hist::spec::{Do, HistSpec};
use rtrace::hist::table;
use rtrace::synth::SynthDef;
use rtrace::tracefs::{EventName, Instance, Tracefs};

/// The synthetic events there are.
pub(crate) fn definitions(tracefs: &Tracefs) -> Result<Vec<SynthDef>, Failure> {
    let text = tracefs.top().read("synthetic_events")?;
    let parse =
        |line: &str| SynthDef::parse(line).map_err(|e| anyhow::anyhow!("failed to read synthetic_events: {e}").into());
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
}

/// The top level and all instances.
pub(crate) fn instances(tracefs: &Tracefs) -> Result<Vec<Instance>, Failure> {
    let mut all = vec![tracefs.top()];
    for name in tracefs.instances()? {
        all.push(tracefs.instance(&name)?);
    }
    Ok(all)
}

/// The triggers that fire an event, those that `rtrace synth` made for it, and those whose variables only
/// they use.
pub(crate) fn triggers_of(instance: &Instance, def: &SynthDef) -> Result<Vec<(EventName, HistSpec)>, Failure> {
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
    // Triggers that keep values for those that go, and that no other one reads.
    let mut own: Vec<bool> = all.iter().map(|(_, spec)| fires(spec) || made(spec)).collect();
    loop {
        let goes = |(at, (_, spec)): (usize, &(EventName, HistSpec))| {
            let mut users =
                all.iter().enumerate().filter(|(user, (_, other))| *user != at && uses(other, spec)).peekable();
            own[at] || (users.peek().is_some() && users.all(|(user, _)| own[user]))
        };
        let next: Vec<bool> = all.iter().enumerate().map(goes).collect();
        if next == own {
            break;
        }
        own = next;
    }
    Ok(all.into_iter().zip(own).filter(|(_, own)| *own).map(|(trigger, _)| trigger).collect())
}

/// A table of a chain and what it lost.
pub(crate) struct ChainLoss {
    /// Event and instance: `sched:sched_waking in instance rtrace-synth`.
    pub(crate) place: String,
    /// The trigger, as the kernel shows it.
    trigger: String,
    pub(crate) hits: u64,
    pub(crate) dropped: u64,
}

impl ChainLoss {
    /// Events lost since an earlier look at all tables.
    pub(crate) fn since(&self, earlier: &[ChainLoss]) -> u64 {
        let same = |other: &&ChainLoss| other.place == self.place && other.trigger == self.trigger;
        self.dropped.saturating_sub(earlier.iter().find(same).map_or(0, |loss| loss.dropped))
    }
}

/// The tables of the triggers that fire the synthetic event `name`, in all instances; none if there is no such event.
pub(crate) fn losses_of(tracefs: &Tracefs, name: &str) -> Result<Vec<ChainLoss>, Failure> {
    let all = definitions(tracefs)?;
    let Some(definition) = all.iter().find(|definition| definition.name == name) else { return Ok(Vec::new()) };
    let mut losses = Vec::new();
    for instance in instances(tracefs)? {
        let triggers = triggers_of(&instance, definition)?;
        let mut events: Vec<_> = triggers.iter().map(|(event, _)| event).collect();
        events.sort_unstable();
        events.dedup();
        for event in events {
            let Ok(tables) = table::parse(&instance.read_bytes(&event.file("hist"))?) else { continue };
            let of_chain =
                |table: &&table::HistTable| triggers.iter().any(|(at, spec)| at == event && *spec == table.spec);
            losses.extend(tables.iter().filter(of_chain).map(|table| ChainLoss {
                place: format!("{event} in {}", called(&instance)),
                trigger: table.trigger.clone(),
                hits: table.hits,
                dropped: table.dropped,
            }));
        }
    }
    Ok(losses)
}
