//! What the threads share: whoever is free takes the lock, hands in what is done, and takes what is next.
//!
//! There is no thread that only shares out: it would be one more than there are cores, and every hand-over would be a
//! thread woken. A thread that finds no segment to be cut unpacks the next chunk itself, so that what it works on next is
//! mostly in its own core's cache; and the buffer it writes its output to comes back to it.

use super::driver::{Effort, Segment, Sink, Verdict, Work, work_on};
use super::feed::{Feed, Place, Unpacked};
use crate::ring_buffer::PageLayout;
use crate::trace_dat::{Codec, CpuStream, Outline, Packed, Unpackers};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

/// How many segments may be ahead of the slowest one, so that nobody waits for a thread that lost its core for a while.
fn most_segments(threads: usize) -> usize {
    2 * threads + 2
}

pub(super) struct Shared<'w, W: Work> {
    work: &'w W,
    desk: Mutex<Desk<'w, W>>,
    /// There may be something to do, or no more.
    news: Condvar,
    /// Held by the thread that writes.
    sink: Mutex<Sink<'w>>,
}

struct Desk<'w, W: Work> {
    work: &'w W,
    known: &'w mut W::State,
    feeds: Vec<Feed>,
    buffers: Vec<usize>,
    effort: Effort,
    pending: VecDeque<Pending<W::State>>,
    first_pending: u64,
    /// Output whose turn it is, and whose buffer that was.
    ready: VecDeque<(Vec<u8>, usize)>,
    writing: bool,
    /// How many threads wait for news.
    waiting: usize,
    /// Per thread: empty buffers that it wrote to.
    outs: Vec<Vec<Vec<u8>>>,
    states: Vec<W::State>,
    chunks: Vec<Vec<u8>>,
    /// The time up to which segments have been cut.
    cut: u64,
    /// No segment will be cut any more.
    finished: bool,
    /// How it ended: where the rest is to be read in order.
    end: Option<io::Result<Vec<Place>>>,
}

/// A segment that was handed out.
struct Pending<T> {
    segment: Arc<Segment>,
    /// Where each stream was before it.
    places: Vec<Place>,
    done: Option<Done<T>>,
}

struct Done<T> {
    /// `None` if the segment is damaged.
    state: Option<T>,
    out: Vec<u8>,
    thread: usize,
}

enum Task<T> {
    Unpack { feed: usize, number: u64, packed: Packed, codec: Codec, layout: PageLayout, to: Vec<u8> },
    Segment { number: u64, segment: Arc<Segment>, state: T, out: Vec<u8> },
}

/// Ends it for all if a thread panics, for which the others would wait in vain.
struct Alarm<'s, 'w, W: Work>(&'s Shared<'w, W>);

impl<W: Work> Drop for Alarm<'_, '_, W> {
    fn drop(&mut self) {
        if thread::panicking() {
            // Poisoned by the panic itself: what is in it is only thrown away.
            let mut desk = self.0.desk.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            desk.end = Some(Err(panicked()));
            self.0.news.notify_all();
        }
    }
}

fn panicked() -> io::Error {
    io::Error::other("a decoding thread panicked")
}

impl<'w, W: Work> Shared<'w, W> {
    pub(super) fn new(
        work: &'w W,
        streams: Vec<(CpuStream, usize)>,
        effort: Effort,
        known: &'w mut W::State,
        sink: Sink<'w>,
    ) -> Self {
        let (feeds, buffers) = streams.into_iter().map(|(stream, buffer)| (Feed::new(stream), buffer)).unzip();
        let desk = Desk {
            work,
            known,
            feeds,
            buffers,
            effort,
            pending: VecDeque::new(),
            first_pending: 0,
            ready: VecDeque::new(),
            writing: false,
            waiting: 0,
            outs: (0..effort.threads).map(|_| Vec::new()).collect(),
            states: Vec::new(),
            chunks: Vec::new(),
            cut: 0,
            finished: false,
            end: None,
        };
        Shared { work, desk: Mutex::new(desk), news: Condvar::new(), sink: Mutex::new(sink) }
    }

    /// The streams with the numbers of their buffers, each positioned where it is to be read on.
    pub(super) fn into_rest(self) -> io::Result<Vec<(CpuStream, usize)>> {
        let desk = self.desk.into_inner().map_err(|_| panicked())?;
        let places = desk.end.unwrap_or_else(|| Err(panicked()))?;
        debug_assert!(desk.ready.is_empty());
        let streams = desk.feeds.into_iter().zip(places).map(|(feed, place)| feed.into_stream(place));
        Ok(streams.zip(desk.buffers).collect())
    }

    /// Works until nothing is left to do.
    pub(super) fn take_part(&self, thread: usize) {
        let _alarm = Alarm(self);
        let mut unpackers = Unpackers::default();
        let Ok(mut desk) = self.desk.lock() else { return };
        loop {
            match self.next(desk, thread) {
                None => return,
                Some(Task::Unpack { feed, number, packed, codec, layout, mut to }) => {
                    let data = if codec == Codec::None {
                        Some(packed.into_bytes())
                    } else {
                        unpackers.unpack(codec, packed.bytes(), packed.size, &mut to).is_ok().then_some(to)
                    };
                    let outlined = data.and_then(|bytes| Some((Outline::of(&layout, &bytes).ok()?, bytes)));
                    let chunk = outlined.map(|(outline, bytes)| Unpacked { bytes, outline });
                    let Ok(locked) = self.desk.lock() else { return };
                    desk = locked;
                    if desk.end.is_none() {
                        desk.feeds[feed].take(number, chunk);
                    }
                }
                Some(Task::Segment { number, segment, mut state, mut out }) => {
                    let whole = work_on(self.work, &segment, &mut state, &mut out);
                    drop(segment); // so that its chunks' buffers can be used again
                    let Ok(locked) = self.desk.lock() else { return };
                    desk = locked;
                    desk.take(number, Done { state: whole.then_some(state), out, thread });
                }
            }
        }
    }

    /// What `thread` is to do next; `None`: nothing any more.
    fn next<'s>(&'s self, mut desk: MutexGuard<'s, Desk<'w, W>>, thread: usize) -> Option<Task<W::State>> {
        loop {
            desk.settle();
            if !desk.writing && !desk.ready.is_empty() && !matches!(desk.end, Some(Err(_))) {
                desk = self.write(desk)?;
                continue;
            }
            if desk.end.is_some() {
                self.news.notify_all();
                return None;
            }
            if let Some(task) = desk.task(thread) {
                if desk.waiting > 0 {
                    self.news.notify_one();
                }
                return Some(task);
            }
            // A segment that was given up is done without anybody having to do it.
            if !desk.first_is_done() && !desk.check_end() {
                desk.waiting += 1;
                desk = self.news.wait(desk).ok()?;
                desk.waiting -= 1;
            }
        }
    }

    /// Writes all output whose turn it is, without the lock.
    fn write<'s>(&'s self, mut desk: MutexGuard<'s, Desk<'w, W>>) -> Option<MutexGuard<'s, Desk<'w, W>>> {
        desk.writing = true;
        while let Some((mut out, thread)) = desk.ready.pop_front() {
            drop(desk);
            let written = self.sink.lock().ok()?(&out);
            desk = self.desk.lock().ok()?;
            if let Err(error) = written {
                desk.end = Some(Err(error));
                break;
            }
            out.clear();
            desk.outs[thread].push(out);
        }
        desk.writing = false;
        Some(desk)
    }
}

impl<W: Work> Desk<'_, W> {
    /// Takes in what became of a segment.
    fn take(&mut self, number: u64, done: Done<W::State>) {
        let at = number.checked_sub(self.first_pending);
        if let Some(pending) = at.and_then(|at| self.pending.get_mut(at as usize)) {
            pending.done = Some(done);
        }
    }

    fn first_is_done(&self) -> bool {
        self.pending.front().is_some_and(|p| p.done.is_some())
    }

    /// Commits the segments whose turn it is.
    fn settle(&mut self) {
        while self.end.is_none() && self.first_is_done() {
            let Some(Pending { segment, places, done: Some(done) }) = self.pending.pop_front() else { return };
            self.first_pending += 1;
            if self.commit(&segment, done) {
                self.recycle(segment);
            } else {
                self.end = Some(Ok(places));
            }
        }
    }

    /// Accepts a segment's output; `false` if it must be done in order, and all behind it.
    fn commit(&mut self, segment: &Segment, Done { state, mut out, thread }: Done<W::State>) -> bool {
        let Some(mut state) = state else { return false };
        match self.work.commit(self.known, &mut state) {
            Verdict::Kept => {}
            Verdict::InOrder => return false,
            Verdict::Again => {
                out.clear();
                state = self.work.fork(self.known, Some(state));
                if !work_on(self.work, segment, &mut state, &mut out)
                    || self.work.commit(self.known, &mut state) != Verdict::Kept
                {
                    return false;
                }
            }
        }
        self.states.push(state);
        self.ready.push_back((out, thread));
        true
    }

    /// Keeps the buffers of chunks that nobody needs any more.
    fn recycle(&mut self, segment: Arc<Segment>) {
        let Some(segment) = Arc::into_inner(segment) else { return };
        let chunks = segment.streams.into_iter().flat_map(|(stream, _)| stream.chunks);
        self.chunks.extend(chunks.filter_map(Arc::into_inner).map(|chunk| chunk.bytes));
    }

    /// Whether nothing can be done any more; then it notes so.
    fn check_end(&mut self) -> bool {
        let over = self.pending.is_empty() && (self.finished || !self.feeds.iter().any(Feed::is_waiting));
        if over {
            self.end = Some(Ok(self.feeds.iter().map(Feed::place).collect()));
        }
        over
    }

    fn task(&mut self, thread: usize) -> Option<Task<W::State>> {
        let room = self.pending.len() + self.ready.len() < most_segments(self.effort.threads);
        let mut cut = room.then(|| self.cut_segment(false)).flatten();
        if cut.is_none() {
            let unpack = self.ask();
            if unpack.is_some() {
                return unpack;
            }
            // No more can be held: a smaller segment, then.
            let waiting = self.feeds.iter().any(Feed::is_waiting);
            cut = (room && !waiting).then(|| self.cut_segment(true)).flatten();
        }
        let (number, segment) = cut?;
        let used = self.states.pop();
        let state = self.work.fork(self.known, used);
        let out = self.outs[thread].pop().unwrap_or_default();
        Some(Task::Segment { number, segment, state, out })
    }

    /// Gives a chunk to be unpacked, if it may be held: two of each stream, and of the streams that hold up the others as
    /// many more as there is room for.
    fn ask(&mut self) -> Option<Task<W::State>> {
        let held: usize = self.feeds.iter().map(Feed::held).sum();
        loop {
            let open = self.feeds.iter().enumerate().filter(|(_, f)| f.is_open());
            let (number, first) = open.min_by_key(|(_, f)| (f.chunks() >= 2, f.horizon()))?;
            if first.chunks() >= 2 && held >= self.effort.ahead {
                return None;
            }
            let feed = &mut self.feeds[number];
            let Some((chunk, packed)) = feed.ask() else { continue };
            let to = self.chunks.pop().unwrap_or_default();
            let (codec, layout) = (feed.codec(), feed.layout());
            return Some(Task::Unpack { feed: number, number: chunk, packed, codec, layout, to });
        }
    }

    /// Where to end the next segment, so that it has the size wanted, if there is that much before `horizon`; `Err` if
    /// there is less.
    fn cut_before(&self, horizon: Option<u64>) -> Result<u64, Option<u64>> {
        let mut chunks: Vec<(u64, usize)> = Vec::new();
        for feed in &self.feeds {
            chunks.extend(feed.ready().take_while(|(start, _)| horizon.is_none_or(|h| *start < h)));
        }
        chunks.sort_unstable();
        let mut size = 0;
        for (start, len) in chunks {
            if size >= self.effort.segment && start > self.cut {
                return Ok(start);
            }
            size += len;
        }
        match horizon {
            Some(horizon) if size >= self.effort.segment => Ok(horizon),
            _ => Err(horizon),
        }
    }

    /// Cuts the next segment, of the size wanted unless no more will come for now; `None` if there is none yet, or none at
    /// all.
    fn cut_segment(&mut self, all: bool) -> Option<(u64, Arc<Segment>)> {
        if self.finished {
            return None;
        }
        let horizon = self.feeds.iter().filter_map(Feed::horizon).min();
        let stuck = self.feeds.iter().any(|f| f.is_damaged() && f.horizon() == horizon);
        let waiting = !all && self.feeds.iter().any(|f| f.is_waiting() || f.is_open());
        if let Some(horizon) = horizon
            && horizon <= self.cut
        {
            self.finished |= stuck || !waiting;
            return None;
        }
        let until = match self.cut_before(horizon) {
            Ok(cut) => Some(cut),
            Err(Some(_)) if waiting => return None,
            Err(horizon) => horizon,
        };
        let places: Vec<Place> = self.feeds.iter().map(Feed::place).collect();
        let mut streams = Vec::with_capacity(self.feeds.len());
        let mut broken = false;
        for (feed, &buffer) in self.feeds.iter_mut().zip(&self.buffers) {
            match feed.split(until) {
                Ok(Some(stream)) => streams.push((stream, buffer)),
                Ok(None) => {}
                Err(_) => {
                    broken = true;
                    break;
                }
            }
        }
        self.finished = broken || until.is_none();
        self.cut = until.unwrap_or(u64::MAX);
        let segment = Arc::new(Segment { streams });
        let number = self.first_pending + self.pending.len() as u64;
        // If a page on the way to the cut is damaged, the segment is given up, and reading goes on before it.
        let done = broken.then(|| Done { state: None, out: Vec::new(), thread: 0 });
        self.pending.push_back(Pending { segment: segment.clone(), places, done });
        (!broken).then_some((number, segment))
    }
}
