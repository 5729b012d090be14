//! Internal. Files written at paths that the user names, where somebody else may have planted something.
//!
//! In a directory that everybody may write to, such as /tmp, a link, file or pipe is used only if it belongs to the
//! effective user or to the owner of the directory. That is what the kernel does with `fs.protected_symlinks`,
//! `protected_regular` and `protected_fifos`, here without relying on these settings.

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use nix::unistd::{AccessFlags, faccessat, fchown, geteuid};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The mode of recordings, which hold kernel addresses and whatever events tell: for their owner alone.
pub const PRIVATE: u32 = 0o600;

/// Opens `path` for writing from its start. A missing file is made, with `mode` less the umask; a regular file is
/// emptied; pipes, terminals and devices (`/dev/stdout`, `/dev/null`) are written to.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] if what lies there, or a link on the way, was planted by somebody else; what
/// openat(2) says.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    const TRIES: u32 = 8;
    let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    for _ in 0..TRIES {
        let place = TargetPath::of(path)?;
        let Some(found) = &place.found else {
            match place.create_new(mode) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                made => return made,
            }
        };
        if is_link(found) {
            // One of procfs: an open file of this process, under its number.
            return Ok(openat(&place.dir, &*place.name, flags | OFlag::O_TRUNC, Mode::empty())?.into());
        }
        let file = File::from(openat(&place.dir, &*place.name, flags | OFlag::O_NOFOLLOW, Mode::empty())?);
        let opened = fstat(&file)?;
        if (opened.st_dev, opened.st_ino) != (found.st_dev, found.st_ino) {
            continue;
        }
        if is_regular(&opened) {
            file.set_len(0)?;
        }
        return Ok(file);
    }
    Err(io::Error::from(Errno::EBUSY))
}

/// Asks whether [`create`] would be refused at `path`, and makes nothing.
///
/// # Errors
/// As [`create`]; `EISDIR`; what faccessat(2) says of the file, or of the directory where there is none.
pub fn check(path: &Path) -> io::Result<()> {
    let place = TargetPath::of(path)?;
    let name = match &place.found {
        Some(found) if kind(found) == SFlag::S_IFDIR => return Err(Errno::EISDIR.into()),
        Some(_) => place.name.as_os_str(),
        None => ".".as_ref(),
    };
    Ok(faccessat(&place.dir, name, AccessFlags::W_OK, AtFlags::AT_EACCESS)?)
}

/// Opens a file to be read at any offset: a regular file or a block device. Pipes are not waited for.
///
/// # Errors
/// The error of open(2); [`io::ErrorKind::InvalidInput`] for a directory, pipe, socket or terminal.
pub fn open_seekable(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    let what = match kind(&fstat(&file)?) {
        SFlag::S_IFREG | SFlag::S_IFBLK => return Ok(file),
        SFlag::S_IFDIR => "it is a directory",
        SFlag::S_IFIFO => "it is a pipe, and recordings are read back and forth: write it to a file first",
        _ => "it is neither a file nor a block device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The user that root makes a file for: the caller of sudo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOwner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// Gives `file`, which this process has written at `path`, to `owner`. Returns false and changes nothing unless the file is the
/// effective user's own, its one name is `path`, and the directory is `owner`'s: nothing else becomes somebody's whom links and
/// directories that changed meanwhile lead there.
///
/// # Errors
/// The error of open(2), fstat(2) or fchown(2).
pub fn give(file: &File, path: &Path, owner: FileOwner) -> io::Result<bool> {
    let (stat, place) = (fstat(file)?, TargetPath::at(path.to_owned())?);
    let is_it = place.found.is_some_and(|found| (found.st_dev, found.st_ino) == (stat.st_dev, stat.st_ino));
    let is_ours = is_regular(&stat) && stat.st_nlink == 1 && stat.st_uid == geteuid().as_raw();
    let gives = is_it && is_ours && fstat(&place.dir)?.st_uid == owner.uid;
    if gives {
        fchown(file, Some(owner.uid.into()), Some(owner.gid.into()))?;
    }
    Ok(gives)
}

/// The target of a path: its last component's links are followed, those before it are the kernel's matter.
#[derive(Debug)]
pub(crate) struct TargetPath {
    dir: OwnedFd,
    name: OsString,
    path: PathBuf,
    found: Option<FileStat>,
}

impl TargetPath {
    /// Looks what lies at `path`.
    ///
    /// # Errors
    /// As [`create`].
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        const MOST_LINKS: u32 = 40;
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let mut place = TargetPath::at(path)?;
            let Some(found) = place.found else { return Ok(place) };
            if !is_trusted(&found, &fstat(&place.dir)?) {
                let why = format!(
                    "{} belongs to another user, in a directory that everybody may write to",
                    place.path.display()
                );
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
            if !is_link(&found) || fstatfs(&place.dir)?.filesystem_type() == PROC_SUPER_MAGIC {
                return Ok(place);
            }
            let to = readlinkat(&place.dir, &*place.name)?;
            place.path.pop();
            path = place.path.join(to);
        }
        Err(Errno::ELOOP.into())
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        let Some(name) = path.file_name().map(ToOwned::to_owned) else { return Err(Errno::EISDIR.into()) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let dir = open(parent, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        let found = match fstatat(&dir, &*name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => None,
            other => Some(other?),
        };
        Ok(TargetPath { dir, name, path, found })
    }

    /// The path, without links at its end.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True if there is something.
    pub(crate) fn is_taken(&self) -> bool {
        self.found.is_some()
    }

    /// Makes the file, for reading and writing.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`]; what openat(2) says.
    pub(crate) fn create_new(&self, mode: u32) -> io::Result<File> {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.dir, &*self.name, flags, Mode::from_bits_truncate(mode))?.into())
    }

    /// Opens the regular file that is there, for reading and writing if its mode allows that.
    ///
    /// # Errors
    /// The error of openat(2); or the path is not a regular file.
    pub(crate) fn open_regular(&self) -> io::Result<File> {
        if !self.found.as_ref().is_some_and(is_regular) {
            return Err(io::Error::other("not a regular file"));
        }
        let safe = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let open = |access: OFlag| openat(&self.dir, &*self.name, access | safe, Mode::empty());
        let file = File::from(match open(OFlag::O_RDWR) {
            Err(Errno::EACCES) => open(OFlag::O_RDONLY)?,
            opened => opened?,
        });
        if !is_regular(&fstat(&file)?) {
            return Err(io::Error::other("not a regular file"));
        }
        Ok(file)
    }
}

/// True if `path`, itself no link, is the file that is open as `file`.
pub(crate) fn is_at(path: &Path, file: &File) -> bool {
    let (there, open) = (path.symlink_metadata(), file.metadata());
    matches!((there, open), (Ok(there), Ok(open)) if (there.dev(), there.ino()) == (open.dev(), open.ino()))
}

/// The names in the open directory `dir`, without those that are not UTF-8.
///
/// # Errors
/// The error of openat(2) or readdir(3).
pub(crate) fn names(dir: &OwnedFd) -> io::Result<Vec<String>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut dir = Dir::openat(dir, ".", flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in dir.iter() {
        names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
    }
    Ok(names)
}

/// True if the file of `stat` may be used in the directory `dir`.
fn is_trusted(stat: &FileStat, dir: &FileStat) -> bool {
    const OTHERS_WRITE: u32 = 0o002;
    dir.st_mode & OTHERS_WRITE == 0 || stat.st_uid == geteuid().as_raw() || stat.st_uid == dir.st_uid
}

fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

fn is_link(stat: &FileStat) -> bool {
    kind(stat) == SFlag::S_IFLNK
}

fn is_regular(stat: &FileStat) -> bool {
    kind(stat) == SFlag::S_IFREG
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn put(path: &Path, text: &str) -> io::Result<()> {
        create(path, 0o644)?.write_all(text.as_bytes())
    }

    fn give_away(path: &Path) {
        nix::unistd::fchownat(
            nix::fcntl::AT_FDCWD,
            path,
            Some(65534.into()),
            Some(65534.into()),
            AtFlags::AT_SYMLINK_NOFOLLOW,
        )
        .unwrap();
    }

    #[test]
    fn what_is_ones_own_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        put(&at("new"), "long text").unwrap();
        put(&at("new"), "short").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "short");
        assert_eq!(fs::metadata(at("new")).unwrap().mode() & 0o133, 0);
        symlink("new", at("link")).unwrap();
        symlink(at("link"), at("link2")).unwrap();
        put(&at("link2"), "through links").unwrap();
        symlink("made", at("dangling")).unwrap();
        put(&at("dangling"), "made").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "through links");
        assert_eq!(fs::read_to_string(at("made")).unwrap(), "made");
        symlink("loop", at("loop")).unwrap();
        assert_eq!(put(&at("loop"), "").unwrap_err().raw_os_error(), Some(Errno::ELOOP as i32));
        assert!(put(dir.path(), "").is_err() && put(&at("no/such"), "").is_err());
        for (path, ends) in [(at("new"), None), (at("none"), None), (at("no/such"), Some(Errno::ENOENT))] {
            assert_eq!(check(&path).err().and_then(|e| e.raw_os_error()), ends.map(|errno| errno as i32), "{path:?}");
        }
        assert_eq!(check(dir.path()).unwrap_err().raw_os_error(), Some(Errno::EISDIR as i32));
        assert!(check(&at("loop")).is_err() && !at("none").exists());
    }

    #[test]
    fn devices_and_pipes_are_written() {
        put(Path::new("/dev/null"), "gone").unwrap();
        assert_eq!(put(Path::new("/dev/full"), "x").unwrap_err().raw_os_error(), Some(Errno::ENOSPC as i32));
        let (mut read, write) = io::pipe().unwrap();
        use std::os::fd::AsRawFd;
        put(&PathBuf::from(format!("/dev/fd/{}", write.as_raw_fd())), "by number").unwrap();
        drop(write);
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        assert_eq!(text, "by number");
    }

    #[test]
    fn only_what_has_offsets_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink("file", at("link")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
        let mut text = String::new();
        open_seekable(&at("link")).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        for (path, why) in [(at("pipe"), "a pipe"), (at("."), "a directory"), ("/dev/zero".into(), "neither")] {
            let error = open_seekable(&path).unwrap_err();
            assert!(error.to_string().contains(why), "{}: {error}", path.display());
        }
        assert_eq!(open_seekable(&at("no")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_somebody_else_planted_is_not() {
        if !geteuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("victim"), "whole").unwrap();
        symlink("victim", at("link")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        symlink("file", at("own")).unwrap();
        fs::write(at("file"), "his").unwrap();
        nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
        ["link", "dangling", "file", "pipe"].iter().for_each(|name| give_away(&at(name)));
        for mode in [0o1777, 0o777] {
            fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
            for name in ["link", "dangling", "file", "pipe", "own"] {
                let error = put(&at(name), "x").unwrap_err();
                assert!(error.to_string().contains("belongs to another user"), "{name}: {error}");
            }
        }
        assert!(!at("nothing").exists());
        assert_eq!((fs::read(at("victim")).unwrap(), fs::read(at("file")).unwrap()), (b"whole".into(), b"his".into()));
        // In a directory of his own root writes what it is asked to.
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        put(&at("file"), "x").unwrap();
    }

    #[test]
    fn a_file_is_given_where_its_new_owner_is_at_home() {
        if !geteuid().is_root() {
            return;
        }
        let owner = FileOwner { uid: 65534, gid: 65534 };
        let (his, roots) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        give_away(his.path());
        let make = |path: &Path| create(path, PRIVATE).unwrap();
        let uid = |path: &Path| fs::symlink_metadata(path).unwrap().uid();
        let (file, path) = (make(&his.path().join("t")), his.path().join("t"));
        assert!(give(&file, &path, owner).unwrap());
        assert_eq!((uid(&path), fs::metadata(&path).unwrap().mode() & 0o777), (owner.uid, PRIVATE));
        assert!(!give(&file, &path, owner).unwrap(), "it is his already");

        // A directory that he put in the place of the one that was written to, and a second name.
        let kept = roots.path().join("t");
        let file = make(&kept);
        assert!(!give(&file, &kept, owner).unwrap() && !give(&file, &path, owner).unwrap());
        symlink(&kept, his.path().join("link")).unwrap();
        assert!(!give(&file, &his.path().join("link"), owner).unwrap());
        fs::hard_link(&kept, his.path().join("hard")).unwrap();
        assert!(!give(&file, &his.path().join("hard"), owner).unwrap());
        assert_eq!(uid(&kept), 0);
        assert_eq!(give(&file, &roots.path().join("no/t"), owner).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
