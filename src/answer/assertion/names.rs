//! Sources of durations as text: two that mean the same have the same text.

use super::ast::{DurationSource, EventsExpr, Quantity, Reducer};
use std::fmt;

impl fmt::Display for EventsExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.value)?;
        match &self.filter {
            Some(filter) => write!(f, " if {}", filter.value.text()),
            None => Ok(()),
        }
    }
}

/// A pattern between parentheses, in quotes if it holds one.
struct PatternText<'a>(&'a str);

impl fmt::Display for PatternText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = !self.0.contains(['(', ')', '"', '\'']) && self.0.trim() == self.0;
        if is_plain { f.write_str(self.0) } else { write!(f, "\"{}\"", self.0) }
    }
}

impl DurationSource {
    /// Its word and the name between its parentheses, if that is all that it has.
    pub(super) fn named(&self) -> Option<(&'static str, &str)> {
        Some(match self {
            DurationSource::Latency(_) | DurationSource::Hist(_) | DurationSource::OfTask(..) => return None,
            DurationSource::Wait(pattern) => ("wait", pattern),
            DurationSource::Preempted(pattern) => ("preempted", pattern),
            DurationSource::Syscall(pattern) => ("syscall", pattern),
            DurationSource::Irq(pattern) => ("irq", pattern),
            DurationSource::Io(pattern) => ("io", pattern),
            DurationSource::Function(pattern) => ("function", pattern),
            DurationSource::Lock(pattern) => ("lock", pattern),
            DurationSource::Life(pattern) => ("life", pattern),
        })
    }
}

impl fmt::Display for DurationSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationSource::Latency(latency) => {
                write!(f, "latency({}, {}", latency.from, latency.to)?;
                for (from, to) in &latency.keys {
                    match from.value == to.value {
                        true => write!(f, ", {}", from.value)?,
                        false => write!(f, ", {}={}", from.value, to.value)?,
                    }
                }
                f.write_str(")")
            }
            DurationSource::OfTask(source, task) => {
                let (name, pattern) = source.named().unwrap_or_default();
                let comma = if pattern.is_empty() { "" } else { ", " };
                write!(f, "{name}({}{comma}task={})", PatternText(pattern), PatternText(task))
            }
            DurationSource::Hist(hist) => {
                write!(f, "hist({}", hist.events)?;
                hist.keys.iter().try_for_each(|key| write!(f, ", key={}", key.value))?;
                hist.value.iter().try_for_each(|value| write!(f, ", val={}", value.value))?;
                f.write_str(")")
            }
            source => {
                let (name, pattern) = source.named().unwrap_or_default();
                write!(f, "{name}({})", PatternText(pattern))
            }
        }
    }
}

impl Quantity {
    /// True of the shortest and the longest duration.
    pub fn is_extreme(&self) -> bool {
        matches!(self, Quantity::Reduced(Reducer::Min | Reducer::Max, _))
    }

    /// The name of the series over time that it is a number of: `wait(nginx)` of `p99(wait(nginx))`, `count(EVENTS)` of their
    /// rate. `None` if it needs none, or has none.
    pub fn series(&self) -> Option<String> {
        match self {
            Quantity::Lost | Quantity::Duration | Quantity::Faults(_) | Quantity::Live(_) => None,
            Quantity::Count(events) | Quantity::Rate(events) => Some(format!("count({events})")),
            Quantity::Reduced(_, source) => Some(source.to_string()),
            Quantity::Errors(source) => Some(format!("errors({source})")),
            Quantity::Busy => Some("busy".to_owned()),
            Quantity::Run(task) => Some(format!("run({})", PatternText(task))),
        }
    }
}
