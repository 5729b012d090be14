//! The store of a worker's sub-buffers: chunks, packed and appended to its spool, until a limit or a failure ends that.
//! All events are counted, those that are stored and those that are not.
//! Sub-buffers that come from elsewhere than a ring of this kernel: packed and stored as a worker's are.

use super::chunk::{ChunkWriter, Efforts, PackingEffort};
use super::drain::{Drain, Progress};
use super::kept_tasks::tasks_in;
use super::limits::Reached;
use super::sink::ChunkSink;
use super::spool::{AppendError, Dropped, Spool};
use crate::file::ring_buffer::Lost;
use crate::file::trace_dat::{ChunkFacts, ChunkScan};
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A chunk that fills up and the spool it goes to.
pub(super) struct Store<'a> {
    chunk: ChunkWriter,
    /// Time of the chunk's first byte.
    since: Instant,
    scan: Option<ChunkScan>,
    /// Lost before the first sub-buffer that is stored, and not noted in it yet.
    lost_before: Lost,
    spool: ChunkSink,
    sub_buffer: usize,
    ring: usize,
    progress: &'a Progress,
    efforts: Efforts,
    /// A limit was reached: the ring is emptied and counted, and nothing more is written.
    limit: Option<Reached>,
    /// The spool could not be written; likewise.
    failure: Option<io::Error>,
    tally: RingTally,
}

/// Events taken from a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingTally {
    /// Bytes, as the kernel gave them.
    pub bytes: u64,
    /// Of these, bytes of sub-buffers that are not in the spool.
    pub bytes_discarded: u64,
    /// Events; `None` if they were not counted, or one of the sub-buffers is damaged.
    pub events: Option<u64>,
    /// Of these, events that are not in the spool.
    pub events_discarded: u64,
}

/// The contents of a store at its end.
pub(super) struct StoreContents {
    pub(super) spool: ChunkSink,
    pub(super) efforts: Efforts,
    pub(super) tally: RingTally,
    pub(super) failure: Option<io::Error>,
}

impl<'a> Store<'a> {
    /// # Errors
    /// If zstd has no such level or the machine no memory.
    pub(super) fn new(spool: impl Into<ChunkSink>, drain: &Drain, progress: &'a Progress) -> io::Result<Self> {
        Ok(Store {
            chunk: ChunkWriter::new(drain.chunk, drain.compression)?,
            since: Instant::now(),
            scan: drain.scan,
            lost_before: drain.lost_before,
            spool: spool.into(),
            sub_buffer: drain.sub_buffer,
            ring: drain.ring,
            progress,
            efforts: Efforts::default(),
            limit: None,
            failure: None,
            tally: RingTally { events: drain.scan.map(|_| 0), ..RingTally::default() },
        })
    }

    /// The free part of the chunk, at most `most` bytes; [`Store::filled`] says how many of them were filled.
    pub(super) fn free(&mut self, most: usize) -> &mut [u8] {
        if self.chunk.len() == 0 {
            self.since = Instant::now();
        }
        let free = self.chunk.free();
        let len = free.len().min(most);
        &mut free[..len]
    }

    /// Takes `len` bytes of [`Store::free`], and stores the chunk if it is full. `waited` bytes were found in the ring since
    /// it was empty.
    pub(super) fn filled(&mut self, len: usize, waited: usize) {
        self.chunk.advance(len);
        self.tally.bytes += len as u64;
        self.progress.raw.fetch_add(len as u64, Ordering::Relaxed);
        if let Some(scan) = &mut self.scan {
            scan.look(self.chunk.filled());
        }
        if self.chunk.is_full() {
            self.flush(waited);
        }
    }

    /// Called when the ring is empty: stores a chunk that is older than `age` or that packing makes no smaller, so that a
    /// recorder that is killed loses little, and lets a flight recorder drop what is too old.
    pub(super) fn rest(&mut self, age: Duration, waited: usize) {
        let old = self.since.elapsed() > age || !self.chunk.packs();
        if self.chunk.len() > 0 && old && self.chunk.len().is_multiple_of(self.sub_buffer) {
            self.flush(waited);
        }
    }

    /// Events taken so far; `None` if they are not counted.
    pub(super) fn events(&self) -> Option<u64> {
        Some(self.tally.events? + self.scan.as_ref()?.events()?)
    }

    /// Drops what a flight recorder need not keep any longer.
    pub(super) fn drop_old(&mut self) {
        if let Err(error) = self.spool.drop_old() {
            self.fail(error);
        }
    }

    /// Stores what is filled. From the first limit or failure on it is counted and dropped.
    fn flush(&mut self, waited: usize) {
        let len = self.chunk.len();
        if len == 0 {
            return;
        }
        if self.lost_before != Lost::None {
            self.note_lost();
        }
        let stored = if self.limit.is_some() || self.failure.is_some() { 0 } else { self.store(len, waited) };
        if stored < len {
            let facts = self.facts(stored..len, 0);
            self.tally.events_discarded += self.tally.count(facts);
            self.tally.bytes_discarded += (len - stored) as u64;
        }
        self.chunk.clear();
    }

    /// Notes [`Drain::lost_before`] in the first sub-buffer. A damaged one stays as it is.
    fn note_lost(&mut self) {
        let lost = std::mem::take(&mut self.lost_before);
        if let Some(scan) = &self.scan {
            let _ = scan.layout().add_lost(self.chunk.filled_mut(), lost);
        }
    }

    /// Appends as many whole sub-buffers of the chunk to the spool as there may be and the disk has room for: all `len` bytes,
    /// unless a limit is reached or the disk is full. Returns how many bytes of sub-buffers are in the spool now.
    fn store(&mut self, mut len: usize, waited: usize) -> usize {
        let mut effort = self.efforts.choose(waited, self.ring);
        while len > 0 {
            let packed = match self.chunk.pack(len, effort) {
                Ok(packed) => packed as u64,
                Err(error) => {
                    self.fail(error);
                    return 0;
                }
            };
            let room = match self.progress.budget.take(packed) {
                Ok(()) => match self.spool.append(self.chunk.packed(), len as u64) {
                    Ok(()) => {
                        let facts = self.facts(0..len, packed);
                        self.tally.count(facts);
                        self.spool.note(facts);
                        if let (true, Some(scan)) = (self.spool.wants_tasks(), &self.scan) {
                            let stored = self.chunk.filled().get(..len).unwrap_or_default();
                            self.spool.note_tasks(tasks_in(scan.layout(), stored));
                        }
                        self.progress.written.fetch_add(packed, Ordering::Relaxed);
                        return len;
                    }
                    Err(AppendError { source, room }) => {
                        self.fail(source);
                        room
                    }
                },
                Err(limit) => {
                    self.limit = Some(limit);
                    self.progress.budget.left()
                }
            };
            if effort == PackingEffort::Stored && self.chunk.packs() {
                effort = PackingEffort::Full;
            } else {
                len = self.fitting(len, packed, room);
            }
        }
        0
    }

    /// The bytes of whole sub-buffers, fewer than `len`, that probably fit into `room` when `len` took `packed`.
    fn fitting(&self, len: usize, packed: u64, room: u64) -> usize {
        let share = u128::from(room) * len as u128 / u128::from(packed.max(1));
        let most = len.saturating_sub(1);
        let fitting = usize::try_from(share).unwrap_or(usize::MAX).min(most);
        fitting / self.sub_buffer * self.sub_buffer
    }

    /// Index entry of a part of the chunk, which takes `packed` bytes in the spool.
    fn facts(&mut self, part: Range<usize>, packed: u64) -> Option<ChunkFacts> {
        let (scan, chunk) = (self.scan.as_mut()?, self.chunk.filled());
        if part != (0..chunk.len()) {
            scan.take(0); // more than this part was looked at
        }
        scan.look(chunk.get(part).unwrap_or_default());
        scan.take(packed)
    }

    /// Notes the first failure, after which no further chunk is written, and wakes who waits for the end.
    fn fail(&mut self, error: io::Error) {
        self.failure.get_or_insert(error);
        self.progress.budget.end();
    }

    /// True if a limit or a failure keeps more from being stored.
    fn has_ended(&self) -> bool {
        self.limit.is_some() || self.failure.is_some()
    }

    /// Drops a sub-buffer that is there in part; gives its bytes.
    fn drop_torn(&mut self) -> usize {
        let torn = self.chunk.len() % self.sub_buffer;
        self.chunk.keep(self.chunk.len() - torn);
        torn
    }

    /// Pads the last sub-buffer and stores what there is; gives the spool.
    pub(super) fn settle(&mut self, waited: usize) -> &ChunkSink {
        self.chunk.pad(self.sub_buffer);
        self.flush(waited);
        &self.spool
    }

    /// Stores what there is, for the last time.
    pub(super) fn done(mut self, waited: usize) -> StoreContents {
        self.settle(waited);
        self.tally.lose(self.spool.dropped());
        StoreContents { spool: self.spool, efforts: self.efforts, tally: self.tally, failure: self.failure }
    }
}

impl RingTally {
    /// Notes that stored data is gone.
    pub(super) fn lose(&mut self, gone: Dropped) {
        self.bytes_discarded += gone.bytes;
        self.events_discarded += gone.events;
    }

    /// Adds the events of a chunk; returns how many, 0 if that is not known.
    fn count(&mut self, facts: Option<ChunkFacts>) -> u64 {
        let events = facts.and_then(|facts| facts.events);
        self.events = self.events.zip(events).map(|(sum, events)| sum + events);
        events.unwrap_or(0)
    }
}

/// A spool, and the chunk that goes to it next.
pub struct Feed<'a> {
    store: Store<'a>,
}

/// The contents of a feed at its end.
#[derive(Debug)]
pub struct Fed {
    /// The spool, complete but for the chunk count.
    pub spool: ChunkSink,
    /// Events that came, and those of them that the spool lacks.
    pub tally: RingTally,
    /// Bytes of a sub-buffer that came in part and was left out.
    pub torn: u64,
    /// Why the spool ends early, if it does.
    pub failure: Option<io::Error>,
}

impl<'a> Feed<'a> {
    /// A feed of sub-buffers that `drain` describes.
    ///
    /// # Errors
    /// If zstd has no such level or the machine no memory.
    pub fn new(spool: Spool, drain: &Drain, progress: &'a Progress) -> io::Result<Self> {
        Ok(Feed { store: Store::new(spool, drain, progress)? })
    }

    /// Memory for the bytes that come next; [`Feed::filled`] says how many came.
    pub fn room(&mut self) -> &mut [u8] {
        self.store.free(usize::MAX)
    }

    /// Takes the first `len` bytes of [`Feed::room`].
    pub fn filled(&mut self, len: usize) {
        self.store.filled(len, 0);
    }

    /// Takes whole sub-buffers from elsewhere.
    pub fn add(&mut self, mut pages: &[u8]) {
        while !pages.is_empty() {
            let room = self.room();
            let len = room.len().min(pages.len());
            let (now, later) = pages.split_at(len);
            room[..len].copy_from_slice(now);
            self.filled(len);
            pages = later;
        }
    }

    /// True if the spool cannot take any more: from there on all that comes is counted as discarded.
    pub fn has_failed(&self) -> bool {
        self.store.has_ended()
    }

    /// Called when nothing comes: stores what is older than `age`, so that readers of the growing file see it.
    pub fn rest(&mut self, age: Duration) {
        self.store.rest(age, 0);
    }

    /// Stores the last whole sub-buffers.
    pub fn done(mut self) -> Fed {
        let torn = self.store.drop_torn() as u64;
        let StoreContents { spool, tally, failure, .. } = self.store.done(0);
        Fed { spool, tally, torn, failure }
    }
}
