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

/// Every thread that `/proc` shows, with its name.
pub(super) fn living_tasks() -> impl Iterator<Item = (i32, Comm)> {
    let numbered = |dir: &str| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).collect::<Vec<_>>()
    };
    numbered("/proc").into_iter().flat_map(move |pid| {
        numbered(&format!("/proc/{pid}/task")).into_iter().filter_map(move |tid| {
            let comm = fs::read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
            Some((tid, Comm::new(comm.strip_suffix(b"\n").unwrap_or(&comm))))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn living_tasks_include_this_thread() {
        let tid = nix::unistd::gettid().as_raw();
        let own = fs::read(format!("/proc/self/task/{tid}/comm")).unwrap();
        let found = living_tasks().find(|&(t, _)| t == tid).unwrap().1;
        assert_eq!(found.as_bytes(), own.strip_suffix(b"\n").unwrap());
    }
}
