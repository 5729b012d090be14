//! Paths of the trace files to test with: the project's own, and the corpus where it is available (`RTRACE_CORPUS`, or
//! `../shared/corpus` beside the repository).

use super::not_run::not_run;
use std::path::{Path, PathBuf};

/// A folder of the project's own test data.
pub(crate) fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces")
}

/// The corpus's folder.
pub(crate) fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    Some(std::env::var_os("RTRACE_CORPUS").map_or_else(beside, PathBuf::from)).filter(|path| path.is_dir())
}

/// True with the corpus; else, after a line that says so, `test` may have met less than it asks for: all that it met agreed.
pub(crate) fn has_all(test: &str) -> bool {
    let has = corpus().is_some();
    if !has {
        not_run(format_args!("{test} over more recordings: there is no corpus (RTRACE_CORPUS)"));
    }
    has
}

/// True of a recording that a slow test reads: one of at most `bytes`, with `RTRACE_LONG_TESTS=1` (`.ci/run suites`) of four times
/// as many.
pub(crate) fn is_small(path: &Path, bytes: u64) -> bool {
    let times = if std::env::var_os("RTRACE_LONG_TESTS").is_some_and(|set| set == "1") { 4 } else { 1 };
    path.metadata().is_ok_and(|file| file.len() < bytes * times)
}
