//! Removing triggers of events: which are meant, and whether they are gone.

use crate::cli::exit::Failure;
use crate::cli::hist::users;
use crate::cli::language::invalid;
use rtrace::filter::Filter;
use rtrace::format::EventFormat;
use rtrace::hist::spec::{Echo, HistSpec};
use rtrace::tracefs::{EventName, Instance, Journal, WriteMode};
use rtrace::trigger::{Trigger, TriggerAction};
use std::fmt;

/// The triggers to remove.
pub(super) enum TriggerRemoval {
    /// All that begin with this word.
    Kind(&'static str),
    /// This one, whatever is left of its count.
    Trigger(Box<Trigger>),
}

impl TriggerRemoval {
    /// Parses a kind, a trigger as it is written, or one as the kernel shows it; a `!` before it changes nothing.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        let text = text.strip_prefix('!').unwrap_or(text);
        match TriggerAction::NAMES.into_iter().find(|name| *name == text) {
            Some(kind) => Ok(TriggerRemoval::Kind(kind)),
            None => Ok(TriggerRemoval::Trigger(Box::new(text.parse().map_err(|e| invalid("trigger", e))?))),
        }
    }

    /// True if the trigger that the kernel shows as `line`, of an event of this `format`, is meant.
    pub(super) fn is(&self, line: &str, format: &EventFormat) -> bool {
        let Ok(set) = line.parse::<Trigger>() else { return false };
        let wanted = match self {
            // An event has one of the two, and the kernel takes either word for it.
            TriggerRemoval::Kind("traceon" | "traceoff") => {
                return matches!(set.action, TriggerAction::TraceOn | TriggerAction::TraceOff);
            }
            TriggerRemoval::Kind(kind) => return set.action.name() == *kind,
            TriggerRemoval::Trigger(wanted) => wanted,
        };
        match (&set.action, &wanted.action) {
            (TriggerAction::Hist(set), TriggerAction::Hist(wanted)) => {
                let mut set = with_plain_filter(set.normal());
                if wanted.filter.is_none() {
                    set.filter = None;
                }
                set == with_plain_filter(wanted.normal()) || set == with_plain_filter(wanted.shown_on(format))
            }
            _ => set.same_slot(wanted),
        }
    }
}

impl fmt::Display for TriggerRemoval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TriggerRemoval::Kind(kind) => f.write_str(kind),
            TriggerRemoval::Trigger(trigger) => trigger.action.fmt(f),
        }
    }
}

/// The same with its filter as `trigger add` writes it: texts in quotes, one blank around operators.
fn with_plain_filter(mut spec: HistSpec) -> HistSpec {
    if let Some(text) = &mut spec.filter
        && let Ok(filter) = Filter::parse(&text.value)
    {
        text.value = filter.to_string();
    }
    spec
}

/// The texts that remove the trigger that the kernel shows as `line`: it heeds the one that was written.
fn removals(line: &str) -> Vec<String> {
    match line.parse::<Trigger>() {
        Ok(trigger) if !matches!(trigger.action, TriggerAction::Hist(_)) => vec![trigger.removal()],
        // A hist trigger is named in full, as it is shown.
        _ => match Echo::written(line).as_slice() {
            [] => vec![format!("!{line}")],
            written => written.iter().map(|text| format!("!{text}")).collect(),
        },
    }
}

/// Removes the lines and looks whether they are gone: the kernel says yes to `!` also when nothing matched.
pub(super) fn remove_lines(
    journal: &mut Journal,
    instance: &Instance,
    mut left: Vec<(EventName, String)>,
) -> Result<(), Failure> {
    // In rounds: a histogram whose variable another one uses goes only after that one.
    loop {
        let before = left.len();
        let mut refused = None;
        left.retain(|(event, line)| {
            let mut remove = |text: &String| journal.act(instance, &event.file("trigger"), text, WriteMode::Append);
            match removals(line).iter().try_for_each(&mut remove) {
                Ok(()) => false,
                Err(e) => {
                    refused = Some(e);
                    true
                }
            }
        });
        match refused {
            None => return Ok(()),
            Some(e) if left.len() == before => {
                let (event, line) = &left[0];
                let failure = Failure::from(e).hint(format!("`{line}` of {event} is still there"));
                return Err(match Echo::parse(line) {
                    Ok(echo) => failure.hint(users(instance, event, &echo.spec)),
                    Err(_) => failure,
                });
            }
            Some(_) => {}
        }
    }
}

pub(super) fn verify(instance: &Instance, removed: &[(EventName, String)]) -> Result<(), Failure> {
    for (event, line) in removed {
        if instance.triggers(event)?.iter().any(|other| same(other, line)) {
            return Err(anyhow::anyhow!("failed to remove `{line}` of {event}: it is still there").into());
        }
    }
    Ok(())
}

fn same(a: &str, b: &str) -> bool {
    match (a.parse::<Trigger>(), b.parse::<Trigger>()) {
        (Ok(a), Ok(b)) => a.same_slot(&b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: e\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                          \tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

    #[test]
    fn by_text_by_echo_and_by_kind() {
        let format = EventFormat::parse("s", FORMAT).unwrap();
        let is = |wanted: &str, line: &str| TriggerRemoval::parse(wanted).unwrap().is(line, &format);
        let counting =
            "hist:keys=pid,common_cpu:vals=hitcount:sort=hitcount:size=4096 if comm == \"a\" && pid > 1 [active]";
        for wanted in
            ["hist", "!hist", counting, "hist:keys=pid,cpu:size=4000 if comm==a&&pid>1", "hist:keys=pid,cpu:size=4000"]
        {
            assert!(is(wanted, counting), "{wanted}");
        }
        assert!(!is("hist:keys=pid", counting) && !is("hist:keys=pid,cpu:size=4000 if pid > 1", counting));
        for wanted in ["stacktrace", "stacktrace:3 if pid > 1", "!stacktrace", "stacktrace:count=2 if pid > 1"] {
            assert!(is(wanted, "stacktrace:count=1 if pid > 1"), "{wanted}");
        }
        assert!(
            is("enable_event", "enable_event:a:b:unlimited")
                && is("enable_event:a:b:unlimited", "enable_event:a:b:unlimited")
        );
        assert!(!is("enable_event:a:c", "enable_event:a:b:unlimited") && !is("snapshot", "traceoff:unlimited"));
        // The kernel's `!traceon` takes out the trigger that switches tracing, whichever way.
        assert!(is("traceon", "traceoff:unlimited") && is("disable_event:a:b", "enable_event:a:b:unlimited"));
    }
}
