//! The tasks that exist now.

use super::side_band::Comm;
use crate::base::units::Pid;
use std::fmt::Display;
use std::fs;

/// The threads of `process`, a pid or `self`; none if it is gone.
pub fn threads_of(process: impl Display) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok().map(Pid)).collect()
}

/// Every process that `/proc` shows.
pub(super) fn processes() -> Vec<i32> {
    numbered("/proc")
}

fn numbered(dir: &str) -> Vec<i32> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Every thread that `/proc` shows, with its name.
pub(super) fn living_tasks() -> impl Iterator<Item = (i32, Comm)> {
    processes().into_iter().flat_map(move |pid| {
        numbered(&format!("/proc/{pid}/task")).into_iter().filter_map(move |tid| {
            let comm = fs::read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
            Some((tid, Comm::new(own_name(comm.strip_suffix(b"\n").unwrap_or(&comm)))))
        })
    })
}

/// The name that events have for a task: `/proc` adds to a kernel worker's what it last worked at (`wq_worker_comm` in
/// `kernel/workqueue.c`), after `-` or `+`.
fn own_name(comm: &[u8]) -> &[u8] {
    let work = comm.iter().position(|byte| matches!(byte, b'-' | b'+'));
    work.filter(|_| comm.starts_with(b"kworker/")).and_then(|end| comm.get(..end)).unwrap_or(comm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_the_name_of_its_events() {
        for (comm, name) in [
            ("kworker/0:2-events", "kworker/0:2"),
            ("kworker/u8:0+x", "kworker/u8:0"),
            ("a-b", "a-b"),
            ("kworker/1:0", "kworker/1:0"),
        ] {
            assert_eq!(own_name(comm.as_bytes()), name.as_bytes());
        }
    }

    #[test]
    fn living_tasks_include_this_thread() {
        let tid = nix::unistd::gettid().as_raw();
        let own = fs::read(format!("/proc/self/task/{tid}/comm")).unwrap();
        let found = living_tasks().find(|&(t, _)| t == tid).unwrap().1;
        assert_eq!(found.as_bytes(), own.strip_suffix(b"\n").unwrap());
    }
}
