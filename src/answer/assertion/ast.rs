//! Assertions as trees.

use super::interval::{Compare, Dimension, Interval};
use crate::base::syntax::{Diagnostic, Span, Spanned};
use crate::language::filter::Filter;

/// The name of an assertion in errors.
pub(super) const LABEL: &str = "assert";

/// An assertion: a comparison of two quantities.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The text it was parsed from.
    pub text: String,
    /// Left of the comparison.
    pub left: QuantityExpr,
    /// The comparison.
    pub op: Compare,
    /// Right of it.
    pub right: QuantityExpr,
}

/// A quantity, or several combined.
#[derive(Clone, Debug)]
pub enum QuantityExpr {
    /// A number of the text: `500us`, `5%`, `100/s`, `7`.
    Number(Interval),
    /// A quantity of the recording.
    Quantity(Box<Spanned<Quantity>>),
    /// Two combined, which gives the dimension.
    Combined(Box<QuantityExpr>, Operation, Box<QuantityExpr>, Dimension),
}

/// `+`, `-`, `*`, `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `+`, of equal dimensions.
    Plus,
    /// `-`, of equal dimensions.
    Minus,
    /// `*`.
    Times,
    /// `/`.
    Over,
}

/// A quantity of a recording.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// `lost`: events that the kernel dropped.
    Lost,
    /// `duration`: from the first event to the last.
    Duration,
    /// `count(EVENTS)`.
    Count(EventsExpr),
    /// `rate(EVENTS)`: their number by the duration.
    Rate(EventsExpr),
    /// `p99(SOURCE)` and the like.
    Reduced(Reducer, DurationSource),
    /// `errors(syscall(NAME))`, `errors(io(OPERATION))`.
    Errors(DurationSource),
    /// `busy`: share of all CPUs' time in which a task ran.
    Busy,
    /// `run(TASK)`: time that tasks ran.
    Run(String),
    /// `faults(TASK)`: page faults of tasks.
    Faults(String),
    /// `live(FUNCTION)`: bytes of objects that functions allocated and that nothing freed.
    Live(String),
}

/// One number of many durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reducer {
    /// `min`.
    Min,
    /// `max`.
    Max,
    /// `mean`.
    Mean,
    /// `trimmed`: the mean without the shortest and the longest twentieth.
    Trimmed,
    /// `sum`.
    Sum,
    /// `count`.
    Count,
    /// `p99.9`: the least duration that this percentage of all durations does not exceed.
    Quantile(f64),
}

/// Many durations.
#[derive(Clone, Debug)]
pub enum DurationSource {
    /// `latency(FROM, TO, KEY)`: from an event to the next one with the same key.
    Latency(Box<Latency>),
    /// `wait(TASK)`: from wakeup to CPU.
    Wait(String),
    /// `preempted(TASK)`: from a forced switch to the CPU again.
    Preempted(String),
    /// `syscall(NAME)`: from entry to exit.
    Syscall(String),
    /// `irq(KIND)` or `irq(KIND:NAME)`: handlers, from entry to exit.
    Irq(String),
    /// `io(OPERATION)`: requests, from insertion or issue to completion.
    Io(String),
    /// `syscall(NAME, task=TASK)`, likewise irq, io and lock: those of some tasks.
    OfTask(Box<DurationSource>, String),
    /// `function(NAME)`: calls of kernel functions, from entry to return.
    Function(String),
    /// `lock(KIND)` or `lock(NAME)`: waits for contended locks.
    Lock(String),
    /// `life(FUNCTION)`: objects that functions allocated, from there until they are freed.
    Life(String),
    /// `hist(EVENTS, key=FIELD, val=FIELD)`: sums by key. No durations, but as many numbers.
    Hist(Box<HistogramQuantity>),
}

/// The arguments of `hist`.
#[derive(Clone, Debug)]
pub struct HistogramQuantity {
    /// The events.
    pub events: EventsExpr,
    /// Fields by which they are counted.
    pub keys: Vec<Spanned<String>>,
    /// The field that is summed; without one events are counted.
    pub value: Option<Spanned<String>>,
}

/// The arguments of `latency`.
#[derive(Clone, Debug)]
pub struct Latency {
    /// The first event.
    pub from: EventsExpr,
    /// The second event.
    pub to: EventsExpr,
    /// Fields that are equal: of the first event, of the second.
    pub keys: Vec<(Spanned<String>, Spanned<String>)>,
}

/// Events by name, with a filter if there is one: `sched:sched_switch if prev_state == 1`.
#[derive(Clone, Debug)]
pub struct EventsExpr {
    /// As `-e` of `record` has them.
    pub names: Spanned<String>,
    /// In the kernel's language.
    pub filter: Option<Spanned<Filter>>,
}

impl QuantityExpr {
    /// The dimension.
    pub fn dimension(&self) -> Dimension {
        match self {
            QuantityExpr::Number(number) => number.dimension,
            QuantityExpr::Quantity(quantity) => quantity.dimension(),
            QuantityExpr::Combined(_, _, _, dimension) => *dimension,
        }
    }

    /// Its quantities, from left to right.
    pub fn quantities(&self) -> Vec<&Spanned<Quantity>> {
        match self {
            QuantityExpr::Number(_) => Vec::new(),
            QuantityExpr::Quantity(quantity) => vec![&**quantity],
            QuantityExpr::Combined(left, _, right, _) => [left.quantities(), right.quantities()].concat(),
        }
    }
}

impl Quantity {
    /// The dimension.
    pub fn dimension(&self) -> Dimension {
        match self {
            Quantity::Duration | Quantity::Run(_) => Dimension::Time,
            Quantity::Reduced(Reducer::Count, _) | Quantity::Reduced(_, DurationSource::Hist(_)) => Dimension::Number,
            Quantity::Faults(_) | Quantity::Live(_) => Dimension::Number,
            Quantity::Reduced(..) => Dimension::Time,
            Quantity::Rate(_) => Dimension::Rate,
            Quantity::Lost | Quantity::Count(_) | Quantity::Errors(_) | Quantity::Busy => Dimension::Number,
        }
    }
}

impl DurationSource {
    /// The source whatever tasks it is limited to, and these: a name (a glob) or a pid, of all the empty text.
    pub(super) fn parts(&self) -> (&DurationSource, &str) {
        match self {
            DurationSource::OfTask(source, task) => (source, task),
            source => (source, ""),
        }
    }

    /// True if both ends of each are events of one CPU: of handlers but work items.
    pub(super) fn is_of_one_cpu(&self) -> bool {
        matches!(self.parts().0, DurationSource::Irq(kind) if kind.starts_with(['i', 'v', 's', 't', 'h']))
    }
}

impl Reducer {
    /// The least number of durations that it says something of: of p99 a hundred, as of fewer it is the greatest.
    pub fn least_count(self) -> u64 {
        match self {
            Reducer::Sum | Reducer::Count => 0,
            Reducer::Min | Reducer::Max | Reducer::Mean => 1,
            // One on each side is set aside.
            Reducer::Trimmed => 20,
            // 0.1 % of rounding: 99.9 leaves 0.0999…
            Reducer::Quantile(percent) => (100.0 / (100.0 - percent) - 0.001).ceil().max(1.0) as u64,
        }
    }
}

impl Assertion {
    /// The place of a span of the text, for errors about it.
    pub(super) fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(LABEL, &self.text, span, message)
    }

    /// The greatest number that is allowed, if one quantity alone is compared with one: nanoseconds or events.
    pub(super) fn most_allowed(&self) -> Option<u64> {
        let (limit, op) = match (&self.left, self.op, &self.right) {
            (QuantityExpr::Quantity(_), op, QuantityExpr::Number(limit)) => (limit.observed, op),
            (QuantityExpr::Number(limit), Compare::Greater, QuantityExpr::Quantity(_)) => {
                (limit.observed, Compare::Less)
            }
            (QuantityExpr::Number(limit), Compare::GreaterOrEqual, QuantityExpr::Quantity(_)) => {
                (limit.observed, Compare::LessOrEqual)
            }
            (QuantityExpr::Number(limit), Compare::Equal, QuantityExpr::Quantity(_)) => {
                (limit.observed, Compare::Equal)
            }
            _ => return None,
        };
        match op {
            Compare::Less => Some((limit.ceil() as u64).saturating_sub(1)),
            Compare::LessOrEqual | Compare::Equal => Some(limit.floor() as u64),
            _ => None,
        }
    }
}
