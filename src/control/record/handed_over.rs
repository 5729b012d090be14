//! The answer of a draining thread that is asked for all that it has.

use super::spool::Dropped;
use super::watch::Interference;
use crate::file::trace_dat::write::SavedPiece;
use std::io;

/// A ring's data up to the question.
#[derive(Debug)]
pub(super) struct HandedOver {
    /// The files of its spool.
    pub(super) pieces: io::Result<Vec<SavedPiece>>,
    /// Data that they no longer hold.
    pub(super) dropped: Dropped,
    /// Interference of others with the ring so far.
    pub(super) interference: Interference,
}
