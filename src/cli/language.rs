//! Shared parts of the little languages' commands: their place, and the layout of their errors.

use super::args::{InstanceArg, TracefsArgs, called};
use super::exit::{Exit, Failure};
use crate::cli::terminal::{is_for_person, note, remark};
use rtrace::format::EventFormat;
use rtrace::syntax::Diagnostic;
use rtrace::tracefs::{Error, EventName, EventSelection, Feature, Instance, Journal, Tracefs};
use rtrace::trigger::TriggerAction;

/// The tracing directory and instance that a command works on.
#[derive(clap::Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    instance: InstanceArg,
    #[command(flatten)]
    pub(crate) tracefs: TracefsArgs,
    /// Show each write to tracefs as a shell line
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl TargetArgs {
    /// Opens both.
    pub(crate) fn open(&self) -> Result<(Tracefs, Instance), Failure> {
        let tracefs = self.tracefs.open()?;
        let instance = self.instance.open(&tracefs)?;
        Ok((tracefs, instance))
    }

    /// A journal for changes that are to stay if all of them succeed.
    pub(crate) fn journal(&self, tracefs: &Tracefs) -> Journal {
        self.tracefs.changes(tracefs, self.verbose)
    }
}

/// The mistake in the value of an option, with its place and its hints.
pub(crate) fn of_value(error: &Diagnostic) -> String {
    let hints: String = error.hints().iter().map(|hint| format!("\n  Hint: {hint}")).collect();
    format!("\n{error}{hints}")
}

/// The events that `text` selects. Those of the system `ftrace` cannot be enabled, so lists of events lack them, but they
/// take triggers: they are meant where that system is named.
pub(crate) fn select(instance: &Instance, text: &str) -> Result<Vec<EventName>, Failure> {
    let mut events = instance.events()?;
    if text.trim().strip_prefix("ftrace").is_some_and(|rest| rest.starts_with([':', '/'])) {
        events.extend(instance.events_of("ftrace")?);
        events.sort_unstable();
    }
    EventSelection::new(text).select(&events).map_err(Error::from).map_err(|e| {
        let hints = e.hints();
        hints.into_iter().fold(Failure::new(Exit::Usage, e), Failure::hint)
    })
}

/// The events that `text` selects; without it, all.
pub(crate) fn select_or_all(instance: &Instance, text: Option<&str>) -> Result<Vec<EventName>, Failure> {
    text.map_or_else(|| Ok(instance.events()?), |text| select(instance, text))
}

/// Rejects an event of a tracer: of the system `ftrace` the kernel gives triggers to `print` alone.
pub(crate) fn require_triggers(instance: &Instance, event: &EventName) -> Result<(), Failure> {
    if event.system != "ftrace" || instance.has(&event.file("trigger")) {
        return Ok(());
    }
    let error = anyhow::anyhow!("{event} has no triggers: of the events of ftrace only `print` has");
    let failure = Failure::new(Exit::Unable, error);
    Err(match event.name.starts_with("func") {
        true => failure.hint("`rtrace trigger add --function FUNC TRIGGER` sets one on a function"),
        false => failure.hint("`rtrace hist -i FILE` counts its events in a recording"),
    })
}

/// The format of an event.
pub(crate) fn format(instance: &Instance, event: &EventName) -> Result<EventFormat, Failure> {
    let text = instance.event_format(event)?;
    EventFormat::parse(&event.system, &text)
        .map_err(|e| anyhow::anyhow!("failed to read the format of {event}: {e}").into())
}

/// A text that the language or the event's format forbids: a usage error with its caret.
pub(crate) fn invalid(what: &str, error: Diagnostic) -> Failure {
    let hints = error.hints().to_vec();
    let failure = Failure::new(Exit::Usage, anyhow::anyhow!("invalid {what}: {error}"));
    hints.into_iter().fold(failure, Failure::hint)
}

/// Says which of `total` events did not take a filter or trigger, grouped by the reason.
pub(crate) fn report_others(what: &str, total: usize, others: &[(EventName, Diagnostic)]) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (event, error) in others {
        let reason = error.message.split(" in ").next().unwrap_or(&error.message);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, events)) => events.push(event.to_string()),
            None => reasons.push((reason, vec![event.to_string()])),
        }
    }
    for (reason, events) in reasons {
        note!("rtrace: {} of {total} events cannot have this {what} ({reason}): {}", events.len(), events.join(" "));
    }
}

/// Says on a terminal that `place` has no `what` (filter, trigger), and which other place has how many events with one, by
/// `number`.
pub(crate) fn nothing_set(what: &str, place: &Instance, number: impl Fn(&Instance) -> usize) -> Result<(), Failure> {
    if !is_for_person() {
        return Ok(());
    }
    let tracefs = place.tracefs();
    let mut others = vec![tracefs.top()];
    others.extend(tracefs.instances()?.iter().filter_map(|name| tracefs.instance(name).ok()));
    let others = others.iter().filter(|other| other.name() != place.name());
    let others = others.map(|other| (called(other), number(other))).filter(|(_, count)| *count > 0);
    let others: Vec<String> = others.map(|(name, count)| format!("{name} has {count}")).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    remark(&format!("{} has no {what}{others}", called(place)));
    Ok(())
}

/// Warnings on stderr: what the kernel takes but what cannot mean what it seems to.
pub(crate) fn warn(warnings: &[Diagnostic]) {
    for warning in warnings {
        note!("rtrace: warning: {warning}");
        for hint in warning.hints() {
            note!("  Hint: {hint}");
        }
    }
}

/// The kernel feature that this action needs.
pub(super) fn feature_of(action: &TriggerAction) -> Option<Feature> {
    match action {
        TriggerAction::Snapshot => Some(Feature::Snapshot),
        TriggerAction::Hist(_) | TriggerAction::EnableHist(_) | TriggerAction::DisableHist(_) => {
            Some(Feature::HistTriggers)
        }
        _ => None,
    }
}

/// The settings of each event together.
pub(crate) fn by_event(settings: Vec<(EventName, String)>) -> Vec<(EventName, Vec<String>)> {
    let mut found: Vec<(EventName, Vec<String>)> = Vec::new();
    for (event, text) in settings {
        match found.last_mut() {
            Some((last, texts)) if *last == event => texts.push(text),
            _ => found.push((event, vec![text])),
        }
    }
    found
}
