//! Events that belong together, by themselves: `latency(FROM, TO, KEY)`.

use super::ast::{DurationSource, Latency};
use super::measure::Measure;
use super::parse::AssertionParser;
use super::plan::{Named, Planner};
use crate::answer::analysis::Pairs;
use crate::base::abi::Abi;
use crate::base::syntax::Diagnostic;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;

/// The name of a pair in errors.
const LABEL: &str = "pair";

/// A pair of events as assertions have it: `latency(FROM, TO, KEY)`.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The text it was parsed from.
    pub text: String,
    latency: Latency,
}

impl Pair {
    /// Parses `latency(FROM, TO, KEY)`.
    ///
    /// # Errors
    /// A [`Diagnostic`] with the place in the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = AssertionParser::new(LABEL, text);
        let source = parser.source()?;
        parser.end()?;
        match source {
            DurationSource::Latency(latency) => Ok(Pair { text: text.to_owned(), latency: *latency }),
            _ => Err(parser.here("only latency(FROM, TO, KEY) is a pair of events")),
        }
    }

    /// The times of the pairs in a recording with these formats, or why there are none; `comms` has the names of its tasks.
    ///
    /// # Errors
    /// A filter or a key that does not fit the fields of its events.
    pub fn pairs<'a>(
        &self,
        formats: &[&EventFormat],
        abi: Abi,
        comms: &'a Comms,
    ) -> Result<Result<Pairs<'a>, String>, Diagnostic> {
        let mut planner = Planner::new(formats, abi, comms, None);
        let need = planner.pairs(&self.latency, Named { label: LABEL, text: &self.text }, u64::MAX)?;
        let found = planner.measures.into_iter().find_map(|measure| match measure {
            Measure::Pairs(pairs) => Some(*pairs),
            _ => None,
        });
        Ok(found.ok_or_else(|| need.missing.unwrap_or_else(|| "no such events were recorded".to_owned())))
    }
}
