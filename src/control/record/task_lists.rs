//! The tasks of a plan as the kernel lists them: by thread. A process is its threads, those that exist and those that come.
//!
//! With `event-fork` the kernel's lists (`set_event_pid`, `set_ftrace_pid`, and those of tasks to leave out) grow by
//! themselves, from a task's first event on: by threads and by child processes. Without, perf's side-band tells of new
//! threads, which are listed some milliseconds after their start.
//!
//! Of cgroups the kernel has no list. Those of their tasks that are there are listed, with `event-fork`; a [`CgroupWatch`]
//! tells of tasks that come to them otherwise, which are listed then.

use super::cgroup_tree::CgroupPlan;
use super::cgroup_watch::{CameToCgroup, CgroupWatch};
use super::error::RecordError;
use super::plan::Tasks;
use super::stop::leader;
use super::tasks::{SideBand, TaskEvent, threads_of};
use super::trace_clock::not_before;
use super::worker::WorkerError;
use crate::base::sys;
use crate::base::units::{CpuId, Pid, counted};
use crate::control::tracefs::{Error, Instance, Journal};
use crate::file::trace_dat::{Cgroups, Coverage, CoveredTasks};
use nix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{io, thread};

/// Bytes of side-band of one CPU: what 1,600 forks say.
const SIDE_BAND: usize = 64 << 10;
/// Of more tasks that come late the time is not kept: some twenty bytes each.
const MOST_TIMES: usize = 50_000;
/// Real-time priority of the thread that lists tasks which come to a cgroup: the least.
const HURRY: i32 = 1;
/// The most looks at what came before tracing begins. Listing takes the kernel some 10 ms, in which more may come each time.
const MOST_LOOKS: u32 = 8;
/// Least time between two looks at it, which a machine that does nothing but fork would ask for without end.
const LOOK: Duration = Duration::from_millis(1);

/// Processes and cgroups, and those of their threads that are listed.
#[derive(Debug, Default)]
struct TaskList {
    processes: Vec<Pid>,
    cgroups: CgroupPlan,
    listed: BTreeSet<Pid>,
}

/// A number that no task has, and none will have soon.
fn unused_pid() -> Pid {
    let most = fs::read_to_string("/proc/sys/kernel/pid_max").ok().and_then(|text| text.trim().parse().ok());
    let mut numbers = (1..most.unwrap_or(1 << 15)).rev().map(Pid);
    numbers.find(|pid| !Path::new(&format!("/proc/{pid}")).exists()).unwrap_or(Pid(1))
}

impl TaskList {
    fn new(processes: impl Iterator<Item = Pid>, threads: &[Pid]) -> Self {
        let mut list = TaskList { listed: threads.iter().copied().collect(), ..TaskList::default() };
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
        let all = self.processes.iter().flat_map(threads_of);
        let all: Vec<Pid> = all.chain(self.cgroups.tasks()).collect();
        all.into_iter().filter(|tid| self.listed.insert(*tid)).collect()
    }
}

/// The tasks that a recording is restricted to, and those that it leaves out.
#[derive(Debug)]
pub(super) struct TaskLists {
    children: bool,
    /// True if the command's tasks are the only ones.
    of_command: bool,
    only: TaskList,
    /// The number in it that no task has.
    stand_in: Option<Pid>,
    left_out: TaskList,
    /// Instances that have the lists, and whether theirs of functions as well.
    places: Vec<(Instance, bool)>,
    side_band: Option<SideBand>,
    cgroups: Option<CgroupWatch>,
    /// True while the calling thread has a real-time priority for their sake.
    hurries: bool,
    /// Tasks that came to the cgroups without the kernel listing them by itself.
    came_late: u64,
    /// The longest time for which such a one was not listed, in nanoseconds; 0 if the clock counts none.
    slowest_to_come: u64,
    /// Tasks that were listed late, and when by the trace clock, as far as it counts nanoseconds.
    late_tasks: BTreeMap<Pid, Option<u64>>,
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
        let in_cgroups = !tasks.cgroups.only.is_empty();
        let mut only = TaskList::new(tasks.pids.iter().copied().chain(command), &tasks.threads);
        only.listed.extend(tasks.cgroups.tasks());
        // None yet: an empty list would be no limit.
        let stand_in = (in_cgroups && only.listed.is_empty()).then(unused_pid);
        only.listed.extend(stand_in);
        TaskLists {
            children: tasks.children || in_cgroups,
            of_command: command.is_some() && tasks.pids.is_empty() && tasks.threads.is_empty() && !in_cgroups,
            only,
            stand_in,
            left_out: TaskList::new(tasks.left_out.iter().copied(), &[]),
            places: Vec::new(),
            side_band: None,
            cgroups: None,
            hurries: false,
            came_late: 0,
            slowest_to_come: 0,
            late_tasks: BTreeMap::new(),
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

    /// True if the command's tasks are the only ones that are recorded.
    pub(super) fn are_of_command(&self) -> bool {
        self.of_command
    }

    /// True if processes are left out and none is asked for.
    pub(super) fn only_leave_out(&self) -> bool {
        self.only.processes.is_empty()
    }

    /// Watches the cgroups of tasks as `tasks` says, by the clock of the main buffer.
    ///
    /// # Errors
    /// As [`CgroupWatch::start`].
    pub(super) fn watch_cgroups(
        &mut self,
        journal: &mut Journal,
        tasks: &Tasks,
        clock: &str,
    ) -> Result<(), RecordError> {
        self.cgroups = CgroupWatch::start(journal, &tasks.cgroups, clock)?;
        self.only.cgroups = tasks.cgroups.clone();
        Ok(())
    }

    /// Tracing begins.
    pub(super) fn begin(&mut self) {
        self.cgroups.iter_mut().for_each(CgroupWatch::begin);
        // A task that comes to a cgroup is listed before it has done much, also on a machine that is busy; where that is not
        // allowed, later.
        self.hurries = !self.only.cgroups.only.is_empty() && sys::real_time(HURRY).is_ok();
    }

    /// Tracing is about to end.
    pub(super) fn is_ending(&self) {
        self.cgroups.iter().for_each(CgroupWatch::is_ending);
    }

    /// The cgroups of tasks so far, if they are watched.
    pub(super) fn cgroups(&self) -> Option<Cgroups> {
        self.cgroups.as_ref().map(CgroupWatch::known)
    }

    /// True if the cgroups of tasks are watched.
    pub(super) fn watches_cgroups(&self) -> bool {
        self.cgroups.is_some()
    }

    /// Keeps the cgroups of tasks in `file` as well, for the case that we are killed.
    ///
    /// # Errors
    /// The error of writing.
    pub(super) fn keep_cgroups_in(&mut self, file: File) -> io::Result<()> {
        self.cgroups.as_mut().map_or(Ok(()), |watch| watch.keep_in(file))
    }

    /// The moment of the next look at what tasks do, whether there is news or not.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.cgroups.as_ref().and_then(CgroupWatch::next_look)
    }

    /// Ends the watch of cgroups.
    ///
    /// # Errors
    /// As [`CgroupWatch::finish`].
    pub(super) fn end(&mut self) -> Result<Option<Cgroups>, WorkerError> {
        if std::mem::take(&mut self.hurries) {
            let _ = sys::no_real_time();
        }
        self.cgroups.take().map(CgroupWatch::finish).transpose()
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
            false => {
                let is_task = |pid: &Pid| Some(*pid) != self.stand_in;
                CoveredTasks::Only { pids: only.into_iter().filter(is_task).collect(), children: self.children }
            }
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
    /// `event-fork` are listed already; of tasks that start others without end, those that come later are followed.
    pub(super) fn complete(&mut self, journal: &mut Journal) -> Result<(), Error> {
        for _ in 0..MOST_LOOKS {
            let (only, left_out) = (self.only.look(), self.left_out.look());
            if only.is_empty() && left_out.is_empty() {
                break;
            }
            self.append_to_all(journal, &only, &left_out)?;
        }
        Ok(())
    }

    /// Readable when there may be new threads.
    pub(super) fn news(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let cgroups = self.cgroups.iter().flat_map(CgroupWatch::fds);
        self.side_band.iter().flat_map(SideBand::fds).chain(cgroups)
    }

    /// Lists the tasks that have come to the cgroups since. One that a listed task started is listed by the kernel.
    fn follow_cgroups(&mut self, journal: &mut Journal) -> Result<(), RecordError> {
        let Some(watch) = &mut self.cgroups else { return Ok(()) };
        let mut late = Vec::new();
        let came = match watch.look() {
            Ok(came) => came,
            Err(error) => {
                self.cgroups = None;
                return Err(error.into());
            }
        };
        let mut first = u64::MAX;
        for CameToCgroup { task, at, started_by } in came {
            // The kernel lists what a task starts that is listed.
            let parent = started_by.filter(|parent| !late.contains(parent));
            let is_known = parent.and_then(|parent| self.listed_since(parent)).is_some_and(|since| since <= at);
            if self.only.listed.insert(task) && !is_known && Path::new(&format!("/proc/{task}")).exists() {
                late.push(task);
                first = first.min(at);
            }
        }
        self.came_late += late.len() as u64;
        self.append_to_all(journal, &late, &[])?;
        let now = self.are_listed(&late);
        self.slowest_to_come = self.slowest_to_come.max(now.unwrap_or(0).saturating_sub(first));
        Ok(())
    }

    /// The time since which the kernel lists `task`, if it does and that is known; of one that was listed from the begin on 0.
    fn listed_since(&self, task: Pid) -> Option<u64> {
        match self.late_tasks.get(&task) {
            Some(since) => *since,
            None => self.only.listed.contains(&task).then_some(0),
        }
    }

    /// All events of these tasks are recorded from now on, which is given by the trace clock.
    fn are_listed(&mut self, tasks: &[Pid]) -> Option<u64> {
        let now = || not_before(&self.places.first()?.0);
        let now = (!tasks.is_empty()).then(now).flatten();
        for task in tasks {
            if self.late_tasks.len() < MOST_TIMES {
                self.late_tasks.insert(*task, now);
            }
        }
        now
    }

    /// Lists the threads that have come since.
    ///
    /// # Errors
    /// As [`Journal::append_to_list`] and [`CgroupWatch::look`]; then nothing more is listed.
    pub(super) fn follow(&mut self, journal: &mut Journal) -> Result<(), RecordError> {
        if self.side_band.is_none() && self.cgroups.is_none() {
            return Ok(());
        }
        if let Some(early) = self.looked.and_then(|looked| LOOK.checked_sub(looked.elapsed())) {
            thread::sleep(early);
        }
        self.looked = Some(Instant::now());
        self.follow_cgroups(journal)?;
        let Some(band) = &mut self.side_band else { return Ok(()) };
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
            return Err(error.into());
        }
        self.late += only.len() as u64;
        self.are_listed(&only);
        if since != u64::MAX && !only.is_empty() {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
            self.slowest = self.slowest.max(now.saturating_sub(Duration::from_nanos(since)));
        }
        Ok(())
    }

    /// Says in `coverage` how many came late, and all that were left out.
    pub(super) fn note(&self, coverage: &mut Coverage) {
        coverage.joined = self.late + self.ended + self.came_late;
        coverage.since = self.late_tasks.iter().filter_map(|(task, since)| Some((*task, (*since)?))).collect();
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
        let came = (self.came_late > 0).then(|| {
            let tasks = counted(self.came_late, "task");
            let time = match self.slowest_to_come {
                0 => "the first moments".to_owned(),
                slowest => format!("up to the first {} ms", slowest / 1_000_000 + 1),
            };
            format!("{tasks} that came to the cgroup meanwhile: {time} of each there are not recorded")
        });
        let said: Vec<String> = late.into_iter().chain(ended).collect();
        let threads = (!said.is_empty()).then(|| {
            format!("{} (-c records new threads from the first event on, and child processes)", said.join("; "))
        });
        let said: Vec<String> = threads.into_iter().chain(came).collect();
        (!said.is_empty()).then(|| said.join("; "))
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
