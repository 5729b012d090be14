//! A filter with the events that it is for: `sched:sched_switch: prev_prio < 100`.
//! A filter of the kernel's language, with the text it came from.

use super::{FilterExpr, FilterProgram, FunctionAddresses, check, compile};
use crate::base::abi::Abi;
use crate::base::syntax::Diagnostic;
use crate::kernel::events::glob_matches;
use crate::kernel::format::EventFormat;
use std::fmt;

/// `EVENTS: EXPR` in the kernel's language, or `EVENTS` alone, which all pass. EVENTS is an event, `system:event`, or a
/// system, each of them a glob. Of several events those pass that have the fields of EXPR and for which it holds.
#[derive(Clone, Debug)]
pub struct EventFilter {
    events: String,
    filter: Option<Filter>,
}

impl EventFilter {
    /// Parses `sys:event: expr`, `sys:event`, `event: expr`: the colon before the expression is the one followed by a
    /// blank, or the second.
    ///
    /// # Errors
    /// As [`Filter::parse`], of the expression.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut colons = text.match_indices(':').map(|(at, _)| at);
        let (first, second) = (colons.next(), colons.next());
        let split = match first {
            Some(first) if text[first + 1..].starts_with(' ') => Some(first),
            Some(_) => second,
            None => None,
        };
        let (events, expr) = split.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
        let filter = match expr.trim() {
            "" => None,
            expr => Some(Filter::parse(expr)?),
        };
        Ok(EventFilter { events: events.trim().to_owned(), filter })
    }

    /// The events as given.
    pub fn events(&self) -> &str {
        &self.events
    }

    /// The expression; `None` if all of the events pass.
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// True if it is for events of this format.
    pub fn names(&self, format: &EventFormat) -> bool {
        match self.events.split_once([':', '/']) {
            Some((system, name)) => glob_matches(system, &format.system) && glob_matches(name, &format.name),
            None => glob_matches(&self.events, &format.name) || glob_matches(&self.events, &format.system),
        }
    }
}

/// A parsed filter. `Display` prints the text for the kernel; two are equal if their trees are.
#[derive(Clone, Debug)]
pub struct Filter {
    text: String,
    expr: FilterExpr,
}

impl Filter {
    /// Parses `text`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `filter` with the place of the error.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Ok(Filter { expr: text.parse()?, text: text.to_owned() })
    }

    /// Parses `text` and checks it against the event it is for. Warnings are left aside.
    ///
    /// # Errors
    /// As [`Filter::parse`] and [`Filter::check`].
    pub fn for_event(text: &str, format: &EventFormat) -> Result<Self, Diagnostic> {
        let filter = Self::parse(text)?;
        filter.check(format)?;
        Ok(filter)
    }

    /// The tree.
    pub fn expr(&self) -> &FilterExpr {
        &self.expr
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Checks fields, operators and values against an event's format, as the kernel will.
    ///
    /// Returns what the kernel takes but what cannot mean what it seems to (`comm ~ "*sh"`).
    ///
    /// # Errors
    /// The kernel's objections, each with its span.
    pub fn check(&self, format: &EventFormat) -> Result<Vec<Diagnostic>, Diagnostic> {
        check::check(self, format)
    }

    /// Compiles the filter for records of `format`, recorded on a machine with `abi`.
    ///
    /// # Errors
    /// As [`Filter::check`]; also what a recorded event does not hold: text behind a pointer, and functions that
    /// `functions` does not know.
    pub fn compile(
        &self,
        format: &EventFormat,
        abi: Abi,
        functions: &dyn FunctionAddresses,
    ) -> Result<FilterProgram, Diagnostic> {
        compile::compile(self, format, abi, functions)
    }

    /// The filter in words.
    pub fn explain(&self) -> String {
        check::explain(&self.expr)
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.expr == other.expr
    }
}

impl Eq for Filter {}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_expressions() {
        let parts = |text: &str| {
            let parsed = EventFilter::parse(text).unwrap();
            (parsed.events, parsed.filter.map(|f| f.text().to_owned()))
        };
        assert_eq!(
            parts("sched:sched_switch: prev_prio < 100"),
            ("sched:sched_switch".into(), Some("prev_prio < 100".into()))
        );
        assert_eq!(
            parts("sched_switch: next_comm ~ \"a:*\""),
            ("sched_switch".into(), Some("next_comm ~ \"a:*\"".into()))
        );
        assert_eq!(parts("sched:sched_switch:prev_prio < 100").1.unwrap(), "prev_prio < 100");
        assert_eq!(parts("sched:*"), ("sched:*".into(), None));
        assert!(EventFilter::parse("sched_switch: prev_prio <").is_err());
    }
}
