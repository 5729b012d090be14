//! Intervals of which one end was not seen.

/// Intervals that are none of the durations, as an event at one end is missing. All times are in the unit of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Number of those that were noticed.
    pub count: u64,
    /// The longest time in which one was on, or must have been.
    pub longest: u64,
    /// All those times together.
    pub total: u64,
}

impl Missing {
    /// Adds one that lay within a time.
    pub fn add(&mut self, within: u64) {
        self.merge(&Missing { count: 1, longest: within, total: within });
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Missing) {
        self.count = self.count.saturating_add(other.count);
        self.longest = self.longest.max(other.longest);
        self.total = self.total.saturating_add(other.total);
    }
}
