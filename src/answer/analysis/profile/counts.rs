//! Counts of things, of which there may be as many different ones as events.
//!
//! A hash table of millions misses the caches at each event. Here the latest are counted in a small table, and what leaves it
//! is appended to a list, which is sorted and added up whenever it has grown by half.

use std::borrow::Cow;
use std::fmt;

/// Places of the table.
const RECENT: usize = 1 << 12;
/// Entries by which the list may grow in any case.
const SOME: usize = 1 << 16;

/// An event of a task with a value. Of page faults there are as many as addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TallyKey {
    /// Number of the task in the profile's list.
    pub(super) task: u32,
    /// The pair's; of what is no pair, the event's.
    pub(super) pair: u32,
    pub(super) value: u64,
}

impl TallyKey {
    pub(super) fn new(task: usize, pair: usize, value: u64) -> Self {
        TallyKey { task: task as u32, pair: pair as u32, value }
    }
}

/// A key and how often it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountedKey {
    pub(super) key: TallyKey,
    /// 0: the place is free.
    pub(super) count: u64,
}

/// Counts by key.
#[derive(Clone, Default)]
pub(super) struct Counts {
    /// [`RECENT`], or none yet.
    recent: Vec<CountedKey>,
    list: Vec<CountedKey>,
    /// The number of entries that are in order, each of another key.
    sorted: usize,
}

impl Counts {
    /// Counts it once more.
    #[inline]
    pub(super) fn add(&mut self, key: TallyKey) {
        let Some(place) = self.recent.get_mut(place_of(key)) else { return self.begin(key) };
        if place.key == key {
            place.count += 1;
            return;
        }
        let gone = std::mem::replace(place, CountedKey { key, count: 1 });
        if gone.count > 0 {
            self.list.push(gone);
            if self.list.len() > self.sorted + (self.sorted / 2).max(SOME) {
                self.sorted = add_up(&mut self.list);
            }
        }
    }

    #[cold]
    fn begin(&mut self, key: TallyKey) {
        let free = CountedKey { key: TallyKey::new(0, 0, 0), count: 0 };
        self.recent.resize(RECENT, free);
        self.recent[place_of(key)] = CountedKey { key, count: 1 };
    }

    /// Puts all in order.
    pub(super) fn finish(&mut self) {
        if !self.recent.is_empty() {
            self.list.extend(std::mem::take(&mut self.recent).into_iter().filter(|recent| recent.count > 0));
            self.sorted = add_up(&mut self.list);
        }
    }

    /// All of them, by key.
    pub(super) fn all(&self) -> Cow<'_, [CountedKey]> {
        if self.recent.is_empty() {
            return Cow::Borrowed(&self.list);
        }
        let mut copy = self.clone();
        copy.finish();
        Cow::Owned(copy.list)
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counts").field("list", &self.list.len()).finish_non_exhaustive()
    }
}

#[inline]
fn place_of(key: TallyKey) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let whose = u64::from(key.task) << 32 | u64::from(key.pair);
    let mixed = (key.value ^ whose.wrapping_mul(ODD)).wrapping_mul(ODD);
    (mixed >> (u64::BITS - RECENT.trailing_zeros())) as usize
}

/// Sorts entries, of which those of one key become one; gives how many there are.
fn add_up(list: &mut Vec<CountedKey>) -> usize {
    // Stable, as that merges what is in order already.
    list.sort_by_key(|counted| counted.key);
    list.dedup_by(|later, first| {
        let is_same = later.key == first.key;
        if is_same {
            first.count += later.count;
        }
        is_same
    });
    list.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn counts_are_those_of_a_map() {
        let (mut counts, mut expected) = (Counts::default(), BTreeMap::<TallyKey, u64>::new());
        for n in 0..400_000u64 {
            let key = TallyKey::new(
                (n % 3) as usize,
                (n / 7 % 2) as usize,
                if n % 5 == 0 { n % 11 } else { n * n % 250_007 },
            );
            counts.add(key);
            *expected.entry(key).or_default() += 1;
        }
        let check = |counts: &Counts| {
            assert!(counts.all().iter().map(|counted| (counted.key, counted.count)).eq(expected.clone()));
        };
        assert!(counts.sorted > SOME);
        check(&counts);
        counts.finish();
        check(&counts);
        assert!(matches!(counts.all(), Cow::Borrowed(_)) && Counts::default().all().is_empty());
    }
}
