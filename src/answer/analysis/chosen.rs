//! Events chosen by name and filter.
//! Some tasks, of whose events an analysis is.

use super::by_event::ByEvent;
use super::cgroup_set::CgroupSet;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
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
