//! The syntax tree of event triggers.
//! A trigger held against its event.

use crate::base::syntax::{Diagnostic, Span, did_you_mean};
use crate::kernel::format::EventFormat;
use crate::language::filter::Filter;
use crate::language::hist::spec::HistSpec;
use std::fmt;

/// One trigger of an event. `Display` prints what is written to set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The kernel's action.
    pub action: TriggerAction,
    /// Number of times; `None` for always. The kernel counts it down, at 0 nothing happens any more.
    pub count: Option<u64>,
    /// The event must pass this. A hist trigger keeps its filter in its own tree.
    pub filter: Option<Filter>,
}

/// The action of a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriggerAction {
    /// `traceon`: the ring buffer takes events again.
    TraceOn,
    /// `traceoff`: the ring buffer takes no more events.
    TraceOff,
    /// `snapshot`: the ring buffer is swapped with the spare one (`CONFIG_TRACER_SNAPSHOT`).
    Snapshot,
    /// `stacktrace`: a kernel stack trace goes into the ring buffer.
    StackTrace,
    /// `enable_event:sched:sched_switch`
    EnableEvent(EventRef),
    /// `disable_event:sched:sched_switch`
    DisableEvent(EventRef),
    /// `enable_hist:sched:sched_switch`: the paused histograms of that event go on (`CONFIG_HIST_TRIGGERS`).
    EnableHist(EventRef),
    /// `disable_hist:sched:sched_switch`
    DisableHist(EventRef),
    /// `hist:keys=...`
    Hist(Box<HistSpec>),
}

/// The event that an action is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// System of the event.
    pub system: String,
    /// Name of the event.
    pub event: String,
}

impl EventRef {
    /// The event of two words of a trigger; None where a word is missing or no name (the kernel's hold no blanks, and
    /// it compares them whole).
    pub(super) fn of(system: Option<&str>, event: Option<&str>) -> Option<EventRef> {
        let named = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
        let (system, event) = (system.filter(named)?, event.filter(named)?);
        Some(EventRef { system: system.to_owned(), event: event.to_owned() })
    }
}

impl fmt::Display for EventRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.system, self.event)
    }
}

impl TriggerAction {
    /// The words that begin a trigger.
    pub const NAMES: [&'static str; 9] = [
        "traceon",
        "traceoff",
        "snapshot",
        "stacktrace",
        "enable_event",
        "disable_event",
        "enable_hist",
        "disable_hist",
        "hist",
    ];

    /// The word that begins it.
    pub fn name(&self) -> &'static str {
        match self {
            TriggerAction::TraceOn => "traceon",
            TriggerAction::TraceOff => "traceoff",
            TriggerAction::Snapshot => "snapshot",
            TriggerAction::StackTrace => "stacktrace",
            TriggerAction::EnableEvent(_) => "enable_event",
            TriggerAction::DisableEvent(_) => "disable_event",
            TriggerAction::EnableHist(_) => "enable_hist",
            TriggerAction::DisableHist(_) => "disable_hist",
            TriggerAction::Hist(_) => "hist",
        }
    }

    /// The event it is about, if it is about another one.
    pub fn target(&self) -> Option<&EventRef> {
        match self {
            TriggerAction::EnableEvent(target)
            | TriggerAction::DisableEvent(target)
            | TriggerAction::EnableHist(target)
            | TriggerAction::DisableHist(target) => Some(target),
            _ => None,
        }
    }
}

impl fmt::Display for TriggerAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.target()) {
            (TriggerAction::Hist(spec), _) => spec.fmt(f),
            (_, Some(target)) => write!(f, "{}:{target}", self.name()),
            (_, None) => f.write_str(self.name()),
        }
    }
}

impl Trigger {
    /// The text that removes it. For these triggers the kernel looks neither at count nor filter; a hist trigger must
    /// be named in full, best from the line in which the kernel shows it.
    pub fn removal(&self) -> String {
        format!("!{}", self.action)
    }

    /// True if the kernel takes the two for the same one, of which an event has at most one: traceon and traceoff,
    /// enabling and disabling an event, exclude each other as well.
    pub fn same_slot(&self, other: &Trigger) -> bool {
        let kind = |action: &TriggerAction| match action {
            TriggerAction::TraceOn | TriggerAction::TraceOff => 0,
            TriggerAction::EnableEvent(_) | TriggerAction::DisableEvent(_) => 1,
            TriggerAction::EnableHist(_) | TriggerAction::DisableHist(_) => 2,
            TriggerAction::Snapshot => 3,
            TriggerAction::StackTrace => 4,
            TriggerAction::Hist(_) => 5,
        };
        match (&self.action, &other.action) {
            (TriggerAction::Hist(a), TriggerAction::Hist(b)) => a.normal() == b.normal(),
            (a, b) => kind(a) == kind(b) && a.target() == b.target(),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.action.fmt(f)?;
        if let Some(count) = self.count {
            write!(f, ":{count}")?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " if {filter}")?;
        }
        Ok(())
    }
}

impl Trigger {
    /// Checks filter and target. `events` are the names (`system:event`) of all events; `text` is what the trigger was
    /// parsed from. Hist triggers have a checker of their own ([`crate::language::hist::spec::HistSpec::check`]).
    ///
    /// Returns what the kernel takes but what cannot mean what it seems to.
    ///
    /// # Errors
    /// The kernel's objections, at their place in `text`.
    pub fn check(&self, text: &str, format: &EventFormat, events: &[String]) -> Result<Vec<Diagnostic>, Diagnostic> {
        let mut warnings = Vec::new();
        if let Some(target) = self.action.target() {
            let name = target.to_string();
            if !events.contains(&name) {
                let near = did_you_mean(&name, events.iter().map(String::as_str));
                let at = text.find(&name).unwrap_or(0);
                let span = Span::new(at, at + name.len());
                let error = Diagnostic::new("trigger", text, span, format!("there is no event `{name}`"));
                return Err(error.hint_opt(near));
            }
        }
        if let Some(filter) = &self.filter {
            let offset = text.rfind(filter.text()).unwrap_or(0);
            let within = |e: Diagnostic| e.within("trigger", text, offset);
            warnings.extend(filter.check(format).map_err(within)?.into_iter().map(within));
        }
        if self.count == Some(0) && !matches!(self.action, TriggerAction::Hist(_)) {
            let message = "a count of 0 means never";
            warnings.push(Diagnostic::new("trigger", text, Span::new(0, text.len()), message));
        }
        Ok(warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: e\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                          \tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

    #[test]
    fn filter_and_target() {
        let format = EventFormat::parse("s", FORMAT).unwrap();
        let events = ["s:e".to_owned(), "s:other".to_owned()];
        let check = |text: &str| text.parse::<Trigger>().unwrap().check(text, &format, &events);
        assert!(check("enable_event:s:other if pid > 1").unwrap().is_empty());
        let error = check("enable_event:s:othr").unwrap_err();
        assert_eq!(error.hints(), ["did you mean `s:other`?"]);
        assert_eq!(error.span, Span::new(13, 19));
        let error = check("stacktrace:2 if  pdi == 1").unwrap_err();
        assert_eq!((error.label, error.span), ("trigger", Span::new(17, 20)));
        assert_eq!(check("traceoff:0").unwrap().len(), 1);
    }
}
