//! The other end of a recording that leaves no file on this machine.

use super::spool::Dropped;
use crate::base::units::CpuId;
use std::fmt::Debug;
use std::io;

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
