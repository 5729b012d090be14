//! Triggers of functions: `schedule:traceoff:3` in `set_ftrace_filter`.

use super::EventRef;
use crate::base::syntax::{Diagnostic, Span, did_you_mean, one_line, parse_int};
use crate::kernel::events::glob_matches;
use std::fmt;
use std::str::FromStr;

/// The action when a function is entered (`Documentation/trace/ftrace.rst`, "Filter commands"). `Display` prints the
/// text that is written to set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTrigger {
    /// The function, or a glob of functions.
    pub function: String,
    /// The kernel's action.
    pub action: FunctionAction,
    /// Number of times; `None` for always.
    pub count: Option<u64>,
}

/// The action of a function's trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionAction {
    /// `traceon`
    TraceOn,
    /// `traceoff`
    TraceOff,
    /// `snapshot`
    Snapshot,
    /// `stacktrace`
    StackTrace,
    /// `dump`: the ring buffer goes to the console.
    Dump,
    /// `cpudump`: this CPU's ring buffer goes to the console.
    CpuDump,
    /// `enable_event:sched:sched_switch`
    EnableEvent(EventRef),
    /// `disable_event:sched:sched_switch`
    DisableEvent(EventRef),
}

impl FunctionAction {
    /// The words for them.
    pub const NAMES: [&'static str; 8] =
        ["traceon", "traceoff", "snapshot", "stacktrace", "dump", "cpudump", "enable_event", "disable_event"];
}

impl FunctionTrigger {
    /// The same action on the same function or glob of functions, whatever is left of the counts.
    pub fn is_like(&self, wanted: &FunctionTrigger) -> bool {
        self.action == wanted.action
            && (self.function == wanted.function || glob_matches(&wanted.function, &self.function))
    }

    /// The text that removes it. One with a count, or without a count at all, is named with the count 0.
    pub fn removal(&self) -> String {
        let count = if self.count.is_some() { ":0" } else { "" };
        format!("!{}:{}{count}", self.function, self.action)
    }
}

impl fmt::Display for FunctionAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FunctionAction::TraceOn => f.write_str("traceon"),
            FunctionAction::TraceOff => f.write_str("traceoff"),
            FunctionAction::Snapshot => f.write_str("snapshot"),
            FunctionAction::StackTrace => f.write_str("stacktrace"),
            FunctionAction::Dump => f.write_str("dump"),
            FunctionAction::CpuDump => f.write_str("cpudump"),
            FunctionAction::EnableEvent(target) => write!(f, "enable_event:{target}"),
            FunctionAction::DisableEvent(target) => write!(f, "disable_event:{target}"),
        }
    }
}

impl fmt::Display for FunctionTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.function, self.action)?;
        match self.count {
            Some(count) => write!(f, ":{count}"),
            None => Ok(()),
        }
    }
}

impl FromStr for FunctionTrigger {
    type Err = Diagnostic;

    /// Parses `FUNCTION:ACTION[:COUNT]` as it is written, or as `set_ftrace_filter` shows it (`:unlimited`, `:count=3`).
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `trigger` with the place of the error.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        one_line("trigger", text)?;
        let error =
            |at: usize, len: usize, message: String| Diagnostic::new("trigger", text, Span::new(at, at + len), message);
        let mut parts = Vec::new();
        let mut at = 0;
        for part in text.trim_end().split(':') {
            parts.push((at, part));
            at += part.len() + 1;
        }
        let mut parts = parts.into_iter();
        let function = parts.next().map_or("", |(_, part)| part);
        if function.is_empty() || function.contains(char::is_whitespace) {
            return Err(error(0, function.len(), "expected the name of a function".to_owned()));
        }
        let (at, name) = parts.next().unwrap_or((text.len(), ""));
        let mut target = || {
            let (system, event) = (parts.next().map(|p| p.1), parts.next().map(|p| p.1));
            EventRef::of(system, event)
                .ok_or_else(|| error(at, name.len(), format!("`{name}` needs an event: `{name}:SYSTEM:EVENT`")))
        };
        let action = match name {
            "traceon" => FunctionAction::TraceOn,
            "traceoff" => FunctionAction::TraceOff,
            "snapshot" => FunctionAction::Snapshot,
            "stacktrace" => FunctionAction::StackTrace,
            "dump" => FunctionAction::Dump,
            "cpudump" => FunctionAction::CpuDump,
            "enable_event" => FunctionAction::EnableEvent(target()?),
            "disable_event" => FunctionAction::DisableEvent(target()?),
            _ => {
                let all = || format!("a function can have {}", FunctionAction::NAMES.join(", "));
                let near = did_you_mean(name, FunctionAction::NAMES).unwrap_or_else(all);
                return Err(error(at, name.len(), format!("`{name}` is no trigger of a function")).hint(near));
            }
        };
        let count = match parts.next() {
            None | Some((_, "unlimited")) => None,
            Some((at, word)) => {
                let digits = word.strip_prefix("count=").unwrap_or(word);
                let count = parse_int(digits).ok().and_then(|n| u64::try_from(n).ok());
                Some(count.ok_or_else(|| error(at, word.len(), "the count is not a number".to_owned()))?)
            }
        };
        if let Some((at, rest)) = parts.next() {
            return Err(error(at, rest.len(), "expected the end of the trigger".to_owned()));
        }
        Ok(FunctionTrigger { function: function.to_owned(), action, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentations_examples() {
        for (text, printed, removal) in [
            ("__schedule_bug:traceoff:5", "__schedule_bug:traceoff:5", "!__schedule_bug:traceoff:0"),
            ("__schedule_bug:traceoff", "__schedule_bug:traceoff", "!__schedule_bug:traceoff"),
            (
                "native_flush_tlb_others:snapshot:1",
                "native_flush_tlb_others:snapshot:1",
                "!native_flush_tlb_others:snapshot:0",
            ),
            (
                "try_to_wake_up:enable_event:sched:sched_switch:2",
                "try_to_wake_up:enable_event:sched:sched_switch:2",
                "!try_to_wake_up:enable_event:sched:sched_switch:0",
            ),
            ("schedule:traceoff:unlimited", "schedule:traceoff", "!schedule:traceoff"),
            ("schedule:stacktrace:count=3\n", "schedule:stacktrace:3", "!schedule:stacktrace:0"),
        ] {
            let trigger: FunctionTrigger = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((trigger.to_string().as_str(), trigger.removal().as_str()), (printed, removal));
            assert_eq!(trigger.to_string().parse(), Ok(trigger));
        }
        for (text, place) in [
            ("vfs_read:bogus", "bogus"),
            ("vfs_read:traceoff:x", "x"),
            ("vfs_read", ""),
            (":traceoff", ""),
            ("f:enable_event:sched", "enable_event"),
            ("f:enable_event:s:e\u{b}:3", "enable_event"),
            ("f:dump:1:2", "2"),
            ("f\0:traceoff", "\0"),
        ] {
            assert_eq!(text.parse::<FunctionTrigger>().unwrap_err().span.of(text), place);
        }
    }
}
