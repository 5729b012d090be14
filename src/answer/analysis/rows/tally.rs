//! All numbers of one argument in one group.

use super::super::durations::Durations;
use super::value::RowCell;
use crate::language::synth::sql::Aggregate;

/// Numbers: how many, their sum, the least and the greatest, all exact; with `spread` also how they are distributed, as
/// [`Durations`] keep it.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgumentTally {
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
    pub(super) fn new(with_spread: bool) -> Self {
        ArgumentTally { spread: with_spread.then(Box::default), ..ArgumentTally::default() }
    }

    /// Adds a value that is no number, which is only counted.
    pub(super) fn count_one(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Adds a number, which has at most 64 bits and a sign.
    #[inline]
    pub(super) fn add(&mut self, number: i128) {
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
    pub(super) fn merge(&mut self, other: &ArgumentTally) {
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
    pub(super) fn value(&self, aggregate: Aggregate) -> RowCell {
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
    pub(super) fn is_exact(&self) -> bool {
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
