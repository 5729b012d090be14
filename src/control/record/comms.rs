//! Names of tasks, learnt while recording.
//!
//! The kernel keeps few names (`saved_cmdlines`: 128 before Linux 6.10) and only for tasks that were scheduled while
//! something was recorded, so a task that lived for a millisecond is `<...>` when the file is written. Here the kernel
//! itself reports every fork and every new name ([`SideBand`]).
//!
//! A file has one name per pid; like trace-cmd's it is the last one the task had.

use super::side_band::{Comm, SideBand, TaskEvent};
use crate::base::units::Pid;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Listens to the kernel and collects names.
#[derive(Debug)]
pub struct CommLearner {
    band: SideBand,
    names: HashMap<i32, Comm>,
    /// Records read that are too young to be put in order with those that other CPUs are still writing.
    pending: Vec<(u64, TaskEvent)>,
    /// Names that are not yet in the spool.
    lines: Vec<u8>,
}

/// Events younger than this may be overtaken by older ones of another CPU that are not readable yet.
const SETTLE: Duration = Duration::from_millis(2);

impl CommLearner {
    /// Starts listening on `cpus` CPUs, numbered from 0.
    ///
    /// # Errors
    /// If the kernel has no perf events, or not for us; and in a pid namespace of our own, where the numbers that we
    /// see are not those that tracing writes.
    pub fn start(cpus: impl IntoIterator<Item = u32>) -> io::Result<Self> {
        let cpus: Vec<u32> = cpus.into_iter().collect();
        let size = if cpus.len() > 16 { 64 << 10 } else { 256 << 10 };
        let band = SideBand::start(cpus, size, size / 4)?;
        Ok(CommLearner { band, names: HashMap::new(), pending: Vec::new(), lines: Vec::new() })
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
            let _ = self.band.listen();
            let mut fds = vec![PollFd::new(stop, PollFlags::POLLIN)];
            fds.extend(self.band.fds().map(|ring| PollFd::new(ring, PollFlags::POLLIN)));
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
        self.band.drain(&mut self.pending);
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
                TaskEvent::Missed => {}
                // A pid that is used again must not keep the name of its former owner.
                TaskEvent::Forked { child, parent, .. } => match self.names.get(&parent).copied() {
                    Some(comm) => self.name(child, comm),
                    None => {
                        self.names.remove(&child);
                    }
                },
            }
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
    use super::super::side_band::parse;
    use super::super::side_band::tests::{forked, named};
    use super::*;
    use std::os::fd::AsFd;

    fn learner() -> CommLearner {
        CommLearner { band: SideBand::default(), names: HashMap::new(), pending: Vec::new(), lines: Vec::new() }
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
