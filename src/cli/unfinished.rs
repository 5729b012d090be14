//! Files that are being made, removed if a signal ends the program before they are complete.
//! Files at paths that the user names.

use crate::cli::exit::{Failure, print};
use crate::cli::piped::is_stdout;
use anyhow::anyhow;
use nix::sys::signal::{SigSet, Signal, raise};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Signals that a user or a supervisor ends a program with.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn paths() -> MutexGuard<'static, Vec<PathBuf>> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or directory that is not complete; it is as good as complete once this is dropped.
pub(crate) struct UnfinishedPath(PathBuf);

impl UnfinishedPath {
    /// Runs `make` and registers the path that it created: a signal that ends the program finds both done or neither.
    pub(crate) fn new<T>(make: impl FnOnce() -> io::Result<(PathBuf, T)>) -> io::Result<(Self, T)> {
        watch();
        let mut paths = paths();
        let (path, more) = make()?;
        paths.push(path.clone());
        Ok((UnfinishedPath(path), more))
    }

    /// Runs `make`, which changes or renames it, while no signal can remove it.
    pub(crate) fn change<T>(&self, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let _not_removed = paths();
        make()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for UnfinishedPath {
    fn drop(&mut self) {
        paths().retain(|path| *path != self.0);
    }
}

/// Starts a thread, at the first call, that waits for signals that end the program. Threads that run already do not leave
/// the signals to it.
pub(crate) fn watch() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let ignored = ignored();
        let set: SigSet = ENDING.into_iter().filter(|signal| ignored >> (*signal as i32 - 1) & 1 == 0).collect();
        if set.thread_block().is_ok() && std::thread::Builder::new().spawn(move || wait(set)).is_err() {
            let _ = set.thread_unblock();
        }
    });
}

/// Waits for one of the signals, removes what is not complete, and lets it end the program.
fn wait(set: SigSet) {
    let Ok(signal) = set.wait() else { return };
    // Held to the end: nothing is made any more, also in a directory.
    let paths = paths();
    for path in paths.iter() {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
    let _ = set.thread_unblock();
    let _ = raise(signal);
}

/// The signals that the program was started to ignore, as bits (`SigIgn` of proc(5)).
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}

/// Writes a file at a path that the user names. A new one gets the mode `mode`, less the umask.
pub(crate) fn write_file(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    if is_stdout(path) {
        return print(text).map(drop);
    }
    let failed = |error: std::io::Error| {
        let dir = path.parent().filter(|dir| error.kind() == std::io::ErrorKind::NotFound && !dir.exists());
        let hint = dir.map(|dir| format!("`mkdir -p {}` makes its directory.", dir.display()));
        let failure = Failure::from(anyhow!("cannot write {}", path.display()).context(error));
        hint.into_iter().fold(failure, Failure::hint)
    };
    let mut file = rtrace::internal::safe_file::create(path, mode).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(())
}

/// Reads a file at a path that the user names.
pub(crate) fn read_file(path: &Path) -> Result<String, Failure> {
    Ok(fs::read_to_string(path)
        .map_err(|error| anyhow::Error::new(error).context(format!("cannot read {}", path.display())))?)
}
