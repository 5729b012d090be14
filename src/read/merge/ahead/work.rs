//! Work on the records of a merge: the interface between the merge and its consumer.

use crate::kernel::event::{Consumed, Record};
use std::io;

/// Work on each record of a merge, on any number of threads.
pub trait Work: Sync {
    /// The state that one record leaves for the next.
    type State: Send;

    /// The record that follows a record, for [`Work::record`].
    const FOLLOWING: Following = Following::InBuffer;

    /// The state to begin a segment with while earlier segments are still being worked on. `known` is what the committed
    /// ones left; `used` is the state of a committed segment, whose caches may be used again.
    fn fork(&self, known: &Self::State, used: Option<Self::State>) -> Self::State;

    /// Works on a record and appends its output to `out`, which is empty at the start of a segment. `next` gives the
    /// record that follows, as [`Work::FOLLOWING`] says.
    fn record<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Self::State,
        out: &mut Vec<u8>,
    ) -> Consumed;

    /// Commits a segment, after all earlier ones: takes what it leaves over into `known`, and corrects `out`, all of its
    /// output. With [`Commit::Serialize`], `known` must be left as it was.
    fn commit(&self, known: &mut Self::State, done: &mut Self::State, out: &mut Vec<u8>) -> Commit;

    /// Does the part of the work on a committed segment that need not be done in its turn, while other threads commit later
    /// ones.
    fn settle(&self, _done: &mut Self::State) {}
}

/// The record that follows a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Following {
    /// The next one in time of the same buffer.
    InBuffer,
    /// The next one of the same CPU of the same buffer.
    OnCpu,
}

/// Outcome of committing a segment that was worked on speculatively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Its output is right.
    Accept,
    /// Its output is wrong: this segment and all later ones depend on each other and must be done in order.
    Serialize,
}

/// Takes output, in order.
pub type OrderedOutput<'s> = &'s mut (dyn FnMut(&[u8]) -> io::Result<()> + Send + 's);

/// The division of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkDivision {
    /// Number of threads, the calling one among them; 1 reads in order.
    pub threads: usize,
    /// Size of a segment, in bytes of sub-buffers.
    pub segment: usize,
    /// Size of the sub-buffers held ready over all streams, in bytes.
    pub ahead: usize,
}

impl WorkDivision {
    /// Sizes that suit this number of threads. A segment's text is some three times as large as its sub-buffers; both
    /// should stay in the cache of the core that makes them.
    pub fn new(threads: usize) -> Self {
        WorkDivision { threads, segment: 128 << 10, ahead: 6 << 20 }
    }
}
