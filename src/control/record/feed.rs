//! Sub-buffers that come from elsewhere than a ring of this kernel: packed and stored as a worker's are.

use super::drain::{Drain, Progress};
use super::sink::ChunkSink;
use super::spool::Spool;
use super::store::{RingTally, Store, StoreContents};
use std::io;
use std::time::Duration;

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
