//! Names of tasks, learnt while recording.
//!
//! The kernel keeps few names (`saved_cmdlines`: 128 before Linux 6.10) and only for tasks that were scheduled while
//! something was recorded, so a task that lived for a millisecond is `<...>` when the file is written. Here the kernel
//! itself reports every fork and every new name, through perf's side-band: no tracepoint, no instance, nothing in the
//! trace. It costs one 40-byte record per fork, exec and exit.
//!
//! A file has one name per pid; like trace-cmd's it is the last one the task had.

use super::offline::is_offline;
use crate::base::sys::TaskEvents;
use crate::base::units::Pid;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// A task's name: up to 15 bytes, NUL-padded as the kernel keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm([u8; 16]);

impl Comm {
    fn new(bytes: &[u8]) -> Self {
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
enum TaskEvent {
    Forked { child: i32, parent: i32 },
    Named { tid: i32, comm: Comm },
}

/// Listens to the kernel and collects names.
#[derive(Debug)]
pub struct CommLearner {
    rings: Vec<TaskEvents>,
    /// CPUs that were offline when they were last asked.
    offline: Vec<u32>,
    size: usize,
    names: HashMap<i32, Comm>,
    /// Records read that are too young to be put in order with those that other CPUs are still writing.
    pending: Vec<(u64, TaskEvent)>,
    raw: Vec<u8>,
    /// Names that are not yet in the spool.
    lines: Vec<u8>,
}

/// Events younger than this may be overtaken by older ones of another CPU that are not readable yet.
const SETTLE: Duration = Duration::from_millis(2);
/// The first pid namespace's inode (kernel: `include/linux/proc_ns.h`, `PROC_PID_INIT_INO`).
const INIT_PID_NS: &str = "pid:[4026531836]";

impl CommLearner {
    /// Starts listening on `cpus` CPUs, numbered from 0.
    ///
    /// # Errors
    /// If the kernel has no perf events, or not for us; and in a pid namespace of our own, where the numbers that we
    /// see are not those that tracing writes.
    pub fn start(cpus: impl IntoIterator<Item = u32>) -> io::Result<Self> {
        if fs::read_link("/proc/self/ns/pid").is_ok_and(|ns| ns.as_os_str() != INIT_PID_NS) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "not in the first pid namespace"));
        }
        let cpus: Vec<u32> = cpus.into_iter().collect();
        let size = if cpus.len() > 16 { 64 << 10 } else { 256 << 10 };
        let mut learner = CommLearner {
            rings: Vec::new(),
            offline: cpus,
            size,
            names: HashMap::new(),
            pending: Vec::new(),
            raw: Vec::new(),
            lines: Vec::new(),
        };
        learner.listen()?;
        Ok(learner)
    }

    /// Listens on the CPUs that have come on.
    fn listen(&mut self) -> io::Result<()> {
        for cpu in std::mem::take(&mut self.offline) {
            match TaskEvents::open(cpu, self.size) {
                Ok(ring) => self.rings.push(ring),
                Err(error) if is_offline(&error) => self.offline.push(cpu),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads the names of the tasks that exist, then listens until `stop` is readable; gives the last name of each pid.
    /// Every name is appended to `spool` at once, as a line of saved_cmdlines, for the case that we are killed.
    pub fn run(mut self, stop: BorrowedFd<'_>, mut spool: File) -> Vec<(Pid, Comm)> {
        self.drain();
        for (tid, comm) in living_tasks() {
            self.name(tid, comm);
        }
        loop {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
            self.drain();
            self.settle(now.saturating_sub(SETTLE).as_nanos() as u64);
            // A disk that is full takes no more names; the recording's end will still have them.
            let _ = spool.write_all(&self.lines);
            self.lines.clear();
            // Of one that cannot be listened to there are the kernel's saved names.
            let _ = self.listen();
            let mut fds = vec![PollFd::new(stop, PollFlags::POLLIN)];
            fds.extend(self.rings.iter().map(|ring| PollFd::new(ring.as_fd(), PollFlags::POLLIN)));
            if poll(&mut fds, PollTimeout::from(250u16)).is_err() || fds[0].any().unwrap_or(false) {
                break;
            }
        }
        self.drain();
        self.settle(u64::MAX);
        let mut names: Vec<_> = self.names.into_iter().map(|(tid, comm)| (Pid(tid), comm)).collect();
        names.sort_unstable_by_key(|&(pid, _)| pid);
        names
    }

    fn drain(&mut self) {
        self.raw.clear();
        for ring in &mut self.rings {
            ring.drain(&mut self.raw);
        }
        parse(&self.raw, &mut self.pending);
    }

    fn name(&mut self, tid: i32, comm: Comm) {
        self.names.insert(tid, comm);
        comm.write_line(Pid(tid), &mut self.lines);
    }

    /// Applies what is older than `until`, in the order of time.
    fn settle(&mut self, until: u64) {
        self.pending.sort_by_key(|&(time, _)| time);
        let settled = self.pending.partition_point(|&(time, _)| time < until);
        let young = self.pending.split_off(settled);
        for (_, task) in std::mem::replace(&mut self.pending, young) {
            match task {
                TaskEvent::Named { tid, comm } => self.name(tid, comm),
                // A pid that is used again must not keep the name of its former owner.
                TaskEvent::Forked { child, parent } => match self.names.get(&parent).copied() {
                    Some(comm) => self.name(child, comm),
                    None => {
                        self.names.remove(&child);
                    }
                },
            }
        }
    }
}

/// Reads `PERF_RECORD_COMM` and `PERF_RECORD_FORK` records; others are skipped.
fn parse(mut records: &[u8], out: &mut Vec<(u64, TaskEvent)>) {
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
                if let Some((child, parent)) = field(16).zip(field(20)) {
                    out.push((time, TaskEvent::Forked { child, parent }));
                }
            }
            _ => {}
        }
    }
}

/// Adds the names of `saved_cmdlines` for the pids that `learnt`, which is sorted, does not have.
pub(super) fn with_saved(mut learnt: Vec<(Pid, Comm)>, saved_cmdlines: &[u8]) -> Vec<(Pid, Comm)> {
    let saved = saved_cmdlines.split(|&b| b == b'\n').filter_map(|line| {
        let blank = line.iter().position(|&b| b == b' ')?;
        let pid = std::str::from_utf8(&line[..blank]).ok()?.parse().ok()?;
        let name = &line[blank + 1..];
        (name != b"<...>").then(|| (Pid(pid), Comm::new(name)))
    });
    let known = learnt.len();
    for (pid, comm) in saved {
        if learnt[..known].binary_search_by_key(&pid, |&(pid, _)| pid).is_err() {
            learnt.push((pid, comm));
        }
    }
    learnt.sort_by_key(|&(pid, _)| pid);
    learnt
}

/// Every thread that `/proc` shows, with its name.
fn living_tasks() -> impl Iterator<Item = (i32, Comm)> {
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

    fn record(kind: u32, body: &[u8], time: u64) -> Vec<u8> {
        let size = (8 + body.len() + 8) as u16;
        [&kind.to_ne_bytes()[..], &0u16.to_ne_bytes(), &size.to_ne_bytes(), body, &time.to_ne_bytes()].concat()
    }

    fn named(tid: i32, name: &[u8; 16], time: u64) -> Vec<u8> {
        record(3, &[&1u32.to_ne_bytes()[..], &tid.to_ne_bytes(), name].concat(), time)
    }

    fn forked(child: i32, parent: i32, time: u64) -> Vec<u8> {
        let fields = [child, parent, child, parent].map(i32::to_ne_bytes).concat();
        record(7, &[&fields[..], &time.to_ne_bytes()].concat(), time)
    }

    fn learner() -> CommLearner {
        CommLearner {
            rings: Vec::new(),
            offline: Vec::new(),
            size: 0,
            names: HashMap::new(),
            pending: Vec::new(),
            raw: Vec::new(),
            lines: Vec::new(),
        }
    }

    #[test]
    fn names_follow_forks_in_the_order_of_time() {
        let mut learner = learner();
        // Two CPUs' records: the rename of the parent (time 30) comes after the fork (20), though it is read first.
        let raw = [
            named(10, b"sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 10),
            named(10, b"later\0\0\0\0\0\0\0\0\0\0\0", 30),
            forked(11, 10, 20),
            named(12, b"exactly-fifteen\0", 26),
            forked(12, 10, 25),
        ];
        parse(&raw.concat(), &mut learner.pending);
        learner.settle(22);
        assert_eq!(learner.names[&11].as_bytes(), b"sh");
        assert_eq!(learner.pending.len(), 3);
        learner.settle(u64::MAX);
        assert_eq!(learner.names[&10].as_bytes(), b"later");
        assert_eq!(learner.names[&12].as_bytes(), b"exactly-fifteen");
    }

    #[test]
    fn a_reused_pid_loses_its_former_name() {
        let mut learner = learner();
        learner.names.insert(5, Comm::new(b"old"));
        parse(&forked(5, 99, 1), &mut learner.pending);
        learner.settle(u64::MAX);
        assert!(learner.names.is_empty());
    }

    #[test]
    fn saved_names_fill_the_gaps() {
        let learnt = vec![(Pid(2), Comm::new(b"two")), (Pid(9), Comm::new(b"nine"))];
        let all = with_saved(learnt, b"9 other\n7 with blank\n3 <...>\nx\n");
        let names: Vec<_> = all.iter().map(|(pid, comm)| (pid.0, comm.as_bytes())).collect();
        assert_eq!(names, [(2, &b"two"[..]), (7, b"with blank"), (9, b"nine")]);
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
    fn living_tasks_include_this_thread() {
        let tid = nix::unistd::gettid().as_raw();
        let own = fs::read(format!("/proc/self/task/{tid}/comm")).unwrap();
        let found = living_tasks().find(|&(t, _)| t == tid).unwrap().1;
        assert_eq!(found.as_bytes(), own.strip_suffix(b"\n").unwrap());
    }

    #[test]
    fn a_task_that_is_gone_has_a_name() {
        let learner = match CommLearner::start(0..std::thread::available_parallelism().unwrap().get() as u32) {
            Ok(learner) => learner,
            Err(e) => {
                let _ = std::io::stderr().write_all(format!("not run: no perf side-band: {e}\n").as_bytes());
                return;
            }
        };
        let stop = nix::sys::eventfd::EventFd::new().unwrap();
        let (names, pids) = std::thread::scope(|scope| {
            let running = scope.spawn(|| learner.run(stop.as_fd(), tempfile::tempfile().unwrap()));
            let pids: Vec<_> = (0..20)
                .map(|_| {
                    let mut child = std::process::Command::new("true").spawn().unwrap();
                    child.wait().unwrap();
                    Pid(child.id() as i32)
                })
                .collect();
            stop.write(1).unwrap();
            (running.join().unwrap(), pids)
        });
        for pid in pids {
            let comm = names.iter().find(|&&(p, _)| p == pid).map(|(_, comm)| comm.as_bytes().to_vec());
            assert_eq!(comm.as_deref(), Some(&b"true"[..]), "{pid}");
        }
    }
}
