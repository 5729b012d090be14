//! Segments to the threads and back, in order.

use super::feed::{Feed, Place};
use super::segment::SegmentStream;
use crate::merge::{Merge, MergeError, Source};
use crate::trace_dat::{Codec, CpuStream, Packed, Unpacker};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::thread;

/// How much output is gathered before it is passed on, in bytes.
const GATHER: usize = 256 << 10;

/// How the work is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many threads work; 1 reads in order, on the calling thread.
    pub threads: usize,
    /// How many bytes of sub-buffers a segment should hold.
    pub segment: usize,
    /// How many bytes of sub-buffers are held ready, over all streams.
    pub ahead: usize,
}

impl Effort {
    /// What suits so many threads: 6 MiB of sub-buffers, and as much again in segments.
    pub fn new(threads: usize) -> Self {
        Effort { threads, segment: 768 << 10, ahead: 6 << 20 }
    }
}

/// What is done with each record.
pub trait Work: Sync {
    /// What one record leaves for the next.
    type State: Send;

    /// A state to begin a segment with while the ones before it are not finished, of which `known` is what is certain.
    fn fork(&self, known: &Self::State) -> Self::State;

    /// Works on the current record of `merge`; what is to be put out goes to `out`.
    fn record<S: Source>(&self, merge: &mut Merge<S>, state: &mut Self::State, out: &mut Vec<u8>);

    /// A segment's turn has come: takes what it leaves over into `known`, if it began with the right state.
    fn commit(&self, known: &mut Self::State, done: Self::State) -> Verdict;
}

/// Whether a segment's output holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Kept,
    /// It is to be done again with what is known now, and so are others now and then.
    Again,
    /// It is to be done again, and all that follow depend on each other too: they are done in order.
    InOrder,
}

/// Merges `streams` (each with the number of its buffer) and has `work` done on every record.
/// `sink` gets the output, in order.
///
/// # Errors
/// What `sink` gives. Damage goes to `damage`, and work goes on behind it.
pub fn run<W: Work>(
    work: &W,
    streams: Vec<(CpuStream, usize)>,
    effort: Effort,
    state: &mut W::State,
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    damage: &mut dyn FnMut(&MergeError),
) -> io::Result<()> {
    let streams = match effort.threads {
        0 | 1 => streams,
        _ => several(work, streams, effort, state, sink)?,
    };
    let mut merge = Merge::default();
    for (stream, buffer) in streams {
        merge.add(stream, buffer);
    }
    let mut out = Vec::with_capacity(GATHER + (64 << 10));
    loop {
        match merge.advance() {
            Ok(true) => work.record(&mut merge, state, &mut out),
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
struct Segment {
    streams: Vec<(SegmentStream, usize)>,
}

enum Task<T> {
    Unpack { feed: usize, number: u64, packed: Packed, codec: Codec, to: Vec<u8> },
    Segment { number: u64, segment: Arc<Segment>, state: T, out: Vec<u8> },
}

enum Done<T> {
    Unpacked {
        feed: usize,
        number: u64,
        data: Option<Vec<u8>>,
    },
    /// The state is `None` if the segment is damaged.
    Segment {
        number: u64,
        state: Option<T>,
        out: Vec<u8>,
    },
    /// The thread that was to say so is gone.
    Panicked,
}

/// Tells of a panic, for which the results would be waited for in vain.
struct Alarm<'r, T>(&'r Sender<Done<T>>);

impl<T> Drop for Alarm<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(self.0.send(Done::Panicked)); // nobody listens only if all is over
        }
    }
}

/// A segment that was handed out.
struct Pending<T> {
    segment: Arc<Segment>,
    /// Where each stream was before it.
    places: Vec<Place>,
    done: Option<(Option<T>, Vec<u8>)>,
}

fn merge_of(segment: &Segment) -> Merge<SegmentStream> {
    let mut merge = Merge::default();
    for (stream, buffer) in &segment.streams {
        merge.add(stream.clone(), *buffer);
    }
    merge
}

/// Whether the whole segment could be worked on.
fn work_on<W: Work>(work: &W, segment: &Segment, state: &mut W::State, out: &mut Vec<u8>) -> bool {
    let mut merge = merge_of(segment);
    loop {
        match merge.advance() {
            Ok(true) => work.record(&mut merge, state, out),
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

fn worker<W: Work>(work: &W, tasks: &Receiver<Task<W::State>>, results: &Sender<Done<W::State>>) {
    let _alarm = Alarm(results);
    let mut unpackers: Vec<(Codec, Unpacker)> = Vec::new();
    for task in tasks {
        let done = match task {
            Task::Unpack { feed, number, packed, codec: Codec::None, .. } => {
                Done::Unpacked { feed, number, data: Some(packed.bytes) }
            }
            Task::Unpack { feed, number, packed, codec, to: mut data } => {
                let at = unpackers.iter().position(|u| u.0 == codec).unwrap_or_else(|| {
                    unpackers.push((codec, Unpacker::new(codec)));
                    unpackers.len() - 1
                });
                let sound = unpackers[at].1.unpack(&packed.bytes, packed.size, &mut data).is_ok();
                Done::Unpacked { feed, number, data: sound.then_some(data) }
            }
            Task::Segment { number, segment, mut state, mut out } => {
                let whole = work_on(work, &segment, &mut state, &mut out);
                Done::Segment { number, state: whole.then_some(state), out }
            }
        };
        if results.send(done).is_err() {
            return;
        }
    }
}

/// Works on as much as can be done on several threads, and gives the streams, positioned behind that.
fn several<W: Work>(
    work: &W,
    streams: Vec<(CpuStream, usize)>,
    effort: Effort,
    state: &mut W::State,
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Vec<(CpuStream, usize)>> {
    let (task_in, task_out) = unbounded();
    let (done_in, done_out) = unbounded();
    thread::scope(|scope| {
        let spawn = |_| {
            let (tasks, results) = (task_out.clone(), done_in.clone());
            scope.spawn(move || worker(work, &tasks, &results))
        };
        let workers: Vec<_> = (0..effort.threads).map(spawn).collect();
        drop(done_in);
        let (feeds, buffers) = streams.into_iter().map(|(stream, buffer)| (Feed::new(stream), buffer)).unzip();
        let mut driver = Driver {
            work,
            feeds,
            buffers,
            tasks: task_in,
            pending: VecDeque::new(),
            first_pending: 0,
            effort,
            spare: Vec::new(),
            spare_chunks: Vec::new(),
            cut: 0,
            finished: false,
        };
        let places = driver.drive(&done_out, state, sink);
        let Driver { feeds, buffers, tasks, .. } = driver;
        drop(tasks); // the workers end
        for worker in workers {
            drop(worker.join()); // a panic has been told of by the worker itself
        }
        let places = places?;
        Ok(feeds.into_iter().zip(places).map(|(feed, place)| feed.into_stream(place)).zip(buffers).collect())
    })
}

struct Driver<'w, W: Work> {
    work: &'w W,
    feeds: Vec<Feed>,
    buffers: Vec<usize>,
    tasks: Sender<Task<W::State>>,
    pending: VecDeque<Pending<W::State>>,
    first_pending: u64,
    effort: Effort,
    spare: Vec<Vec<u8>>,
    spare_chunks: Vec<Vec<u8>>,
    /// The time up to which segments have been cut.
    cut: u64,
    /// No segment will be cut any more.
    finished: bool,
}

impl<W: Work> Driver<'_, W> {
    /// Runs until all is done that can be; gives the places from where the rest is to be read in order.
    fn drive(
        &mut self,
        results: &Receiver<Done<W::State>>,
        state: &mut W::State,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Vec<Place>> {
        loop {
            self.ask();
            while !self.finished && self.pending.len() <= 2 * self.effort.threads && self.cut_segment(state) {
                self.ask();
            }
            // Before waiting: a segment that was given up is done without anybody having to do it.
            let first = self.first_pending;
            while let Some(Pending { done: Some(_), .. }) = self.pending.front() {
                let Some(Pending { segment, places, done: Some((done, out)) }) = self.pending.pop_front() else {
                    break;
                };
                self.first_pending += 1;
                if !self.commit(&segment, done, out, state, sink)? {
                    return Ok(places);
                }
                self.recycle(segment);
            }
            if self.first_pending > first {
                continue;
            }
            if self.pending.is_empty() && (self.finished || !self.feeds.iter().any(Feed::is_waiting)) {
                return Ok(self.feeds.iter().map(Feed::place).collect());
            }
            match results.recv() {
                Ok(Done::Unpacked { feed, number, data }) => self.feeds[feed].take(number, data),
                Ok(Done::Segment { number, state, out }) => {
                    if let Some(pending) = self.pending.get_mut((number - self.first_pending) as usize) {
                        pending.done = Some((state, out));
                    }
                }
                Ok(Done::Panicked) | Err(_) => return Err(io::Error::other("a decoding thread panicked")),
            }
        }
    }

    /// Puts out a segment whose turn has come; `false` if it must be done in order, and all behind it.
    fn commit(
        &mut self,
        segment: &Segment,
        done: Option<W::State>,
        mut out: Vec<u8>,
        known: &mut W::State,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        let Some(done) = done else { return Ok(false) };
        match self.work.commit(known, done) {
            Verdict::Kept => {}
            Verdict::InOrder => return Ok(false),
            Verdict::Again => {
                out.clear();
                let mut again = self.work.fork(known);
                if !work_on(self.work, segment, &mut again, &mut out) || self.work.commit(known, again) != Verdict::Kept
                {
                    return Ok(false);
                }
            }
        }
        sink(&out)?;
        out.clear();
        self.spare.push(out);
        Ok(true)
    }

    /// Keeps the buffers of chunks that nobody needs any more.
    fn recycle(&mut self, segment: Arc<Segment>) {
        let Some(segment) = Arc::into_inner(segment) else { return };
        let chunks = segment.streams.into_iter().flat_map(|(stream, _)| stream.chunks);
        self.spare_chunks.extend(chunks.filter_map(Arc::into_inner));
    }

    /// Hands out chunks to be unpacked, as many as may be held: two of each stream, and of the streams that hold up the
    /// others as many more as there is room for.
    fn ask(&mut self) {
        let mut held: usize = self.feeds.iter().map(Feed::held).sum();
        loop {
            let open = self.feeds.iter().enumerate().filter(|(_, f)| f.is_open());
            let Some((number, first)) = open.min_by_key(|(_, f)| (f.chunks() >= 2, f.horizon())) else { return };
            if first.chunks() >= 2 && held >= self.effort.ahead {
                return;
            }
            let feed = &mut self.feeds[number];
            let Some((chunk, packed)) = feed.ask() else { continue };
            held += packed.size;
            let to = self.spare_chunks.pop().unwrap_or_default();
            let task = Task::Unpack { feed: number, number: chunk, packed, codec: feed.codec(), to };
            if self.tasks.send(task).is_err() {
                return;
            }
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

    /// Cuts the next segment and hands it out; `false` if there is none yet, or none at all.
    fn cut_segment(&mut self, known: &W::State) -> bool {
        let horizon = self.feeds.iter().filter_map(Feed::horizon).min();
        let stuck = self.feeds.iter().any(|f| f.is_damaged() && f.horizon() == horizon);
        let waiting = self.feeds.iter().any(Feed::is_waiting);
        if let Some(horizon) = horizon
            && horizon <= self.cut
        {
            self.finished |= stuck || !waiting;
            return false;
        }
        let until = match self.cut_before(horizon) {
            Ok(cut) => Some(cut),
            Err(Some(_)) if waiting => return false,
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
        if broken {
            // A page on the way to the cut is damaged: the segment is given up, and reading goes on before it.
            self.pending.push_back(Pending { segment, places, done: Some((None, Vec::new())) });
            return false;
        }
        let out = self.spare.pop().unwrap_or_default();
        let task = Task::Segment { number, segment: segment.clone(), state: self.work.fork(known), out };
        self.pending.push_back(Pending { segment, places, done: None });
        self.tasks.send(task).is_ok()
    }
}
