//! Rows of the events so far.
//! The rows, and what became of the events that they are made of.

use super::super::map::Map;
use super::tally::ArgumentTally;
use super::value::{Found, ResolvedRowExpr, RowCell, RowInput};
use crate::answer::analysis::hist::{HistCounts, HistFindings};
use crate::language::synth::sql::{Aggregate, RowColumn, RowValue, Rows};
use std::cmp::Ordering;

/// A statement's values, compiled, and its columns.
pub(super) struct Program {
    pub(super) keys: Vec<ResolvedRowExpr>,
    pub(super) arguments: Vec<ResolvedRowExpr>,
    /// By argument: true if a percentile of it is asked for.
    pub(super) spread: Vec<bool>,
    columns: Vec<RowColumn>,
    is_grouped: bool,
    pub(super) order: Vec<(usize, bool)>,
    limit: Option<usize>,
}

impl Program {
    /// The program of `rows` with its values.
    pub(super) fn new(rows: &Rows, keys: Vec<ResolvedRowExpr>, arguments: Vec<ResolvedRowExpr>) -> Self {
        let is_spread = |at: usize| {
            let of =
                |column: &RowColumn| matches!(column.value, RowValue::Of(Aggregate::Percentile(_), of) if of == at);
            rows.columns.iter().any(of)
        };
        Program {
            spread: (0..arguments.len()).map(is_spread).collect(),
            keys,
            arguments,
            columns: rows.columns.clone(),
            is_grouped: rows.is_grouped,
            order: rows.order.clone(),
            limit: rows.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
        }
    }

    /// The order of two rows: as ORDER BY has it, then by all cells of groups; of others it is that of time.
    fn compare(&self, left: &[RowCell], right: &[RowCell]) -> Ordering {
        for (at, descending) in &self.order {
            let order = left.get(*at).cmp(&right.get(*at));
            let order = if *descending { order.reverse() } else { order };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// A group of events.
#[derive(Clone, Debug)]
struct Group {
    key: Vec<RowCell>,
    count: u64,
    tallies: Vec<ArgumentTally>,
}

/// Rows of some events.
#[derive(Default)]
pub(super) struct GatheredRows {
    places: Map<Vec<u8>, usize>,
    groups: Vec<Group>,
    /// Rows of single events, in the order of time.
    rows: Vec<Vec<RowCell>>,
    /// Events that became rows, or parts of some.
    pub(super) events: u64,
    /// Calculations without a result.
    pub(super) undefined: u64,
    scratch: Vec<u8>,
}

impl GatheredRows {
    /// Clears all rows and keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.groups.clear();
        self.rows.clear();
        (self.events, self.undefined) = (0, 0);
    }

    /// Takes the next event.
    #[inline]
    pub(super) fn take(&mut self, program: &Program, moment: &RowInput<'_>) {
        self.events = self.events.saturating_add(1);
        if !program.is_grouped {
            let keys: Vec<RowCell> =
                program.keys.iter().map(|key| key.of(moment, &mut self.undefined).cell(moment.abi)).collect();
            let group = Group { key: keys, count: 1, tallies: Vec::new() };
            self.rows.push(program.columns.iter().map(|column| group.cell(column.value)).collect());
            self.cut(program);
            return;
        }
        self.scratch.clear();
        for key in &program.keys {
            key.of(moment, &mut self.undefined).put(&mut self.scratch);
        }
        let at = match self.places.get(&self.scratch) {
            Some(at) => *at,
            None => {
                let mut ignored = 0;
                let key = program.keys.iter().map(|key| key.of(moment, &mut ignored).cell(moment.abi)).collect();
                let tallies = program.spread.iter().map(|spread| ArgumentTally::new(*spread)).collect();
                self.places.insert(self.scratch.clone(), self.groups.len());
                self.groups.push(Group { key, count: 0, tallies });
                self.groups.len().saturating_sub(1)
            }
        };
        let Some(group) = self.groups.get_mut(at) else { return };
        group.count = group.count.saturating_add(1);
        for (argument, tally) in program.arguments.iter().zip(&mut group.tallies) {
            match argument.of(moment, &mut self.undefined) {
                Found::Number(number) => tally.add(number),
                Found::Null => {}
                Found::Text(_) | Found::Stack(_) => tally.count_one(),
            }
        }
    }

    /// Keeps no more rows of single events than may be shown, and as many again.
    fn cut(&mut self, program: &Program) {
        let Some(limit) = program.limit else { return };
        if self.rows.len() > limit.saturating_mul(2).max(1024) {
            self.shorten(program, limit);
        }
    }

    fn shorten(&mut self, program: &Program, limit: usize) {
        self.rows.sort_by(|left, right| program.compare(left, right));
        self.rows.truncate(limit);
    }

    /// Adds rows of later events.
    pub(super) fn merge(&mut self, program: &Program, later: &mut GatheredRows) {
        self.events = self.events.saturating_add(later.events);
        self.undefined = self.undefined.saturating_add(later.undefined);
        self.rows.append(&mut later.rows);
        self.cut(program);
        for (key, from) in later.places.drain() {
            let Some(group) = later.groups.get_mut(from) else { continue };
            match self.places.get(&key).and_then(|at| self.groups.get_mut(*at)) {
                Some(known) => {
                    known.count = known.count.saturating_add(group.count);
                    known.tallies.iter_mut().zip(&group.tallies).for_each(|(known, more)| known.merge(more));
                }
                None => {
                    let new = Group { key: Vec::new(), count: 0, tallies: Vec::new() };
                    self.places.insert(key, self.groups.len());
                    self.groups.push(std::mem::replace(group, new));
                }
            }
        }
        later.groups.clear();
    }

    /// All rows in their order, their number before the limit, and whether their percentiles are exact.
    pub(super) fn finish(mut self, program: &Program) -> (Vec<Vec<RowCell>>, u64, bool) {
        let mut is_exact = true;
        if program.is_grouped {
            // Functions of no events at all have a value, too; groups there are none.
            if self.groups.is_empty() && program.keys.is_empty() {
                let tallies = program.spread.iter().map(|spread| ArgumentTally::new(*spread)).collect();
                self.groups.push(Group { key: Vec::new(), count: 0, tallies });
            }
            self.groups.sort_unstable_by(|left, right| left.key.cmp(&right.key));
            is_exact = self.groups.iter().all(|group| group.tallies.iter().all(ArgumentTally::is_exact));
            let row = |group: &Group| program.columns.iter().map(|column| group.cell(column.value)).collect();
            self.rows = self.groups.iter().map(row).collect();
        }
        let all = if program.is_grouped { self.rows.len() as u64 } else { self.events };
        self.shorten(program, program.limit.unwrap_or(usize::MAX));
        (self.rows, all, is_exact)
    }
}

impl Group {
    fn cell(&self, value: RowValue) -> RowCell {
        match value {
            RowValue::Key(at) => self.key.get(at).cloned().unwrap_or(RowCell::Null),
            RowValue::Count => RowCell::Number(self.count.into()),
            RowValue::Of(aggregate, at) => self.tallies.get(at).map_or(RowCell::Null, |tally| tally.value(aggregate)),
        }
    }
}

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
