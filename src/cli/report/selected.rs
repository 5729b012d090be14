//! What is done with the events that are to be shown, when they are all gone through.

use super::select::{Seen, Selection};
use super::source::Source;
use super::window::Window;
use rtrace::event::Record;
use rtrace::merge::ahead::{Commit, Work};

/// `work`, on the events of a selection within a window only.
pub(super) struct Selected<'a, W> {
    pub(super) work: &'a W,
    pub(super) selection: &'a Selection<'a>,
    pub(super) sources: &'a [Source],
    pub(super) window: Window,
}

impl<W: Work> Work for Selected<'_, W> {
    type State = (Seen, W::State);

    fn fork(&self, (seen, state): &Self::State, used: Option<Self::State>) -> Self::State {
        (seen.fork(), self.work.fork(state, used.map(|used| used.1)))
    }

    #[inline]
    fn record<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        (seen, state): &mut Self::State,
        out: &mut Vec<u8>,
    ) -> bool {
        let wanted = !self.window.is_before(record.timestamp)
            && !self.window.is_over(record.timestamp)
            && self.selection.accepts(seen, self.sources[record.buffer].file, record);
        wanted && self.work.record(record, next, state, out)
    }

    fn commit(
        &self,
        (seen, state): &mut Self::State,
        (done_seen, done): &mut Self::State,
        out: &mut Vec<u8>,
    ) -> Commit {
        // Nothing may be taken over of a segment that is done again in order.
        if done_seen.guessed() {
            return Commit::Serialize;
        }
        let commit = self.work.commit(state, done, out);
        if commit == Commit::Accept {
            seen.join(done_seen);
        }
        commit
    }
}
