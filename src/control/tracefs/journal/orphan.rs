//! The remains of a killed process.

use super::disk::{self, Abandoned, Content, PrivateDir};
use super::shared::undo_shared;
use super::undo::{JournalledRecording, Undo, UndoError};
use super::writer::{JournalWriter, WriteLog};
use crate::control::tracefs::mount::lies_on_tracefs;
use crate::control::tracefs::{Error, Tracefs};
use nix::fcntl::Flock;
use nix::unistd::geteuid;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// A journal whose process is gone. While this value lives, no other process takes it for an orphan.
#[derive(Debug)]
pub struct Orphan {
    dir: PrivateDir,
    name: String,
    content: Content,
    lock: Flock<File>,
}

/// The contents of a directory of journals.
#[derive(Debug, Default)]
pub struct Orphans {
    /// The remains of killed processes, never of one that lives.
    pub orphans: Vec<Orphan>,
    /// Journals that cannot be used, and why: damaged, not this user's own, or writable by others.
    pub unusable: Vec<Error>,
}

/// The orphans in `dir` (normally [`JOURNAL_DIR`](super::JOURNAL_DIR)). A directory that is not there holds none, nor does
/// another user's, unless the caller is root, who is warned about it.
pub fn find_orphans(dir: &Path) -> Orphans {
    find_orphans_within(dir, Duration::ZERO)
}

/// [`find_orphans`], for who needs all of them: waits for at most `patience` while another command looks at one.
pub fn find_orphans_within(dir: &Path, patience: Duration) -> Orphans {
    let mut found = Orphans::default();
    let opened = match PrivateDir::open(dir) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => return found,
        Err(_) if !geteuid().is_root() && dir.symlink_metadata().is_ok_and(|d| d.uid() != geteuid().as_raw()) => {
            return found;
        }
        Err(cause) => Err(Error::Journal { action: "read", path: dir.to_owned(), cause }),
        Ok(opened) => disk::all(&opened).map(|names| (opened, names)),
    };
    match opened {
        Err(error) => found.unusable.push(error),
        Ok((dir, names)) => {
            for name in names {
                match abandoned(&dir, name, patience) {
                    Ok(orphan) => found.orphans.extend(orphan),
                    Err(error) => found.unusable.push(error),
                }
            }
        }
    }
    found
}

fn abandoned(dir: &PrivateDir, name: String, patience: Duration) -> Result<Option<Orphan>, Error> {
    let Some(Abandoned { content, lock }) = disk::read_abandoned(dir, &name, patience)? else { return Ok(None) };
    let path = dir.path_of(&name);
    let dir = dir.try_clone().map_err(|cause| Error::Journal { action: "read", path, cause })?;
    Ok(Some(Orphan { dir, name, content, lock }))
}

impl Orphan {
    /// The process that wrote it.
    pub fn pid(&self) -> u32 {
        self.content.header.pid
    }

    /// The command line of that process.
    pub fn command(&self) -> &str {
        &self.content.header.command
    }

    /// The tracing directory it worked in.
    pub fn tracefs(&self) -> &Path {
        &self.content.header.tracefs
    }

    /// The recording whose events are in its rings, if it was one.
    pub fn recording(&self) -> Option<&JournalledRecording> {
        self.content.recording.as_ref()
    }

    /// The instances it had created.
    pub fn instances(&self) -> Vec<&str> {
        self.content
            .entries
            .iter()
            .filter_map(|entry| match &entry.undo {
                Undo::Instance { name } => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Number of writes to undo.
    pub fn len(&self) -> usize {
        self.content.entries.len()
    }

    /// True if there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.content.entries.is_empty()
    }

    /// Puts everything back, newest first, and removes the journal if all of it worked. The tracing directory that the
    /// journal names has to be `known`, or lie on tracefs (or debugfs).
    ///
    /// # Errors
    /// [`UndoError`] with each step that failed; the journal stays then.
    pub fn undo(self, known: &Tracefs, sink: Option<WriteLog>) -> Result<(), UndoError> {
        let tracefs = self.open_tracefs(known).map_err(|error| UndoError { failures: vec![error] })?;
        self.undo_in(&tracefs, sink)
    }

    /// Opens the tracing directory it worked in, which has to be `known` or lie on tracefs (or debugfs).
    ///
    /// # Errors
    /// [`Error::NotOnTracefs`]; those of [`Tracefs::at`].
    pub fn open_tracefs(&self, known: &Tracefs) -> Result<Tracefs, Error> {
        let root = &self.content.header.tracefs;
        if known.root() == root {
            return Ok(known.clone());
        }
        if !lies_on_tracefs(root) {
            return Err(Error::NotOnTracefs { journal: self.dir.path_of(&self.name), path: root.clone() });
        }
        Tracefs::at(root)
    }

    /// The same, in a tracing directory that is open already.
    pub(super) fn undo_in(self, tracefs: &Tracefs, sink: Option<WriteLog>) -> Result<(), UndoError> {
        let mut writer = JournalWriter::new(tracefs, sink);
        undo_shared(&mut writer, (&self.dir, &self.name), || {
            // Others may have added to it since it was found.
            let now = Content::read(&self.lock, &self.dir.path_of(&self.name));
            now.unwrap_or(self.content).entries
        })
    }
}
