//! A filter of the kernel's language, with the text it came from.

use super::{FilterExpr, FilterProgram, FunctionAddresses, check, compile, explain};
use crate::base::abi::Abi;
use crate::base::syntax::Diagnostic;
use crate::kernel::format::EventFormat;
use std::fmt;

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
        explain::explain(&self.expr)
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
