//! Rows of the events so far.
//! The rows, and what became of the events that they are made of.
//! All numbers of one argument in one group.

use super::super::durations::Durations;
use super::super::interface::Map;
use super::value::{Found, ResolvedRowExpr, RowCell, RowInput};
use crate::answer::analysis::hist::{HistCounts, HistFindings};
use crate::language::synth::sql::{Aggregate, RowColumn, RowValue, Rows};
use std::cmp::Ordering;

/// A statement's values, compiled, and its columns.
pub(super) struct Program {
    pub(super) keys: Vec<ResolvedRowExpr>,
    pub(super) arguments: Vec<ResolvedRowExpr>,
    /// By argument: true if a percentile of it is asked for.
    spread: Vec<bool>,
    columns: Vec<RowColumn>,
    is_grouped: bool,
    order: Vec<(usize, bool)>,
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
    undefined: u64,
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

/// Numbers: how many, their sum, the least and the greatest, all exact; with `spread` also how they are distributed, as
/// [`Durations`] keep it.
#[derive(Clone, Debug, Default)]
struct ArgumentTally {
    count: u64,
    sum: i128,
    least: i128,
    greatest: i128,
    spread: Option<Box<Spread>>,
}

/// Numbers below 0, without their sign, and the others.
#[derive(Clone, Debug, Default)]
struct Spread {
    negative: Durations,
    others: Durations,
}

impl ArgumentTally {
    /// Of no numbers; `with_spread` for percentiles.
    fn new(with_spread: bool) -> Self {
        ArgumentTally { spread: with_spread.then(Box::default), ..ArgumentTally::default() }
    }

    /// Adds a value that is no number, which is only counted.
    fn count_one(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Adds a number, which has at most 64 bits and a sign.
    #[inline]
    fn add(&mut self, number: i128) {
        (self.least, self.greatest) = match self.count {
            0 => (number, number),
            _ => (self.least.min(number), self.greatest.max(number)),
        };
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(number);
        if let Some(spread) = &mut self.spread {
            let size = u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX);
            if number < 0 { spread.negative.add(size) } else { spread.others.add(size) }
        }
    }

    /// Adds all numbers of `other`.
    fn merge(&mut self, other: &ArgumentTally) {
        if other.count == 0 {
            return;
        }
        (self.least, self.greatest) = match self.count {
            0 => (other.least, other.greatest),
            _ => (self.least.min(other.least), self.greatest.max(other.greatest)),
        };
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        if let (Some(spread), Some(more)) = (&mut self.spread, &other.spread) {
            spread.negative.merge(&more.negative);
            spread.others.merge(&more.others);
        }
    }

    /// The function of all numbers; of none, only their count is a value.
    fn value(&self, aggregate: Aggregate) -> RowCell {
        match aggregate {
            Aggregate::Count => RowCell::Number(self.count.into()),
            _ if self.count == 0 => RowCell::Null,
            Aggregate::Sum => RowCell::Number(self.sum),
            Aggregate::Min => RowCell::Number(self.least),
            Aggregate::Max => RowCell::Number(self.greatest),
            Aggregate::Avg => RowCell::Thousandths(thousandths(self.sum, self.count)),
            Aggregate::Percentile(millionths) => self.spread.as_ref().map_or(RowCell::Null, |spread| {
                let rank = u128::from(self.count).saturating_mul(millionths.into()).div_ceil(1_000_000).max(1);
                RowCell::Number(spread.at_rank(u64::try_from(rank).unwrap_or(u64::MAX)))
            }),
        }
    }

    /// False if percentiles come from a histogram.
    fn is_exact(&self) -> bool {
        self.spread.as_ref().is_none_or(|spread| spread.negative.is_exact() && spread.others.is_exact())
    }
}

impl Spread {
    /// The number of this rank, from 1 for the least.
    fn at_rank(&self, rank: u64) -> i128 {
        match rank.checked_sub(self.negative.count()) {
            Some(rank @ 1..) => self.others.at_rank(rank).into(),
            _ => {
                let from_zero = self.negative.count().saturating_sub(rank).saturating_add(1);
                -i128::from(self.negative.at_rank(from_zero))
            }
        }
    }
}

/// The mean in thousandths, rounded to the nearest, halves away from 0.
fn thousandths(sum: i128, count: u64) -> i128 {
    let count = u128::from(count.max(1));
    let (whole, rest) = (sum.unsigned_abs() / count, sum.unsigned_abs() % count);
    // Both are below 2^64, as no number has more.
    let size = whole
        .saturating_mul(1000)
        .saturating_add(rest.saturating_mul(2000).saturating_add(count) / count.saturating_mul(2));
    let size = i128::try_from(size).unwrap_or(i128::MAX);
    if sum < 0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[i128]) -> ArgumentTally {
        let mut tally = ArgumentTally::new(true);
        numbers.iter().for_each(|number| tally.add(*number));
        tally
    }

    #[test]
    fn means_are_rounded_to_the_nearest_thousandth() {
        for (numbers, mean) in [
            (&[1i128, 2][..], 1500),
            (&[1, 0, 0], 333),
            (&[2, 0, 0], 667),
            (&[-2, 0, 0], -667),
            (&[1, 0, 0, 0, 0, 0, 0, 0], 125),
            (&[u64::MAX as i128, u64::MAX as i128], u64::MAX as i128 * 1000),
        ] {
            assert_eq!(of(numbers).value(Aggregate::Avg), RowCell::Thousandths(mean), "{numbers:?}");
        }
    }

    #[test]
    fn sums_have_no_limit_and_percentiles_their_sign() {
        let tally = of(&[u64::MAX as i128, u64::MAX as i128, -5, 0, 3]);
        assert_eq!(tally.value(Aggregate::Sum), RowCell::Number(2 * (u64::MAX as i128) - 2));
        let at = |percent: u32| tally.value(Aggregate::Percentile(percent * 10_000));
        assert_eq!(
            [at(0), at(20), at(21), at(60), at(61), at(100)].map(|cell| match cell {
                RowCell::Number(number) => number,
                other => panic!("{other:?}"),
            }),
            [-5, -5, 0, 3, u64::MAX as i128, u64::MAX as i128]
        );
        let none = ArgumentTally::new(true);
        assert_eq!((none.value(Aggregate::Sum), none.value(Aggregate::Percentile(1))), (RowCell::Null, RowCell::Null));
        assert_eq!(none.value(Aggregate::Count), RowCell::Number(0));
    }

    #[test]
    fn any_number_has_a_place() {
        let numbers: Vec<i128> =
            (0..10_000).map(|n| if n % 2 == 0 { u64::MAX as i128 - n } else { n - u64::MAX as i128 }).collect();
        let tally = of(&numbers);
        assert!(!tally.is_exact());
        assert_eq!(tally.value(Aggregate::Percentile(1_000_000)), RowCell::Number(u64::MAX as i128));
        let mut merged = of(&numbers[..100]);
        merged.merge(&of(&numbers[100..]));
        for share in [0, 1, 250_000, 500_000, 500_001, 999_999] {
            assert_eq!(merged.value(Aggregate::Percentile(share)), tally.value(Aggregate::Percentile(share)));
        }
    }
}
