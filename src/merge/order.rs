//! Which stream is next: the streams' heads, sorted.

/// Stream numbers, sorted by the time stamp of their next record, then by number: the first one is last in the vector,
/// so that taking it moves nothing. Events come in runs from the same CPU, so a stream that was just advanced usually
/// stays the first, at the price of one comparison; else it moves behind the few whose records are earlier.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    keys: Vec<u128>,
}

#[inline]
fn key(timestamp: u64, stream: u32) -> u128 {
    u128::from(timestamp) << 32 | u128::from(stream)
}

impl Order {
    /// Takes out the first stream.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.keys.pop().map(|k| k as u32)
    }

    /// Adds a stream that is not in it.
    #[inline]
    pub(super) fn push(&mut self, timestamp: u64, stream: u32) {
        let key = key(timestamp, stream);
        self.keys.push(key);
        let mut at = self.keys.len() - 1;
        while let Some(before) = at.checked_sub(1)
            && self.keys[before] < key
        {
            self.keys.swap(before, at);
            at = before;
        }
    }

    /// The first stream, and the time up to which it stays the first, whatever its next record is.
    #[inline]
    pub(super) fn run(&self) -> Option<(u32, u64)> {
        let (first, others) = self.keys.split_last()?;
        let first = *first as u32;
        let limit = others.last().map_or(u64::MAX, |&second| {
            let (time, stream) = ((second >> 32) as u64, second as u32);
            if first < stream { time.saturating_add(1) } else { time }
        });
        Some((first, limit))
    }

    /// The streams, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.keys.iter().rev().map(|&k| k as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_sorted_and_complete(times in proptest::collection::vec(0u64..20, 0..40)) {
            let mut order = Order::default();
            for (stream, &time) in times.iter().enumerate() {
                order.push(time, stream as u32);
            }
            let listed: Vec<u32> = order.iter().collect();
            let popped: Vec<u32> = std::iter::from_fn(|| order.pop()).collect();
            let mut expected: Vec<u32> = (0..times.len() as u32).collect();
            expected.sort_by_key(|&s| (times[s as usize], s));
            prop_assert_eq!(&listed, &expected);
            prop_assert_eq!(popped, expected);
        }
    }
}
