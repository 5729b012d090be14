//! Metrics: quantities of the language of assertions, without a comparison.
//! Events that belong together, by themselves: `latency(FROM, TO, KEY)`.

use super::ast::{DurationSource, Latency, Operation, Quantity, QuantityExpr, Reducer};
use super::interval::{Dimension, Interval};
use super::measure::Measure;
use super::parse::AssertionParser;
use super::plan::{Named, PairSides, Planner};
use crate::answer::analysis::{Chosen, KeyPart, Pairs};
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, Span, Spanned};
use crate::base::units::EventId;
use crate::kernel::events::EventName;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use std::fmt;

/// A quantity that recordings are compared by: `p99(wait(nginx))`, `run(kswapd*) / duration`.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The text it was parsed from.
    pub text: String,
    /// The quantity.
    pub expr: QuantityExpr,
}

/// The name of a metric in errors.
pub(super) const LABEL: &str = "metric";

const NOT_OVER_TIME: &str = "it is not kept over time, which a comparison needs: hold it with `rtrace check`";

impl Metric {
    /// Parses `text`.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `metric` with the place of the error; quantities that have no interval of confidence are
    /// refused.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = AssertionParser::new(LABEL, text);
        let expr = parser.sum()?;
        parser.end()?;
        let metric = Metric { text: text.trim().to_owned(), expr };
        let whole = Span::new(0, text.len());
        for quantity in metric.expr.quantities() {
            let why = match &quantity.value {
                Quantity::Lost => "lost events decide whether recordings can be compared, and are no metric",
                Quantity::Reduced(_, source) if matches!(source.parts().0, DurationSource::Lock(_)) => NOT_OVER_TIME,
                Quantity::Faults(_)
                | Quantity::Live(_)
                | Quantity::Reduced(
                    _,
                    DurationSource::Function(_)
                    | DurationSource::Lock(_)
                    | DurationSource::Life(_)
                    | DurationSource::Hist(_),
                ) => NOT_OVER_TIME,
                // All named, so that a new quantity is decided on.
                Quantity::Duration
                | Quantity::Count(_)
                | Quantity::Rate(_)
                | Quantity::Errors(_)
                | Quantity::Busy
                | Quantity::Run(_)
                | Quantity::Reduced(
                    _,
                    DurationSource::Latency(_)
                    | DurationSource::Wait(_)
                    | DurationSource::Preempted(_)
                    | DurationSource::Syscall(_)
                    | DurationSource::Irq(_)
                    | DurationSource::Io(_)
                    | DurationSource::OfTask(..),
                ) => continue,
            };
            return Err(Diagnostic::new(LABEL, text, quantity.span, why));
        }
        if metric.expr.quantities().is_empty() {
            return Err(Diagnostic::new(LABEL, text, whole, "it says nothing about the recordings"));
        }
        Ok(metric)
    }

    /// Its quantities, from left to right.
    pub fn quantities(&self) -> Vec<&Quantity> {
        self.expr.quantities().into_iter().map(|quantity: &Spanned<Quantity>| &quantity.value).collect()
    }

    /// The dimension.
    pub fn dimension(&self) -> Dimension {
        self.expr.dimension()
    }

    /// Its value if its quantities have those of `of`; `None` if one has none, or it divides by zero.
    pub fn value(&self, of: &mut dyn FnMut(&Quantity) -> Option<f64>) -> Option<f64> {
        let exactly = |quantity: &Quantity| Some(Interval::exactly(of(quantity)?, quantity.dimension()));
        evaluate(&self.expr, &mut { exactly }).map(|value| value.observed)
    }

    /// The same of quantities that are known to lie within bounds.
    pub(crate) fn interval(&self, of: &mut dyn FnMut(&Quantity) -> Option<Interval>) -> Option<Interval> {
        evaluate(&self.expr, of)
    }

    /// True if a recording that lasts longer has more of it: a sum, a number of events, but not what is divided by `duration`, nor the
    /// duration itself.
    pub(crate) fn grows_with_time(&self) -> bool {
        power_of_time(&self.expr) != 0 && self.quantities().iter().any(|one| !matches!(one, Quantity::Duration))
    }

    /// A value as text, with its unit.
    pub fn shown(&self, value: f64) -> String {
        Interval::exactly(value, self.dimension()).to_string()
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The power of a recording's duration by which an expression grows.
fn power_of_time(expr: &QuantityExpr) -> i32 {
    match expr {
        QuantityExpr::Number(_) => 0,
        QuantityExpr::Quantity(quantity) => match &quantity.value {
            Quantity::Duration | Quantity::Count(_) | Quantity::Errors(_) | Quantity::Run(_) => 1,
            Quantity::Reduced(Reducer::Count | Reducer::Sum, _) => 1,
            _ => 0,
        },
        QuantityExpr::Combined(left, operation, right, _) => {
            let (left, right) = (power_of_time(left), power_of_time(right));
            match operation {
                Operation::Times => left.saturating_add(right),
                Operation::Over => left.saturating_sub(right),
                Operation::Plus | Operation::Minus => left.max(right),
            }
        }
    }
}

fn evaluate(expr: &QuantityExpr, of: &mut dyn FnMut(&Quantity) -> Option<Interval>) -> Option<Interval> {
    match expr {
        QuantityExpr::Number(number) => Some(*number),
        QuantityExpr::Quantity(quantity) => of(&quantity.value),
        QuantityExpr::Combined(left, operation, right, dimension) => {
            let (left, right) = (evaluate(left, of)?, evaluate(right, of)?);
            match operation {
                Operation::Plus => Some(left.plus(right)),
                Operation::Minus => Some(left.minus(right)),
                Operation::Times => Some(left.times(right, *dimension)),
                Operation::Over => left.over(right, *dimension),
            }
        }
    }
}

/// The name of a pair in errors.
const PAIR_LABEL: &str = "pair";

/// Events, each with the parts of its key, and their names.
pub type PairSide = (Chosen<'static, Vec<KeyPart>>, Vec<EventName>);

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
        let mut parser = AssertionParser::new(PAIR_LABEL, text);
        let source = parser.source()?;
        parser.end()?;
        match source {
            DurationSource::Latency(latency) => Ok(Pair { text: text.to_owned(), latency: *latency }),
            _ => Err(parser.here("only latency(FROM, TO, KEY) is a pair of events")),
        }
    }

    /// The events of the pair in a recording with these formats, each with the parts of its key, and their names; or why there
    /// are none.
    ///
    /// # Errors
    /// A filter or a key that does not fit the fields of its events.
    pub fn sides(
        &self,
        formats: &[&EventFormat],
        abi: Abi,
        comms: &Comms,
    ) -> Result<Result<[PairSide; 2], String>, Diagnostic> {
        let planner = Planner::new(formats, abi, comms, None);
        let sides = planner.sides(&self.latency, Named { label: PAIR_LABEL, text: &self.text })?;
        let names = |events: Vec<(EventName, EventId)>| events.into_iter().map(|(name, _)| name).collect();
        Ok(sides.map(|PairSides { begin, end, events: [of_begin, of_end] }| {
            [(begin.into_owned(), names(of_begin)), (end.into_owned(), names(of_end))]
        }))
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
        let need = planner.pairs(&self.latency, Named { label: PAIR_LABEL, text: &self.text }, u64::MAX)?;
        let found = planner.measures.into_iter().find_map(|measure| match measure {
            Measure::Pairs(pairs) => Some(*pairs),
            _ => None,
        });
        Ok(found.ok_or_else(|| need.missing.unwrap_or_else(|| "no such events were recorded".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics() {
        let metric = Metric::parse(" run(\"a(b\") / duration ").unwrap();
        let values = metric.value(&mut |quantity| match quantity {
            Quantity::Run(_) => Some(3e9),
            Quantity::Duration => Some(4e9),
            _ => None,
        });
        assert_eq!((values, metric.text.as_str()), (Some(0.75), "run(\"a(b\") / duration"));
        for (text, series) in [
            ("p99( wait( nginx ) )", "wait(nginx)"),
            ("run(\"a(b\")", "run(\"a(b\")"),
            ("rate(sched:sched_switch if prev_prio < 100)", "count(sched:sched_switch if prev_prio < 100)"),
            ("mean(latency(a:b,a:c,pid=next_pid,common_cpu))", "latency(a:b, a:c, pid=next_pid, common_cpu)"),
            ("mean(syscall())", "syscall()"),
            ("busy", "busy"),
            ("max(io(read))", "io(read)"),
            ("errors(syscall( openat )) / 1", "errors(syscall(openat))"),
            ("p99( io( read,task=my prog ))", "io(read, task=my prog)"),
            ("mean(syscall(task=7))", "syscall(task=7)"),
        ] {
            let metric = Metric::parse(text).unwrap();
            assert_eq!(metric.quantities()[0].series().as_deref(), Some(series), "{text}");
        }
    }

    #[test]
    fn sums_grow_with_time_and_shares_do_not() {
        for (text, grows) in [
            ("run(svc)", true),
            ("count(a:b) + count(a:c)", true),
            ("duration * rate(a:b)", true),
            ("sum(wait())", true),
            ("run(svc) / duration", false),
            ("errors(syscall()) / count(syscall())", false),
            ("p99(wait()) * 2", false),
            ("rate(a:b)", false),
            ("duration", false),
        ] {
            assert_eq!(Metric::parse(text).unwrap().grows_with_time(), grows, "{text}");
        }
    }

    #[test]
    fn what_is_no_metric_is_refused() {
        for (text, message) in [
            ("lost", "no metric"),
            ("faults(ls)", "not kept over time"),
            ("mean(lock(mutex, task=ls))", "not kept over time"),
            ("7", "nothing about"),
            ("mean(wait()) < 5ms", "nothing more"),
            ("mean(weit())", "one of latency()"),
        ] {
            let error = Metric::parse(text).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("metric: "), "{error}");
        }
    }
}
