//! The journal's file: one JSON line for the session, then one for each undo, appended before the write it undoes.

use super::undo::Undo;
use crate::tracefs::Error;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where journals lie by default: a file system that, like tracefs, starts empty at boot.
pub const DIR: &str = "/run/rtrace";

const SUFFIX: &str = ".journal";
const VERSION: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// Version of this file's layout.
    pub(super) rtrace_journal: u32,
    /// /proc/sys/kernel/random/boot_id: after a reboot there is nothing to undo.
    pub(super) boot: String,
    pub(super) pid: u32,
    pub(super) tracefs: PathBuf,
    pub(super) command: String,
}

/// The journal of this process, locked and growing.
#[derive(Debug)]
pub(super) struct Disk {
    path: PathBuf,
    file: Flock<File>,
}

impl Disk {
    pub(super) fn create(dir: &Path, tracefs: &Path, command: &str) -> Result<Self, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |cause| Error::Journal { action: "create", path, cause }
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed(dir))?;
        let pid = std::process::id();
        let name = format!("{pid}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        // It gets its name when it is locked and has its header: no scan can take it for an orphan before that.
        let unborn = dir.join(format!(".{name}"));
        let path = dir.join(format!("{name}{SUFFIX}"));
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&unborn)
            .map_err(failed(&unborn))?;
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| failed(&unborn)(e.into()))?;
        let header = Header {
            rtrace_journal: VERSION,
            boot: boot_id(),
            pid,
            tracefs: tracefs.to_owned(),
            command: command.to_owned(),
        };
        let mut disk = Disk { path, file };
        disk.line(&header)?;
        fs::rename(&unborn, &disk.path).map_err(failed(&disk.path))?;
        Ok(disk)
    }

    pub(super) fn append(&mut self, undo: &Undo) -> Result<(), Error> {
        self.line(undo)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let failed = |cause| Error::Journal { action: "write", path: self.path.clone(), cause };
        let mut line = serde_json::to_vec(value).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        (&*self.file).write_all(&line).map_err(failed)
    }

    pub(super) fn remove(self) -> Result<(), Error> {
        remove(&self.path)
    }
}

/// A journal that nobody held, and is held now.
#[derive(Debug)]
pub(super) struct Abandoned {
    pub(super) header: Header,
    pub(super) entries: Vec<Undo>,
    pub(super) lock: Flock<File>,
}

/// Reads a journal that nobody holds; `None` if someone does, if it went away, or if it is from before a reboot
/// (it is removed then).
pub(super) fn read_abandoned(path: &Path) -> Result<Option<Abandoned>, Error> {
    let failed = |cause| Error::Journal { action: "read", path: path.to_owned(), cause };
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    let Ok(file) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else { return Ok(None) };
    if file.metadata().map_err(failed)?.nlink() == 0 {
        return Ok(None); // its owner finished between our open and our lock
    }
    let text = io::read_to_string(&*file).map_err(failed)?;
    let bad = |line: usize| Error::JournalContent { path: path.to_owned(), line };
    // A line without its end was being written when its process died: the write it announces was not done.
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let header: Header = lines.next().and_then(|l| serde_json::from_str(l).ok()).ok_or_else(|| bad(1))?;
    if header.rtrace_journal != VERSION {
        return Err(bad(1));
    }
    if header.boot != boot_id() {
        remove(path)?;
        return Ok(None);
    }
    let entries: Result<Vec<Undo>, Error> =
        lines.enumerate().map(|(i, line)| serde_json::from_str(line).map_err(|_| bad(i + 2))).collect();
    Ok(Some(Abandoned { header, entries: entries?, lock: file }))
}

/// The journals in `dir`, whoever they belong to, sorted.
pub(super) fn all(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause| Error::Journal { action: "read", path: dir.to_owned(), cause };
    let entries = match fs::read_dir(dir) {
        // Not ours to read, or not there: nothing that we could put back.
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            return Ok(Vec::new());
        }
        other => other.map_err(failed)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.to_str().is_some_and(|p| p.ends_with(SUFFIX)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(Error::Journal { action: "remove", path: path.to_owned(), cause: e })
        }
        _ => Ok(()),
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
