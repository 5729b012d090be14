//! The longest of many durations.

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
