//! Names of tasks, learnt while recording.
//!
//! The kernel keeps few names (`saved_cmdlines`: 128 before Linux 6.10) and only for tasks that were scheduled while
//! something was recorded, so a task that lived for a millisecond is `<...>` when the file is written. Here the kernel
//! itself reports every fork and every new name ([`SideBand`]).
//!
//! A file has one name per pid; like trace-cmd's it is the last one the task had.

use super::asked::Asked;
use super::kept_tasks::KeptTasks;
use super::tasks::{Comm, SideBand, TaskEvent, living_tasks};
use crate::base::units::Pid;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::{ClockId, clock_gettime};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Listens to the kernel and collects names.
#[derive(Debug)]
pub struct CommLearner {
    band: SideBand,
    names: HashMap<i32, KnownName>,
    /// Number of names so far.
    count: u64,
    kept: Option<Arc<KeptTasks>>,
    asked: Option<Asked<Vec<(Pid, Comm)>>>,
    /// Records read that are too young to be put in order with those that other CPUs are still writing.
    pending: Vec<(u64, TaskEvent)>,
    /// Names that are not yet in the spool.
    lines: Vec<u8>,
}

/// A task's name.
#[derive(Clone, Copy, Debug)]
struct KnownName {
    comm: Comm,
    /// How many names came before it.
    number: u64,
    is_in_spool: bool,
    /// When it was found that the task is gone and no event of it is kept.
    gone: Option<Instant>,
}

/// Events of a task that is gone reach the spools within this time.
const ON_THEIR_WAY: Duration = Duration::from_secs(10);
/// A flight recorder looks for names that it needs no longer where it has more than this.
const FEW: usize = 1 << 13;

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
        Ok(CommLearner::of(band))
    }

    fn of(band: SideBand) -> Self {
        let (names, pending, lines) = (HashMap::new(), Vec::new(), Vec::new());
        CommLearner { band, names, count: 0, kept: None, asked: None, pending, lines }
    }

    /// Keeps the names of tasks that live or have events in a flight recorder's pieces.
    pub(super) fn keep(mut self, kept: Option<Arc<KeptTasks>>) -> Self {
        self.kept = kept;
        self
    }

    /// Tells the names when it is asked to.
    pub(super) fn answer(mut self, asked: Option<Asked<Vec<(Pid, Comm)>>>) -> Self {
        self.asked = asked;
        self
    }

    /// Reads the names of the tasks that exist, then listens until `stop` is readable; gives the last name of each pid.
    /// Every name is appended to `spool` at once, as a line of saved_cmdlines, for the case that we are killed.
    pub fn run(mut self, stop: BorrowedFd<'_>, spool: File) -> Vec<(Pid, Comm)> {
        let mut spool = CommSpool::new(spool, self.kept.as_ref().map(|kept| kept.room()));
        let mut looked = Instant::now();
        self.drain();
        for (tid, comm) in living_tasks() {
            self.name(tid, comm);
        }
        loop {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
            self.drain();
            self.settle(now.saturating_sub(SETTLE).as_nanos() as u64);
            self.store(&mut spool);
            if self.kept.is_some() && looked.elapsed() > ON_THEIR_WAY {
                looked = Instant::now();
                self.forget_gone();
            }
            // Of one that cannot be listened to there are the kernel's saved names.
            let _ = self.band.listen();
            let mut fds = vec![PollFd::new(stop, PollFlags::POLLIN)];
            fds.extend(self.asked.as_ref().map(|asked| PollFd::new(asked.as_fd(), PollFlags::POLLIN)));
            fds.extend(self.band.fds().map(|ring| PollFd::new(ring, PollFlags::POLLIN)));
            if poll(&mut fds, PollTimeout::from(250u16)).is_err() || fds[0].any().unwrap_or(false) {
                break;
            }
            if self.asked.as_ref().is_some_and(Asked::take) {
                self.drain();
                self.settle(u64::MAX);
                let kept = self.kept.as_ref().map(|kept| kept.all());
                let names = self.known(|tid| kept.as_ref().is_none_or(|kept| kept.contains(&tid)));
                self.asked.iter().for_each(|asked| asked.answer(names.clone()));
            }
        }
        self.drain();
        self.settle(u64::MAX);
        self.known(|_| true)
    }

    /// The names of the tasks that are `wanted`, in their order.
    fn known(&self, wanted: impl Fn(i32) -> bool) -> Vec<(Pid, Comm)> {
        let names = self.names.iter().filter(|(tid, _)| wanted(**tid));
        let mut names: Vec<_> = names.map(|(tid, name)| (Pid(*tid), name.comm)).collect();
        names.sort_unstable_by_key(|&(pid, _)| pid);
        names
    }

    fn drain(&mut self) {
        self.band.drain(&mut self.pending);
    }

    fn name(&mut self, tid: i32, comm: Comm) {
        self.count = self.count.saturating_add(1);
        self.names.insert(tid, KnownName { comm, number: self.count, is_in_spool: true, gone: None });
        comm.write_line(Pid(tid), &mut self.lines);
    }

    /// Writes the new names to the spool; a flight recorder's, once it is as large as it may be, is made anew.
    fn store(&mut self, spool: &mut CommSpool) {
        for tid in self.kept.as_ref().map(|kept| kept.take_new()).unwrap_or_default() {
            if let Some(name) = self.names.get_mut(&tid).filter(|name| !name.is_in_spool) {
                name.is_in_spool = true;
                name.comm.write_line(Pid(tid), &mut self.lines);
            }
        }
        match &self.kept {
            Some(kept) if !spool.has_room(self.lines.len()) => {
                let all = needed(&mut self.names, &kept.all(), kept.room() / 2);
                // Half of the room is left for new names, and a quarter more than there is now for those that are kept.
                let most = kept.room() + all.kept + all.kept / 4;
                kept.reserve(most);
                spool.replace(&all.lines, most);
            }
            _ => spool.append(&self.lines),
        }
        self.lines.clear();
    }

    /// Forgets the names of tasks that are gone, and of which no event is kept, if there are many.
    fn forget_gone(&mut self) {
        let Some(kept) = self.kept.as_ref().filter(|_| self.names.len() > FEW) else { return };
        let (kept, living) = (kept.all(), living_tasks().map(|(tid, _)| tid).collect::<HashSet<i32>>());
        let now = Instant::now();
        self.names.retain(|tid, name| {
            let is_needed = kept.contains(tid) || living.contains(tid);
            name.gone = if is_needed { None } else { name.gone.or(Some(now)) };
            name.gone.is_none_or(|since| now.saturating_duration_since(since) < ON_THEIR_WAY)
        });
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
                    Some(parent) => self.name(child, parent.comm),
                    None => {
                        self.names.remove(&child);
                    }
                },
            }
        }
    }
}

/// The lines of a flight recorder's spool of names.
struct NeededNames {
    lines: Vec<u8>,
    /// Bytes of those of tasks that have events in the pieces.
    kept: u64,
}

/// The names of the tasks in `kept`, and of the others the newest in `room` bytes: events of these may be on their way.
fn needed(names: &mut HashMap<i32, KnownName>, kept: &HashSet<i32>, room: u64) -> NeededNames {
    let mut lines = Vec::new();
    let mut others: Vec<(i32, &mut KnownName)> = Vec::new();
    for (tid, name) in names {
        name.is_in_spool = kept.contains(tid);
        if name.is_in_spool {
            name.comm.write_line(Pid(*tid), &mut lines);
        } else {
            others.push((*tid, name));
        }
    }
    let of_kept = lines.len() as u64;
    others.sort_unstable_by_key(|(_, name)| Reverse(name.number));
    for (tid, name) in others {
        let before = lines.len();
        name.comm.write_line(Pid(tid), &mut lines);
        if lines.len() as u64 > of_kept + room {
            lines.truncate(before);
            break;
        }
        name.is_in_spool = true;
    }
    NeededNames { lines, kept: of_kept }
}

/// The file of names while recording.
struct CommSpool {
    file: File,
    len: u64,
    /// Bytes that it may have, if they are bounded.
    most: Option<u64>,
}

impl CommSpool {
    fn new(file: File, most: Option<u64>) -> Self {
        CommSpool { file, len: 0, most }
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.most.is_none_or(|most| self.len + bytes as u64 <= most)
    }

    fn append(&mut self, lines: &[u8]) {
        // A disk that is full takes no more names; the recording's end will still have them.
        if self.file.write_all(lines).is_ok() {
            self.len += lines.len() as u64;
        }
    }

    /// Puts `lines` in place of all that is there; it may have `most` bytes from now on.
    fn replace(&mut self, lines: &[u8], most: u64) {
        self.most = Some(most);
        // Emptied first: a process that is killed in between leaves no half of a line to be read as another task's.
        if self.file.set_len(0).is_ok() {
            self.len = 0;
            self.append(lines);
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

#[cfg(test)]
mod tests {
    use super::super::tasks::parse;
    use super::super::tasks::tests::{forked, named};
    use super::*;

    fn learner() -> CommLearner {
        CommLearner::of(SideBand::default())
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
        assert_eq!(learner.names[&11].comm.as_bytes(), b"sh");
        assert_eq!(learner.pending.len(), 3);
        learner.settle(u64::MAX);
        assert_eq!(learner.names[&10].comm.as_bytes(), b"later");
        assert_eq!(learner.names[&12].comm.as_bytes(), b"exactly-fifteen");
    }

    #[test]
    fn a_reused_pid_loses_its_former_name() {
        let mut learner = learner();
        learner.name(5, Comm::new(b"old"));
        parse(&forked(5, 99, 1), &mut learner.pending);
        learner.settle(u64::MAX);
        assert!(learner.names.is_empty());
    }

    #[test]
    fn a_flight_recorder_keeps_the_names_of_what_it_keeps() {
        let kept = Arc::new(KeptTasks::new(2, Some(64 << 10)));
        let mut learner = learner().keep(Some(kept.clone()));
        // As the recorder opens it: what is written goes to the end, wherever that is by then.
        let named = tempfile::NamedTempFile::new().unwrap();
        let file = File::options().read(true).append(true).open(named.path()).unwrap();
        let mut spool = CommSpool::new(file.try_clone().unwrap(), Some(kept.room()));
        let text = || {
            let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
            std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, 0).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let has = |text: &str, tid: i32| text.lines().filter(|line| *line == format!("{tid} task")).count();
        for tid in 1..=20_000 {
            learner.name(tid, Comm::new(b"task"));
            // Of every hundredth an event is kept, a while after it was named.
            if tid % 100 == 50 && tid > 5000 {
                kept.add([tid - 5000]);
            }
            learner.store(&mut spool);
        }
        let now = text();
        for tid in (50..15_000).step_by(100) {
            assert_eq!(has(&now, tid), 1, "{tid}");
        }
        assert_eq!((has(&now, 20_000), has(&now, 51)), (1, 0), "the newest, and an old one of which nothing is kept");
        let of_kept: u64 = (50..15_000).step_by(100).map(|tid| format!("{tid} task\n").len() as u64).sum();
        let most = kept.reserved_of_each() * 2;
        assert!(now.len() as u64 <= most && most <= kept.room() + of_kept * 5 / 4 + 2, "{} {most}", now.len());
        // The pieces go: so do the names, and what is reserved for them.
        kept.remove((50..15_000).step_by(100));
        for tid in 30_000..40_000 {
            learner.name(tid, Comm::new(b"task"));
            learner.store(&mut spool);
        }
        assert_eq!((has(&text(), 50), kept.reserved_of_each() * 2), (0, kept.room()));
    }

    #[test]
    fn saved_names_fill_the_gaps() {
        let learnt = vec![(Pid(2), Comm::new(b"two")), (Pid(9), Comm::new(b"nine"))];
        let all = with_saved(learnt, b"9 other\n7 with blank\n3 <...>\nx\n");
        let names: Vec<_> = all.iter().map(|(pid, comm)| (pid.0, comm.as_bytes())).collect();
        assert_eq!(names, [(2, &b"two"[..]), (7, b"with blank"), (9, b"nine")]);
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
