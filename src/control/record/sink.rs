//! Destinations of a worker's chunks: a spool on this machine, or a ring's place on another one.
//! The other end of a recording that leaves no file on this machine.

use super::spool::{AppendError, Dropped, Spool};
use crate::base::units::CpuId;
use crate::file::trace_dat::write::SavedPiece;
use crate::file::trace_dat::{ChunkFacts, ChunkIndex};
use std::fmt::Debug;
use std::io;

/// A CPU's data as it is written.
#[derive(Debug)]
pub enum ChunkSink {
    /// A file.
    Spool(Spool),
    /// Another machine, and the index of the chunks that it has taken.
    Remote(Box<dyn RemoteRing>, ChunkIndex),
}

impl From<Spool> for ChunkSink {
    fn from(spool: Spool) -> Self {
        ChunkSink::Spool(spool)
    }
}

impl ChunkSink {
    /// As [`Spool::append`].
    ///
    /// # Errors
    /// The file system's or the connection's.
    pub fn append(&mut self, chunk: &[u8], raw: u64) -> Result<(), AppendError> {
        match self {
            ChunkSink::Spool(spool) => spool.append(chunk, raw),
            ChunkSink::Remote(ring, _) => ring.append(chunk, raw).map_err(|source| AppendError { source, room: 0 }),
        }
    }

    /// As [`Spool::note`].
    pub fn note(&mut self, facts: Option<ChunkFacts>) {
        match self {
            ChunkSink::Spool(spool) => spool.note(facts),
            ChunkSink::Remote(ring, index) => {
                ring.note(facts.and_then(|facts| facts.events).unwrap_or(0));
                index.push(facts);
            }
        }
    }

    /// As [`Spool::wants_tasks`].
    pub(super) fn wants_tasks(&self) -> bool {
        matches!(self, ChunkSink::Spool(spool) if spool.wants_tasks())
    }

    /// As [`Spool::note_tasks`].
    pub(super) fn note_tasks(&mut self, tasks: impl IntoIterator<Item = i32>) {
        if let ChunkSink::Spool(spool) = self {
            spool.note_tasks(tasks);
        }
    }

    /// As [`Spool::drop_old`].
    ///
    /// # Errors
    /// The file system's.
    pub fn drop_old(&mut self) -> io::Result<()> {
        match self {
            ChunkSink::Spool(spool) => spool.drop_old(),
            ChunkSink::Remote(..) => Ok(()),
        }
    }

    /// As [`Spool::pieces`]; of another machine there are none.
    pub(super) fn pieces(&self) -> io::Result<Vec<SavedPiece>> {
        match self {
            ChunkSink::Spool(spool) => spool.pieces(),
            ChunkSink::Remote(..) => Ok(Vec::new()),
        }
    }

    /// Bytes of the section so far.
    #[expect(clippy::len_without_is_empty, reason = "not needed")]
    pub fn len(&self) -> u64 {
        match self {
            ChunkSink::Spool(spool) => spool.len(),
            ChunkSink::Remote(ring, _) => ring.taken(),
        }
    }

    /// As [`Spool::dropped`].
    pub fn dropped(&self) -> Dropped {
        match self {
            ChunkSink::Spool(spool) => spool.dropped(),
            ChunkSink::Remote(..) => Dropped::default(),
        }
    }

    /// Data that was taken and is gone: removed from the directory meanwhile, or lost on its way, which is waited for.
    pub fn forget_removed(&mut self) -> Dropped {
        match self {
            ChunkSink::Spool(spool) => spool.forget_removed(),
            ChunkSink::Remote(ring, _) => ring.settle(),
        }
    }

    /// As [`Spool::into_counts`]; of another machine the number of chunks is not known.
    ///
    /// # Errors
    /// The file system's.
    pub fn into_counts(self) -> io::Result<(u64, u32, ChunkIndex)> {
        match self {
            ChunkSink::Spool(spool) => spool.into_counts(),
            ChunkSink::Remote(ring, index) => Ok((ring.taken(), 0, index)),
        }
    }

    /// False if somebody removed all of it.
    pub(super) fn is_there(&self) -> bool {
        match self {
            ChunkSink::Spool(spool) => spool.is_there(),
            ChunkSink::Remote(..) => true,
        }
    }

    /// Removes its files.
    pub fn remove(self) {
        if let ChunkSink::Spool(spool) = self {
            spool.remove();
        }
    }
}

/// Takes a recording: its trace file as it becomes known, and the chunks of its rings.
pub trait Remote: Debug + Send + Sync {
    /// Its name, for messages.
    fn place(&self) -> String;

    /// True if nothing can be added to the trace file once events come, symbols above all.
    fn wants_all_first(&self) -> bool;

    /// Announces the ring of `cpu` of an instance (empty: the top one), in the order of the table of spools. `chunked` says
    /// that its data is packed.
    fn ring(&self, buffer: &str, cpu: CpuId, chunked: bool) -> Box<dyn RemoteRing>;

    /// Takes the trace file as it is now, up to the table of spools; all rings are announced by then. `id` is its TRACEID.
    ///
    /// # Errors
    /// If it will come to nothing.
    fn file(&self, id: u64, bytes: Vec<u8>) -> io::Result<()>;

    /// Waits no longer: what is not confirmed by now is lost. Nothing if it never waits long.
    fn give_up(&self) {}

    /// Waits until all is written.
    ///
    /// # Errors
    /// If it is not.
    fn finish(&self) -> io::Result<Sent>;
}

/// A recording that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Size of the file there, in bytes, if that is known here.
    pub size: Option<u64>,
}

/// Takes the chunks of one ring.
pub trait RemoteRing: Debug + Send {
    /// Takes a chunk of `raw` bytes of sub-buffers. Waits if more is on its way than may be.
    ///
    /// # Errors
    /// If nothing is taken any more.
    fn append(&mut self, chunk: &[u8], raw: u64) -> io::Result<()>;

    /// Notes the number of events in the chunk that was taken last.
    fn note(&mut self, events: u64);

    /// Bytes taken so far.
    fn taken(&self) -> u64;

    /// Waits until all that was taken is written there or lost; gives what is lost. All rings of the recording have ended by then.
    fn settle(&mut self) -> Dropped;
}
