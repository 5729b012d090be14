//! Counts of things, of which there may be as many different ones as events.
//!
//! A hash table of millions misses the caches at each event. Here the latest are counted in a small table, and what leaves it
//! is appended to the list of its task and event, which is sorted and added up whenever it has doubled.

use crate::answer::analysis::interface::Map;
use std::fmt;

/// Places of the table.
const RECENT: usize = 1 << 11;
/// Entries that a list may have in any case.
const SOME: usize = 1 << 12;
/// Lists that are found without a look at the map.
const LATEST: usize = 64;

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
struct CountedKey {
    key: TallyKey,
    /// 0: the place is free.
    count: u64,
}

/// A value and how often it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountedValue {
    pub(super) value: u64,
    pub(super) count: u64,
}

/// Values of one event of one task.
#[derive(Clone, Default)]
struct ValueList {
    values: Vec<CountedValue>,
    /// The number of values that are in order, each another one.
    sorted: usize,
    /// Values that were seen once more each, of which most are.
    once: Vec<u64>,
}

/// Counts by key.
#[derive(Clone, Default)]
pub(super) struct Counts {
    /// [`RECENT`], or none yet.
    recent: Vec<CountedKey>,
    lists: Vec<ValueList>,
    /// The number of a list, by task and pair.
    list_of: Map<(u32, u32), usize>,
    /// Those that were looked up last.
    latest: Vec<((u32, u32), usize)>,
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
            self.append(gone);
        }
    }

    #[cold]
    fn begin(&mut self, key: TallyKey) {
        let free = CountedKey { key: TallyKey::new(0, 0, 0), count: 0 };
        self.recent.resize(RECENT, free);
        self.recent[place_of(key)] = CountedKey { key, count: 1 };
    }

    fn append(&mut self, CountedKey { key, count }: CountedKey) {
        let of = (key.task, key.pair);
        let place = (key.task ^ key.pair.wrapping_mul(5)) as usize % LATEST;
        let number = match self.latest.get(place) {
            Some((known, number)) if *known == of => *number,
            _ => self.look_up(of, place),
        };
        let Some(list) = self.lists.get_mut(number) else { return };
        match count {
            1 => list.once.push(key.value),
            _ => list.values.push(CountedValue { value: key.value, count }),
        }
        if list.values.len() + list.once.len() >= (list.sorted * 2).max(SOME) {
            list.add_up();
        }
    }

    /// The number of a list, which is made if there is none.
    fn look_up(&mut self, of: (u32, u32), place: usize) -> usize {
        let lists = &mut self.lists;
        let number = *self.list_of.entry(of).or_insert_with(|| {
            lists.push(ValueList::default());
            lists.len() - 1
        });
        if self.latest.is_empty() {
            self.latest.resize(LATEST, (of, number));
        }
        self.latest[place] = (of, number);
        number
    }

    /// Puts all in order.
    pub(super) fn finish(&mut self) {
        let recent = std::mem::take(&mut self.recent);
        recent.into_iter().filter(|recent| recent.count > 0).for_each(|recent| self.append(recent));
        self.lists.iter_mut().for_each(ValueList::add_up);
    }

    /// True if none was counted since all were put in order.
    pub(super) fn is_finished(&self) -> bool {
        self.recent.is_empty()
    }

    /// The task and the pair of each list, with the list's number.
    pub(super) fn lists(&self) -> impl Iterator<Item = ((u32, u32), usize)> {
        self.list_of.iter().map(|(of, number)| (*of, *number))
    }

    /// The values of a list, in order after [`Counts::finish`].
    pub(super) fn values(&self, number: usize) -> &[CountedValue] {
        self.lists.get(number).map_or(&[], |list| &list.values)
    }
}

impl ValueList {
    /// Sorts the values, of which equal ones become one.
    fn add_up(&mut self) {
        if self.sorted == self.values.len() && self.once.is_empty() {
            return;
        }
        self.once.sort_unstable();
        let same = self.once.chunk_by(|one, other| one == other);
        self.values.extend(same.map(|same| CountedValue { value: same[0], count: same.len() as u64 }));
        // Its memory goes with the last.
        self.once = Vec::new();
        // What is in order already is merged.
        self.values.sort_by_key(|counted| counted.value);
        self.values.dedup_by(|later, first| {
            let is_same = later.value == first.value;
            if is_same {
                first.count += later.count;
            }
            is_same
        });
        self.sorted = self.values.len();
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counts").field("lists", &self.lists.len()).finish_non_exhaustive()
    }
}

#[inline]
fn place_of(key: TallyKey) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let whose = u64::from(key.task) << 32 | u64::from(key.pair);
    let mixed = (key.value ^ whose.wrapping_mul(ODD)).wrapping_mul(ODD);
    (mixed >> (u64::BITS - RECENT.trailing_zeros())) as usize
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
        assert!(counts.lists.iter().any(|list| list.sorted > SOME) && !counts.is_finished());
        counts.finish();
        let mut lists: Vec<_> = counts.lists().collect();
        lists.sort_unstable();
        let keys = lists.into_iter().flat_map(|((task, pair), number)| {
            let key = move |value| TallyKey { task, pair, value };
            counts.values(number).iter().map(move |counted| (key(counted.value), counted.count))
        });
        assert!(keys.eq(expected));
        assert!(counts.is_finished() && Counts::default().is_finished());
    }
}
