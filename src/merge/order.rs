//! Which stream is next: the streams' heads in a priority queue.

/// Stream numbers by the time stamp of their next record, then by number.
///
/// Events come in runs from the same CPU. Few streams are a sorted vector, the first stream last: a stream that was just
/// advanced usually stays there, at the price of one comparison. More than [`SORTED`] streams are a binary heap, so that
/// an event costs O(log CPUs) when CPUs interleave.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    keys: Vec<u128>,
    is_heap: bool,
}

/// The most streams for which a sorted vector is quicker.
const SORTED: usize = 12;
/// The most levels of a heap of 32-bit stream numbers.
const LEVELS: usize = 33;

#[inline]
fn key(timestamp: u64, stream: u32) -> u128 {
    u128::from(timestamp) << 32 | u128::from(stream)
}

impl Order {
    /// The first stream.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        let first = if self.is_heap { self.keys.first() } else { self.keys.last() };
        first.map(|key| *key as u32)
    }

    /// Removes the first stream.
    pub(super) fn remove_first(&mut self) {
        let last = self.keys.pop();
        if let (true, Some(last), false) = (self.is_heap, last, self.keys.is_empty()) {
            self.sink(last);
        }
    }

    /// Gives the first stream the time stamp of its next record.
    #[inline]
    pub(super) fn advance_first(&mut self, timestamp: u64) {
        let Some(stream) = self.first() else { return };
        let key = key(timestamp, stream);
        if self.is_heap {
            self.sink(key);
        } else {
            let at = self.keys.len() - 1;
            self.keys[at] = key;
            self.sort_last();
        }
    }

    /// Adds a stream that is not in it.
    pub(super) fn push(&mut self, timestamp: u64, stream: u32) {
        if !self.is_heap && self.keys.len() == SORTED {
            self.keys.reverse(); // ascending, which is a heap
            self.is_heap = true;
        }
        let key = key(timestamp, stream);
        self.keys.push(key);
        if self.is_heap {
            self.rise(self.keys.len() - 1, key);
        } else {
            self.sort_last();
        }
    }

    /// The first stream, and the time up to which it stays the first, whatever its next record is.
    #[inline]
    pub(super) fn run(&self) -> Option<(u32, u64)> {
        let first = self.first()?;
        let second = match self.is_heap {
            true => self.keys.get(1).copied().map(|left| left.min(self.keys.get(2).copied().unwrap_or(u128::MAX))),
            false => self.keys.len().checked_sub(2).map(|at| self.keys[at]),
        };
        let limit = second.map_or(u64::MAX, |second| {
            let (time, stream) = ((second >> 32) as u64, second as u32);
            if first < stream { time.saturating_add(1) } else { time }
        });
        Some((first, limit))
    }

    /// The first of the streams for which `wanted` holds.
    pub(super) fn first_where(&self, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        if !self.is_heap {
            return self.keys.iter().rev().map(|key| *key as u32).find(|stream| wanted(*stream));
        }
        // Depth first, so that at most one key per level of the heap waits, but below no key that is later than the best.
        let (mut open, mut count, mut best) = ([0; LEVELS + 1], 1, u128::MAX);
        while count > 0 {
            count -= 1;
            let at = open[count];
            let Some(&key) = self.keys.get(at).filter(|key| **key < best) else { continue };
            if wanted(key as u32) {
                best = key;
            } else {
                open[count..count + 2].copy_from_slice(&[2 * at + 2, 2 * at + 1]);
                count += 2;
            }
        }
        (best < u128::MAX).then_some(best as u32)
    }

    /// Moves the last key of the sorted vector to its place.
    #[inline]
    fn sort_last(&mut self) {
        let mut at = self.keys.len() - 1;
        while let Some(before) = at.checked_sub(1)
            && self.keys[before] < self.keys[at]
        {
            self.keys.swap(before, at);
            at = before;
        }
    }

    /// Replaces the heap's first key. The smaller children move up to the bottom first, and `key` rises from there: it
    /// mostly belongs far down, so this takes half the comparisons of sinking step by step.
    #[inline]
    fn sink(&mut self, key: u128) {
        let keys = &mut self.keys[..];
        let mut at = 0;
        while let Some(&[left, right]) = keys.get(2 * at + 1..2 * at + 3) {
            let smaller = left.min(right);
            if at == 0 && key < smaller {
                keys[0] = key;
                return;
            }
            keys[at] = smaller;
            at = 2 * at + 1 + usize::from(right < left);
        }
        if let Some(&only) = keys.get(2 * at + 1) {
            keys[at] = only;
            at = 2 * at + 1;
        }
        self.rise(at, key);
    }

    /// Puts `key` at `at` of the heap or above.
    #[inline]
    fn rise(&mut self, mut at: usize, key: u128) {
        while let Some(parent) = at.checked_sub(1).map(|at| at / 2)
            && key < self.keys[parent]
        {
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
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
            let mut order = Order::default();
            let mut sorted: Vec<(u64, u32)> = Vec::new();
            for (stream, &time) in times.iter().enumerate() {
                order.push(time, stream as u32);
                sorted.push((time, stream as u32));
            }
            let mut removed = Vec::new();
            for (later, what) in steps {
                sorted.sort_unstable();
                prop_assert_eq!(order.first(), sorted.first().map(|first| first.1));
                for rest in 0..3 {
                    let expected = sorted.iter().map(|s| s.1).find(|s| s % 3 == rest);
                    prop_assert_eq!(order.first_where(|s| s % 3 == rest), expected);
                }
                let second = sorted.get(1).map(|&(time, stream)| time + u64::from(sorted[0].1 < stream));
                prop_assert_eq!(order.run(), sorted.first().map(|first| (first.1, second.unwrap_or(u64::MAX))));
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
                        order.advance_first(first.0);
                    }
                    (_, None) => {}
                }
            }
        }
    }
}
