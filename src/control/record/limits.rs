//! Limits of a recording on the disk: the size it may write, the space it must leave free, the data it keeps.

use crate::base::sys::free_bytes;
use crate::base::units::{ByteSize, parse_duration};
use nix::sys::eventfd::EventFd;
use nix::sys::statvfs::{fstatvfs, statvfs};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes that can still be written to the file system of `path`, if it says.
pub fn free_space(path: &Path) -> Option<u64> {
    statvfs(path).ok().map(|disk| free_bytes(&disk))
}

/// Bounds of a recording, as a plan has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `--max-size`: recording ends before the file is larger.
    pub max_size: Option<ByteSize>,
    /// `--min-free`: recording ends before the file system has less space than this for everybody.
    pub min_free: Option<ByteSize>,
    /// `--ring`: of what was recorded, the newest is kept, at most so much on the disk, in equal parts for all CPUs.
    pub ring_size: Option<ByteSize>,
    /// `-m`: of what each CPU recorded, the newest is kept, at most so much on the disk.
    pub ring_per_cpu: Option<ByteSize>,
    /// `--ring-time`: of what was recorded, the newest is kept, at least this long.
    pub ring_time: Option<Duration>,
}

impl Limits {
    /// True if what was recorded may be dropped again for what comes later.
    pub fn is_ring(&self) -> bool {
        self.ring_size.is_some() || self.ring_per_cpu.is_some() || self.ring_time.is_some()
    }
}

/// The least time between two files.
const LEAST_TIME: Duration = Duration::from_secs(1);
/// The least size of a file.
const LEAST_SIZE: ByteSize = ByteSize(1 << 20);

/// The amount of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotate {
    /// A duration, at least one second.
    Every(Duration),
    /// Bytes of packed events, at least 1 MiB.
    Size(ByteSize),
}

impl Rotate {
    /// A time (`10m`) or a size (`100M`).
    ///
    /// # Errors
    /// A text that is neither, or an amount below the least.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(time) = parse_duration(text) {
            return if time < LEAST_TIME { Err("a file has at least 1 s".to_owned()) } else { Ok(Rotate::Every(time)) };
        }
        match text.parse() {
            Ok(size) if size < LEAST_SIZE => Err(format!("a file has at least {LEAST_SIZE}")),
            Ok(size) => Ok(Rotate::Size(size)),
            Err(_) => Err("neither a time (s, m, h) nor a size (K, M, G)".to_owned()),
        }
    }
}

/// The moment up to which all is in files of its own (`--rotate`), so that a flight recorder need not keep it.
#[derive(Debug)]
pub struct SavedUntil {
    origin: Instant,
    /// Nanoseconds since `origin`.
    passed: AtomicU64,
}

impl Default for SavedUntil {
    /// Nothing is saved yet.
    fn default() -> Self {
        SavedUntil { origin: Instant::now(), passed: AtomicU64::new(0) }
    }
}

impl SavedUntil {
    /// All that the rings held at `moment` is saved.
    pub fn set(&self, moment: Instant) {
        let passed = moment.saturating_duration_since(self.origin).as_nanos();
        self.passed.store(u64::try_from(passed).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// True if it is at or after `moment`.
    pub fn reaches(&self, moment: Instant) -> bool {
        moment.saturating_duration_since(self.origin) <= Duration::from_nanos(self.passed.load(Ordering::Relaxed))
    }
}

/// The least that one CPU can do with in [`Limits::ring_size`].
pub const MIN_RING_SHARE: ByteSize = ByteSize(256 << 10);

/// The limit that ended a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reached {
    /// [`Limits::max_size`].
    #[error("the file is as large as --max-size allows")]
    MaxSize,
    /// [`Limits::min_free`].
    #[error("the file system has no more space than --min-free leaves to others")]
    MinFree,
}

/// The bytes that all threads together may still write. Nothing is appended to a spool that was not taken from it
/// first.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    min_free: Option<(File, u64)>,
    reached: AtomicU8,
    wake: Option<Arc<EventFd>>,
}

impl Default for Budget {
    /// No bound at all.
    fn default() -> Self {
        Budget { left: AtomicU64::new(u64::MAX), min_free: None, reached: AtomicU8::new(0), wake: None }
    }
}

impl Budget {
    /// A budget of `bytes`, on the file system of `file` if so much must stay free there. `wake` is written to when a
    /// limit is reached.
    pub fn new(bytes: Option<u64>, min_free: Option<(File, ByteSize)>, wake: Option<Arc<EventFd>>) -> Self {
        let budget = Budget { min_free: min_free.map(|(file, size)| (file, size.0)), wake, ..Budget::default() };
        budget.set(bytes.unwrap_or(u64::MAX));
        budget
    }

    /// Leaves `bytes` to be taken.
    pub fn set(&self, bytes: u64) {
        self.left.store(bytes, Ordering::Relaxed);
    }

    /// Takes `len` bytes.
    ///
    /// # Errors
    /// The limit that leaves no room for them; nothing is taken then.
    pub fn take(&self, len: u64) -> Result<(), Reached> {
        if self.left.load(Ordering::Relaxed) == u64::MAX && self.min_free.is_none() {
            return Ok(());
        }
        if self.spare() < len {
            return Err(self.reach(Reached::MinFree));
        }
        let less = |left: u64| if left == u64::MAX { Some(left) } else { left.checked_sub(len) };
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.reach(Reached::MaxSize)),
        }
    }

    /// Bytes that can still be taken.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed).min(self.spare())
    }

    /// Bytes that the file system has beyond what must stay free. One that does not say how full it is has no bound.
    fn spare(&self) -> u64 {
        let Some((file, min_free)) = &self.min_free else { return u64::MAX };
        let free = fstatvfs(file).map_or(u64::MAX, |disk| free_bytes(&disk));
        free.saturating_sub(*min_free)
    }

    /// Wakes who waits for the end of the recording: a spool could not be written.
    pub fn end(&self) {
        if let Some(wake) = &self.wake {
            let _ = wake.write(1); // a full counter is readable as well
        }
    }

    /// The limit that was reached first.
    pub fn reached(&self) -> Option<Reached> {
        match self.reached.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Reached::MaxSize),
            _ => Some(Reached::MinFree),
        }
    }

    fn reach(&self, limit: Reached) -> Reached {
        let number = if limit == Reached::MaxSize { 1 } else { 2 };
        let _ = self.reached.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        self.end();
        limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(Rotate::parse("10m"), Ok(Rotate::Every(Duration::from_secs(600))));
        assert_eq!(Rotate::parse("100M"), Ok(Rotate::Size(ByteSize(100 << 20))));
        assert!(["", "5x", "10ms", "10K"].iter().all(|text| Rotate::parse(text).is_err()));
    }

    #[test]
    fn a_budget_is_never_exceeded() {
        let budget = Budget::new(Some(100), None, None);
        assert_eq!((budget.take(60), budget.take(41), budget.take(40)), (Ok(()), Err(Reached::MaxSize), Ok(())));
        assert_eq!(budget.reached(), Some(Reached::MaxSize));
        assert_eq!(Budget::default().take(u64::MAX), Ok(()));
    }

    #[test]
    fn free_space_is_left() {
        let file = || tempfile::tempfile().unwrap();
        let budget = Budget::new(None, Some((file(), ByteSize(u64::MAX >> 1))), None);
        assert_eq!((budget.take(1), budget.reached()), (Err(Reached::MinFree), Some(Reached::MinFree)));
        let budget = Budget::new(None, Some((file(), ByteSize(1))), None);
        assert_eq!((budget.take(1), budget.reached()), (Ok(()), None));
        assert!(budget.left() > 1 && Budget::default().left() == u64::MAX);
    }
}
