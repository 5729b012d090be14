//! The tasks that exist now.
//! Forks and names of tasks, as the kernel reports them itself: perf's side-band. No tracepoint, no instance, nothing in the
//! trace. It costs one 40-byte record per fork, exec and exit.

use super::offline::is_offline;
use crate::base::sys::TaskEvents;
use crate::base::units::Pid;
use std::fmt::Display;
use std::os::fd::{AsFd, BorrowedFd};
use std::{fs, io};

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

/// A task's name: up to 15 bytes, NUL-padded as the kernel keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm([u8; 16]);

impl Comm {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut comm = [0; 16];
        let len = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len()).min(15);
        comm[..len].copy_from_slice(&bytes[..len]);
        Comm(comm)
    }

    /// Appends a line of saved_cmdlines: `PID COMM`.
    pub(super) fn write_line(&self, pid: Pid, out: &mut Vec<u8>) {
        out.extend_from_slice(pid.to_string().as_bytes());
        out.push(b' ');
        out.extend(self.as_bytes().iter().map(|&b| if b == b'\n' { b'?' } else { b })); // a name may hold anything
        out.push(b'\n');
    }

    /// The name without its padding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0[..self.0.iter().position(|&b| b == 0).unwrap_or(16)]
    }
}

/// Something the kernel said about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskEvent {
    /// `process` is the child's: its own, or its parent's if it is a thread.
    Forked {
        process: i32,
        child: i32,
        parent: i32,
    },
    Named {
        tid: i32,
        comm: Comm,
    },
    /// The kernel had no room for others.
    Missed,
}

/// The side-band of all CPUs.
#[derive(Debug, Default)]
pub(super) struct SideBand {
    rings: Vec<TaskEvents>,
    /// CPUs that were offline when they were last asked.
    offline: Vec<u32>,
    size: usize,
    /// Bytes in a ring at which it wakes its reader.
    wake_at: usize,
    raw: Vec<u8>,
}

/// The first pid namespace's inode (kernel: `include/linux/proc_ns.h`, `PROC_PID_INIT_INO`).
const INIT_PID_NS: &str = "pid:[4026531836]";

impl SideBand {
    /// Starts listening on `cpus`, numbered from 0. Its reader is woken when a ring of `size` bytes, a power of two and a page
    /// at least, has `wake_at` of them.
    ///
    /// # Errors
    /// If the kernel has no perf events, or not for us; and in a pid namespace of our own, where the numbers that we
    /// see are not those that tracing writes.
    pub(super) fn start(cpus: Vec<u32>, size: usize, wake_at: usize) -> io::Result<Self> {
        if fs::read_link("/proc/self/ns/pid").is_ok_and(|ns| ns.as_os_str() != INIT_PID_NS) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "not in the first pid namespace"));
        }
        let mut band = SideBand { rings: Vec::new(), offline: cpus, size, wake_at, raw: Vec::new() };
        band.listen()?;
        Ok(band)
    }

    /// Listens on the CPUs that have come on.
    ///
    /// # Errors
    /// The system call's error.
    pub(super) fn listen(&mut self) -> io::Result<()> {
        for cpu in std::mem::take(&mut self.offline) {
            match TaskEvents::open(cpu, self.size, self.wake_at) {
                Ok(ring) => self.rings.push(ring),
                Err(error) if is_offline(&error) => self.offline.push(cpu),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Appends what the kernel said since the last call, each CPU's in order, with its `CLOCK_MONOTONIC` time.
    pub(super) fn drain(&mut self, out: &mut Vec<(u64, TaskEvent)>) {
        self.raw.clear();
        for ring in &mut self.rings {
            ring.drain(&mut self.raw);
        }
        parse(&self.raw, out);
    }

    /// Readable when there is something to drain.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.rings.iter().map(AsFd::as_fd)
    }
}

/// Reads `PERF_RECORD_COMM`, `PERF_RECORD_FORK` and `PERF_RECORD_LOST` records, each with its time; others are skipped.
pub(super) fn parse(mut records: &[u8], out: &mut Vec<(u64, TaskEvent)>) {
    const LOST: u32 = 2;
    const COMM: u32 = 3;
    const FORK: u32 = 7;
    let u32_at = |b: &[u8], at: usize| b.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    while let Some((kind, size)) = u32_at(records, 0).zip(records.get(6..8)) {
        let size = usize::from(u16::from_ne_bytes([size[0], size[1]]));
        let Some(record) = records.get(..size).filter(|r| r.len() >= 24) else { return };
        records = &records[size..];
        let Some(time) = record[size - 8..].try_into().ok().map(u64::from_ne_bytes) else { return };
        let field = |at| u32_at(record, at).map(|value| value as i32);
        match kind {
            COMM => {
                if let Some(tid) = field(12) {
                    out.push((time, TaskEvent::Named { tid, comm: Comm::new(&record[16..size - 8]) }));
                }
            }
            FORK => {
                if let Some(((process, child), parent)) = field(8).zip(field(16)).zip(field(20)) {
                    out.push((time, TaskEvent::Forked { process, child, parent }));
                }
            }
            LOST => out.push((time, TaskEvent::Missed)),
            _ => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn record(kind: u32, body: &[u8], time: u64) -> Vec<u8> {
        let size = (8 + body.len() + 8) as u16;
        [&kind.to_ne_bytes()[..], &0u16.to_ne_bytes(), &size.to_ne_bytes(), body, &time.to_ne_bytes()].concat()
    }

    pub(in crate::control::record) fn named(tid: i32, name: &[u8; 16], time: u64) -> Vec<u8> {
        record(3, &[&1u32.to_ne_bytes()[..], &tid.to_ne_bytes(), name].concat(), time)
    }

    pub(in crate::control::record) fn forked(child: i32, parent: i32, time: u64) -> Vec<u8> {
        let fields = [child, parent, child, parent].map(i32::to_ne_bytes).concat();
        record(7, &[&fields[..], &time.to_ne_bytes()].concat(), time)
    }

    #[test]
    fn torn_records_are_no_records() {
        let raw = named(1, b"aaaaaaaaaaaaaaa\0", 1);
        for len in 0..raw.len() {
            let mut out = Vec::new();
            parse(&raw[..len], &mut out);
            assert!(out.is_empty());
        }
    }

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
