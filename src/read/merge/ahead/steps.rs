//! The loop over records, of a whole merge or of one segment.
//! Work on whole segments, whatever state it leaves: the scheduler, which is compiled once, knows segments by their numbers.

use super::segment::SegmentStream;
use super::work::{Commit, Following, Work};
use crate::kernel::event::Consumed;
use crate::read::merge::{Merge, RecordSource};
use std::sync::Mutex;

/// A segment of all streams, in their order.
#[derive(Default)]
pub(super) struct MergeSegment {
    pub(super) streams: Vec<(SegmentStream, usize)>,
}

/// Works on the current record, and on the buffered ones after it of the same stream.
#[inline(always)]
pub(super) fn some<W: Work, S: RecordSource>(work: &W, merge: &mut Merge<S>, state: &mut W::State, out: &mut Vec<u8>) {
    one(work, merge, state, out);
    let Some(run) = merge.stream_run() else { return };
    let (mut done, mut consumed) = (0, Consumed::One);
    for (record, next) in run.pairs() {
        consumed = match consumed {
            Consumed::One => work.record(&record, || Some(next()), state, out),
            Consumed::Two => Consumed::One,
        };
        done += 1;
    }
    merge.pass(done + usize::from(consumed == Consumed::Two));
}

/// Works on the current record.
#[inline(always)]
fn one<W: Work, S: RecordSource>(work: &W, merge: &mut Merge<S>, state: &mut W::State, out: &mut Vec<u8>) {
    match W::FOLLOWING {
        Following::InBuffer => {
            if work.record(&merge.record(), || merge.peek(), state, out) == Consumed::Two {
                merge.skip_peeked();
            }
        }
        Following::OnCpu => {
            if work.record(&merge.record(), || merge.peek_same_cpu(), state, out) == Consumed::Two {
                merge.skip_same_cpu();
            }
        }
    }
}

/// True if the whole segment could be worked on.
fn work_on<W: Work>(work: &W, segment: &mut MergeSegment, state: &mut W::State, out: &mut Vec<u8>) -> bool {
    let mut merge = Merge::default();
    for (stream, buffer) in &mut segment.streams {
        merge.add(stream.reader(), *buffer);
    }
    loop {
        match merge.advance() {
            Ok(true) => some(work, &mut merge, state, out),
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

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
