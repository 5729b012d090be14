//! Every trace file available.

use super::corpus::{corpus, own};
use std::path::PathBuf;

/// All `.dat` files of the project's own and of the corpus, in the order of their paths.
pub(crate) fn trace_files() -> Vec<PathBuf> {
    trace_files_below([Some(own()), corpus()].into_iter().flatten())
}

/// Those below some folders.
pub(crate) fn trace_files_below(dirs: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs: Vec<PathBuf> = dirs.collect();
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "dat") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
