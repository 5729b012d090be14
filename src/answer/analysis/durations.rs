//! Many durations: how many, how long together, and how they are distributed.
//! The longest of many durations.

use super::cells::{CellPlan, Cells};
use hdrhistogram::Histogram;

/// Durations of one kind, in the clock's unit (mostly nanoseconds).
///
/// Up to 4,096 of them are kept as they are. More go into a histogram with three significant digits (HdrHistogram), which
/// takes at most some 300 KiB: quantiles are then at most 0.1 % too large. Number, sum, least and greatest stay exact.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    count: u64,
    total: u64,
    least: u64,
    greatest: u64,
    kept: Vec<u64>,
    histogram: Option<Box<Histogram<u64>>>,
    cells: Option<Box<Cells>>,
}

/// The distribution of some durations, in the clock's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Number of durations; with none all others are 0.
    pub count: u64,
    /// Sum of the durations, in clock units.
    pub total: u64,
    /// The shortest.
    pub least: u64,
    /// The longest.
    pub greatest: u64,
    /// The least duration that half of all do not exceed.
    pub p50: u64,
    /// As `p50`, nine tenths.
    pub p90: u64,
    /// As `p50`, 99 of 100.
    pub p99: u64,
    /// As `p50`, 999 of 1,000.
    pub p999: u64,
    /// False if quantiles come from a histogram, and may be up to 0.1 % too large.
    pub exact: bool,
}

/// Durations kept as they are.
const KEPT: usize = 4096;

impl Durations {
    /// None yet; those that are added with their end are kept by the cell of `plan` too.
    pub fn in_cells(plan: CellPlan) -> Self {
        Durations { cells: Some(Box::new(Cells::new(plan))), ..Durations::default() }
    }

    /// By cell, if they were kept so.
    pub fn cells(&self) -> Option<&Cells> {
        self.cells.as_deref()
    }

    /// Adds one that ended at `at`.
    pub fn add_at(&mut self, at: u64, duration: u64) {
        self.add(duration);
        if let Some(cells) = &mut self.cells {
            cells.add(at, duration);
        }
    }

    /// Adds one.
    pub fn add(&mut self, duration: u64) {
        self.least = if self.count == 0 { duration } else { self.least.min(duration) };
        self.greatest = self.greatest.max(duration);
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(duration);
        match &self.histogram {
            None if self.kept.len() < KEPT => self.kept.push(duration),
            _ => record(self.histogram_mut(), duration),
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Durations) {
        if other.count == 0 {
            return;
        }
        match (&mut self.cells, &other.cells) {
            (Some(ours), Some(theirs)) => ours.merge(theirs),
            (None, Some(theirs)) => self.cells = Some(theirs.clone()),
            (_, None) => {}
        }
        let before = (self.count, self.total, self.least, self.greatest);
        other.kept.iter().for_each(|duration| self.add(*duration));
        if let Some(others) = &other.histogram {
            let ours = self.histogram_mut();
            // Both grow by themselves, so that there is a place for each value.
            let _ = ours.add(others.as_ref());
        }
        self.least = if before.0 == 0 { other.least } else { before.2.min(other.least) };
        self.greatest = before.3.max(other.greatest);
        self.count = before.0.saturating_add(other.count);
        self.total = before.1.saturating_add(other.total);
    }

    /// Numbers of durations by powers of two: the place n has those from 2^n (of n = 0 from 0) to below 2^(n + 1). None is
    /// rounded into another place.
    pub fn powers(&self) -> Vec<u64> {
        let mut powers = Vec::new();
        let mut add = |duration: u64, count: u64| {
            let place = duration.checked_ilog2().unwrap_or(0) as usize;
            if powers.len() <= place {
                powers.resize(place.saturating_add(1), 0);
            }
            if let Some(there) = powers.get_mut(place) {
                *there = count.saturating_add(*there);
            }
        };
        self.kept.iter().for_each(|duration| add(*duration, 1));
        let histogram = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        histogram.for_each(|step| add(step.value_iterated_to(), step.count_since_last_iteration()));
        powers
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the durations, in clock units.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The least duration that `millionths` of all do not exceed, by the nearest rank: of n durations the
    /// ceil(n * millionths / 1,000,000)th; 0 of none.
    pub fn quantile(&self, millionths: u32) -> u64 {
        self.quantile_of(&self.sorted(), millionths)
    }

    /// Durations kept unrounded, ascending.
    fn sorted(&self) -> Vec<u64> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        sorted
    }

    fn quantile_of(&self, sorted: &[u64], millionths: u32) -> u64 {
        match &self.histogram {
            Some(histogram) => histogram.value_at_quantile(f64::from(millionths) / 1e6).min(self.greatest),
            None => sorted.get((rank(self.count, millionths) as usize).saturating_sub(1)).copied().unwrap_or(0),
        }
    }

    /// The least and the greatest that the quantile can be if up to `more` durations are not among these, none of which is
    /// longer than `longest`, and up to `wrong` of these are none.
    pub fn quantile_bounds(&self, millionths: u32, more: u64, wrong: u64, longest: u64) -> (u64, u64) {
        let sorted = self.sorted();
        // The longest of these are the wrong ones and all others shorter, or the shortest are and all others longer.
        let rank = rank(self.count.saturating_sub(wrong).saturating_add(more), millionths);
        let least = rank.checked_sub(more).filter(|rank| *rank > 0).map_or(0, |rank| self.of_rank(&sorted, rank));
        let rank = rank.saturating_add(wrong.min(self.count));
        let most = if rank <= self.count { self.of_rank(&sorted, rank) } else { self.greatest.max(longest) };
        (least, most)
    }

    /// The duration of this rank, from 1 for the least; 0 of none. At most 0.1 % too large where they are
    /// [not exact](Durations::is_exact).
    pub fn at_rank(&self, rank: u64) -> u64 {
        self.of_rank(&self.sorted(), rank)
    }

    fn of_rank(&self, sorted: &[u64], rank: u64) -> u64 {
        match &self.histogram {
            Some(_) if rank >= self.count => self.greatest,
            Some(histogram) => {
                let mut below = 0u64;
                let cell = histogram.iter_recorded().find(|cell| {
                    below = below.saturating_add(cell.count_since_last_iteration());
                    below >= rank
                });
                cell.map_or(self.greatest, |cell| cell.value_iterated_to().min(self.greatest))
            }
            None => sorted.get((rank as usize).saturating_sub(1)).copied().unwrap_or(0),
        }
    }

    /// The mean without the shortest and the longest twentieth, each rounded down to whole durations; 0 of none. At most 0.1 %
    /// too large where they are [not exact](Durations::is_exact).
    pub fn trimmed_mean(&self) -> f64 {
        let aside = self.count / 20;
        let (mut before, mut sum) = (0u64, 0.0);
        let mut add = |value: u64, count: u64| {
            let after = before.saturating_add(count);
            let kept = after.min(self.count - aside).saturating_sub(before.max(aside));
            sum += value.min(self.greatest) as f64 * kept as f64;
            before = after;
        };
        match &self.histogram {
            Some(histogram) => histogram
                .iter_recorded()
                .for_each(|cell| add(cell.value_iterated_to(), cell.count_since_last_iteration())),
            None => self.sorted().into_iter().for_each(|value| add(value, 1)),
        }
        sum / (self.count - 2 * aside).max(1) as f64
    }

    /// True if quantiles are exact; else they may be up to 0.1 % too large.
    pub fn is_exact(&self) -> bool {
        self.histogram.is_none()
    }

    /// The shortest; 0 of none.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// The longest; 0 of none.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// The distribution.
    pub fn distribution(&self) -> Distribution {
        let sorted = self.sorted();
        let quantile = |thousandths: u32| self.quantile_of(&sorted, thousandths * 1000);
        Distribution {
            count: self.count,
            total: self.total,
            least: self.least,
            greatest: self.greatest,
            p50: quantile(500),
            p90: quantile(900),
            p99: quantile(990),
            p999: quantile(999),
            exact: self.histogram.is_none(),
        }
    }

    fn histogram_mut(&mut self) -> &mut Histogram<u64> {
        let kept = &mut self.kept;
        self.histogram.get_or_insert_with(|| {
            // `new` refuses numbers of digits above five alone.
            let mut histogram = Histogram::new(3).expect("three digits are between none and five");
            histogram.auto(true);
            std::mem::take(kept).into_iter().for_each(|duration| record(&mut histogram, duration));
            Box::new(histogram)
        })
    }
}

/// The nearest rank of a quantile of `count` durations, from 1.
fn rank(count: u64, millionths: u32) -> u64 {
    u128::from(count).saturating_mul(millionths.into()).div_ceil(1_000_000) as u64
}

/// Adds one; the histogram grows to any size of number.
fn record(histogram: &mut Histogram<u64>, duration: u64) {
    let recorded = histogram.record(duration);
    debug_assert!(recorded.is_ok(), "{duration}: {recorded:?}");
}

impl Distribution {
    /// The mean; 0 of none.
    pub fn mean(&self) -> u64 {
        self.total.checked_div(self.count).unwrap_or(0)
    }
}

/// Some of many values, each of which took a time: those that took longest, of equal ones the first.
#[derive(Clone, Debug)]
pub struct Longest<T> {
    most: usize,
    /// The longest first.
    found: Vec<(u64, T)>,
}

impl<T> Default for Longest<T> {
    /// The longest one.
    fn default() -> Self {
        Longest::of(1)
    }
}

impl<T> Longest<T> {
    /// Keeps the `most` values that took longest.
    pub fn of(most: usize) -> Self {
        Longest { most, found: Vec::new() }
    }

    /// Keeps a value if it is among the longest, with its time in clock units.
    #[inline]
    pub fn add(&mut self, time: u64, value: impl FnOnce() -> T) {
        let is_full = self.found.len() >= self.most;
        if is_full && self.found.last().is_none_or(|(least, _)| *least >= time) {
            return;
        }
        let place = self.found.partition_point(|(longer, _)| *longer >= time);
        self.found.insert(place, (time, value()));
        self.found.truncate(self.most);
    }

    /// The longest of all.
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// All that are kept, the longest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.found.iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Durations {
        let mut durations = Durations::default();
        values.iter().for_each(|value| durations.add(*value));
        durations
    }

    #[test]
    fn powers_of_two() {
        assert!(of(&[]).powers().is_empty());
        assert_eq!(of(&[0, 1, 2, 3, 4, 9]).powers(), vec![2u64, 2, 1, 1]);
        let many: Vec<u64> = (0..20_000).map(|nth| nth * nth * 7 % (1 << 40)).collect();
        let mut expected = vec![0u64; 64];
        many.iter().for_each(|one| expected[(*one).max(1).ilog2() as usize] += 1);
        let found = of(&many).powers();
        assert!(!of(&many).is_exact());
        assert_eq!(found, expected[..found.len()]);
        assert_eq!(found.iter().sum::<u64>(), 20_000);
    }

    /// By the definition, one after the other.
    fn slow(values: &[u64], thousandths: u64) -> u64 {
        let enough = |limit: u64| values.iter().filter(|value| **value <= limit).count() as u64 * 1000;
        let mut candidates: Vec<u64> = values.to_vec();
        candidates.sort_unstable();
        candidates.into_iter().find(|value| enough(*value) >= values.len() as u64 * thousandths).unwrap_or(0)
    }

    #[test]
    fn few_are_exact() {
        let one = of(&[7]).distribution();
        assert_eq!(
            (one.count, one.least, one.greatest, one.p50, one.p999, one.mean(), one.exact),
            (1, 7, 7, 7, 7, 7, true)
        );
        let none = of(&[]).distribution();
        assert_eq!((none.count, none.mean(), none.p50), (0, 0, 0));
    }

    #[test]
    fn a_trimmed_mean_is_of_the_middle() {
        assert_eq!((of(&[]).trimmed_mean(), of(&[3, 9]).trimmed_mean()), (0.0, 6.0));
        let mut values: Vec<u64> = (1..=38).collect();
        values.extend([0, 1_000_000]); // forty: two on each side
        assert_eq!(of(&values).trimmed_mean(), (2..=37).sum::<u64>() as f64 / 36.0);
        let many: Vec<u64> = (0..10_000).map(|nth| if nth < 400 { 1 << 40 } else { 1_000 + nth }).collect();
        let mut sorted = many.clone();
        sorted.sort_unstable();
        let exact = sorted[500..9_500].iter().sum::<u64>() as f64 / 9_000.0;
        assert!((1.0..1.001).contains(&(of(&many).trimmed_mean() / exact)));
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_definition(
            values in prop::collection::vec(prop_oneof![0..50u64, any::<u32>().prop_map(u64::from)], 1..400),
            split in 0..400usize,
        ) {
            let (a, b) = values.split_at(split.min(values.len()));
            let mut merged = of(a);
            merged.merge(&of(b));
            let found = merged.distribution();
            prop_assert_eq!(found, of(&values).distribution());
            prop_assert_eq!(found.total, values.iter().sum::<u64>());
            for (quantile, thousandths) in [(found.p50, 500), (found.p90, 900), (found.p99, 990), (found.p999, 999)] {
                prop_assert_eq!(quantile, slow(&values, thousandths));
            }
        }
    }

    #[test]
    fn what_is_not_known_bounds_quantiles() {
        let known: Vec<u64> = (1..=1000).collect();
        let (all, few) = (of(&known), of(&[5]));
        assert_eq!(all.quantile_bounds(990_000, 0, 0, 0), (990, 990));
        assert_eq!(all.quantile_bounds(990_000, 5, 0, 9_999), (990, 995));
        assert_eq!(all.quantile_bounds(990_000, 50, 0, 9_999), (990, 9_999));
        assert_eq!(few.quantile_bounds(500_000, 3, 0, 2), (0, 5));
        // With any three more, the quantile lies within.
        let (least, most) = all.quantile_bounds(500_000, 3, 0, 2_000);
        for more in [&[][..], &[0], &[0, 0, 0], &[2_000, 2_000, 2_000], &[1, 700, 2_000]] {
            let quantile = of(&[&known[..], more].concat()).quantile(500_000);
            assert!((least..=most).contains(&quantile), "{more:?}: {quantile} not in {least}..={most}");
        }
        // Ten of them are none.
        let (least, most) = all.quantile_bounds(500_000, 3, 10, 2_000);
        for (wrong, more) in [(0..10, &[2_000; 3][..]), (990..1000, &[0; 3]), (495..505, &[]), (3..7, &[1])] {
            let kept: Vec<u64> = (0..1000).filter(|at| !wrong.contains(at)).map(|at| known[at]).collect();
            let quantile = of(&[&kept[..], more].concat()).quantile(500_000);
            assert!((least..=most).contains(&quantile), "{wrong:?} {more:?}: {quantile} not in {least}..={most}");
        }
        assert_eq!((few.quantile_bounds(500_000, 0, 4, 7), all.quantile_bounds(990_000, 0, 20, 7).1), ((0, 5), 991));
    }

    #[test]
    fn many_are_within_a_thousandth() {
        let values: Vec<u64> = (0..20_000u64).map(|n| n * n % 999_983 * 1_013 + n).collect();
        let (a, b) = values.split_at(4_000);
        for many in [of(&values), {
            let mut all = of(a);
            all.merge(&of(b));
            all
        }] {
            let found = many.distribution();
            assert!(!found.exact);
            assert_eq!((found.count, found.total), (20_000, values.iter().sum()));
            assert_eq!((found.least, found.greatest), (*values.iter().min().unwrap(), *values.iter().max().unwrap()));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for (quantile, thousandths) in [(found.p50, 500), (found.p90, 900), (found.p99, 990), (found.p999, 999)] {
                let right = sorted[20 * thousandths - 1];
                assert!(
                    quantile >= right && quantile - right <= right / 1000 + 1,
                    "{thousandths}: {quantile} for {right}"
                );
            }
        }
    }

    #[test]
    fn the_longest_are_kept_and_of_equal_ones_the_first() {
        let mut longest = Longest::of(3);
        for (place, time) in [5, 7, 5, 9, 7, 1, 5].into_iter().enumerate() {
            longest.add(time, || (time, place));
        }
        assert_eq!(longest.iter().copied().collect::<Vec<_>>(), [(9, 3), (7, 1), (7, 4)]);
        let mut none = Longest::of(0);
        none.add(1, || ());
        assert!(none.first().is_none());
    }
}
