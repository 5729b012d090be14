//! A copy of `events` alone, in place of a tracing directory: its formats are read.

use super::files::{Files, RealFiles, WriteMode};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// The directory `root`, whose files are reached as those of `root/events`.
#[derive(Debug)]
pub(super) struct CopiedEvents {
    events: PathBuf,
    root: PathBuf,
}

impl CopiedEvents {
    /// The copy in `root`; `None` if it has no event's `format`.
    pub(super) fn find(root: &Path) -> Option<Self> {
        let folders = |path: &Path| RealFiles.list(path).unwrap_or_default().into_iter().filter(|(_, folder)| *folder);
        let has_event =
            |system: PathBuf| folders(&system).any(|(event, _)| system.join(event).join("format").is_file());
        let copied = folders(root).any(|(system, _)| has_event(root.join(system)));
        copied.then(|| CopiedEvents { events: root.join("events"), root: root.to_owned() })
    }

    fn real<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        match path.strip_prefix(&self.events) {
            Ok(rest) => Cow::Owned(self.root.join(rest)),
            Err(_) => Cow::Borrowed(path),
        }
    }
}

impl Files for CopiedEvents {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealFiles.read(&self.real(path))
    }

    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        RealFiles.write(&self.real(path), bytes, mode)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.create_dir(&self.real(path))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_dir(&self.real(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        RealFiles.list(&self.real(path))
    }

    fn exists(&self, path: &Path) -> bool {
        RealFiles.exists(&self.real(path))
    }
}
