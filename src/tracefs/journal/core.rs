//! The journal itself: note, write, log; and back.

use super::disk::Disk;
use super::shell::{quoted, write_line};
use super::undo::{Undo, UndoError, remove_instance};
use crate::tracefs::error_log::LogEntry;
use crate::tracefs::{Error, Instance, Tracefs, WriteMode};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Takes each write as a shell line, before it is done; `cd` to the tracing directory comes first.
pub type Sink = Box<dyn FnMut(&str) + Send>;

/// Writes to tracefs, each with its undo. Dropping it undoes everything; so do [`Journal::undo`] and, for a process
/// that was killed, [`Orphan::undo`](super::Orphan::undo). [`Journal::keep`] leaves the kernel as it now is.
#[derive(Debug)]
pub struct Journal {
    pub(super) writer: Writer,
    undo: Vec<Undo>,
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
        Journal { writer: Writer::new(tracefs, None), undo: Vec::new(), created: Vec::new(), disk: DiskState::None }
    }

    /// A journal with a file in `dir`, normally [`JOURNAL_DIR`](super::JOURNAL_DIR); `command` tells people what it was about.
    pub fn on_disk(tracefs: &Tracefs, dir: impl Into<PathBuf>, command: impl Into<String>) -> Self {
        let mut journal = Self::in_memory(tracefs);
        journal.disk = DiskState::Wanted { dir: dir.into(), command: command.into() };
        journal
    }

    /// Shows each write to `sink`, undoing included.
    pub fn verbose(mut self, sink: Sink) -> Self {
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
            let exists = io::Error::from_raw_os_error(nix::errno::Errno::EEXIST as i32);
            return Err(Error::file("create", &dir, None, exists));
        }
        self.note(Undo::Instance { name: name.to_owned() })?;
        self.writer.mkdir(&dir)?;
        self.created.push(name.to_owned());
        Ok(instance)
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

    /// Whether this journal created `instance`, so that nothing in it needs an undo of its own.
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

    /// Notes an undo, in the file before anything else.
    pub(super) fn note(&mut self, undo: Undo) -> Result<(), Error> {
        if let DiskState::Wanted { dir, command } = &self.disk {
            self.disk = DiskState::Open(Disk::create(dir, self.writer.tracefs.root(), command)?);
        }
        if let DiskState::Open(disk) = &mut self.disk {
            disk.append(&undo)?;
        }
        self.undo.push(undo);
        Ok(())
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
        let outcome = self.writer.undo_all(&entries);
        let disk = std::mem::replace(&mut self.disk, DiskState::None);
        match (&outcome, disk) {
            (Ok(()), DiskState::Open(disk)) => disk.remove().map_err(|e| UndoError { failures: vec![e] }),
            _ => outcome,
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
        // Whoever wants to hear of failures calls `undo`.
        let _ = self.undo_now();
    }
}

/// Writes and logs; knows nothing of undoing but how to run it.
pub(super) struct Writer {
    pub(super) tracefs: Tracefs,
    pub(super) sink: Option<Sink>,
    said_where: bool,
}

impl Writer {
    pub(super) fn new(tracefs: &Tracefs, sink: Option<Sink>) -> Self {
        Writer { tracefs: tracefs.clone(), sink, said_where: false }
    }

    /// Writes `text` and a newline; a refusal is quoted from the error_log.
    pub(super) fn write(&mut self, file: &str, text: &str, mode: WriteMode) -> Result<(), Error> {
        self.log(|| write_line(file, text, mode));
        let bytes = format!("{text}\n");
        let path = self.tracefs.root().join(file);
        self.tracefs.files().write(&path, bytes.as_bytes(), mode).map_err(|cause| {
            let action = match mode {
                WriteMode::Append if text.starts_with(['!', '-']) => "remove from",
                WriteMode::Append => "add to",
                WriteMode::Truncate => "set",
            };
            let mut error = Error::file(action, file, Some(text), cause);
            if let Error::File { kernel, .. } = &mut error {
                *kernel = self.complaint(file, text).map(Box::new);
            }
            error
        })
    }

    pub(super) fn mkdir(&mut self, dir: &str) -> Result<(), Error> {
        self.log(|| format!("mkdir {}", quoted(dir)));
        let path = self.tracefs.root().join(dir);
        self.tracefs.files().create_dir(&path).map_err(|e| Error::file("create", dir, None, e))
    }

    pub(super) fn rmdir(&mut self, dir: &str) -> Result<(), Error> {
        self.log(|| format!("rmdir {}", quoted(dir)));
        let path = self.tracefs.root().join(dir);
        self.tracefs.files().remove_dir(&path).map_err(|e| Error::file("remove", dir, None, e))
    }

    /// Takes back `entries`, the last first. What lies in an instance that goes as a whole is left alone.
    pub(super) fn undo_all(&mut self, entries: &[Undo]) -> Result<(), UndoError> {
        // An instance's events are switched off when it is removed.
        let _awake = (!entries.is_empty()).then(|| self.tracefs.files().keep_cpus_awake());
        let failures: Vec<Error> = entries.iter().rev().filter_map(|entry| entry.perform(self).err()).collect();
        if failures.is_empty() { Ok(()) } else { Err(UndoError { failures }) }
    }

    fn log(&mut self, line: impl FnOnce() -> String) {
        let Some(sink) = &mut self.sink else { return };
        if !self.said_where {
            self.said_where = true;
            sink(&format!("cd {}", quoted(&self.tracefs.root().to_string_lossy())));
        }
        sink(&line());
    }

    /// What the kernel says about a refused write: in the instance's own log, else in the top level's.
    fn complaint(&self, file: &str, text: &str) -> Option<LogEntry> {
        let own = file.strip_prefix("instances/").and_then(|f| f.split_once('/')).map(|(name, _)| name);
        let logs = own.map(|name| format!("instances/{name}/error_log")).into_iter().chain(["error_log".to_owned()]);
        logs.filter_map(|log| self.tracefs.files().read(&self.tracefs.root().join(Path::new(&log))).ok())
            .find_map(|log| LogEntry::about(&String::from_utf8_lossy(&log), text))
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("tracefs", &self.tracefs).finish_non_exhaustive()
    }
}
