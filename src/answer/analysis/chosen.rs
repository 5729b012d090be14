//! Events chosen by name and filter.
//! Some tasks, of whose events an analysis is.
//! The tasks of some cgroups, moment by moment.

use super::by_event::ByEvent;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::file::trace_dat::Cgroups;
use crate::kernel::event::Record;
use crate::kernel::events::glob_matches;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use crate::language::filter::{FilterProgram, Subject};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Some events of a recording: those of some types, each of which may have a filter, and a meaning `M` to the caller.
#[derive(Clone, Debug)]
pub struct Chosen<'a, M> {
    events: ByEvent<(Option<Arc<FilterProgram>>, M)>,
    comms: Cow<'a, Comms>,
}

impl<'a, M: Clone> Chosen<'a, M> {
    /// The events of a file with these formats that `choose` gives a meaning, and that pass the filter beside it if there is
    /// one. `comms` has the names that filters compare `comm` with.
    pub fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        comms: &'a Comms,
        choose: impl Fn(&EventFormat) -> Option<(Option<Arc<FilterProgram>>, M)>,
    ) -> Self {
        Chosen { events: ByEvent::new(formats, abi, choose), comms: Cow::Borrowed(comms) }
    }

    /// The same with names of its own.
    pub fn into_owned(self) -> Chosen<'static, M> {
        Chosen { events: self.events, comms: Cow::Owned(self.comms.into_owned()) }
    }

    /// The meaning of the record, if it is one of them.
    #[inline]
    pub fn meaning(&self, record: &Record<'_>) -> Option<&M> {
        let (filter, meaning) = self.events.of(record)?;
        let passes = filter.as_ref().is_none_or(|program| {
            let comm = match program.needs_comm() {
                true => self.comms.get(self.task(record)).unwrap_or_default(),
                false => b"",
            };
            program.matches(&Subject { data: record.data, cpu: record.cpu, comm, names: &() })
        });
        passes.then_some(meaning)
    }

    /// True if events of this type may be among them.
    pub(super) fn reads(&self, id: u16) -> bool {
        self.events.has(id)
    }

    /// The task that was running.
    #[inline]
    pub fn task(&self, record: &Record<'_>) -> Pid {
        self.events.task(record)
    }

    /// Byte order and word size of the records.
    pub fn abi(&self) -> Abi {
        self.events.abi
    }
}

/// Some tasks.
#[derive(Clone, Debug, Default)]
pub enum TaskSet {
    /// All tasks.
    #[default]
    All,
    /// These.
    Only(Arc<HashSet<Pid>>),
    /// All but these: also those of which nothing else is known.
    Except(Arc<HashSet<Pid>>),
    /// Those of cgroups, while they are in them: also those whose cgroup is not known.
    InCgroups(CgroupSet),
}

impl TaskSet {
    /// True if the task is among them at `time`.
    #[inline]
    pub fn contains(&self, task: Pid, time: u64) -> bool {
        match self {
            TaskSet::All => true,
            TaskSet::Only(tasks) => tasks.contains(&task),
            TaskSet::Except(tasks) => !tasks.contains(&task),
            TaskSet::InCgroups(cgroups) => cgroups.has(task, time) != Some(false),
        }
    }

    /// False if the task is among them at no time.
    #[inline]
    pub fn may_contain(&self, task: Pid) -> bool {
        match self {
            TaskSet::InCgroups(cgroups) => cgroups.may_have(task),
            tasks => tasks.contains(task, 0),
        }
    }
}

impl FromIterator<Pid> for TaskSet {
    fn from_iter<I: IntoIterator<Item = Pid>>(tasks: I) -> Self {
        TaskSet::Only(Arc::new(tasks.into_iter().collect()))
    }
}

/// Cgroups of a recording chosen by globs, each with all below it.
#[derive(Clone, Debug)]
pub struct CgroupSet {
    cgroups: Arc<Cgroups>,
    chosen: Arc<HashSet<String>>,
    /// True if the root is among them, where the idle tasks are.
    has_root: bool,
    /// True if the tasks of some are missing: the recording is restricted to others.
    is_part: bool,
    /// True if a task whose cgroup is not known is in none of them.
    only_known: bool,
}

impl CgroupSet {
    /// Those of `cgroups` that one of `globs` names, or one above them.
    pub fn new(cgroups: Arc<Cgroups>, globs: &[impl AsRef<str>]) -> Self {
        let names = |path: &str| globs.iter().any(|glob| named_at(path, glob.as_ref()).is_some());
        let chosen: HashSet<String> = cgroups.paths().filter(|path| names(path)).map(str::to_owned).collect();
        let followed: Vec<&str> = cgroups.followed().collect();
        let is_followed = |path: &str| with_parents(path).any(|above| followed.contains(&above));
        // The cgroup that a glob names may lie above those that were recorded, and have others below it.
        let tops = chosen.iter().flat_map(|path| globs.iter().filter_map(|glob| named_at(path, glob.as_ref())));
        let is_part = !followed.is_empty() && tops.into_iter().any(|top| !is_followed(top));
        let (has_root, chosen) = (names("/"), Arc::new(chosen));
        CgroupSet { chosen, has_root, is_part, only_known: false, cgroups }
    }

    /// The same without tasks whose cgroups are not known.
    #[must_use]
    pub fn only_known(self) -> Self {
        CgroupSet { only_known: true, ..self }
    }

    /// True if no cgroup of the recording is among them.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// True if tasks of them were not recorded.
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// True if the recording is restricted to them, or to some above them.
    pub fn is_followed(&self) -> bool {
        self.cgroups.followed().next().is_some() && !self.is_part
    }

    /// True if `task` is in one of them at `time`; `None` if its cgroup is not known.
    #[inline]
    pub fn has(&self, task: Pid, time: u64) -> Option<bool> {
        match self.cgroups.at(task, time) {
            Some(path) => Some(self.chosen.contains(path)),
            None if task.0 == 0 => Some(self.has_root),
            // All others are elsewhere.
            None if self.is_followed() && self.cgroups.until().is_none() => Some(false),
            None if self.only_known => Some(false),
            None => None,
        }
    }

    /// False if `task` is in none of them at any time.
    #[inline]
    pub fn may_have(&self, task: Pid) -> bool {
        if !self.only_known && self.is_unsure(task) {
            return true;
        }
        task.0 == 0 && self.has_root || self.cgroups.of(task).any(|(_, path)| self.chosen.contains(path))
    }

    /// True if the cgroup of `task` is not known, at some time at least.
    pub fn is_unsure(&self, task: Pid) -> bool {
        let is_unknown = self.cgroups.of(task).next().is_none() && task.0 != 0 && !self.is_followed();
        is_unknown || self.cgroups.until().is_some()
    }

    /// All cgroups of the recording.
    pub fn cgroups(&self) -> &Arc<Cgroups> {
        &self.cgroups
    }
}

/// The cgroup that `glob` names: `path` or the first one above it that matches.
fn named_at<'p>(path: &'p str, glob: &str) -> Option<&'p str> {
    let glob = if glob.len() > 1 { glob.trim_end_matches('/') } else { glob };
    let ends = path.match_indices('/').map(|(end, _)| end.max(1)).chain([path.len()]);
    ends.filter_map(|end| path.get(..end)).find(|above| glob_matches(glob, above))
}

/// A cgroup's path and those of all above it.
pub(super) fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| match path.rsplit_once('/') {
        Some(("", "")) | None => None,
        Some(("", _)) => path.get(..1),
        Some((above, _)) => Some(above),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(followed: &[&str], glob: &str) -> CgroupSet {
        let mut cgroups = Cgroups::new("");
        cgroups.set(Pid(1), 0, "/");
        cgroups.set(Pid(2), 0, "/a");
        cgroups.set(Pid(2), 500, "/a/b");
        cgroups.set(Pid(3), 400, "/c");
        followed.iter().for_each(|path| cgroups.follow(path));
        CgroupSet::new(Arc::new(cgroups), &[glob])
    }

    #[test]
    fn a_cgroup_is_chosen_with_all_below_it() {
        for glob in ["/a/b", "/a/b/", "/a", "/", "*/b", "/a/*", "/a/b/c"] {
            assert!(named_at("/a/b/c", glob).is_some(), "{glob}");
        }
        for glob in ["/b", "/a/c", "a", "/a/b/c/d", "/a/bb"] {
            assert!(named_at("/a/b/c", glob).is_none(), "{glob}");
        }
        assert!(named_at("/", "/").is_some() && named_at("/", "/a").is_none());
    }

    #[test]
    fn a_cgroup_lies_in_all_above_it() {
        let all = |path| with_parents(path).collect::<Vec<_>>();
        assert_eq!(all("/"), ["/"]);
        assert_eq!(all("/a"), ["/a", "/"]);
        assert_eq!(all("/a/b c/d"), ["/a/b c/d", "/a/b c", "/a", "/"]);
    }

    #[test]
    fn a_task_is_in_its_cgroup_from_its_move_on() {
        let below = set(&[], "/a/b");
        assert_eq!([499, 500].map(|at| below.has(Pid(2), at)), [Some(false), Some(true)]);
        assert_eq!((below.has(Pid(1), 7), below.has(Pid(9), 7)), (Some(false), None));
        assert!(below.may_have(Pid(2)) && below.may_have(Pid(9)) && !below.may_have(Pid(3)));
        assert_eq!(set(&[], "/").has(Pid(0), 7), Some(true));
    }

    #[test]
    fn of_a_recording_of_some_cgroups_all_others_are_elsewhere() {
        let inside = set(&["/a"], "/a/b");
        assert_eq!((inside.has(Pid(9), 7), inside.is_part(), inside.is_followed()), (Some(false), false, true));
        let above = set(&["/a"], "/");
        assert_eq!((above.has(Pid(9), 7), above.is_part()), (None, true));
    }
}
