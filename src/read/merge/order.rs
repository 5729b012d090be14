//! The order of streams by their next records.

use super::tournament::{MergeKey, Tournament};

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
