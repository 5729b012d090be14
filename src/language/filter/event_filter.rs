//! A filter with the events that it is for: `sched:sched_switch: prev_prio < 100`.
//! A filter of the kernel's language, with the text it came from.
//! A filter of the kernel's language to a program over recorded events.

use super::check::{NamedTarget, TargetKind, resolve};
use super::pattern::TextPattern;
use super::test::{NumberAt, ProgramTest, ProgramTree, TextAt};
use super::{CompareOp, FilterExpr, FilterProgram, FilterValue, FunctionAddresses, Predicate, check};
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, parse_int};
use crate::kernel::events::glob_matches;
use crate::kernel::format::EventFormat;
use std::fmt;
use std::ops::Range;

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
        compile(self, format, abi, functions)
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

fn compile(
    filter: &Filter,
    format: &EventFormat,
    abi: Abi,
    functions: &dyn FunctionAddresses,
) -> Result<FilterProgram, Diagnostic> {
    let compiler = FilterCompiler { filter, format, functions };
    Ok(FilterProgram::new(compiler.tree(filter.expr())?, abi))
}

struct FilterCompiler<'a> {
    filter: &'a Filter,
    format: &'a EventFormat,
    functions: &'a dyn FunctionAddresses,
}

impl FilterCompiler<'_> {
    fn tree(&self, expr: &FilterExpr) -> Result<ProgramTree, Diagnostic> {
        let all = |parts: &[FilterExpr]| parts.iter().map(|part| self.tree(part)).collect::<Result<Vec<_>, _>>();
        Ok(match expr {
            FilterExpr::And(parts) => ProgramTree::And(all(parts)?),
            FilterExpr::Or(parts) => ProgramTree::Or(all(parts)?),
            FilterExpr::Not(inner) => ProgramTree::Not(Box::new(self.tree(inner)?)),
            FilterExpr::Predicate(predicate) => self.predicate(predicate)?,
        })
    }

    fn predicate(&self, p: &Predicate) -> Result<ProgramTree, Diagnostic> {
        let target = resolve(self.filter, p, self.format)?;
        let at = NumberAt { offset: target.offset, size: target.size, signed: target.signed };
        let op = p.op.value;
        // The kernel has no way to compare numbers of another size: whatever the operator, the event is dropped.
        let comparable = matches!(target.size, 1 | 2 | 4 | 8);
        Ok(match &p.value.value {
            FilterValue::Text(text) => self.text(p, target, text)?,
            FilterValue::Function(name) => {
                let function = self.function(p, name)?;
                let within = ProgramTree::Test(ProgramTest::Within { at: NumberAt { signed: false, ..at }, function });
                if op == CompareOp::NotEqual { ProgramTree::Not(Box::new(within)) } else { within }
            }
            FilterValue::Number { value, .. } if target.kind == TargetKind::Cpu => {
                ProgramTree::Test(ProgramTest::Cpu { op, value: *value as i32 })
            }
            FilterValue::Number { value, .. } if comparable => {
                ProgramTree::Test(ProgramTest::Number { at, op, value: at.cut(*value as u64) })
            }
            FilterValue::Cpus(list) if target.kind == TargetKind::CpuMask => {
                let at = TextAt::DataLoc { offset: target.offset };
                ProgramTree::Test(ProgramTest::CpuMask { at, op, list: list.clone() })
            }
            FilterValue::Cpus(list) if target.kind == TargetKind::Cpu => {
                ProgramTree::Test(ProgramTest::CpuIn { at: None, op, list: list.clone() })
            }
            FilterValue::Cpus(list) if comparable => {
                let at = NumberAt { signed: false, ..at };
                ProgramTree::Test(ProgramTest::CpuIn { at: Some(at), op, list: list.clone() })
            }
            FilterValue::Number { .. } | FilterValue::Cpus(_) => ProgramTree::Const(false),
        })
    }

    fn text(&self, p: &Predicate, target: NamedTarget, text: &str) -> Result<ProgramTree, Diagnostic> {
        let mut pattern =
            if p.op.value == CompareOp::Glob { TextPattern::glob(text) } else { TextPattern::literal(text) };
        pattern.negated ^= p.op.value == CompareOp::NotEqual;
        let offset = target.offset;
        let at = match target.kind {
            TargetKind::Comm => return Ok(ProgramTree::Test(ProgramTest::Comm { pattern })),
            TargetKind::DataLocText => TextAt::DataLoc { offset },
            TargetKind::RelLocText => TextAt::RelLoc { offset },
            TargetKind::PointerText => {
                let name = &p.field.value;
                let message = format!("`{name}` is a pointer: the text behind it is not in the record");
                return Err(Diagnostic::new("filter", self.filter.text(), p.field.span, message)
                    .hint("the kernel can follow the pointer: `rtrace record -e EVENT -f FILTER` has it filter what is recorded"));
            }
            _ => TextAt::Fixed { offset, size: target.size },
        };
        Ok(ProgramTree::Test(ProgramTest::Text { at, pattern }))
    }

    fn function(&self, p: &Predicate, name: &str) -> Result<Range<u64>, Diagnostic> {
        let found = match name.starts_with(|c: char| c.is_ascii_digit()) {
            true => parse_int(name).ok().and_then(|a| self.functions.around(u64::try_from(a).ok()?)),
            false => self.functions.by_name(name),
        };
        found.ok_or_else(|| {
            Diagnostic::new("filter", self.filter.text(), p.value.span, format!("function `{name}` not found"))
        })
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
