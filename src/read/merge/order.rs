//! The order of streams by their next records.
//! Sources of a merge.
//! The first of many streams: a tree of the streams' heads, each level the winners of the one below.

use crate::base::units::CpuId;
use crate::file::ring_buffer::RecordPlace;
use crate::file::trace_dat::{CpuStream, FileError, Head};
use std::hint::select_unpredictable;

/// Stream numbers by the time stamp of their next record, then by number.
///
/// Events come in runs from the same CPU. Few streams are a sorted vector, the first stream last: a stream that was just
/// advanced usually stays there, at the price of one comparison. More than [`SORTED`] streams are a [`Tournament`], so that
/// an event costs O(log CPUs) when CPUs interleave.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamOrder {
    sorted: Vec<u128>,
    many: Tournament,
    is_large: bool,
    /// True if the stream that was advanced last was first and still is.
    stays: bool,
}

/// The most streams for which a sorted vector is quicker.
const SORTED: usize = 4;

#[inline]
fn key(timestamp: u64, stream: u32) -> u128 {
    u128::from(timestamp) << 32 | u128::from(stream)
}

#[inline]
fn unpacked(key: u128) -> MergeKey {
    MergeKey { time: (key >> 32) as u64, stream: key as u32 }
}

impl StreamOrder {
    /// The first stream.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        if self.is_large { self.many.first().map(|key| key.stream) } else { self.sorted.last().map(|key| *key as u32) }
    }

    /// Removes the first stream.
    pub(super) fn remove_first(&mut self) {
        match self.first() {
            Some(first) if self.is_large => self.many.remove(first),
            _ => drop(self.sorted.pop()),
        }
    }

    /// Gives the first stream the time stamp of its next record.
    #[inline]
    pub(super) fn advance_first(&mut self, timestamp: u64) {
        let Some(stream) = self.first() else { return };
        if self.is_large {
            self.many.put(MergeKey { time: timestamp, stream });
            self.stays = self.first() == Some(stream);
        } else {
            let at = self.sorted.len() - 1;
            self.sorted[at] = key(timestamp, stream);
            self.sort_last();
        }
    }

    /// Adds a stream that is not in it.
    pub(super) fn push(&mut self, timestamp: u64, stream: u32) {
        if !self.is_large && self.sorted.len() == SORTED {
            self.is_large = true;
            self.sorted.drain(..).for_each(|key| self.many.put(unpacked(key)));
        }
        if self.is_large {
            self.many.put(MergeKey { time: timestamp, stream });
        } else {
            self.sorted.push(key(timestamp, stream));
            self.sort_last();
        }
    }

    /// The first stream, and the time up to which it stays the first, whatever its next record is. `None` if there is no
    /// stream, or if there are many and another one was first before: CPUs that take turns make it not worth looking for.
    #[inline]
    pub(super) fn run(&self) -> Option<(u32, u64)> {
        if self.is_large && !self.stays {
            return None;
        }
        let first = self.first()?;
        let second = match self.is_large {
            true => self.many.second(),
            false => self.sorted.len().checked_sub(2).map(|at| unpacked(self.sorted[at])),
        };
        let limit = second
            .map_or(u64::MAX, |MergeKey { time, stream }| if first < stream { time.saturating_add(1) } else { time });
        Some((first, limit))
    }

    /// The first of the streams for which `wanted` holds.
    pub(super) fn first_where(&self, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        match self.is_large {
            true => self.many.first_where(wanted),
            false => self.sorted.iter().rev().map(|key| *key as u32).find(|stream| wanted(*stream)),
        }
    }

    /// Moves the last key of the sorted vector to its place.
    #[inline]
    fn sort_last(&mut self) {
        let mut at = self.sorted.len() - 1;
        while let Some(before) = at.checked_sub(1)
            && self.sorted[before] < self.sorted[at]
        {
            self.sorted.swap(before, at);
            at = before;
        }
    }
}

/// A CPU's records in order, lent from a buffer that may be exchanged for `spare`.
pub trait RecordSource {
    /// The CPU.
    fn cpu(&self) -> CpuId;

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// [`FileError`] where data is damaged; calling again goes on after it.
    fn next(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError>;

    /// The next record, if it is buffered and earlier than `limit`: then the bytes of the one before stay where they are.
    fn ready(&mut self, limit: u64) -> Option<Head>;

    /// The record given last and those after it that are buffered, with the data they lie in.
    fn found(&self) -> (&[RecordPlace], &[u8]);

    /// Gives `count` of them at once: the last, if there are that many.
    fn advance_by(&mut self, count: usize) -> Option<Head>;

    /// True if the last [`RecordSource::next`] changed buffers with `spare`, where the record before it is found since.
    fn swapped(&self) -> bool;

    /// The bytes of a record that [`RecordSource::next`] gave last, or the time before that.
    fn bytes(&self, head: &Head) -> &[u8];
}

impl RecordSource for CpuStream {
    #[inline]
    fn cpu(&self) -> CpuId {
        self.cpu()
    }

    #[inline(always)]
    fn next(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        self.next(spare)
    }

    #[inline(always)]
    fn ready(&mut self, limit: u64) -> Option<Head> {
        self.ready(limit)
    }

    #[inline]
    fn found(&self) -> (&[RecordPlace], &[u8]) {
        self.found()
    }

    #[inline]
    fn advance_by(&mut self, count: usize) -> Option<Head> {
        self.advance_by(count)
    }

    #[inline]
    fn swapped(&self) -> bool {
        self.swapped()
    }

    #[inline]
    fn bytes(&self, head: &Head) -> &[u8] {
        self.bytes(head)
    }
}

/// The time of a stream's next record; of two at the same time the stream with the lower number is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MergeKey {
    time: u64,
    stream: u32,
}

/// A complete binary tree of keys. To give a stream another time costs one comparison per level, without branches: CPUs
/// that take turns would make them hard to predict.
#[derive(Clone, Debug, Default)]
struct Tournament {
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
    fn first(&self) -> Option<MergeKey> {
        self.tree.get(1).copied().filter(|key| *key != NONE)
    }

    /// The key that follows the first.
    fn second(&self) -> Option<MergeKey> {
        let (mut at, mut second) = (self.tree.len() / 2 + self.first()?.stream as usize, NONE);
        while at > 1 {
            second = self.tree[at ^ 1].least(second);
            at /= 2;
        }
        Some(second).filter(|key| *key != NONE)
    }

    /// Removes a stream.
    fn remove(&mut self, stream: u32) {
        self.set(stream, NONE);
    }

    /// Adds a stream, or gives it another time.
    #[inline]
    fn put(&mut self, key: MergeKey) {
        if key.stream as usize >= self.tree.len() / 2 {
            self.grow(key.stream as usize + 1);
        }
        self.set(key.stream, key);
    }

    /// The first of the streams for which `wanted` holds.
    fn first_where(&self, wanted: impl Fn(u32) -> bool) -> Option<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Streams are advanced, removed and added again as a sorted list of them would be.
        #[test]
        fn is_what_sorting_gives(times in proptest::collection::vec(0u64..20, 0..40), steps in proptest::collection::vec((0u64..30, 0u8..8), 0..200)) {
            let mut order = StreamOrder::default();
            let mut sorted: Vec<(u64, u32)> = Vec::new();
            for (stream, &time) in times.iter().enumerate() {
                order.push(time, stream as u32);
                sorted.push((time, stream as u32));
            }
            let mut removed = Vec::new();
            let mut stayed = false;
            for (later, what) in steps {
                sorted.sort_unstable();
                prop_assert_eq!(order.first(), sorted.first().map(|first| first.1));
                for rest in 0..3 {
                    let expected = sorted.iter().map(|s| s.1).find(|s| s % 3 == rest);
                    prop_assert_eq!(order.first_where(|s| s % 3 == rest), expected);
                }
                let second = sorted.get(1).map(|&(time, stream)| time + u64::from(sorted[0].1 < stream));
                let expected = sorted.first().map(|first| (first.1, second.unwrap_or(u64::MAX)));
                match order.run() {
                    None => prop_assert!(sorted.is_empty() || !stayed && order.is_large),
                    run => prop_assert_eq!(run, expected),
                }
                stayed = false;
                match (what, sorted.first_mut()) {
                    (0, Some(&mut (_, stream))) => {
                        order.remove_first();
                        sorted.remove(0);
                        removed.push(stream);
                    }
                    (1, _) => if let Some(stream) = removed.pop() {
                        order.push(later, stream);
                        sorted.push((later, stream));
                    }
                    (_, Some(first)) => {
                        first.0 += later;
                        let stream = first.1;
                        order.advance_first(first.0);
                        stayed = order.first() == Some(stream);
                    }
                    (_, None) => {}
                }
            }
        }
    }
}
