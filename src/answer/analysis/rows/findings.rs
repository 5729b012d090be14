//! The rows, and what became of the events that they are made of.

use super::super::hist::{HistCounts, HistFindings};
use super::cell::RowCell;
use super::gathered::{GatheredRows, Program};

/// The rows of a statement.
#[derive(Debug)]
pub struct RowFindings {
    /// The rows in their order, each with all columns, also those that are not shown.
    pub rows: Vec<Vec<RowCell>>,
    /// Number of rows before LIMIT.
    pub all: u64,
    /// Events, or pairs, that the rows are made of.
    pub events: u64,
    /// Calculations without a result, which are no value: beyond 2^64, or divided by 0.
    pub undefined: u64,
    /// False if percentiles come from a histogram, and may be up to 0.1 % too large.
    pub is_exact: bool,
    /// With JOIN: what became of its events.
    pub pairs: Option<PairCounts>,
}

/// The events of a JOIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCounts {
    /// Of the start event.
    pub start: HistCounts,
    /// Of the end event.
    pub end: HistCounts,
    /// Start and end events that found no room in a table, where the kernel's limits are asked for.
    pub dropped: [u64; 2],
}

impl PairCounts {
    pub(super) fn of(findings: &HistFindings) -> Option<PairCounts> {
        let dropped = [0, 1].map(|trigger| findings.dropped(trigger).unwrap_or(0));
        Some(PairCounts { start: findings.counts(0)?, end: findings.counts(1)?, dropped })
    }
}

impl RowFindings {
    pub(super) fn new(program: &Program, gathered: GatheredRows, pairs: Option<PairCounts>) -> Self {
        let (events, undefined) = (gathered.events, gathered.undefined);
        let (rows, all, is_exact) = gathered.finish(program);
        RowFindings { rows, all, events, undefined, is_exact, pairs }
    }
}
