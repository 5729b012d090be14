//! The first of many streams: a tree of the streams' heads, each level the winners of the one below.

use std::hint::select_unpredictable;

/// The time of a stream's next record; of two at the same time the stream with the lower number is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MergeKey {
    pub(super) time: u64,
    pub(super) stream: u32,
}

/// A complete binary tree of keys. To give a stream another time costs one comparison per level, without branches: CPUs
/// that take turns would make them hard to predict.
#[derive(Clone, Debug, Default)]
pub(super) struct Tournament {
    /// From 1: the root; those below `at` are `2 * at` and `2 * at + 1`. The second half holds the streams' own keys, by
    /// number. Empty, or a power of two of them.
    tree: Vec<MergeKey>,
}

/// The key of a stream that is not there.
const NONE: MergeKey = MergeKey { time: u64::MAX, stream: u32::MAX };
/// The most levels of a tree of 32-bit stream numbers.
const LEVELS: usize = 33;

impl MergeKey {
    #[inline(always)]
    fn is_before(self, other: MergeKey) -> bool {
        (self.time < other.time) | ((self.time == other.time) & (self.stream < other.stream))
    }

    #[inline(always)]
    fn least(self, other: MergeKey) -> MergeKey {
        let first = self.is_before(other);
        let time = select_unpredictable(first, self.time, other.time);
        MergeKey { time, stream: select_unpredictable(first, self.stream, other.stream) }
    }
}

impl Tournament {
    /// The first key.
    #[inline]
    pub(super) fn first(&self) -> Option<MergeKey> {
        self.tree.get(1).copied().filter(|key| *key != NONE)
    }

    /// The key that follows the first.
    pub(super) fn second(&self) -> Option<MergeKey> {
        let (mut at, mut second) = (self.tree.len() / 2 + self.first()?.stream as usize, NONE);
        while at > 1 {
            second = self.tree[at ^ 1].least(second);
            at /= 2;
        }
        Some(second).filter(|key| *key != NONE)
    }

    /// Removes a stream.
    pub(super) fn remove(&mut self, stream: u32) {
        self.set(stream, NONE);
    }

    /// Adds a stream, or gives it another time.
    #[inline]
    pub(super) fn put(&mut self, key: MergeKey) {
        if key.stream as usize >= self.tree.len() / 2 {
            self.grow(key.stream as usize + 1);
        }
        self.set(key.stream, key);
    }

    /// The first of the streams for which `wanted` holds.
    pub(super) fn first_where(&self, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        // Depth first, so that at most one key per level waits, but below no key that is later than the best.
        let (mut open, mut count, mut best) = ([1; LEVELS + 1], 1, NONE);
        while count > 0 {
            count -= 1;
            let at = open[count];
            let Some(&key) = self.tree.get(at).filter(|key| key.is_before(best)) else { continue };
            if wanted(key.stream) {
                best = key;
            } else if at < self.tree.len() / 2 {
                open[count..count + 2].copy_from_slice(&[2 * at + 1, 2 * at]);
                count += 2;
            }
        }
        (best != NONE).then_some(best.stream)
    }

    #[inline]
    fn set(&mut self, stream: u32, mut key: MergeKey) {
        let mut at = self.tree.len() / 2 + stream as usize;
        let pairs = self.tree.as_chunks_mut::<2>().0;
        while let Some(pair) = pairs.get_mut(at / 2) {
            pair[at % 2] = key;
            if at < 2 {
                return;
            }
            key = pair[1 - at % 2].least(key);
            at /= 2;
        }
    }

    /// Grows the capacity to `streams` streams.
    #[cold]
    fn grow(&mut self, streams: usize) {
        let before = self.tree.split_off(self.tree.len() / 2);
        let half = streams.next_power_of_two();
        self.tree.clear();
        self.tree.resize(2 * half, NONE);
        self.tree[half..][..before.len()].copy_from_slice(&before);
        for at in (1..half).rev() {
            self.tree[at] = self.tree[2 * at].least(self.tree[2 * at + 1]);
        }
    }
}
