//! Tasks of cgroups in place of tasks by name: `run(cgroup:/system.slice/db.service)`.
//!
//! Time on a CPU is that while a task is in one of the cgroups; a duration counts where its task is as it ends.

use crate::answer::analysis::CgroupSet;
use crate::file::trace_dat::Cgroups;
use std::sync::Arc;

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
