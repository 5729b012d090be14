//! What a killed process left behind.

use super::disk::{self, Abandoned, Header};
use super::undo::{Undo, UndoError, undo_all};
use super::writer::{Sink, Writer};
use crate::tracefs::{Error, Tracefs};
use nix::fcntl::Flock;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A journal whose process is gone. While this value lives, nobody else sees it as an orphan.
#[derive(Debug)]
pub struct Orphan {
    path: PathBuf,
    header: Header,
    entries: Vec<Undo>,
    _lock: Flock<File>,
}

/// The orphans in `dir` (normally [`JOURNAL_DIR`](super::JOURNAL_DIR)), never one whose process lives.
///
/// # Errors
/// [`Error::Journal`], [`Error::JournalContent`].
pub fn find_orphans(dir: &Path) -> Result<Vec<Orphan>, Error> {
    let mut orphans = Vec::new();
    for path in disk::all(dir)? {
        if let Some(Abandoned { header, entries, lock }) = disk::read_abandoned(&path)? {
            orphans.push(Orphan { path, header, entries, _lock: lock });
        }
    }
    Ok(orphans)
}

impl Orphan {
    /// The process that wrote it.
    pub fn pid(&self) -> u32 {
        self.header.pid
    }

    /// What that process was asked to do.
    pub fn command(&self) -> &str {
        &self.header.command
    }

    /// The tracing directory it worked in.
    pub fn tracefs(&self) -> &Path {
        &self.header.tracefs
    }

    /// The instances it had created.
    pub fn instances(&self) -> Vec<&str> {
        self.entries
            .iter()
            .filter_map(|entry| match entry {
                Undo::Instance { name } => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// How many writes there are to undo.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Puts everything back, newest first, and removes the journal if all of it worked.
    ///
    /// # Errors
    /// [`UndoError`] with each step that failed; the journal stays then.
    pub fn undo(self, sink: Option<Sink>) -> Result<(), UndoError> {
        let one = |error| UndoError { failures: vec![error] };
        let tracefs = Tracefs::at(&self.header.tracefs).map_err(one)?;
        self.undo_in(&tracefs, sink)
    }

    /// The same, in a tracing directory that is open already.
    pub(super) fn undo_in(self, tracefs: &Tracefs, sink: Option<Sink>) -> Result<(), UndoError> {
        let one = |error| UndoError { failures: vec![error] };
        let mut writer = Writer::new(tracefs, sink);
        undo_all(&mut writer, &self.entries)?;
        disk::remove(&self.path).map_err(one)
    }
}
