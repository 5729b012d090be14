//! A folder of a run's own, for what is read again before it ends.

use crate::cli::exit::Failure;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// A folder below that of temporary files, which only its owner can enter; dropped it is removed with all it holds.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes an empty one.
    pub(super) fn new() -> Result<Self, Failure> {
        let template = std::env::temp_dir().join("rtrace-sql-XXXXXX");
        let path = nix::unistd::mkdtemp(&template);
        Ok(Folder(path.with_context(|| format!("failed to create {}", template.display()))?))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
