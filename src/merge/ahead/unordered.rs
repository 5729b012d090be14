//! All records of all streams, in whatever order is quickest.

use crate::merge::MergeError;
use crate::ring_buffer::Item;
use crate::trace_dat::{Batch, Codec, CpuStream, Mark, Packed, PageCursor, Unpackers};
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// What is done with records whose order does not matter.
pub trait Tally: Sync {
    /// What is found out.
    type State: Send;

    /// Nothing found out yet.
    fn nothing(&self) -> Self::State;

    /// Takes in records of a buffer: `items` say where they lie in `data`.
    fn records(&self, state: &mut Self::State, buffer: usize, items: &[Item], data: &[u8]);

    /// Adds what was found out elsewhere.
    fn add(&self, known: &mut Self::State, more: Self::State);
}

/// Has `work` done on all records of `streams` (each with the number of its buffer), on so many threads. Damage goes to
/// `damage`, and work goes on behind it.
pub fn tally<T: Tally>(
    work: &T,
    mut streams: Vec<(CpuStream, usize)>,
    threads: usize,
    damage: &mut dyn FnMut(&MergeError),
) -> T::State {
    let start: Vec<(Mark, PageCursor)> = streams.iter().map(|(stream, _)| (stream.mark(), stream.cursor())).collect();
    if threads > 1
        && let Some(state) = by_chunks(work, &mut streams, threads)
    {
        return state;
    }
    let mut state = work.nothing();
    let mut spare = Vec::new();
    for ((mut stream, buffer), (mark, cursor)) in streams.into_iter().zip(start) {
        // A mark that was taken from this stream, with nothing to be read there, is reached without fail.
        drop(stream.go_to(mark, cursor, false));
        loop {
            match stream.next_batch(&mut spare) {
                Ok(Some((items, data))) => work.records(&mut state, buffer, items, data),
                Ok(None) => break,
                Err(error) => damage(&MergeError { buffer, error }),
            }
        }
    }
    state
}

/// Where the next chunk comes from.
struct Chunks<'s> {
    streams: &'s mut [(CpuStream, usize)],
    first: usize,
}

/// A chunk to be unpacked and gone through.
struct Task {
    packed: Packed,
    codec: Codec,
    buffer: usize,
    cursor: PageCursor,
}

impl Chunks<'_> {
    /// `Err` at damage.
    fn next(&mut self) -> Result<Option<Task>, ()> {
        while let Some((stream, buffer)) = self.streams.get_mut(self.first) {
            match stream.next_packed() {
                Some(packed) => {
                    return Ok(Some(Task { packed, codec: stream.codec(), buffer: *buffer, cursor: stream.cursor() }));
                }
                None if stream.is_done() => self.first += 1,
                None => return Err(()),
            }
        }
        Ok(None)
    }
}

/// `None` if anything is damaged: then it is to be done in order, which tells where.
fn by_chunks<T: Tally>(work: &T, streams: &mut [(CpuStream, usize)], threads: usize) -> Option<T::State> {
    let chunks = Mutex::new(Chunks { streams, first: 0 });
    let damaged = AtomicBool::new(false);
    let states = thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| worker(work, &chunks, &damaged));
        let workers: Vec<_> = (0..threads).map(spawn).collect();
        let join = |w: thread::ScopedJoinHandle<'_, T::State>| w.join().unwrap_or_else(|panic| resume_unwind(panic));
        workers.into_iter().map(join).collect::<Vec<_>>()
    });
    if damaged.into_inner() {
        return None;
    }
    let mut all = work.nothing();
    states.into_iter().for_each(|state| work.add(&mut all, state));
    Some(all)
}

fn worker<T: Tally>(work: &T, chunks: &Mutex<Chunks<'_>>, damaged: &AtomicBool) -> T::State {
    let mut state = work.nothing();
    let mut unpackers = Unpackers::default();
    let (mut data, mut batch) = (Vec::new(), Batch::default());
    while !damaged.load(Ordering::Relaxed) {
        let next = chunks.lock().map_err(drop).and_then(|mut chunks| chunks.next());
        let sound = match next {
            Ok(None) => break,
            Ok(Some(task)) => one(work, task, &mut unpackers, &mut data, &mut batch, &mut state),
            Err(()) => None,
        };
        if sound.is_none() {
            damaged.store(true, Ordering::Relaxed);
        }
    }
    state
}

/// Goes through one chunk; `None` if it is damaged.
fn one<T: Tally>(
    work: &T,
    Task { packed, codec, buffer, mut cursor }: Task,
    unpackers: &mut Unpackers,
    data: &mut Vec<u8>,
    batch: &mut Batch,
    state: &mut T::State,
) -> Option<()> {
    if !packed.load(codec, unpackers, data) {
        return None;
    }
    cursor.enter(data.len());
    while cursor.fill(data, None, batch).ok()?.is_some() {
        work.records(state, buffer, batch.items(), data);
        if batch.take_error().is_some() {
            return None;
        }
    }
    Some(())
}
