//! Count and durations of something that repeats.

/// Durations of what was seen, in the trace clock's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Number of occurrences.
    pub count: u64,
    /// Sum of the durations, in the clock's units; 0 for occurrences without one.
    pub total: u64,
    /// The longest.
    pub max: u64,
    /// The time stamp of the longest: its end, or of a stack trace the trace itself.
    pub max_at: u64,
    /// The shortest.
    pub min: u64,
    /// The time stamp of the shortest.
    pub min_at: u64,
    /// True if a duration may be two, between which events of another CPU were lost: then `total` and `max` are not known.
    pub doubtful: bool,
}

impl Times {
    /// The mean duration.
    pub fn average(&self) -> u64 {
        self.total.checked_div(self.count).unwrap_or(0)
    }

    /// A number of durations, unless one of those may be none.
    pub fn known<T>(&self, of: T) -> Option<T> {
        (!self.doubtful).then_some(of)
    }

    /// These and those of `other`.
    #[must_use]
    pub fn and(mut self, other: &Times) -> Times {
        self.merge(other);
        self
    }

    /// One more, that took `time`.
    pub(super) fn add(&mut self, time: u64, at: u64) {
        self.merge(&Times { count: 1, total: time, max: time, max_at: at, min: time, min_at: at, doubtful: false });
    }

    /// All of `other` too.
    pub(super) fn merge(&mut self, other: &Times) {
        if self.count == 0 || other.min < self.min {
            (self.min, self.min_at) = (other.min, other.min_at);
        }
        if other.max > self.max {
            (self.max, self.max_at) = (other.max, other.max_at);
        }
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.doubtful |= other.doubtful;
    }
}
