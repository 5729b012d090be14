//! Assertions held against a recording.

use super::ast::{Assertion, LABEL, Operation, Quantity, QuantityExpr};
use super::conditions::{Conditions, Names, late_in_words};
use super::interval::{Compare, Interval};
use super::measure::{Finding, Measure};
use super::plan::{Named, Need, Planner};
use super::quantity::{Facts, Valued};
use crate::answer::analysis::{Extent, Several, Spot};
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, Spanned};
use crate::file::trace_dat::Coverage;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use std::collections::HashMap;

/// Assertions, and what must be measured for them.
pub struct Check<'a> {
    planned: Vec<Planned>,
    measures: Vec<Measure<'a>>,
}

/// An assertion.
struct Planned {
    assertion: Assertion,
    /// For each of its quantities, by the start of its place.
    needs: HashMap<usize, Need>,
}

/// The outcome of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionVerdict {
    /// It does, whatever was lost.
    Pass,
    /// It does not, whatever was lost.
    Fail,
    /// Undecided: depends on events that the recording lacks.
    Indeterminate,
}

/// An assertion's verdict, and why.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The assertion.
    pub text: String,
    /// The outcome.
    pub verdict: AssertionVerdict,
    /// The comparison.
    pub op: Compare,
    /// Left and right of the comparison, as far as they have a value.
    pub values: [Option<Interval>; 2],
    /// Number of durations that the value is made of, if it is made of some.
    pub samples: Option<u64>,
    /// Why it is not known, and what else must be known to read the value.
    pub reasons: Vec<String>,
    /// The first interval or event beyond the limit, as far as it is known, else the longest.
    pub spot: Option<Spot>,
}

impl<'a> Check<'a> {
    /// Plans the check of a recording with these formats; `comms` has the names of its tasks, `names` all others.
    ///
    /// # Errors
    /// A filter or a key that does not fit the fields of its events, a system call that its architecture does not have. That events are missing is a verdict, not an error.
    pub fn new(
        assertions: Vec<Assertion>,
        formats: &[&EventFormat],
        abi: Abi,
        comms: &'a Comms,
        names: &dyn Names,
    ) -> Result<Self, Diagnostic> {
        let mut planner = Planner::new(formats, abi, comms, None).with_names(names);
        let planned =
            assertions.into_iter().map(|assertion| Planned::new(assertion, &mut planner)).collect::<Result<_, _>>()?;
        Ok(Check { planned, measures: planner.measures })
    }

    /// Assertions that lack events among the formats, each with what is missing.
    pub fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        self.planned.iter().filter_map(|planned| {
            let missing = planned.needs.values().find_map(|need| need.missing.as_deref())?;
            Some((planned.assertion.text.as_str(), missing))
        })
    }

    /// The analysis of a buffer that [`Check::verdicts`] needs the finding of.
    pub fn measures(&self, coverage: &Coverage) -> Several<Measure<'a>> {
        Several(self.measures.iter().map(|measure| measure.clone().without_own(coverage)).collect())
    }

    /// The verdicts, in the order of the assertions.
    pub fn verdicts(&self, findings: &[Finding], extent: &Extent, conditions: &Conditions<'_>) -> Vec<Checked> {
        self.planned.iter().map(|planned| planned.verdict(findings, extent, conditions)).collect()
    }
}

impl Planned {
    fn new(assertion: Assertion, planner: &mut Planner<'_, '_>) -> Result<Self, Diagnostic> {
        let limit = assertion.most_allowed().unwrap_or(u64::MAX);
        let mut needs = HashMap::new();
        for quantity in [assertion.left.quantities(), assertion.right.quantities()].concat() {
            let of = Named { label: LABEL, text: &assertion.text };
            needs.insert(quantity.span.start, planner.need(quantity, of, limit)?);
        }
        Ok(Planned { assertion, needs })
    }

    fn verdict(&self, findings: &[Finding], extent: &Extent, conditions: &Conditions<'_>) -> Checked {
        let mut checked = self.assertion.judge(&mut |quantity| self.quantity(quantity, findings, extent, conditions));
        self.explain(extent, conditions, &mut checked);
        checked
    }

    fn quantity(
        &self,
        quantity: &Spanned<Quantity>,
        findings: &[Finding],
        extent: &Extent,
        conditions: &Conditions<'_>,
    ) -> Result<Valued, String> {
        let none = Need::default();
        let need = self.needs.get(&quantity.span.start).unwrap_or(&none);
        if let Some(missing) = &need.missing {
            return Err(missing.clone());
        }
        let finding = need.measure.and_then(|measure| findings.get(measure));
        let absent = finding.filter(|_| !conditions.allow_absent);
        if let Some(absent) = absent.and_then(|finding| quantity.value.absent(finding, conditions.names)) {
            return Err(absent);
        }
        if let Some(nameless) = finding.and_then(|finding| quantity.value.nameless(finding, conditions.names)) {
            return Err(nameless);
        }
        let unseen = need.unseen(extent, conditions);
        let facts = Facts { extent, conditions, unseen: unseen.as_deref() };
        let found = facts.value(&quantity.value, finding)?;
        let found = quantity.value.begun_late(found, &conditions.late);
        Ok(quantity.value.limited(found, need, &conditions.coverage))
    }

    /// Adds what must be known of losses and of filters.
    fn explain(&self, extent: &Extent, conditions: &Conditions<'_>, checked: &mut Checked) {
        let damaged = conditions.damaged.saturating_sub(conditions.unfinished.into());
        checked.explain_losses(extent.lost, extent.gaps, conditions.dropped, damaged);
        if conditions.unfinished && checked.values.iter().flatten().any(|value| !value.is_exact()) {
            checked.reasons.push("the recording is unfinished: it lacks the latest events".to_owned());
        }
        if checked.values.iter().flatten().any(|value| !value.is_exact()) {
            checked.reasons.extend(late_in_words(&conditions.late, conditions.in_ticks));
        }
        for quantity in [self.assertion.left.quantities(), self.assertion.right.quantities()].concat() {
            let Some(need) = self.needs.get(&quantity.span.start) else { continue };
            for limit in quantity.value.limits(need, &conditions.coverage) {
                if !checked.reasons.contains(&limit) {
                    checked.reasons.push(limit);
                }
            }
        }
    }
}

impl Assertion {
    /// The verdict, where `value` gives each quantity's value, or why it has none.
    pub(crate) fn judge(&self, value: &mut dyn FnMut(&Spanned<Quantity>) -> Result<Valued, String>) -> Checked {
        let mut checked = Checked {
            text: self.text.clone(),
            verdict: AssertionVerdict::Indeterminate,
            op: self.op,
            values: [None, None],
            samples: None,
            reasons: Vec::new(),
            spot: None,
        };
        checked.values = [&self.left, &self.right].map(|side| match evaluate(side, value, &mut checked) {
            Ok(value) => Some(value),
            Err(reason) => {
                checked.reasons.push(reason);
                None
            }
        });
        if let [Some(left), Some(right)] = checked.values {
            checked.verdict = match left.compare(self.op, right) {
                Some(true) => AssertionVerdict::Pass,
                Some(false) => AssertionVerdict::Fail,
                None => AssertionVerdict::Indeterminate,
            };
        }
        checked
    }
}

fn evaluate(
    expr: &QuantityExpr,
    value: &mut dyn FnMut(&Spanned<Quantity>) -> Result<Valued, String>,
    checked: &mut Checked,
) -> Result<Interval, String> {
    match expr {
        QuantityExpr::Number(number) => Ok(*number),
        QuantityExpr::Quantity(quantity) => {
            let valued = value(quantity)?;
            checked.samples = checked.samples.or(valued.samples);
            checked.spot = checked.spot.or(valued.spot);
            if valued.missing > 0 {
                let intervals = if valued.missing == 1 { "interval is" } else { "intervals are" };
                checked
                    .reasons
                    .push(format!("{} more {intervals} unknown: begin or end is not in the recording", valued.missing));
            }
            if let Some((begin, pid)) = valued.going_on {
                let task = pid.map_or_else(String::new, |pid| format!(" (task {})", pid.0));
                checked.reasons.push(format!(
                    "one that goes on at the end is longer: since {}.{:09}{task}",
                    begin / 1_000_000_000,
                    begin % 1_000_000_000
                ));
            }
            Ok(valued.value)
        }
        QuantityExpr::Combined(left, operation, right, dimension) => {
            let left = evaluate(left, value, checked)?;
            let right = evaluate(right, value, checked)?;
            Ok(match operation {
                Operation::Plus => left.plus(right),
                Operation::Minus => left.minus(right),
                Operation::Times => left.times(right, *dimension),
                Operation::Over => left.over(right, *dimension).ok_or("it divides by what may be zero")?,
            })
        }
    }
}

impl Checked {
    /// Adds the losses that keep a value from being known.
    pub(crate) fn explain_losses(&mut self, lost: u64, gaps: u64, dropped: u64, damaged: u64) {
        if !self.values.iter().flatten().any(|value| value.most.is_infinite()) {
            return;
        }
        if lost > 0 || gaps > 0 || dropped > 0 {
            let at_least = lost.saturating_add(gaps).max(dropped);
            let or_more = if gaps > 0 { " or more" } else { "" };
            self.reasons.push(format!("{at_least}{or_more} events were lost"));
        }
        match damaged {
            0 => {}
            1 => self.reasons.push("the file is damaged in 1 place".to_owned()),
            places => self.reasons.push(format!("the file is damaged in {places} places")),
        }
    }
}
