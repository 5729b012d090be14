//! All records of all streams, in whatever order is quickest.

use crate::file::ring_buffer::{PageOrder, RecordPlace};
use crate::file::trace_dat::{Batch, Codec, CpuStream, Mark, PackedChunk, PageCursor, Unpackers};
use crate::read::merge::MergeError;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Work on records whose order does not matter.
pub trait UnorderedWork: Sync {
    /// The findings.
    type State: Send;

    /// Nothing found out yet.
    fn nothing(&self) -> Self::State;

    /// Takes in records of a buffer: `items` say where they lie in `data`.
    fn records(&self, state: &mut Self::State, buffer: usize, items: &[RecordPlace], data: &[u8]);

    /// Adds what was found out elsewhere.
    fn add(&self, known: &mut Self::State, more: Self::State);

    /// True if `wanted` holds for the buffer and the event id of a record that was taken in.
    fn any(&self, state: &Self::State, wanted: &dyn Fn(usize, u16) -> bool) -> bool;
}

/// Does `work` on all records of `streams` (each with the number of its buffer), on this many threads. Damage goes to
/// `damage`, and work goes on after it.
pub fn tally<T: UnorderedWork>(
    work: &T,
    mut streams: Vec<(CpuStream, usize)>,
    threads: usize,
    damage: &mut dyn FnMut(MergeError),
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
        stream.go_to(mark, cursor, false);
        loop {
            match stream.next_batch(&mut spare) {
                Ok(Some((items, data))) => work.records(&mut state, buffer, items, data),
                Ok(None) => break,
                Err(error) => damage(MergeError { buffer, error }),
            }
        }
    }
    state
}

/// The source of the next chunk.
struct Chunks<'s> {
    streams: &'s mut [(CpuStream, usize)],
    first: usize,
    given: usize,
}

/// A chunk to be unpacked and gone through.
struct ChunkTask {
    packed: PackedChunk,
    codec: Codec,
    buffer: usize,
    cursor: PageCursor,
    place: ChunkNumber,
}

/// Index of the stream, and the number of the chunk among all.
type ChunkNumber = (usize, usize);

impl Chunks<'_> {
    /// `Err` at damage.
    fn next(&mut self) -> Result<Option<ChunkTask>, ()> {
        while let Some((stream, buffer)) = self.streams.get_mut(self.first) {
            match stream.next_packed() {
                Some(packed) => {
                    let place = (self.first, self.given);
                    self.given += 1;
                    let (codec, cursor) = (stream.codec(), stream.cursor());
                    return Ok(Some(ChunkTask { packed, codec, buffer: *buffer, cursor, place }));
                }
                None if stream.is_done() => self.first += 1,
                None => return Err(()),
            }
        }
        Ok(None)
    }
}

/// `None` if anything is damaged: then it is to be done in order, which reports where.
fn by_chunks<T: UnorderedWork>(work: &T, streams: &mut [(CpuStream, usize)], threads: usize) -> Option<T::State> {
    let chunks = Mutex::new(Chunks { streams, first: 0, given: 0 });
    let damaged = AtomicBool::new(false);
    let states = thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| worker(work, &chunks, &damaged));
        let workers: Vec<_> = (0..threads).map(spawn).collect();
        let join = |w: thread::ScopedJoinHandle<'_, Worked<T>>| w.join().unwrap_or_else(|panic| resume_unwind(panic));
        workers.into_iter().map(join).collect::<Vec<_>>()
    });
    if damaged.into_inner() {
        return None;
    }
    let mut all = work.nothing();
    let mut orders = Vec::new();
    for (state, part) in states {
        work.add(&mut all, state);
        orders.extend(part);
    }
    orders.sort_unstable_by_key(|chunk| chunk.0);
    let in_order = |pair: &[(ChunkNumber, PageOrder)]| match pair {
        [(a, before), (b, after)] => a.0 != b.0 || before.precedes(after),
        _ => true,
    };
    orders.windows(2).all(in_order).then_some(all)
}

/// The findings of one thread, and the order of the sub-buffers of each chunk that it went through.
type Worked<T> = (<T as UnorderedWork>::State, Vec<(ChunkNumber, PageOrder)>);

fn worker<T: UnorderedWork>(work: &T, chunks: &Mutex<Chunks<'_>>, damaged: &AtomicBool) -> Worked<T> {
    let mut state = work.nothing();
    let mut orders = Vec::new();
    let mut unpackers = Unpackers::default();
    let (mut data, mut batch) = (Vec::new(), Batch::default());
    while !damaged.load(Ordering::Relaxed) {
        let next = chunks.lock().map_err(drop).and_then(|mut chunks| chunks.next());
        let sound = match next {
            Ok(None) => break,
            Ok(Some(task)) => {
                one(work, task, &mut unpackers, &mut data, &mut batch, &mut state).map(|order| orders.push(order))
            }
            Err(()) => None,
        };
        if sound.is_none() {
            damaged.store(true, Ordering::Relaxed);
        }
    }
    (state, orders)
}

/// Goes through one chunk; `None` if it is damaged.
fn one<T: UnorderedWork>(
    work: &T,
    ChunkTask { packed, codec, buffer, mut cursor, place }: ChunkTask,
    unpackers: &mut Unpackers,
    data: &mut Vec<u8>,
    batch: &mut Batch,
    state: &mut T::State,
) -> Option<(ChunkNumber, PageOrder)> {
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
    let order = *cursor.order();
    (!order.is_open()).then_some((place, order))
}
