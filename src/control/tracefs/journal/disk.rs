//! The journal's file: one JSON line for the session, then one for each undo, appended before the write it undoes.
//! The directory of the journals. A journal is replayed as root, so only the effective user may write here.

use super::undo::{JournalledRecording, Note, Undo};
use crate::base::safe_file;
use crate::control::tracefs::Error;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, open, openat};
use nix::sys::signal::kill;
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::{LinkatFlags, UnlinkatFlags, geteuid, linkat, unlinkat};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Default directory of the journals: a file system that, like tracefs, starts empty at boot.
pub const DIR: &str = "/run/rtrace";

const SUFFIX: &str = ".journal";
const VERSION: u32 = 1;
/// Most bytes of a journal: lists of all functions, saved for a hundred instances.
const MOST: u64 = 64 << 20;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalHeader {
    /// Version of this file's layout.
    rtrace_journal: u32,
    /// /proc/sys/kernel/random/boot_id: after a reboot there is nothing to undo.
    boot: String,
    pub(super) pid: u32,
    pub(super) tracefs: PathBuf,
    pub(super) command: String,
}

/// The journal of this process, locked and growing.
#[derive(Debug)]
pub(super) struct Disk {
    dir: PrivateDir,
    name: String,
    file: Flock<File>,
}

impl Disk {
    pub(super) fn create(dir: &Path, tracefs: &Path, command: &str) -> Result<Self, Error> {
        let failed = |path: PathBuf| move |cause| Error::Journal { action: "create", path, cause };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed(dir.to_owned()))?;
        let private = PrivateDir::open(dir).map_err(failed(dir.to_owned()))?;
        let pid = std::process::id();
        let header = JournalHeader {
            rtrace_journal: VERSION,
            boot: boot_id(),
            pid,
            tracefs: tracefs.to_owned(),
            command: command.to_owned(),
        };
        // Processes of two pid namespaces may have the same pid: the first free number is taken.
        const MOST_OF_ONE_PID: u32 = 10_000;
        for number in 0..MOST_OF_ONE_PID {
            let name = format!("{pid}-{number}");
            // It gets its name when it is locked and has its header: no scan can take it for an orphan before that.
            let unborn = format!(".{name}");
            let file = match private.create(&unborn) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(failed(dir.join(&unborn)))?,
            };
            let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock);
            let file = locked.map_err(|(_, e)| failed(dir.join(&unborn))(e.into()))?;
            let dir = private.try_clone().map_err(failed(dir.to_owned()))?;
            let mut disk = Disk { dir, name: format!("{name}{SUFFIX}"), file };
            disk.line(&header)?;
            match private.publish(&unborn, &disk.name) {
                Ok(()) => return Ok(disk),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(failed(disk.path())(e)),
            }
        }
        Err(failed(dir.to_owned())(io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn append(&mut self, note: &Note) -> Result<(), Error> {
        self.line(note)
    }

    /// What is in it, with what others have added.
    pub(super) fn read(&self) -> Result<Content, Error> {
        Content::read(&self.file, &self.path())
    }

    /// The directory and its name there.
    pub(super) fn place(&self) -> (&PrivateDir, &str) {
        (&self.dir, &self.name)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let failed = |cause| Error::Journal { action: "write", path: self.path(), cause };
        let mut line = serde_json::to_vec(value).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        (&*self.file).write_all(&line).map_err(failed)
    }

    pub(super) fn remove(self) -> Result<(), Error> {
        remove(&self.dir, &self.name)
    }

    fn path(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }
}

/// An abandoned journal, locked by this process now.
#[derive(Debug)]
pub(super) struct Abandoned {
    pub(super) content: Content,
    pub(super) lock: Flock<File>,
}

/// The lines of a journal.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) header: JournalHeader,
    /// In the order in which they were noted, regardless of who noted them first.
    pub(super) entries: Vec<Note>,
    pub(super) recording: Option<JournalledRecording>,
}

impl Content {
    /// Reads `file`, whose path is `path`.
    pub(super) fn read(file: &File, path: &Path) -> Result<Self, Error> {
        let failed = |cause| Error::Journal { action: "read", path: path.to_owned(), cause };
        let len = file.metadata().map_err(failed)?.len();
        if len > MOST {
            return Err(failed(io::Error::other("it is larger than any journal")));
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, 0).map_err(failed)?;
        let text = String::from_utf8(bytes).map_err(|e| failed(io::Error::other(e)))?;
        let bad = |line: usize| Error::JournalContent { path: path.to_owned(), line };
        // A line without its end was being written when its process died: the write it announces was not done.
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let header: JournalHeader = lines.next().and_then(|l| serde_json::from_str(l).ok()).ok_or_else(|| bad(1))?;
        if header.rtrace_journal != VERSION {
            return Err(bad(1));
        }
        let mut entries: Vec<Note> = Vec::new();
        let mut recording = None;
        for (number, line) in (2..).zip(lines) {
            let note: Option<Note> = serde_json::from_str(line).ok();
            let note = note.filter(|note| note.undo.stays_inside()).ok_or_else(|| bad(number))?;
            match note.undo {
                Undo::NotMade { name } => {
                    entries.retain(|noted| noted.undo != Undo::Instance { name: name.clone() });
                }
                Undo::Recording(noted) => recording = Some(noted),
                _ => entries.push(note),
            }
        }
        entries.sort_by_key(|note| note.at);
        Ok(Content { header, entries, recording })
    }

    /// True if it is from before a reboot, so that there is nothing to undo.
    pub(super) fn is_outlived(&self) -> bool {
        self.header.boot != boot_id()
    }
}

/// Takes the lock of a journal; waits for at most `patience` if its writer is gone: then another command looks at it.
fn lock_abandoned(mut file: File, patience: Duration) -> Option<Flock<File>> {
    let begun = Instant::now();
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Some(locked),
            Err((unlocked, _)) => file = unlocked,
        }
        let writer = read_header(&file)?.pid;
        let lives = kill(nix::unistd::Pid::from_raw(writer.try_into().ok()?), None) != Err(Errno::ESRCH);
        if lives || begun.elapsed() >= patience {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The first line of a journal that another process may hold.
fn read_header(file: &File) -> Option<JournalHeader> {
    let mut begin = [0; 16 << 10];
    let len = file.read_at(&mut begin, 0).ok()?;
    serde_json::from_slice(begin.get(..len)?.split(|byte| *byte == b'\n').next()?).ok()
}

/// Reads the journal `name` if no process holds it, or lets go of it within `patience` because it only looks; `None` if someone does, if it went away, or if it is from before a reboot
/// (it is removed then).
pub(super) fn read_abandoned(dir: &PrivateDir, name: &str, patience: Duration) -> Result<Option<Abandoned>, Error> {
    let path = dir.path_of(name);
    let failed = |cause| Error::Journal { action: "read", path: path.clone(), cause };
    let file = match dir.open_file(name) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    let Some(file) = lock_abandoned(file, patience) else { return Ok(None) };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.nlink() == 0 {
        return Ok(None); // its owner finished between our open and our lock
    }
    let content = Content::read(&file, &path)?;
    if content.is_outlived() {
        remove(dir, name)?;
        return Ok(None);
    }
    Ok(Some(Abandoned { content, lock: file }))
}

/// The names of the journals in `dir`, regardless of their owner, sorted.
pub(super) fn all(dir: &PrivateDir) -> Result<Vec<String>, Error> {
    let failed = |cause| Error::Journal { action: "read", path: dir.path_of(""), cause };
    let mut names = dir.names().map_err(failed)?;
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort();
    Ok(names)
}

pub(super) fn remove(dir: &PrivateDir, name: &str) -> Result<(), Error> {
    match dir.remove(name) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(Error::Journal { action: "remove", path: dir.path_of(name), cause: e })
        }
        _ => Ok(()),
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

// The directory and each file in it belong to the effective user and are not writable by others. Files are regular and
// opened below the directory's descriptor, never through a link and never waiting.

#[derive(Debug)]
pub(super) struct PrivateDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens the directory.
    ///
    /// # Errors
    /// The error of open(2); or it belongs to another user, or is writable by others.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd = open(path, flags, Mode::empty())?;
        is_private(&fstat(&fd)?)?;
        Ok(PrivateDir { fd, path: path.to_owned() })
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(PrivateDir { fd: self.fd.try_clone()?, path: self.path.clone() })
    }

    /// The path of `name`, for messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.path.clone() } else { self.path.join(name) }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The error of openat(2); or it is not a regular file, belongs to another user, or is writable by others.
    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        // Looked at before it is opened: opening a device may have effects.
        is_private_file(&fstatat(&self.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW)?)?;
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let file = openat(&self.fd, name, flags, Mode::empty())?;
        is_private_file(&fstat(&file)?)?;
        Ok(file.into())
    }

    /// Opens a file for reading, and for writing at its end.
    ///
    /// # Errors
    /// As [`PrivateDir::open_file`].
    pub(super) fn open_to_append(&self, name: &str) -> io::Result<File> {
        is_private_file(&fstatat(&self.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW)?)?;
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let file = openat(&self.fd, name, flags | OFlag::O_CLOEXEC, Mode::empty())?;
        is_private_file(&fstat(&file)?)?;
        Ok(file.into())
    }

    /// Locks the directory, waiting for at most `patience`; `None` if another process holds it for longer.
    pub(super) fn lock(path: &Path, patience: Duration) -> Option<Flock<OwnedFd>> {
        let mut fd = PrivateDir::open(path).ok()?.fd;
        let begun = Instant::now();
        loop {
            match Flock::lock(fd, FlockArg::LockExclusiveNonblock) {
                Ok(locked) => return Some(locked),
                Err((unlocked, _)) if begun.elapsed() < patience => fd = unlocked,
                Err(_) => return None,
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Makes a file, for writing at its end: others may add lines to a journal.
    ///
    /// # Errors
    /// The error of openat(2): [`io::ErrorKind::AlreadyExists`] whatever has that name.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
        Ok(openat(&self.fd, name, flags | OFlag::O_CLOEXEC, Mode::S_IRUSR | Mode::S_IWUSR)?.into())
    }

    /// Gives `unborn` the name `name`, or, if that is taken, removes it.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`]; what linkat(2) says.
    fn publish(&self, unborn: &str, name: &str) -> io::Result<()> {
        let linked = linkat(&self.fd, unborn, &self.fd, name, LinkatFlags::empty());
        unlinkat(&self.fd, unborn, UnlinkatFlags::NoRemoveDir)?;
        Ok(linked?)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// The names in it, without those that are not UTF-8.
    fn names(&self) -> io::Result<Vec<String>> {
        safe_file::names(&self.fd)
    }
}

fn is_private_file(stat: &FileStat) -> io::Result<()> {
    match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => is_private(stat),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

fn is_private(stat: &FileStat) -> io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    if stat.st_uid != geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if stat.st_mode & OTHERS_WRITE != 0 {
        return Err(io::Error::other("others may write to it"));
    }
    Ok(())
}
