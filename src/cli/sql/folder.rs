//! A folder of a run's own, for what is read again before it ends.

use crate::cli::exit::Failure;
use crate::cli::unfinished::UnfinishedPath;
use anyhow::Context;
use std::path::Path;

/// A folder below that of temporary files, which only its owner can enter; it is removed with all it holds when this is
/// dropped or a signal ends the program.
pub(super) struct Folder(UnfinishedPath);

impl Folder {
    /// Makes an empty one.
    pub(super) fn new() -> Result<Self, Failure> {
        let template = std::env::temp_dir().join("rtrace-sql-XXXXXX");
        let made = UnfinishedPath::new(|| Ok((nix::unistd::mkdtemp(&template)?, ())));
        let (folder, ()) = made.with_context(|| format!("failed to create {}", template.display()))?;
        Ok(Folder(folder))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.path());
    }
}
