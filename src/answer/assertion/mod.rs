//! Internal. Assertions about recordings: `p99(latency(sched:sched_waking, sched:sched_switch, pid=next_pid)) < 500us`. `rtrace help
//! assertions` has the language.
//!
//! An [`Assertion`] is parsed from text; [`Check`] holds it against the formats of a file, gives the one analysis that all
//! assertions need, and makes [`Checked`] of what that found. A quantity is an [`Interval`]: what was lost or is not known
//! makes it wide, and an assertion passes only if it holds for all of the interval.
//!
//! A [`StopCondition`] is held against events while they are recorded; a [`Metric`] is a quantity that recordings are compared by; [`Measurements`] gives the series over time that it is made of.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod ast;
mod check;
mod conditions;
mod interval;
mod limited;
#[cfg(test)]
mod lost;
mod measure;
mod metric;
mod parse;
mod plan;
mod presence;
mod quantity;
mod series;
mod stop;
mod words;

pub use ast::{
    Assertion, DurationSource, EventsExpr, HistogramQuantity, Latency, Operation, Quantity, QuantityExpr, Reducer,
};
pub use check::{AssertionVerdict, Check, Checked};
pub use conditions::{Conditions, Names, late_in_words};
pub use interval::{Compare, Dimension, Interval};
pub use measure::{Finding, Measure};
pub use metric::{Metric, Pair, PairSide};
pub use parse::{DURATIONS, QUANTITIES};
pub(crate) use quantity::Valued;
pub use series::{FoundSeries, Measurements};
pub use stop::{Missed, StopCondition, StopWatch, Stopped};
