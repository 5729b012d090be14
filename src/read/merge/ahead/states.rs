//! Work on whole segments, whatever state it leaves: the scheduler, which is compiled once, knows segments by their numbers.

use super::steps::{MergeSegment, work_on};
use super::work::{Commit, Work};
use std::sync::Mutex;

/// Work on segments, which are numbered in their order.
pub(super) trait SegmentWork: Sync {
    /// Works on segment `number` on `thread`, and keeps the state it leaves. False if the segment is damaged; `None` if a
    /// thread panicked.
    fn work_on(&self, number: u64, thread: usize, segment: &mut MergeSegment, out: &mut Vec<u8>) -> Option<bool>;

    /// Commits segment `number`, which `thread` worked on; `None` if a thread panicked.
    fn commit(&self, number: u64, thread: usize, out: &mut Vec<u8>) -> Option<Commit>;

    /// Does the rest of the work on segment `number` after it was committed; `None` if a thread panicked.
    fn settle(&self, number: u64, thread: usize) -> Option<()>;
}

/// The states of `work`.
pub(super) struct States<'w, W: Work> {
    work: &'w W,
    /// The state after the committed segments.
    known: Mutex<&'w mut W::State>,
    threads: Vec<Mutex<OfThread<W::State>>>,
}

/// The states of one thread, in its own core's cache.
struct OfThread<S> {
    /// Of segments that wait to be committed, or settled.
    done: Vec<(u64, S)>,
    /// Of settled ones.
    spare: Vec<S>,
}

impl<'w, W: Work> States<'w, W> {
    pub(super) fn new(work: &'w W, known: &'w mut W::State, threads: usize) -> Self {
        let of_thread = || Mutex::new(OfThread { done: Vec::new(), spare: Vec::new() });
        States { work, known: Mutex::new(known), threads: (0..threads).map(|_| of_thread()).collect() }
    }

    /// Takes out the state of segment `number`, which `thread` worked on.
    fn done(&self, number: u64, thread: usize) -> Option<W::State> {
        let mut states = self.threads[thread].lock().ok()?;
        let at = states.done.iter().position(|(of, _)| *of == number)?;
        Some(states.done.swap_remove(at).1)
    }
}

impl<W: Work> SegmentWork for States<'_, W> {
    fn work_on(&self, number: u64, thread: usize, segment: &mut MergeSegment, out: &mut Vec<u8>) -> Option<bool> {
        let used = self.threads[thread].lock().ok()?.spare.pop();
        let known = self.known.lock().ok()?;
        let mut state = self.work.fork(&known, used);
        drop(known);
        let whole = work_on(self.work, segment, &mut state, out);
        if whole {
            self.threads[thread].lock().ok()?.done.push((number, state));
        }
        Some(whole)
    }

    fn commit(&self, number: u64, thread: usize, out: &mut Vec<u8>) -> Option<Commit> {
        let mut state = self.done(number, thread)?;
        let commit = self.work.commit(&mut **self.known.lock().ok()?, &mut state, out);
        self.threads[thread].lock().ok()?.done.push((number, state));
        Some(commit)
    }

    fn settle(&self, number: u64, thread: usize) -> Option<()> {
        let mut state = self.done(number, thread)?;
        self.work.settle(&mut state);
        self.threads[thread].lock().ok()?.spare.push(state);
        Some(())
    }
}
