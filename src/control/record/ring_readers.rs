//! Other processes that read a ring buffer: what one of them takes is missing for all others.

use crate::base::units::{CpuId, Pid};
use crate::control::tracefs::Instance;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A process that holds a ring buffer's `trace_pipe` or `trace_pipe_raw` open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RingReader {
    pub(super) pid: Pid,
    /// Its name (`/proc/PID/comm`), for messages.
    pub(super) comm: String,
}

/// The first process but this one that has the ring of one of `cpus` of `instance` open, as far as /proc shows processes
/// and their descriptors to this one.
pub(super) fn reader_of(instance: &Instance, cpus: &[CpuId]) -> Option<RingReader> {
    let pipes: Vec<(u64, u64)> =
        instance.consuming_files(cpus).iter().filter_map(|path| inode_of(&fs::metadata(path))).collect();
    let own = std::process::id();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|pid: &u32| *pid != own);
    pids.filter(|pid| has_open(*pid, &pipes)).map(|pid| RingReader { pid: Pid(pid as i32), comm: comm_of(pid) }).next()
}

/// True if the process `pid` has one of `inodes` open. Descriptors belong to the process, so its threads need no look.
fn has_open(pid: u32, inodes: &[(u64, u64)]) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    // Follows the link to the open file itself, whatever path that has.
    descriptors.filter_map(|fd| inode_of(&fs::metadata(fd.path()))).any(|inode| inodes.contains(&inode))
}

fn inode_of(metadata: &std::io::Result<fs::Metadata>) -> Option<(u64, u64)> {
    metadata.as_ref().ok().map(|file| (file.dev(), file.ino()))
}

fn comm_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}
