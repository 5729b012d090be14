//! Directories of tables: what lies in them, in the order of names.

use super::exit::Failure;
use anyhow::Context;
use std::fs::read_dir;
use std::io;
use std::path::{Path, PathBuf};

/// Stands in a directory while files become parts, and after that was stopped: rows may be found twice.
pub(crate) const COMPACTING: &str = ".compacting";

/// The directories below `folder` whose names begin so.
pub(crate) fn below(folder: &Path, with: &str) -> Result<Vec<PathBuf>, Failure> {
    named(folder, |name| name.starts_with(with))
}

/// The files in `folder` whose names end so and which are not hidden; none where there is no such directory.
pub(crate) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    if matches!(folder.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    named(folder, |name| name.ends_with(ending) && !name.starts_with('.'))
}

fn named(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let failed = || format!("failed to read {}", folder.display());
    let mut found = Vec::new();
    for entry in read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        if is_wanted(&entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}
