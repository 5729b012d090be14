//! The file that stands where a new recording goes. It is kept: `trace.dat` becomes `trace.dat.old`, as with perf.

use super::error::RecordError;
use crate::base::safe_file::is_at;
use crate::file::trace_dat::{FileLock, Siblings, Trace, WriteError};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file in the way, locked so that no other recorder takes it for its own.
pub(super) struct Former {
    path: PathBuf,
    file: File,
    _lock: FileLock,
}

impl Former {
    /// The one at `path`, open as `file`.
    ///
    /// # Errors
    /// [`RecordError::Busy`] if it is being recorded to, [`RecordError::Unfinished`] if spools lie beside it.
    pub(super) fn new(path: &Path, file: File) -> Result<Self, RecordError> {
        let lock = lock(path, &file)?;
        is_finished(path, &file)?;
        Ok(Former { path: path.to_owned(), file, _lock: lock })
    }

    /// A descriptor of its file system.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its new name, and returns that. A recording that has the name already goes.
    ///
    /// # Errors
    /// [`RecordError::Output`], also if what has the name is no recording; [`RecordError::Unfinished`] if it is one to be
    /// recovered.
    pub(super) fn move_aside(&self) -> Result<PathBuf, RecordError> {
        let mut old = self.path.clone().into_os_string();
        old.push(".old");
        let old = PathBuf::from(old);
        let failed = |source| RecordError::Output { action: "keep the former file as", path: old.clone(), source };
        match OpenOptions::new().read(true).custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK).open(&old) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(failed(e)),
            Ok(there) => {
                let metadata = there.metadata().map_err(failed)?;
                if !metadata.is_file() || !(metadata.len() == 0 || Trace::is_one(&there)) {
                    return Err(failed(io::Error::other("what has that name is not a recording; move it away")));
                }
                is_finished(&old, &there)?;
            }
        }
        if !is_at(&self.path, &self.file) {
            return Err(RecordError::Busy(self.path.clone()));
        }
        fs::rename(&self.path, &old).map_err(failed)?;
        Ok(old)
    }
}

/// Takes the lock of the recording at `path`.
pub(super) fn lock(path: &Path, file: &File) -> Result<FileLock, RecordError> {
    FileLock::take(file).map_err(|error| match error {
        WriteError::Busy => RecordError::Busy(path.to_owned()),
        source => RecordError::TraceFile { path: path.to_owned(), source: Box::new(source) },
    })
}

/// Refuses a file with spools beside it: what they hold is in no other place.
fn is_finished(path: &Path, file: &File) -> Result<(), RecordError> {
    let failed = |source| RecordError::Output { action: "read", path: path.to_owned(), source };
    match Siblings::of(path, file).map_err(failed)?.any_spool() {
        Some(spool) => Err(RecordError::Unfinished { path: path.to_owned(), spool }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn former(path: &Path) -> Result<PathBuf, RecordError> {
        let file = File::options().read(true).write(true).open(path).unwrap();
        Former::new(path, file)?.move_aside()
    }

    #[test]
    fn what_is_in_the_way_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let recording = b"\x17\x08\x44tracing7\0";
        fs::write(at("t.dat"), recording).unwrap();
        assert_eq!(former(&at("t.dat")).unwrap(), at("t.dat.old"));
        assert!(!at("t.dat").exists() && fs::read(at("t.dat.old")).unwrap() == recording);
        fs::write(at("t.dat"), "notes").unwrap();
        former(&at("t.dat")).unwrap();
        assert_eq!(fs::read(at("t.dat.old")).unwrap(), b"notes", "the one before goes");
        // Nothing but a recording goes, and no link is followed.
        fs::write(at("t.dat"), recording).unwrap();
        assert!(matches!(former(&at("t.dat")), Err(RecordError::Output { .. })));
        fs::remove_file(at("t.dat.old")).unwrap();
        symlink("t.dat", at("t.dat.old")).unwrap();
        assert!(matches!(former(&at("t.dat")), Err(RecordError::Output { .. })));
        assert!(fs::read(at("t.dat")).unwrap() == recording);
    }

    #[test]
    fn what_is_to_be_recovered_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (recording, spool) in [
            ("t.dat", "t.dat.cpu0.spool"),
            ("t.dat", "t.dat.web.cpu7.spool"),
            ("t.dat", "t.dat.comms.spool"),
            ("t.dat", ".t.dat.cpu0.spool"),
            ("t.dat", ".t.dat.web.cpu7.spool"),
            ("t.dat", ".t.dat.comms.spool"),
            ("t.dat", ".t.dat.cgroups.spool"),
            ("t.dat.old", ".t.dat.old.cpu1.spool"),
            ("t.dat.old", "t.dat.old.cpu1.spool"),
        ] {
            fs::write(at("t.dat"), b"\x17\x08\x44tracing7\0").unwrap();
            fs::write(at(recording), b"\x17\x08\x44tracing7\0").unwrap();
            fs::write(at(spool), "data").unwrap();
            match former(&at("t.dat")) {
                Err(RecordError::Unfinished { path, spool: found }) => {
                    assert_eq!((path, found), (at(recording), at(spool)));
                }
                other => panic!("{spool}: {other:?}"),
            }
            assert!(at("t.dat").exists());
            fs::remove_file(at(spool)).unwrap();
        }
    }

    #[test]
    fn a_recorders_file_is_left_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.dat");
        fs::write(&path, "x").unwrap();
        let _held = FileLock::take(&File::options().write(true).open(&path).unwrap()).unwrap();
        assert!(matches!(former(&path), Err(RecordError::Busy(_))));
    }
}
