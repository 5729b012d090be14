//! What is done with segments, and in which order.

use super::segment::SegmentStream;
use super::shared::Shared;
use crate::event::Record;
use crate::merge::{Merge, MergeError, Source};
use crate::trace_dat::CpuStream;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// How much output is gathered before it is passed on, in bytes.
const GATHER: usize = 256 << 10;

/// How the work is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many threads work, the calling one among them; 1 reads in order.
    pub threads: usize,
    /// How many bytes of sub-buffers a segment should hold.
    pub segment: usize,
    /// How many bytes of sub-buffers are held ready, over all streams.
    pub ahead: usize,
}

impl Effort {
    /// What suits so many threads. A segment's text is some three times as large as its sub-buffers; both should stay in
    /// the cache of the core that makes them.
    pub fn new(threads: usize) -> Self {
        Effort { threads, segment: 128 << 10, ahead: 6 << 20 }
    }
}

/// Takes output, in order.
pub type Sink<'s> = &'s mut (dyn FnMut(&[u8]) -> io::Result<()> + Send + 's);

/// What is done with each record.
pub trait Work: Sync {
    /// What one record leaves for the next.
    type State: Send;

    /// The state to begin a segment with while earlier segments are still being worked on. `known` is what the committed
    /// ones left; `used` is the state of a committed segment, whose caches may be used again.
    fn fork(&self, known: &Self::State, used: Option<Self::State>) -> Self::State;

    /// Works on a record and appends its output to `out`, which is empty at the start of a segment. `next` gives the record that follows in its buffer. `true`
    /// says that this one has been dealt with too.
    fn record<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Self::State,
        out: &mut Vec<u8>,
    ) -> bool;

    /// Commits a segment, after all earlier ones: takes what it leaves over into `known`, and corrects `out`, all of its
    /// output. With [`Commit::Serialize`], `known` must be left as it was.
    fn commit(&self, known: &mut Self::State, done: &mut Self::State, out: &mut Vec<u8>) -> Commit;
}

/// Outcome of committing a segment that was worked on speculatively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Its output is right.
    Accept,
    /// Its output is wrong: this segment and all later ones depend on each other and must be done in order.
    Serialize,
}

/// Merges `streams` (each with the number of its buffer) and has `work` done on every record.
/// `sink` gets the output, in order, from whichever thread has it.
///
/// # Errors
/// What `sink` gives. Damage goes to `damage`, and work goes on behind it.
pub fn run<W: Work>(
    work: &W,
    streams: Vec<(CpuStream, usize)>,
    effort: Effort,
    state: &mut W::State,
    sink: Sink<'_>,
    damage: &mut dyn FnMut(&MergeError),
) -> io::Result<()> {
    let streams = match effort.threads {
        0 | 1 => streams,
        _ => several(work, streams, effort, state, &mut *sink)?,
    };
    let mut merge = Merge::default();
    for (stream, buffer) in streams {
        merge.add(stream, buffer);
    }
    let mut out = Vec::with_capacity(GATHER + (64 << 10));
    loop {
        match merge.advance() {
            Ok(true) => some(work, &mut merge, state, &mut out),
            Ok(false) => break,
            Err(error) => damage(&error),
        }
        if out.len() >= GATHER {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}

/// A segment of all streams, in their order.
#[derive(Clone)]
pub(super) struct Segment {
    pub(super) streams: Vec<(SegmentStream, usize)>,
}

/// Works on the current record, and on those behind it that are of the same stream and at hand.
#[inline(always)]
fn some<W: Work, S: Source>(work: &W, merge: &mut Merge<S>, state: &mut W::State, out: &mut Vec<u8>) {
    if work.record(&merge.record(), || merge.peek(), state, out) {
        merge.skip_peeked();
    }
    let Some(series) = merge.series() else { return };
    let (mut done, mut told) = (0, false);
    for [record, next] in series.pairs() {
        told = !told && work.record(&record, || Some(next), state, out);
        done += 1;
    }
    merge.pass(done + usize::from(told));
}

/// Whether the whole segment could be worked on.
pub(super) fn work_on<W: Work>(work: &W, segment: &Segment, state: &mut W::State, out: &mut Vec<u8>) -> bool {
    let mut merge = Merge::default();
    for (stream, buffer) in &segment.streams {
        merge.add(stream.clone(), *buffer);
    }
    loop {
        match merge.advance() {
            Ok(true) => some(work, &mut merge, state, out),
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

/// Works on as much as can be done on several threads, and gives the streams, positioned behind that.
fn several<W: Work>(
    work: &W,
    streams: Vec<(CpuStream, usize)>,
    effort: Effort,
    state: &mut W::State,
    sink: Sink<'_>,
) -> io::Result<Vec<(CpuStream, usize)>> {
    let shared = Shared::new(work, streams, effort, state, sink);
    thread::scope(|scope| {
        for number in 1..effort.threads {
            let shared = &shared;
            scope.spawn(move || caught(|| shared.worker_loop(number)));
        }
        caught(|| shared.worker_loop(0));
    });
    shared.into_rest()
}

/// A panic ends the thread, and no other: it has been told of, and `shared` knows.
fn caught(part: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(part)));
}
