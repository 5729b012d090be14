//! Files that are being made, removed if a signal ends the program before they are complete.

use nix::sys::signal::{SigSet, Signal, raise};
use std::fs;
use std::io;
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
