//! A directory and one user's files in it, opened by name below its descriptor and never through a link.
//!
//! Names come from file contents and from directories that others may write to. A file is used only if it is regular,
//! belongs to the expected user and has no second name, and it is removed only after it was opened and checked.

use crate::base::safe_file;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A directory, and the user whose files in it may be used.
#[derive(Debug)]
pub(in crate::file::trace_dat) struct OwnedDir {
    fd: OwnedFd,
    path: PathBuf,
    owner: u32,
}

impl OwnedDir {
    /// Opens the directory `path` (the current one if empty); `owner` is a user id.
    ///
    /// # Errors
    /// The error of open(2).
    pub(in crate::file::trace_dat) fn open(path: &Path, owner: u32) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let fd = open(path, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        Ok(OwnedDir { fd, path: path.to_owned(), owner })
    }

    /// The path of the file `name`, for messages.
    pub(in crate::file::trace_dat) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens the file `name` for reading, or for reading and writing.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]; [`io::ErrorKind::PermissionDenied`] if it is not a regular file of the owner with
    /// this one name; what openat(2) says.
    pub(in crate::file::trace_dat) fn open_file(&self, name: &str, write: bool) -> io::Result<File> {
        // Looked at before it is opened: opening a device may have effects.
        self.check(&self.stat(name)?)?;
        let access = if write { OFlag::O_RDWR } else { OFlag::O_RDONLY };
        let safe = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let file = openat(&self.fd, name, access | safe, Mode::empty())?;
        self.check(&fstat(&file)?)?;
        Ok(file.into())
    }

    /// True if `name` is the file that is open as `file`.
    pub(in crate::file::trace_dat) fn is_at(&self, name: &str, file: &File) -> io::Result<bool> {
        let (there, open) = (self.stat(name)?, fstat(file)?);
        Ok((there.st_dev, there.st_ino) == (open.st_dev, open.st_ino))
    }

    /// Removes `name`, which was opened as `file`.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] if another file has that name now; what unlinkat(2) says.
    pub(in crate::file::trace_dat) fn remove(&self, name: &str, file: &File) -> io::Result<()> {
        if !self.is_at(name, file)? {
            return Err(refused("another file has taken its name"));
        }
        Ok(unlinkat(&self.fd, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Gives `from`, which was opened as `file`, the name `to`, whose file it replaces.
    ///
    /// # Errors
    /// As [`OwnedDir::remove`].
    pub(in crate::file::trace_dat) fn rename(&self, from: &str, file: &File, to: &str) -> io::Result<()> {
        if !self.is_at(from, file)? {
            return Err(refused("another file has taken its name"));
        }
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// True if anything has this name.
    pub(in crate::file::trace_dat) fn has(&self, name: &str) -> bool {
        self.stat(name).is_ok()
    }

    /// The names in the directory, without those that are not UTF-8.
    ///
    /// # Errors
    /// The error of open(2) or readdir(3).
    pub(in crate::file::trace_dat) fn names(&self) -> io::Result<Vec<String>> {
        safe_file::names(&self.fd)
    }

    fn stat(&self, name: &str) -> io::Result<FileStat> {
        Ok(fstatat(&self.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW)?)
    }

    fn check(&self, stat: &FileStat) -> io::Result<()> {
        if SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT != SFlag::S_IFREG {
            return Err(refused("it is not a regular file"));
        }
        if stat.st_uid != self.owner {
            return Err(refused("it does not belong to the owner of the recording"));
        }
        if stat.st_nlink != 1 {
            return Err(refused("it is a file with several names (hard links)"));
        }
        Ok(())
    }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}
