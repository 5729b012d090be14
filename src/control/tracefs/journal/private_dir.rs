//! The directory of the journals. A journal is replayed as root, so only the effective user may write here.
//!
//! The directory and each file in it belong to the effective user and are not writable by others. Files are regular and
//! opened below the directory's descriptor, never through a link and never waiting.

use crate::base::safe_file;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, open, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::{LinkatFlags, UnlinkatFlags, geteuid, linkat, unlinkat};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

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
    pub(super) fn publish(&self, unborn: &str, name: &str) -> io::Result<()> {
        let linked = linkat(&self.fd, unborn, &self.fd, name, LinkatFlags::empty());
        unlinkat(&self.fd, unborn, UnlinkatFlags::NoRemoveDir)?;
        Ok(linked?)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// The names in it, without those that are not UTF-8.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
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
