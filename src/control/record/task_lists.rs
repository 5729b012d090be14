//! The tasks of a plan as the kernel lists them: by thread. A process is its threads, those that exist and those that come.
//!
//! With `event-fork` the kernel's lists (`set_event_pid`, `set_ftrace_pid`, and those of tasks to leave out) grow by
//! themselves, from a task's first event on: by threads and by child processes. Without, perf's side-band tells of new
//! threads, which are listed some milliseconds after their start.

use super::plan::Tasks;
use super::side_band::{SideBand, TaskEvent};
use super::stop::leader;
use crate::base::units::{CpuId, Pid, counted};
use crate::control::tracefs::{Error, Instance, Journal};
use crate::file::trace_dat::{Coverage, CoveredTasks};
use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The threads of `process`, a pid or `self`; none if it is gone.
pub fn threads_of(process: impl Display) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok().map(Pid)).collect()
}

/// Bytes of side-band of one CPU: what 1,600 forks say.
const SIDE_BAND: usize = 64 << 10;
/// Least time between two looks at it, which a machine that does nothing but fork would ask for without end.
const LOOK: Duration = Duration::from_millis(1);

/// Processes, and those of their threads that are listed.
#[derive(Debug, Default)]
struct TaskList {
    processes: Vec<Pid>,
    listed: BTreeSet<Pid>,
}

impl TaskList {
    fn new(processes: impl Iterator<Item = Pid>, threads: &[Pid]) -> Self {
        let mut list = TaskList { processes: Vec::new(), listed: threads.iter().copied().collect() };
        for pid in processes {
            // One that is gone by now is listed all the same: an empty list would be none.
            list.listed.insert(pid);
            list.processes.push(leader(pid));
        }
        list.look();
        list
    }

    /// Threads that are not listed yet; they count as listed from now on.
    fn look(&mut self) -> Vec<Pid> {
        let all: Vec<Pid> = self.processes.iter().flat_map(threads_of).collect();
        all.into_iter().filter(|tid| self.listed.insert(*tid)).collect()
    }
}

/// The tasks that a recording is restricted to, and those that it leaves out.
#[derive(Debug)]
pub(super) struct TaskLists {
    children: bool,
    only: TaskList,
    left_out: TaskList,
    /// Instances that have the lists, and whether theirs of functions as well.
    places: Vec<(Instance, bool)>,
    side_band: Option<SideBand>,
    looked: Option<Instant>,
    /// Threads that were listed late, or ended before, and the longest time for which one was not.
    late: u64,
    ended: u64,
    slowest: Duration,
}

impl TaskLists {
    /// The lists of `tasks`, of which the command is `command`.
    pub(super) fn of(tasks: &Tasks, command: Option<Pid>) -> Self {
        let command = command.filter(|_| tasks.command);
        TaskLists {
            children: tasks.children,
            only: TaskList::new(tasks.pids.iter().copied().chain(command), &tasks.threads),
            left_out: TaskList::new(tasks.left_out.iter().copied(), &[]),
            places: Vec::new(),
            side_band: None,
            looked: None,
            late: 0,
            ended: 0,
            slowest: Duration::ZERO,
        }
    }

    /// True if the kernel does not list threads that come later by itself.
    pub(super) fn need_news(&self) -> bool {
        !(self.children || self.only.processes.is_empty() && self.left_out.processes.is_empty())
    }

    /// True if processes are left out and none is asked for.
    pub(super) fn only_leave_out(&self) -> bool {
        self.only.processes.is_empty()
    }

    /// Listens for threads that come later, where nothing else lists them.
    ///
    /// # Errors
    /// Why they will be missed.
    pub(super) fn listen(&mut self, cpus: Vec<CpuId>) -> io::Result<()> {
        if self.need_news() {
            self.side_band = Some(SideBand::start(cpus.into_iter().map(|cpu| cpu.0).collect(), SIDE_BAND, 1)?);
        }
        Ok(())
    }

    /// Sets the lists of `instance`, with `functions` of the functions that are traced as well; gives the tasks that it records.
    pub(super) fn set(
        &mut self,
        journal: &mut Journal,
        instance: &Instance,
        functions: bool,
    ) -> Result<CoveredTasks, Error> {
        let place = (instance.clone(), functions && instance.has("set_ftrace_pid"));
        let listed = |list: &TaskList| list.listed.iter().copied().collect::<Vec<_>>();
        let (only, left_out) = (listed(&self.only), listed(&self.left_out));
        self.append(journal, &place, &only, &left_out)?;
        self.places.push(place);
        Ok(match only.is_empty() {
            true => CoveredTasks::All,
            false => CoveredTasks::Only { pids: only, children: self.children },
        })
    }

    fn append(
        &self,
        journal: &mut Journal,
        (instance, functions): &(Instance, bool),
        only: &[Pid],
        left_out: &[Pid],
    ) -> Result<(), Error> {
        if !only.is_empty() {
            journal.trace_only(instance, only, self.children)?;
            if *functions {
                journal.trace_functions_only(instance, only, self.children)?;
            }
        }
        if !left_out.is_empty() {
            if !journal.leave_out(instance, left_out)? {
                let what = "list of processes to leave out (set_event_notrace_pid)".to_owned();
                return Err(Error::NoFeature { what, config: Some("Linux 5.7") });
            }
            if *functions {
                journal.leave_out_functions(instance, left_out)?;
            }
        }
        Ok(())
    }

    fn append_to_all(&self, journal: &mut Journal, only: &[Pid], left_out: &[Pid]) -> Result<(), Error> {
        self.places.iter().try_for_each(|place| self.append(journal, place, only, left_out))
    }

    /// Lists the threads that came while the lists were set, before anything is traced. Those that a listed task starts with
    /// `event-fork` are listed already.
    pub(super) fn complete(&mut self, journal: &mut Journal) -> Result<(), Error> {
        loop {
            let (only, left_out) = (self.only.look(), self.left_out.look());
            if only.is_empty() && left_out.is_empty() {
                return Ok(());
            }
            self.append_to_all(journal, &only, &left_out)?;
        }
    }

    /// Readable when there may be new threads.
    pub(super) fn news(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.side_band.iter().flat_map(SideBand::fds)
    }

    /// Lists the threads that have come since.
    ///
    /// # Errors
    /// As [`Journal::append_to_list`]; then nothing more is listed.
    pub(super) fn follow(&mut self, journal: &mut Journal) -> Result<(), Error> {
        let Some(band) = &mut self.side_band else { return Ok(()) };
        if let Some(early) = self.looked.and_then(|looked| LOOK.checked_sub(looked.elapsed())) {
            thread::sleep(early);
        }
        self.looked = Some(Instant::now());
        let mut said = Vec::new();
        let _ = band.listen(); // on a CPU that came on; if not now, at the next look
        band.drain(&mut said);
        let (mut only, mut left_out, mut since) = (Vec::new(), Vec::new(), u64::MAX);
        for (time, event) in said {
            match event {
                TaskEvent::Forked { process, child, .. } if process != child => {
                    let of =
                        |list: &mut TaskList| list.processes.contains(&Pid(process)) && list.listed.insert(Pid(child));
                    if of(&mut self.only) {
                        only.push(Pid(child));
                        since = since.min(time);
                    }
                    if of(&mut self.left_out) {
                        left_out.push(Pid(child));
                    }
                }
                TaskEvent::Missed => {
                    only.extend(self.only.look());
                    left_out.extend(self.left_out.look());
                }
                TaskEvent::Forked { .. } | TaskEvent::Named { .. } => {}
            }
        }
        if only.is_empty() && left_out.is_empty() {
            return Ok(());
        }
        let came = only.len() as u64;
        only.retain(|tid| Path::new(&format!("/proc/{tid}")).exists());
        self.ended += came - only.len() as u64;
        if let Err(error) = self.append_to_all(journal, &only, &left_out) {
            self.side_band = None;
            return Err(error);
        }
        self.late += only.len() as u64;
        if since != u64::MAX && !only.is_empty() {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
            self.slowest = self.slowest.max(now.saturating_sub(Duration::from_nanos(since)));
        }
        Ok(())
    }

    /// Says in `coverage` how many came late, and all that were left out.
    pub(super) fn note(&self, coverage: &mut Coverage) {
        coverage.joined = self.late + self.ended;
        coverage.excluded = self.left_out.listed.iter().copied().collect();
    }

    /// Sentence about threads that came late, whose first events are missing; `None` if none did.
    pub(super) fn lack(&self) -> Option<String> {
        let late = (self.late > 0).then(|| {
            let (threads, time) = (counted(self.late, "thread"), self.slowest.as_millis() + 1);
            format!("{threads} that came meanwhile: up to the first {time} ms of each are not recorded")
        });
        let ended = (self.ended > 0)
            .then(|| format!("{} that came and ended at once: not recorded", counted(self.ended, "thread")));
        let said: Vec<String> = late.into_iter().chain(ended).collect();
        (!said.is_empty()).then(|| {
            format!("{} (-c records new threads from the first event on, and child processes)", said.join("; "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_its_threads() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let own = Pid(std::process::id() as i32);
        let mut lists = TaskLists::of(&Tasks { pids: vec![own], ..Tasks::default() }, None);
        assert!(lists.need_news() && lists.only.listed.contains(&Pid(nix::unistd::gettid().as_raw())));
        let new = thread::spawn(move || wait.recv());
        while lists.only.look().is_empty() {}
        drop(go);
        assert!(new.join().unwrap().is_err());
        // A thread stands for its process; one alone is asked for as such.
        let thread = Pid(nix::unistd::gettid().as_raw());
        let lists = TaskLists::of(&Tasks { pids: vec![thread], ..Tasks::default() }, None);
        assert_eq!((&lists.only.processes, lists.only.listed.contains(&own)), (&vec![own], true));
        let lists = TaskLists::of(&Tasks { threads: vec![thread], ..Tasks::default() }, None);
        assert_eq!((lists.need_news(), lists.only.listed), (false, BTreeSet::from([thread])));
        // No number is that large: a process that is gone.
        let gone = Pid(i32::MAX);
        let lists = TaskLists::of(&Tasks { left_out: vec![gone], children: true, ..Tasks::default() }, None);
        assert_eq!((lists.need_news(), lists.left_out.listed), (false, BTreeSet::from([gone])));
    }
}
