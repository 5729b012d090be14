//! The state that the threads share: a free worker takes the lock, hands in its result and takes its next task.
//!
//! There is no dispatcher thread: it would oversubscribe the cores and cost one wake-up per hand-off. Workers schedule
//! themselves under the lock. Under it only small compressed chunks are read; nothing is unpacked, committed or written.

use super::feed::{FeedPlace, StreamFeed};
use super::segment::Unpacked;
use super::steps::{MergeSegment, SegmentWork};
use super::work::{Commit, OrderedOutput, WorkDivision};
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::{Codec, CpuStream, PackedChunk, PageHeaders, Unpackers};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::iter::Peekable;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::{io, thread};

/// Limit of the segments ahead of the slowest one, so that no worker waits for a thread that lost its core for a while.
fn most_segments(threads: usize) -> usize {
    2 * threads + 2
}

/// Least size of a segment per stream, in bytes, so that handling the streams does not cost more than the records.
const LEAST_PER_STREAM: usize = 2 << 10;
/// Limit of the sub-buffers held, in bytes, beyond which a stream gets a second chunk only if others need it.
const MOST_HELD: usize = 48 << 20;
/// Streams beyond this number are unpacked as far as they may be held before a segment is searched, as that means to look
/// at all of them.
const MANY: usize = 16;

pub(super) struct MergeState<'w> {
    /// Its states are never locked together with `scheduler`.
    work: &'w dyn SegmentWork,
    scheduler: Mutex<Scheduler>,
    /// There may be something to do, or nothing any more.
    work_available: Condvar,
    /// Held by the thread that writes.
    sink: Mutex<OrderedOutput<'w>>,
}

struct Scheduler {
    feeds: Vec<StreamFeed>,
    buffers: Vec<usize>,
    effort: WorkDivision,
    pending: VecDeque<PendingSegment>,
    first_pending: u64,
    /// True if a thread is committing the segment before the first pending one.
    committing: bool,
    /// Committed output, and which thread's buffer that is.
    ready: VecDeque<(Vec<u8>, usize)>,
    writing: bool,
    /// Number of threads that wait for `work_available`.
    waiting: usize,
    /// Per thread: what it worked with before, in its own core's cache.
    spare_outputs: Vec<Vec<Vec<u8>>>,
    spare_segments: Vec<MergeSegment>,
    chunks: Vec<Vec<u8>>,
    /// The time up to which segments have been cut.
    cut: u64,
    /// The horizon before which there was too little for a segment.
    too_early: Option<u64>,
    /// No segment will be cut any more.
    finished: bool,
    /// The end: the places from which the rest is to be read in order.
    end: Option<io::Result<Vec<FeedPlace>>>,
}

/// A segment that was handed out.
struct PendingSegment {
    /// The place of each stream before it.
    places: Vec<FeedPlace>,
    done: Option<SegmentResult>,
}

struct SegmentResult {
    /// False if the segment is damaged.
    whole: bool,
    out: Vec<u8>,
    thread: usize,
}

enum WorkItem {
    Unpack { feed: usize, number: u64, packed: PackedChunk, codec: Codec, layout: PageLayout, to: Vec<u8> },
    Segment { number: u64, segment: MergeSegment, out: Vec<u8> },
}

/// Ends it for all if a thread panics, for which the others would wait in vain.
struct AbortOnPanic<'s, 'w>(&'s MergeState<'w>);

impl Drop for AbortOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            // Poisoned by the panic itself: what is in it is only thrown away.
            let mut scheduler = self.0.scheduler.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            scheduler.end = Some(Err(panicked()));
            self.0.work_available.notify_all();
        }
    }
}

fn panicked() -> io::Error {
    io::Error::other("a decoding thread panicked")
}

impl<'w> MergeState<'w> {
    pub(super) fn new(
        work: &'w dyn SegmentWork,
        streams: Vec<(CpuStream, usize)>,
        effort: WorkDivision,
        sink: OrderedOutput<'w>,
    ) -> Self {
        let (feeds, buffers) = streams.into_iter().map(|(stream, buffer)| (StreamFeed::new(stream), buffer)).unzip();
        let scheduler = Scheduler {
            feeds,
            buffers,
            effort,
            pending: VecDeque::new(),
            first_pending: 0,
            committing: false,
            ready: VecDeque::new(),
            writing: false,
            waiting: 0,
            spare_outputs: (0..effort.threads).map(|_| Vec::new()).collect(),
            spare_segments: Vec::new(),
            chunks: Vec::new(),
            cut: 0,
            too_early: None,
            finished: false,
            end: None,
        };
        MergeState { work, scheduler: Mutex::new(scheduler), work_available: Condvar::new(), sink: Mutex::new(sink) }
    }

    /// The streams with the numbers of their buffers, each positioned where it is to be read on.
    pub(super) fn into_rest(self) -> io::Result<Vec<(CpuStream, usize)>> {
        let scheduler = self.scheduler.into_inner().map_err(|_| panicked())?;
        let places = scheduler.end.unwrap_or_else(|| Err(panicked()))?;
        debug_assert!(scheduler.ready.is_empty());
        let streams = scheduler.feeds.into_iter().zip(places).map(|(feed, place)| feed.into_stream(place));
        Ok(streams.zip(scheduler.buffers).collect())
    }

    /// Works until nothing is left to do.
    pub(super) fn worker_loop(&self, thread: usize) {
        let _guard = AbortOnPanic(self);
        let mut unpackers = Unpackers::default();
        let Ok(mut scheduler) = self.scheduler.lock() else { return };
        loop {
            match self.next(scheduler, thread) {
                None => return,
                Some(WorkItem::Unpack { feed, number, packed, codec, layout, mut to }) => {
                    let data = packed.load(codec, &mut unpackers, &mut to).then_some(to);
                    let parsed = data.and_then(|bytes| Some((PageHeaders::of(&layout, &bytes).ok()?, bytes)));
                    let chunk = parsed.map(|(headers, bytes)| Unpacked { bytes, headers });
                    let Ok(locked) = self.scheduler.lock() else { return };
                    scheduler = locked;
                    if scheduler.end.is_none() {
                        scheduler.feeds[feed].take(number, chunk);
                    }
                }
                Some(WorkItem::Segment { number, mut segment, mut out }) => {
                    let Some(whole) = self.work.work_on(number, thread, &mut segment, &mut out) else { return };
                    let Ok(locked) = self.scheduler.lock() else { return };
                    scheduler = locked;
                    scheduler.recycle(segment);
                    scheduler.take(number, SegmentResult { whole, out, thread });
                }
            }
        }
    }

    /// The next task of `thread`; `None`: there are no more.
    fn next<'s>(&'s self, mut scheduler: MutexGuard<'s, Scheduler>, thread: usize) -> Option<WorkItem> {
        loop {
            if let Some((number, pending, done)) = scheduler.next_finished() {
                scheduler = self.commit(scheduler, number, pending, done)?;
                continue;
            }
            if !scheduler.writing && !scheduler.ready.is_empty() && !matches!(scheduler.end, Some(Err(_))) {
                scheduler = self.write(scheduler)?;
                continue;
            }
            if scheduler.end.is_some() {
                self.work_available.notify_all();
                return None;
            }
            if let Some(task) = scheduler.task(thread) {
                if scheduler.waiting > 0 {
                    self.work_available.notify_one();
                }
                return Some(task);
            }
            // A damaged segment is finished as soon as it is cut.
            if !scheduler.has_finished() && !scheduler.check_end() {
                scheduler.waiting += 1;
                scheduler = self.work_available.wait(scheduler).ok()?;
                scheduler.waiting -= 1;
            }
        }
    }

    /// Commits a segment and settles it, without the scheduler's lock. If it must be done in order, all later ones must too.
    fn commit<'s>(
        &'s self,
        mut scheduler: MutexGuard<'s, Scheduler>,
        number: u64,
        PendingSegment { places, .. }: PendingSegment,
        SegmentResult { whole, mut out, thread }: SegmentResult,
    ) -> Option<MutexGuard<'s, Scheduler>> {
        scheduler.committing = true;
        drop(scheduler);
        let accepted = whole && self.work.commit(number, thread, &mut out)? == Commit::Accept;
        let mut scheduler = self.scheduler.lock().ok()?;
        scheduler.committing = false;
        if !accepted {
            // There may be the error of another thread.
            scheduler.end.get_or_insert(Ok(places));
            return Some(scheduler);
        }
        scheduler.ready.push_back((out, thread));
        if scheduler.waiting > 0 {
            self.work_available.notify_one();
        }
        drop(scheduler);
        self.work.settle(number, thread)?;
        self.scheduler.lock().ok()
    }

    /// Writes all committed output, without the scheduler's lock.
    fn write<'s>(&'s self, mut scheduler: MutexGuard<'s, Scheduler>) -> Option<MutexGuard<'s, Scheduler>> {
        scheduler.writing = true;
        while let Some((mut out, thread)) = scheduler.ready.pop_front() {
            drop(scheduler);
            let written = self.sink.lock().ok()?(&out);
            scheduler = self.scheduler.lock().ok()?;
            if let Err(error) = written {
                scheduler.end = Some(Err(error));
                break;
            }
            out.clear();
            scheduler.spare_outputs[thread].push(out);
        }
        scheduler.writing = false;
        Some(scheduler)
    }
}

impl Scheduler {
    /// Takes in what became of a segment.
    fn take(&mut self, number: u64, done: SegmentResult) {
        let at = number.checked_sub(self.first_pending);
        if let Some(pending) = at.and_then(|at| self.pending.get_mut(at as usize)) {
            pending.done = Some(done);
        }
    }

    /// True if a segment can be committed.
    fn has_finished(&self) -> bool {
        let first_is_done = self.pending.front().is_some_and(|p| p.done.is_some());
        first_is_done && !self.committing && self.end.is_none()
    }

    /// Takes out the segment to be committed next.
    fn next_finished(&mut self) -> Option<(u64, PendingSegment, SegmentResult)> {
        if !self.has_finished() {
            return None;
        }
        let mut pending = self.pending.pop_front()?;
        let number = self.first_pending;
        self.first_pending += 1;
        let done = pending.done.take()?;
        Some((number, pending, done))
    }

    /// Recycles a finished segment's allocations and the buffers of chunks that are no longer in use.
    fn recycle(&mut self, mut segment: MergeSegment) {
        let chunks = segment.streams.iter_mut().flat_map(|(stream, _)| stream.chunks.drain(..));
        self.chunks.extend(chunks.filter_map(Arc::into_inner).map(|chunk| chunk.bytes));
        self.spare_segments.push(segment);
    }

    /// True if nothing can be done any more; then it notes so.
    fn check_end(&mut self) -> bool {
        // While output waits to be written there may be no room for a segment: that is not the end.
        let idle = self.pending.is_empty() && !self.committing && self.ready.is_empty();
        let over = idle && (self.finished || !self.feeds.iter().any(StreamFeed::is_waiting));
        if over {
            self.end = Some(Ok(self.feeds.iter().map(StreamFeed::place).collect()));
        }
        over
    }

    fn task(&mut self, thread: usize) -> Option<WorkItem> {
        let many = self.feeds.len() > MANY;
        if many && let Some(unpack) = self.ask() {
            return Some(unpack);
        }
        let room = self.pending.len() + self.ready.len() < most_segments(self.effort.threads);
        let mut cut = room.then(|| self.cut_segment(false)).flatten();
        if cut.is_none() {
            if !many && let Some(unpack) = self.ask() {
                return Some(unpack);
            }
            // No more can be held: a smaller segment, then.
            let waiting = self.feeds.iter().any(StreamFeed::is_waiting);
            cut = (room && !waiting).then(|| self.cut_segment(true)).flatten();
        }
        let (number, segment) = cut?;
        let out = self.spare_outputs[thread].pop().unwrap_or_default();
        Some(WorkItem::Segment { number, segment, out })
    }

    /// Gives a chunk to be unpacked, if it may be held: two of each stream, and more of the streams that hold up the
    /// others. Of very many streams, only those that hold up the others get a second one.
    fn ask(&mut self) -> Option<WorkItem> {
        let held: usize = self.feeds.iter().map(StreamFeed::held).sum();
        loop {
            let open = self.feeds.iter().enumerate().filter(|(_, f)| f.is_open());
            let (number, first) = open.min_by_key(|(_, f)| (f.chunks() >= 2, f.horizon()))?;
            let is_full = match first.chunks() {
                0 => false,
                1 => held >= MOST_HELD && first.horizon() > Some(self.cut),
                _ => held >= self.effort.ahead,
            };
            if is_full {
                return None;
            }
            let feed = &mut self.feeds[number];
            let Some((chunk, packed)) = feed.ask() else { continue };
            let to = self.chunks.pop().unwrap_or_default();
            let (codec, layout) = (feed.codec(), feed.layout());
            return Some(WorkItem::Unpack { feed: number, number: chunk, packed, codec, layout, to });
        }
    }

    /// The end of the next segment, so that it has the size wanted, if there is that much before `horizon`; `Err` if
    /// there is less. Segments end where a chunk begins, unless that makes them twice as large.
    fn cut_before(&self, horizon: Option<u64>) -> Result<u64, Option<u64>> {
        let wanted = self.effort.segment.max(self.feeds.len() * LEAST_PER_STREAM);
        let mut pages: Vec<_> = self.feeds.iter().map(|feed| feed.pages().peekable()).collect();
        let sizes: Vec<usize> = self.feeds.iter().map(|feed| feed.layout().size).collect();
        let first = |(feed, pages): (usize, &mut Peekable<_>)| pages.peek().map(|&(start, _)| Reverse((start, feed)));
        let mut order: BinaryHeap<_> = pages.iter_mut().enumerate().filter_map(first).collect();
        let mut size = 0;
        while let Some(Reverse((start, feed))) = order.pop() {
            if horizon.is_some_and(|horizon| start >= horizon) {
                break;
            }
            let Some((_, begins_chunk)) = pages[feed].next() else { continue };
            let is_large = size >= 2 * wanted || (size >= wanted && begins_chunk);
            if is_large && start > self.cut {
                return Ok(start);
            }
            size += sizes[feed];
            order.extend(pages[feed].peek().map(|&(start, _)| Reverse((start, feed))));
        }
        match horizon {
            Some(horizon) if size >= wanted => Ok(horizon),
            _ => Err(horizon),
        }
    }

    /// Cuts the next segment, of the size wanted unless no more will come for now; `None` if there is none yet, or none at
    /// all.
    fn cut_segment(&mut self, all: bool) -> Option<(u64, MergeSegment)> {
        if self.finished {
            return None;
        }
        let horizon = self.feeds.iter().filter_map(StreamFeed::horizon).min();
        let stuck = self.feeds.iter().any(|f| f.is_damaged() && f.horizon() == horizon);
        let waiting = !all && self.feeds.iter().any(|f| f.is_waiting() || f.is_open());
        if let Some(horizon) = horizon
            && horizon <= self.cut
        {
            self.finished |= stuck || !waiting;
            return None;
        }
        if waiting && horizon.is_some() && horizon == self.too_early {
            return None;
        }
        let until = match self.cut_before(horizon) {
            Ok(cut) => Some(cut),
            Err(Some(_)) if waiting => {
                self.too_early = horizon;
                return None;
            }
            Err(horizon) => horizon,
        };
        let places: Vec<FeedPlace> = self.feeds.iter().map(StreamFeed::place).collect();
        let mut segment = self.spare_segments.pop().unwrap_or_default();
        let (mut count, mut broken, among) = (0, false, self.feeds.len());
        for (feed, &buffer) in self.feeds.iter_mut().zip(&self.buffers) {
            if count == segment.streams.len() {
                segment.streams.push((feed.empty_segment(among), buffer));
            }
            let (stream, of_buffer) = &mut segment.streams[count];
            match feed.split(until, stream) {
                Ok(true) => {
                    *of_buffer = buffer;
                    count += 1;
                }
                Ok(false) => {}
                Err(_) => {
                    broken = true;
                    break;
                }
            }
        }
        segment.streams.truncate(count);
        self.finished = broken || until.is_none();
        self.cut = until.unwrap_or(u64::MAX);
        self.too_early = None;
        let number = self.first_pending + self.pending.len() as u64;
        // If a page on the way to the cut is damaged, the segment is given up, and reading goes on before it.
        let done = broken.then(|| SegmentResult { whole: false, out: Vec::new(), thread: 0 });
        self.pending.push_back(PendingSegment { places, done });
        (!broken).then_some((number, segment))
    }
}
