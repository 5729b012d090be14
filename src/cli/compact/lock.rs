//! One compaction of a directory at a time, and a mark of those that were stopped.

use crate::cli::exit::{Exit, Failure};
use crate::cli::table_folders::COMPACTING;
use anyhow::{Context, anyhow};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A locked file in the directory of parts, which is there while files become parts. One that no process has locked was left
/// by a compaction that was stopped.
pub(super) struct CompactionLock {
    path: PathBuf,
    _file: Flock<File>,
}

impl CompactionLock {
    /// Makes the directory and the file; true: a former compaction did not come to its end.
    pub(super) fn take(output: &Path) -> Result<(Self, bool), Failure> {
        let path = output.join(COMPACTING);
        let failed = || format!("failed to create {}", path.display());
        std::fs::create_dir_all(output).with_context(failed)?;
        loop {
            let was_stopped = path.exists();
            let file = File::options().write(true).create(true).truncate(false).open(&path).with_context(failed)?;
            let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(file) => file,
                Err((_, Errno::EWOULDBLOCK)) => {
                    let error = anyhow!("{} is being compacted by another process", output.display());
                    return Err(Failure::new(Exit::Failed, error));
                }
                Err((_, error)) => return Err(Failure::new(Exit::Failed, anyhow!(error).context(failed()))),
            };
            // Another process may have removed it after it was opened.
            let is_same = file.metadata().ok().zip(path.metadata().ok()).is_some_and(|(a, b)| a.ino() == b.ino());
            if is_same {
                file.sync_all().with_context(failed)?;
                super::store::sync(output)?;
                return Ok((CompactionLock { path, _file: file }, was_stopped));
            }
        }
    }

    /// All is done.
    pub(super) fn release(self) -> Result<(), Failure> {
        let removed = std::fs::remove_file(&self.path);
        Ok(removed.with_context(|| format!("failed to remove {}", self.path.display()))?)
    }
}
