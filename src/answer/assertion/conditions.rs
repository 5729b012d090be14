//! Knowledge of a recording beside its events.
//! Tasks of cgroups in place of tasks by name: `run(cgroup:/system.slice/db.service)`.

use super::interval::{Dimension, Interval};
use crate::answer::analysis::{CgroupSet, IrqSource};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Cgroups, Coverage};
use crate::kernel::events::glob_matches;
use std::sync::Arc;

/// Names that recordings do not hold by themselves.
pub trait Names {
    /// The name of a system call by its number.
    fn syscall(&self, number: i64) -> Option<String>;
    /// The names of all system calls of the recording's architecture; none if that is not known.
    fn syscalls(&self) -> Vec<String>;
    /// The names of all tasks that have one.
    fn tasks(&self) -> Vec<String>;
    /// True if the recording names a task so (a glob), or knows its number.
    fn is_task(&self, name: &str) -> bool {
        let is_known = |pid: i32| self.task(Pid(pid)).is_some();
        name.parse().is_ok_and(is_known) || self.tasks().iter().any(|task| glob_matches(name, task))
    }
    /// True if a function or a variable of the kernel has this name (a glob).
    fn is_symbol(&self, name: &str) -> bool;
    /// The function of the kernel that an address lies in; the address if it has no name.
    fn function(&self, address: u64) -> String;
    /// The variable of the kernel at an address; the address if it has no name.
    fn variable(&self, address: u64) -> String;
    /// The name of a task.
    fn task(&self, pid: Pid) -> Option<String>;
    /// The cgroups of tasks, if they were recorded.
    fn cgroups(&self) -> Option<Arc<Cgroups>> {
        None
    }
    /// The name of a handler.
    fn handler(&self, source: &IrqSource) -> String;
}

/// Knowledge of a recording beside its events.
pub struct Conditions<'c> {
    /// Number of damaged places: events may be missing there. An unfinished recording's end is one.
    pub damaged: u64,
    /// True if the recording is unfinished: its recorder runs or was killed.
    pub unfinished: bool,
    /// Events that the rings' counters say were dropped, wherever that was.
    pub dropped: u64,
    /// The part of what happened that was recorded, as far as the file says.
    pub coverage: Coverage,
    /// CPUs whose first events come after the begin of the window because a flight recorder gave up older ones, each with the
    /// time in between, in clock units.
    pub late: Vec<(CpuId, u64)>,
    /// True if the clock counts something else than time.
    pub in_ticks: bool,
    /// Number of durations below which a reducer says nothing.
    pub min_samples: u64,
    /// True if a name that occurs nowhere in the recording is one of which nothing happened; else nothing is known of it.
    pub allow_absent: bool,
    /// Names of system calls and handlers.
    pub names: &'c dyn Names,
}

/// A sentence on what a flight recorder gave up, with a window that leaves it out, where CPUs begin `late`: each with the time from
/// the window's begin to its own, in ns, or in ticks of the clock with `in_ticks`. `None` without any.
pub fn late_in_words(late: &[(CpuId, u64)], in_ticks: bool) -> Option<String> {
    let &(cpu, most) = late.iter().max_by_key(|(_, time)| *time)?;
    let dimension = if in_ticks { Dimension::Number } else { Dimension::Time };
    let time = Interval::exactly(most as f64, dimension);
    let since = if in_ticks {
        String::new()
    } else {
        let micros = most.div_ceil(1000);
        format!("; a window that begins so much later has all of them: of the whole file `--since +{micros}us`")
    };
    Some(format!(
        "a flight recorder gave up older events of some CPUs: CPU {cpu} begins {time} after the first one{since}"
    ))
}

// Time on a CPU is that while a task is in one of the cgroups; a duration counts where its task is as it ends.

/// The beginning of a task's pattern that names cgroups.
const PREFIX: &str = "cgroup:";

/// The glob of cgroups that stands for tasks.
pub(super) fn glob_of(task: &str) -> Option<&str> {
    task.strip_prefix(PREFIX)
}

/// The cgroups that stand for tasks; `None` if `task` names none, or none were recorded.
pub(super) fn set_of(task: &str, cgroups: Option<&Arc<Cgroups>>) -> Option<CgroupSet> {
    Some(CgroupSet::new(Arc::clone(cgroups?), &[glob_of(task)?]))
}

/// The reason why nothing is known of the cgroups that stand for tasks, whatever their events are.
pub(super) fn unknown(task: &str, cgroups: Option<&Arc<Cgroups>>) -> Option<String> {
    let glob = glob_of(task)?;
    match set_of(task, cgroups) {
        None => Some("the cgroups of tasks were not recorded (`record --cgroups` stores them)".to_owned()),
        Some(set) if set.is_part() => {
            let followed: Vec<&str> = set.cgroups().followed().collect();
            Some(format!("of `{glob}` only the tasks of {} were recorded", followed.join(", ")))
        }
        Some(_) => None,
    }
}

/// The cgroups of a recording as they stand for tasks.
pub(super) fn all(cgroups: Option<&Arc<Cgroups>>) -> Vec<String> {
    cgroups.into_iter().flat_map(|cgroups| cgroups.paths()).map(|path| format!("{PREFIX}{path}")).collect()
}
