//! The syntax tree of `-F`.

use crate::base::syntax::{Diagnostic, Spanned, did_you_mean};
use crate::kernel::format::EventFormat;
use crate::language::filter::CompareOp;
use crate::language::filter::test::Calc;

/// One `-F` (or `-v -F`): the events it is for, and what must hold of them.
#[derive(Clone, Debug)]
pub struct ReportFilter {
    pub(super) text: String,
    pub(super) events: Vec<Spanned<FilteredEvents>>,
    /// `None`: the events are chosen whatever they hold.
    pub(super) expr: Option<ReportExpr>,
}

impl ReportFilter {
    /// Parses `EVENTS[: EXPR]`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `filter` with the place of the error.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        super::parse::parse(text)
    }

    /// The first field that it compares and none of the events of `formats` has that it names, as an error with the place
    /// in the text; `None` if it names no event. Such a comparison is false ([`ReportFilters`](super::ReportFilters)).
    pub fn unknown_field<'f>(&self, formats: impl IntoIterator<Item = &'f EventFormat>) -> Option<Diagnostic> {
        let fits = |f: &&EventFormat| self.events.iter().any(|events| events.value.fits(&f.system, &f.name));
        let formats: Vec<&EventFormat> = formats.into_iter().filter(fits).collect();
        let first = formats.first()?;
        let mut fields = Vec::new();
        self.expr.iter().for_each(|expr| expr.fields(&mut fields));
        let is_known = |name: &str| matches!(name, "CPU" | "COMM") || formats.iter().any(|f| f.field(name).is_some());
        let unknown = fields.into_iter().find(|field| !is_known(&field.value))?;
        let place = match formats.as_slice() {
            [one] => format!("in {}:{}", one.system, one.name),
            many => format!("in any of the {} events that the filter names", many.len()),
        };
        let message = format!("field `{}` not found {place}", unknown.value);
        let names =
            formats.iter().flat_map(|f| f.fields.iter().chain(f.common.iter())).map(|field| field.name.as_str());
        let own: Vec<&str> = first.fields.iter().map(|field| field.name.as_str()).collect();
        let near = did_you_mean(&unknown.value, names)
            .or_else(|| (formats.len() == 1).then(|| format!("its fields are {}", own.join(", "))));
        Some(Diagnostic::new("filter", &self.text, unknown.span, message).hint_opt(near))
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The events that are meant; regular expressions, each for the whole name.
#[derive(Clone, Debug)]
pub(super) struct FilteredEvents {
    /// Before the slash; `None`: the one word may be a system or an event.
    pub(super) system: Option<regex::Regex>,
    pub(super) event: regex::Regex,
}

impl FilteredEvents {
    pub(super) fn fits(&self, system: &str, event: &str) -> bool {
        match &self.system {
            Some(wanted) => wanted.is_match(system) && self.event.is_match(event),
            None => self.event.is_match(system) || self.event.is_match(event),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum ReportExpr {
    And(Box<ReportExpr>, Box<ReportExpr>),
    Or(Box<ReportExpr>, Box<ReportExpr>),
    Not(Box<ReportExpr>),
    Compare { left: ReportOperand, op: Spanned<ReportOperator>, right: ReportOperand },
    NonZero(ReportOperand),
}

impl ReportExpr {
    /// Adds the fields that it looks at, in the order of the text.
    fn fields<'e>(&'e self, found: &mut Vec<&'e Spanned<String>>) {
        match self {
            ReportExpr::And(a, b) | ReportExpr::Or(a, b) => {
                a.fields(found);
                b.fields(found);
            }
            ReportExpr::Not(inner) => inner.fields(found),
            ReportExpr::Compare { left, right, .. } => {
                left.fields(found);
                right.fields(found);
            }
            ReportExpr::NonZero(num) => num.fields(found),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum ReportOperator {
    Number(CompareOp),
    /// `=~`, or `!~` if not `positive`.
    Regex {
        positive: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) enum ReportOperand {
    Number(Spanned<u64>),
    /// In `"`, or in `'` and not one character.
    Text(Spanned<String>),
    /// One character in `'`: a number, but text for a regular expression.
    Char(Spanned<char>),
    Field(Spanned<String>),
    Calc(Box<(ReportOperand, Calc, ReportOperand)>),
}

impl ReportOperand {
    fn fields<'e>(&'e self, found: &mut Vec<&'e Spanned<String>>) {
        match self {
            ReportOperand::Field(name) => found.push(name),
            ReportOperand::Calc(calc) => {
                calc.0.fields(found);
                calc.2.fields(found);
            }
            ReportOperand::Number(_) | ReportOperand::Text(_) | ReportOperand::Char(_) => {}
        }
    }
}
