//! The tasks that make calls.

use super::descriptors::Owner;
use super::report::TaskSyscalls;
use super::role::DescriptorCalls;
use crate::answer::analysis::TaskSet;
use crate::answer::analysis::map::Map;
use crate::base::units::Pid;
use std::collections::hash_map::Entry;

/// The calls to be counted.
#[derive(Clone, Debug, Default)]
pub(super) struct CallSelection {
    /// Tasks whose calls count.
    pub(super) tasks: TaskSet,
    /// The knowledge of calls with descriptors, if those are asked for.
    pub(super) descriptors: Option<DescriptorCalls>,
}

/// A task that made a call.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The call that it is in.
    pub(super) open: Option<OpenSyscall>,
    /// False if its calls change descriptors, but are not among those asked for.
    pub(super) counts: bool,
    pub(super) own: TaskSyscalls,
    /// The owner of its descriptors, if they are followed.
    pub(super) owner: Option<Owner>,
    /// Time of the last exit.
    pub(super) returned: u64,
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenSyscall {
    pub(super) number: i64,
    pub(super) at: u64,
    pub(super) off_cpu: u64,
    /// Time at which its task left the CPU.
    pub(super) left: Option<u64>,
    /// The row of its descriptor.
    pub(super) row: Option<usize>,
}

/// All tasks that made a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Callers {
    list: Vec<Caller>,
    by_task: Map<Pid, usize>,
}

impl Callers {
    /// The task, in the order of their first calls; `None` if its calls mean nothing to what is asked.
    #[inline]
    pub(super) fn get(&mut self, task: Pid, asked: &CallSelection) -> Option<&mut Caller> {
        let at = match self.by_task.entry(task) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let counts = asked.tasks.contains(task);
                if !counts && asked.descriptors.is_none() {
                    return None;
                }
                let owner = asked.descriptors.as_ref().map(|calls| calls.owner(task));
                let own = TaskSyscalls { pid: task, calls: 0, errors: 0, time: 0, off_cpu: 0 };
                self.list.push(Caller { open: None, counts, own, owner, returned: 0 });
                *new.insert(self.list.len() - 1)
            }
        };
        self.list.get_mut(at)
    }

    /// The call that a task is in.
    #[inline]
    pub(super) fn open(&mut self, task: Pid) -> Option<&mut OpenSyscall> {
        self.list.get_mut(*self.by_task.get(&task)?)?.open.as_mut()
    }

    /// Ends all calls without an exit; gives their number.
    pub(super) fn abandon(&mut self) -> u64 {
        self.list.iter_mut().filter_map(|caller| caller.open.take()).count() as u64
    }

    /// The calls without an exit, each with its caller.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = (Pid, &OpenSyscall)> {
        self.list.iter().filter_map(|caller| Some((caller.own.pid, caller.open.as_ref()?)))
    }

    /// The tasks whose calls ended.
    pub(super) fn into_tasks(self) -> Vec<TaskSyscalls> {
        self.list.into_iter().map(|caller| caller.own).filter(|own| own.calls > 0).collect()
    }
}
