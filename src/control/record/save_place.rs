//! Files that a recorder saves to while it goes on: their names, and how many of them stay.

use crate::base::safe_file::{PRIVATE, TargetPath};
use crate::base::wall_time::utc_second;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{geteuid, linkat};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The directory of the saves of a recording `trace.dat`, which are called `trace-20261126T120305.250Z.dat` after the wall
/// clock's time in UTC, so that their names sort by it.
#[derive(Clone, Debug)]
pub(super) struct SavePlace {
    dir: PathBuf,
    /// `trace-`, `Z.dat`.
    around: (String, String),
}

/// A file that has no name until it is complete, so that nothing is left of it if its process is killed.
pub(super) struct UnnamedFile {
    file: File,
    /// The name that it has where the file system makes none without.
    temporary: Option<PathBuf>,
}

impl SavePlace {
    /// Of the recording at `path`.
    pub(super) fn of(path: &Path) -> Self {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
        SavePlace { dir: dir.to_owned(), around: (format!("{stem}-"), format!("Z{ending}")) }
    }

    /// A file for the next save.
    pub(super) fn file(&self) -> io::Result<UnnamedFile> {
        UnnamedFile::new(&self.dir)
    }

    /// Gives `file` the name of a save at `wall`, nanoseconds since 1970, or of the next millisecond that no file has.
    pub(super) fn keep(&self, file: UnnamedFile, wall: i64) -> io::Result<PathBuf> {
        const TRIES: i64 = 1000;
        let mut taken = io::ErrorKind::AlreadyExists.into();
        for later in 0..TRIES {
            let path = self.dir.join(self.name(wall.saturating_add(later * 1_000_000)));
            match file.name(&path) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
                Err(error) => return Err(error),
            }
        }
        Err(taken)
    }

    fn name(&self, wall: i64) -> String {
        let millis = wall.rem_euclid(1_000_000_000) / 1_000_000;
        let time = utc_second(wall).replace(['-', ':'], "");
        format!("{}{time}.{millis:03}{}", self.around.0, self.around.1)
    }

    /// True if a save may be called so.
    fn is_one(&self, name: &str) -> bool {
        const SHAPE: &str = "00000000T000000.000";
        let (before, after) = &self.around;
        let time = name.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()));
        time.is_some_and(|time| {
            let fits = |(c, shape): (char, char)| if shape == '0' { c.is_ascii_digit() } else { c == shape };
            time.len() == SHAPE.len() && time.chars().zip(SHAPE.chars()).all(fits)
        })
    }

    /// Removes the oldest saves of this recording, those of earlier recorders included, until `most` are left; a file of
    /// another user is none of them. Gives those that went.
    pub(super) fn remove_all_but(&self, most: usize) -> io::Result<Vec<PathBuf>> {
        let mut saves = Vec::new();
        for entry in fs::read_dir(&self.dir)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_ours = |file: fs::Metadata| file.is_file() && file.uid() == geteuid().as_raw();
            if self.is_one(&name) && entry.metadata().is_ok_and(is_ours) {
                saves.push(name);
            }
        }
        saves.sort_unstable();
        let too_many = saves.len().saturating_sub(most);
        let gone: Vec<PathBuf> = saves.into_iter().take(too_many).map(|name| self.dir.join(name)).collect();
        gone.iter().try_for_each(fs::remove_file)?;
        Ok(gone)
    }
}

impl UnnamedFile {
    fn new(dir: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(PRIVATE);
        match options.clone().custom_flags(nix::libc::O_TMPFILE).open(dir) {
            Ok(file) => return Ok(UnnamedFile { file, temporary: None }),
            Err(error) => match error.raw_os_error().map(Errno::from_raw) {
                // A file system without such files.
                Some(Errno::EOPNOTSUPP | Errno::EISDIR | Errno::EINVAL | Errno::ENOENT) if dir.is_dir() => {}
                _ => return Err(error),
            },
        }
        let path = dir.join(format!(".rtrace-{}.tmp", std::process::id()));
        let _ = fs::remove_file(&path); // of a save that failed
        let file = TargetPath::of(&path)?.create_new(PRIVATE)?;
        Ok(UnnamedFile { file, temporary: Some(path) })
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Calls it `path`.
    fn name(&self, path: &Path) -> io::Result<()> {
        match &self.temporary {
            Some(temporary) => fs::hard_link(temporary, path),
            None => {
                let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                Ok(linkat(AT_FDCWD, own.as_str(), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)?)
            }
        }
    }
}

impl Drop for UnnamedFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saves_are_named_by_their_time_and_the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let place = SavePlace::of(&at("a.dat"));
        // date -u -d 2026-11-26T12:03:05Z +%s
        let wall = 1_795_694_585_250_000_000;
        let keep = |wall| place.keep(place.file().unwrap(), wall).unwrap();
        assert_eq!(keep(wall), at("a-20261126T120305.250Z.dat"));
        assert_eq!(keep(wall), at("a-20261126T120305.251Z.dat"), "the name is taken");
        keep(wall - 1_000_000_000);
        for other in ["a-20261126T120305Z.dat", "b-20261126T120305.250Z.dat", "a-x.dat", "a.dat"] {
            fs::write(at(other), "").unwrap();
        }
        assert_eq!(place.remove_all_but(2).unwrap(), [at("a-20261126T120304.250Z.dat")]);
        assert!(place.remove_all_but(2).unwrap().is_empty());
        drop(place.file().unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 6, "a file without a name leaves nothing");
    }
}
