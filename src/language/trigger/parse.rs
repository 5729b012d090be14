//! Text of a trigger to its tree.

use super::{EventRef, Trigger, TriggerAction};
use crate::base::syntax::{Diagnostic, Span, did_you_mean, one_line, parse_int};
use crate::language::filter::{Filter, with_numbers};
use crate::language::hist::spec::{Echo, HistSpec};
use std::str::FromStr;

impl FromStr for Trigger {
    type Err = Diagnostic;

    /// Parses a trigger as it is written or as the kernel shows it: `traceoff`, `traceoff:3`, `traceoff:count=3`,
    /// `traceoff:unlimited`, each with ` if FILTER`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `trigger` with the place of the error.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        one_line("trigger", text)?;
        let start = text.len() - text.trim_start().len();
        if text[start..].starts_with("hist:") || text[start..].trim_end() == "hist" {
            return hist(text);
        }
        let (head, filter) = split_filter(text)?;
        let mut words = Words { text, at: start, end: head.trim_end().len() };
        let (name, name_span) = words.next().unwrap_or(("", Span::at(start)));
        let action = action(text, name, name_span, &mut words)?;
        let count = match words.next() {
            None => None,
            Some(("unlimited", _)) => None,
            Some((word, span)) => Some(count(text, word, span)?),
        };
        if let Some((_, span)) = words.next() {
            return Err(error(text, span, "expected ` if FILTER` or the end of the trigger"));
        }
        Ok(Trigger { action, count, filter })
    }
}

fn error(text: &str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("trigger", text, span, message)
}

fn hist(text: &str) -> Result<Trigger, Diagnostic> {
    // The kernel's text ends with its state; a written one does not.
    let spec = match Echo::parse(text) {
        Ok(echo) => echo.spec,
        Err(_) => HistSpec::parse(text.trim()).map_err(|e| e.diagnostic(text.trim()))?,
    };
    // Printed, such a filter would be taken for one without the state.
    if spec.filter.as_ref().is_some_and(|filter| filter.value.ends_with(']')) {
        let end = text.trim_end().len();
        return Err(error(text, Span::new(end - 1, end), "a filter does not end with `]`"));
    }
    Ok(Trigger { action: TriggerAction::Hist(Box::new(spec)), count: None, filter: None })
}

/// The text before the first ` if `, and the filter after it.
fn split_filter(text: &str) -> Result<(&str, Option<Filter>), Diagnostic> {
    let mut from = 0;
    while let Some(at) = text[from..].find("if").map(|at| from + at) {
        from = at + 2;
        let blank_before = text[..at].ends_with([' ', '\t']);
        let rest = &text[from..];
        if !blank_before || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            continue;
        }
        if rest.trim().is_empty() {
            return Err(error(text, Span::new(at, from), "`if` without a filter"));
        }
        let filter = Filter::parse(rest.trim()).map_err(|e| {
            let offset = text.len() - rest.trim_start().len();
            e.within("trigger", text, offset)
        })?;
        return Ok((&text[..at], Some(filter)));
    }
    Ok((text, None))
}

fn action(text: &str, name: &str, span: Span, words: &mut Words<'_>) -> Result<TriggerAction, Diagnostic> {
    let target = |words: &mut Words<'_>| {
        let (system, event) = (words.next(), words.next());
        EventRef::of(system.map(|(word, _)| word), event.map(|(word, _)| word))
            .ok_or_else(|| error(text, Span::at(words.end), format!("`{name}` needs an event: `{name}:SYSTEM:EVENT`")))
    };
    Ok(match name {
        "traceon" => TriggerAction::TraceOn,
        "traceoff" => TriggerAction::TraceOff,
        "snapshot" => TriggerAction::Snapshot,
        "stacktrace" => TriggerAction::StackTrace,
        "enable_event" => TriggerAction::EnableEvent(target(words)?),
        "disable_event" => TriggerAction::DisableEvent(target(words)?),
        "enable_hist" => TriggerAction::EnableHist(target(words)?),
        "disable_hist" => TriggerAction::DisableHist(target(words)?),
        _ => {
            // Opposites that differ by two letters are no guess.
            let switch = name.starts_with("trace").then(|| "`traceoff` stops tracing, `traceon` starts it".to_owned());
            let filter = text.trim().strip_prefix("if ").map(with_numbers);
            let no_action = filter.map(|filter| format!("an action stands before `if`: `stacktrace if {filter}`"));
            let near = no_action.or(switch).or_else(|| did_you_mean(name, TriggerAction::NAMES));
            if let Some(set) = name.strip_prefix('!') {
                let hint = format!("`!` takes one away: `rtrace trigger remove EVENT {set}`");
                return Err(error(text, span, format!("`{name}` is no trigger")).hint(hint));
            }
            let all = || format!("triggers are {}", TriggerAction::NAMES.join(", "));
            return Err(error(text, span, format!("`{name}` is no trigger")).hint(near.unwrap_or_else(all)));
        }
    })
}

fn count(text: &str, word: &str, span: Span) -> Result<u64, Diagnostic> {
    let digits = word.strip_prefix("count=").unwrap_or(word);
    let value = parse_int(digits).ok().and_then(|n| u64::try_from(n).ok());
    value.ok_or_else(|| {
        let before = text.get(..span.start).unwrap_or_default().trim_end_matches(':');
        let hint = match word.strip_prefix("if ") {
            Some(_) => format!("a blank is before `if`: '{before} {}'", text.get(span.start..).unwrap_or_default()),
            None => "as in `traceoff:3`".to_owned(),
        };
        error(text, span, "the count is not a number").hint(hint)
    })
}

/// The parts between colons.
struct Words<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<(&'a str, Span)> {
        if self.at > self.end || (self.at == self.end && self.at == 0) {
            return None;
        }
        let rest = &self.text[self.at..self.end];
        let word = rest.split(':').next().unwrap_or(rest);
        let span = Span::new(self.at, self.at + word.len());
        self.at = span.end + 1;
        Some((word, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_written_and_as_shown() {
        for (text, printed) in [
            ("traceoff", "traceoff"),
            (" traceoff:3 ", "traceoff:3"),
            ("traceoff:count=3 if next_comm == \"cat\"", "traceoff:3 if next_comm == \"cat\""),
            ("traceon:unlimited", "traceon"),
            ("stacktrace:0x5 if prio<121", "stacktrace:5 if prio < 121"),
            ("enable_event:sched:sched_switch:2", "enable_event:sched:sched_switch:2"),
            ("disable_event:sched:sched_process_fork:unlimited", "disable_event:sched:sched_process_fork"),
            ("enable_hist:sched:sched_switch:count=0", "enable_hist:sched:sched_switch:0"),
            ("snapshot:1\tif nr_rq > 1", "snapshot:1 if nr_rq > 1"),
            ("hist:keys=pid if pid > 1", "hist:keys=pid if pid > 1"),
        ] {
            let trigger: Trigger = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(trigger.to_string(), printed);
            assert_eq!(trigger.to_string().parse::<Trigger>().unwrap(), trigger);
        }
    }

    #[test]
    fn errors_point_at_their_place() {
        for (text, place, message) in [
            ("", "", "`` is no trigger"),
            ("bogus", "bogus", "`bogus` is no trigger"),
            ("traceon:abc", "abc", "the count is not a number"),
            ("stacktrace:-1", "-1", "the count is not a number"),
            ("traceoff:1 if", "if", "`if` without a filter"),
            ("enable_event:s:e\u{b}:3", "", "`enable_event` needs an event: `enable_event:SYSTEM:EVENT`"),
            ("enable_event:sched", "", "`enable_event` needs an event: `enable_event:SYSTEM:EVENT`"),
            ("traceoff:1:2", "2", "expected ` if FILTER` or the end of the trigger"),
            ("stacktrace if pid = 1", "=", "invalid operator"),
            ("stacktrace:1  if  (pid == 1", "(", "missing `)`"),
            ("hist:keys=pid if pid > 1 [active] [active]", "]", "a filter does not end with `]`"),
            ("traceoff if comm == \"a\nb\"", "\n", "a newline or a NUL within the line"),
            ("enable_event:s:e\0", "\0", "a newline or a NUL within the line"),
        ] {
            let error = text.parse::<Trigger>().expect_err(text);
            assert_eq!((error.span.of(text), error.message.as_str()), (place, message), "{text}");
        }
        assert_eq!("stacktrce".parse::<Trigger>().unwrap_err().hints(), ["did you mean `stacktrace`?"]);
    }

    #[test]
    fn slots() {
        let same = |a: &str, b: &str| a.parse::<Trigger>().unwrap().same_slot(&b.parse().unwrap());
        assert!(same("traceon", "traceoff:3 if pid == 1"));
        assert!(same("enable_event:a:b", "disable_event:a:b:1"));
        assert!(!same("enable_event:a:b", "enable_event:a:c"));
        assert!(!same("snapshot", "stacktrace"));
        assert!(same("hist:keys=pid", "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]"));
        assert!(!same("hist:keys=pid", "hist:keys=prio"));
    }
}
