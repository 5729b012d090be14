//! Counts of a trigger's events, besides its entries.

/// Counts of a trigger's events, by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistCounts {
    /// Events that passed its filter.
    pub seen: u64,
    /// Of them, those for which a variable of another trigger had no value: they make no entry.
    pub unmatched: u64,
    /// Times that a variable that another trigger reads was set again before it was read.
    pub begun_again: u64,
    /// Entries whose variable waited for another event at the end.
    pub waiting: u64,
    /// Entries whose variable was forgotten, as the kernel dropped events while it waited.
    pub censored: u64,
}

impl HistCounts {
    pub(super) fn add(&mut self, more: HistCounts) {
        self.seen = self.seen.wrapping_add(more.seen);
        self.unmatched = self.unmatched.wrapping_add(more.unmatched);
        self.begun_again = self.begun_again.wrapping_add(more.begun_again);
        self.waiting = self.waiting.wrapping_add(more.waiting);
        self.censored = self.censored.wrapping_add(more.censored);
    }
}
