//! The journal itself: note, write, log; and back.

use super::disk::Disk;
use super::shared::{Others, SettingsLock, undo_shared};
use super::undo::{JournalledRecording, Note, Undo, UndoError, remove_instance, undo_all};
use super::writer::{JournalWriter, WriteLog};
use crate::control::tracefs::{Error, Instance, Tracefs, WriteMode};
use nix::errno::Errno;
use std::io;
use std::path::PathBuf;

/// Writes to tracefs, each with its undo. Dropping it undoes everything; so do [`Journal::undo`] and, for a process
/// that was killed, [`Orphan::undo`](super::Orphan::undo). [`Journal::keep`] leaves the kernel as it now is.
#[derive(Debug)]
pub struct Journal {
    pub(super) writer: JournalWriter,
    undo: Vec<Note>,
    created: Vec<String>,
    disk: DiskState,
}

#[derive(Debug)]
enum DiskState {
    None,
    /// The file is made at the first write that needs an undo.
    Wanted {
        dir: PathBuf,
        command: String,
    },
    Open(Disk),
}

impl Journal {
    /// A journal without a file: undone by this process or not at all.
    pub fn in_memory(tracefs: &Tracefs) -> Self {
        Journal {
            writer: JournalWriter::new(tracefs, None),
            undo: Vec::new(),
            created: Vec::new(),
            disk: DiskState::None,
        }
    }

    /// A journal with a file in `dir`, normally [`JOURNAL_DIR`](super::JOURNAL_DIR); `command` tells people what it was about.
    pub fn on_disk(tracefs: &Tracefs, dir: impl Into<PathBuf>, command: impl Into<String>) -> Self {
        let mut journal = Self::in_memory(tracefs);
        journal.disk = DiskState::Wanted { dir: dir.into(), command: command.into() };
        journal
    }

    /// Shows each write to `sink`, undoing included.
    pub fn verbose(mut self, sink: WriteLog) -> Self {
        self.writer.sink = Some(sink);
        self
    }

    /// The tracing directory.
    pub fn tracefs(&self) -> &Tracefs {
        &self.writer.tracefs
    }

    /// Makes an instance, to be removed again.
    ///
    /// # Errors
    /// [`Error::InstanceName`]; [`Error::File`], with `EEXIST` if there is one of that name.
    pub fn create_instance(&mut self, name: &str) -> Result<Instance, Error> {
        let instance = Instance::named(self.tracefs(), name)?;
        let dir = format!("instances/{name}");
        if self.tracefs().files().exists(&self.tracefs().root().join(&dir)) {
            let exists = io::Error::from_raw_os_error(Errno::EEXIST as i32);
            return Err(Error::file("create", &dir, None, exists));
        }
        self.note(Undo::Instance { name: name.to_owned() })?;
        if let Err(error) = self.writer.mkdir(&dir) {
            // It is not made (a tracefs that is read-only, closed or full), or somebody else's since we looked: not ours to
            // remove.
            self.undo.pop();
            self.append_to_disk(|| Undo::NotMade { name: name.to_owned() })?;
            return Err(error);
        }
        self.created.push(name.to_owned());
        Ok(instance)
    }

    /// Makes an instance called `name`, or `name-1`, `name-2`, ... where that is taken: processes of two pid namespaces may
    /// have the same pid.
    ///
    /// # Errors
    /// As [`Journal::create_instance`].
    pub fn create_own_instance(&mut self, name: &str) -> Result<Instance, Error> {
        const MOST: u32 = 1000;
        let mut made = self.create_instance(name);
        for number in 1..MOST {
            match &made {
                Err(error) if error.errno() == Some(Errno::EEXIST) => {
                    made = self.create_instance(&format!("{name}-{number}"));
                }
                _ => break,
            }
        }
        made
    }

    /// Removes an instance, its triggers first, for good: this cannot be undone. One that this journal created is
    /// thereby done with.
    ///
    /// # Errors
    /// [`Error::File`], with `EBUSY` if someone still reads it.
    pub fn remove_instance(&mut self, name: &str) -> Result<(), Error> {
        remove_instance(&mut self.writer, name)?;
        self.created.retain(|created| created != name);
        Ok(())
    }

    /// True if this journal created `instance`, so that nothing in it needs an undo of its own.
    pub fn created(&self, instance: &Instance) -> bool {
        instance.name().is_some_and(|name| self.created.iter().any(|created| created == name))
    }

    /// Writes `text` and a newline to a file whose effect cannot be taken back: `trace` (which clears), `snapshot`,
    /// `error_log`.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn act(&mut self, instance: &Instance, file: &str, text: &str, mode: WriteMode) -> Result<(), Error> {
        self.writer.write(&instance.relative(file), text, mode)
    }

    /// Appends the line `text` to a file that lists things; undone by appending `undo`: triggers, dynamic events.
    /// Noted also in an instance that this journal created, since it may keep the instance busy.
    ///
    /// # Errors
    /// [`Error::File`] with the kernel's complaint, [`Error::Unsupported`].
    pub fn append(&mut self, instance: &Instance, file: &str, text: &str, undo: &str) -> Result<(), Error> {
        let said = instance.read(file)?;
        let file = instance.relative(file);
        self.note(Undo::Remove { file: file.clone(), said, text: undo.to_owned() })?;
        self.writer.write(&file, text, WriteMode::Append)
    }

    /// Notes which recording the rings are drained into. A journal without a file has no use for it.
    ///
    /// # Errors
    /// [`Error::Journal`].
    pub fn note_recording(&mut self, recording: JournalledRecording) -> Result<(), Error> {
        self.append_to_disk(|| Undo::Recording(recording))
    }

    /// Notes an undo, in the file before anything else.
    pub(super) fn note(&mut self, undo: Undo) -> Result<(), Error> {
        if let DiskState::Wanted { dir, command } = &self.disk {
            self.disk = DiskState::Open(Disk::create(dir, self.writer.tracefs.root(), command)?);
        }
        let note = Note::now(undo);
        if let DiskState::Open(disk) = &mut self.disk {
            disk.append(&note)?;
        }
        self.undo.push(note);
        Ok(())
    }

    /// Keeps other rtraces from putting settings back, from the moment at which a value is read to that at which it is noted.
    /// Never to be called by who holds it.
    pub(super) fn hold(&self) -> Option<SettingsLock> {
        match &self.disk {
            DiskState::None => None,
            DiskState::Wanted { dir, .. } => SettingsLock::wait(dir),
            DiskState::Open(disk) => SettingsLock::wait(&disk.place().0.path_of("")),
        }
    }

    /// What other rtraces have noted in this tracing directory.
    pub(super) fn others(&self) -> Others {
        let root = self.writer.tracefs.root();
        match &self.disk {
            DiskState::None => Others::default(),
            DiskState::Wanted { dir, .. } => Others::in_dir(dir, root),
            DiskState::Open(disk) => Others::beside(disk.place(), root),
        }
    }

    /// Process ids and command lines of running rtraces that record from `instance` or have made it.
    pub fn users_of(&self, instance: &Instance) -> Vec<(u32, String)> {
        self.others().users_of(instance)
    }

    /// Appends a line to the file, if there is one.
    fn append_to_disk(&mut self, line: impl FnOnce() -> Undo) -> Result<(), Error> {
        match &mut self.disk {
            DiskState::Open(disk) => disk.append(&Note::now(line())),
            DiskState::None | DiskState::Wanted { .. } => Ok(()),
        }
    }

    /// Puts everything back, newest first.
    ///
    /// # Errors
    /// [`UndoError`] with each step that failed; the others were done. The journal's file stays then.
    pub fn undo(mut self) -> Result<(), UndoError> {
        self.undo_now()
    }

    fn undo_now(&mut self) -> Result<(), UndoError> {
        let entries = std::mem::take(&mut self.undo);
        self.created.clear();
        match std::mem::replace(&mut self.disk, DiskState::None) {
            DiskState::Open(disk) => {
                undo_shared(&mut self.writer, disk.place(), || disk.read().map_or(entries, |content| content.entries))
            }
            DiskState::None | DiskState::Wanted { .. } => undo_all(&mut self.writer, &entries),
        }
    }

    /// Leaves everything as it is now: the journal is forgotten, nothing will be undone.
    ///
    /// # Errors
    /// [`Error::Journal`] if its file cannot be removed.
    pub fn keep(mut self) -> Result<(), Error> {
        self.undo.clear();
        match std::mem::replace(&mut self.disk, DiskState::None) {
            DiskState::Open(disk) => disk.remove(),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
impl Journal {
    /// Gives up the lock and leaves the rest as it is.
    pub(super) fn forget_like_a_killed_process(mut self) {
        self.undo.clear();
        self.disk = DiskState::None;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // The destructor reports no failures; `undo` does.
        let _ = self.undo_now();
    }
}
