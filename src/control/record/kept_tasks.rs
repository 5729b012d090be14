//! Tasks of a flight recorder's pieces: of which tasks it still has events, so that the names of all others can go.
//!
//! A machine that runs for weeks starts millions of tasks. What is kept of them is bounded by what is kept of their events.

use super::tasks::{Comm, living_tasks};
use crate::base::units::Pid;
use crate::file::ring_buffer::{PageLayout, scan_pids};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Room for names of tasks of which no event is kept yet, if nothing bounds the pieces.
const ROOM: u64 = 64 << 10;
/// The part of what may be kept that such names get.
const SHARE: u64 = 32;

/// The tasks of all pieces of all rings, shared by their workers and by who learns names.
#[derive(Debug)]
pub struct KeptTasks {
    tasks: Mutex<TaskCounts>,
    /// Bytes that the names' file may take of what all rings may keep.
    reserved: AtomicU64,
    rings: u64,
    room: u64,
}

#[derive(Debug, Default)]
struct TaskCounts {
    /// In how many pieces each task is.
    pieces: HashMap<i32, u32>,
    /// Those that were in none before.
    new: Vec<i32>,
}

impl KeptTasks {
    /// For so many `rings`, which may keep `size` bytes together, if that is bounded.
    pub fn new(rings: usize, size: Option<u64>) -> Self {
        let room = size.map_or(ROOM, |size| (size / SHARE).min(ROOM));
        let rings = (rings as u64).max(1);
        KeptTasks { tasks: Mutex::default(), reserved: AtomicU64::new(room), rings, room }
    }

    fn tasks(&self) -> MutexGuard<'_, TaskCounts> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece has got events of `tasks`, which it had not.
    pub(super) fn add(&self, tasks: impl IntoIterator<Item = i32>) {
        let mut all = self.tasks();
        for task in tasks {
            let pieces = all.pieces.entry(task).or_default();
            *pieces = pieces.saturating_add(1);
            if *pieces == 1 {
                all.new.push(task);
            }
        }
    }

    /// A piece with events of `tasks` is gone.
    pub(super) fn remove(&self, tasks: impl IntoIterator<Item = i32>) {
        let mut all = self.tasks();
        for task in tasks {
            match all.pieces.get_mut(&task) {
                Some(pieces) if *pieces > 1 => *pieces -= 1,
                _ => drop(all.pieces.remove(&task)),
            }
        }
    }

    /// The tasks of which events came to be kept since this was asked last.
    pub(super) fn take_new(&self) -> Vec<i32> {
        std::mem::take(&mut self.tasks().new)
    }

    /// Those of which events are kept.
    pub(super) fn all(&self) -> HashSet<i32> {
        self.tasks().pieces.keys().copied().collect()
    }

    /// Bytes for names of tasks of which no event is kept.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Lets the names' file take `bytes`.
    pub(super) fn reserve(&self, bytes: u64) {
        self.reserved.store(bytes, Ordering::Relaxed);
    }

    /// Each ring's part of what the names' file may take, in bytes.
    pub(super) fn reserved_of_each(&self) -> u64 {
        self.reserved.load(Ordering::Relaxed).div_ceil(self.rings)
    }

    /// Takes out the names of tasks that are gone and have no event in any piece.
    pub(super) fn retain(&self, names: &mut Vec<(Pid, Comm)>) {
        let (kept, living) = (self.all(), living_tasks().map(|(tid, _)| tid).collect::<HashSet<i32>>());
        names.retain(|(pid, _)| kept.contains(&pid.0) || living.contains(&pid.0));
    }
}

/// The tasks of the events in `chunk`, as far as its sub-buffers are sound.
pub(super) fn tasks_in(layout: &PageLayout, chunk: &[u8]) -> HashSet<i32> {
    // Most events are of a task that had one shortly before.
    const RECENT: usize = 1 << 10;
    let mut recent = [None; RECENT];
    let mut tasks = HashSet::new();
    let pages = chunk.chunks(layout.size).filter_map(|data| {
        let page = layout.page(data).ok()?;
        data.get(page.start..page.end)
    });
    scan_pids(pages, |pid| {
        let slot = pid as usize % RECENT;
        if recent.get(slot) != Some(&Some(pid)) {
            recent[slot] = Some(pid);
            tasks.insert(pid);
        }
    });
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_kept_as_long_as_one_piece_has_it() {
        let kept = KeptTasks::new(2, Some(1 << 20));
        kept.add([1, 2]);
        kept.add([2, 3]);
        let mut new = kept.take_new();
        new.sort_unstable();
        assert_eq!((new, kept.take_new()), (vec![1, 2, 3], Vec::new()));
        kept.remove([1, 2]);
        assert_eq!(kept.all(), [2, 3].into());
        kept.remove([2, 3]);
        kept.add([1]);
        assert_eq!((kept.all(), kept.take_new()), ([1].into(), vec![1]));
        let own = nix::unistd::gettid().as_raw();
        let mut names: Vec<_> = [1, own, i32::MAX].map(|pid| (Pid(pid), Comm::new(b"x"))).into();
        kept.retain(&mut names);
        assert!(names.iter().map(|(pid, _)| pid.0).eq([1, own]), "{names:?}");
    }

    #[test]
    fn room_for_names_is_a_part_of_what_is_kept() {
        let sizes = [None, Some(64 << 10), Some(1 << 20), Some(1 << 30)];
        assert_eq!(
            sizes.map(|size| KeptTasks::new(2, size).reserved_of_each()),
            [32 << 10, 1 << 10, 16 << 10, 32 << 10]
        );
    }
}
