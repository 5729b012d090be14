//! The syntax tree of `-F`.

use crate::filter::CompareOp;
use crate::filter::test::Calc;
use crate::syntax::{Diagnostic, Spanned};

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
    Compare { left: Num, op: Spanned<Compare>, right: Num },
    NonZero(Num),
}

#[derive(Clone, Debug)]
pub(super) enum Compare {
    Number(CompareOp),
    /// `=~`, or `!~` if not `positive`.
    Regex {
        positive: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Num {
    Number(Spanned<u64>),
    /// In `"`, or in `'` and not one character.
    Text(Spanned<String>),
    /// One character in `'`: a number, but text for a regular expression.
    Char(Spanned<char>),
    Field(Spanned<String>),
    Calc(Box<(Num, Calc, Num)>),
}
