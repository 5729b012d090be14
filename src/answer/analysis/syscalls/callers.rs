//! The tasks that make calls.
//! The part that a call plays for its process's file descriptors.
//! The files behind the descriptors of each process.

use super::report::{DescriptorTimes, TaskSyscalls};
use crate::answer::analysis::TaskSet;
use crate::answer::analysis::interface::Map;
use crate::base::units::Pid;
use std::collections::hash_map::Entry;
use std::sync::Arc;

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
    /// False if its calls change descriptors, but are never among those asked for.
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
                let counts = asked.tasks.may_contain(task);
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

/// A call's descriptor, and what the call does to those of its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DescriptorRole {
    /// Position of the argument named `fd`.
    pub(super) fd: Option<usize>,
    pub(super) act: DescriptorChange,
}

/// The change that a call makes to the descriptors of its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DescriptorChange {
    /// None that ends a file's name.
    #[default]
    None,
    /// The result is the descriptor of the file named in its arguments.
    Open,
    /// The argument `fd` is closed.
    Close,
    /// All from the first argument to the second are closed.
    CloseRange,
    /// The result is a descriptor that may have been another file's before (`dup2`).
    Replace,
    /// Another program, which keeps some of them.
    Exec,
    /// The process ends.
    Exit,
    /// A new task begins where the call has no entry.
    Fork,
}

impl DescriptorRole {
    /// Of the call with this name, as the kernel's events or an architecture's list have it.
    pub(super) fn of(name: &str, fd: Option<usize>) -> Self {
        let act = match name {
            "open" | "openat" | "openat2" | "creat" => DescriptorChange::Open,
            "close" => DescriptorChange::Close,
            "close_range" => DescriptorChange::CloseRange,
            "dup2" | "dup3" => DescriptorChange::Replace,
            "execve" | "execveat" => DescriptorChange::Exec,
            "exit_group" => DescriptorChange::Exit,
            "fork" | "vfork" | "clone" | "clone3" => DescriptorChange::Fork,
            _ => DescriptorChange::None,
        };
        DescriptorRole { fd, act }
    }
}

/// Calls above this number have no role: those of all architectures are below it.
const MOST_NUMBERS: usize = 8192;

/// The knowledge that file descriptors need beyond the events: of `raw_syscalls` the meaning of each number, and the process
/// of each task.
#[derive(Clone, Debug, Default)]
pub struct DescriptorCalls {
    by_number: Arc<Vec<DescriptorRole>>,
    processes: Arc<Map<Pid, Pid>>,
}

impl DescriptorCalls {
    /// `calls`: number, name, and the position of the argument named `fd`; `processes`: tasks, each with its process.
    pub fn new<'n>(
        calls: impl IntoIterator<Item = (i64, &'n str, Option<usize>)>,
        processes: impl IntoIterator<Item = (Pid, Pid)>,
    ) -> Self {
        let mut by_number = Vec::new();
        for (number, name, fd) in calls {
            let Some(number) = usize::try_from(number).ok().filter(|number| *number < MOST_NUMBERS) else { continue };
            if by_number.len() <= number {
                by_number.resize(number + 1, DescriptorRole::default());
            }
            if let Some(role) = by_number.get_mut(number) {
                *role = DescriptorRole::of(name, fd);
            }
        }
        let mut tasks = Map::default();
        for (task, process) in processes {
            tasks.insert(task, process);
            tasks.entry(process).or_insert(process);
        }
        DescriptorCalls { by_number: Arc::new(by_number), processes: Arc::new(tasks) }
    }

    /// Of the call with this number.
    #[inline]
    pub(super) fn role(&self, number: i64) -> DescriptorRole {
        usize::try_from(number).ok().and_then(|number| self.by_number.get(number).copied()).unwrap_or_default()
    }

    /// The owner of a task's descriptors.
    pub(super) fn owner(&self, task: Pid) -> Owner {
        let process = self.processes.get(&task);
        Owner { pid: process.copied().unwrap_or(task), is_process: process.is_some() }
    }
}

/// The tasks that share descriptors: a process, or one task whose process is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) pid: Pid,
    is_process: bool,
}

/// A descriptor while it is that of one file: the key of a row.
type Opened = (Owner, i32, Option<Box<[u8]>>);

/// Calls by descriptor.
#[derive(Clone, Debug, Default)]
pub(super) struct Descriptors {
    rows: Vec<DescriptorTimes>,
    by_file: Map<Opened, usize>,
    /// By owner: the row that each descriptor counts in now.
    current: Map<Owner, Map<i32, usize>>,
}

impl Descriptors {
    /// The row of a descriptor, as it is now.
    #[inline]
    pub(super) fn row(&mut self, owner: Owner, fd: i32) -> usize {
        let known = self.current.get(&owner).and_then(|current| current.get(&fd)).copied();
        known.unwrap_or_else(|| self.set(owner, fd, None))
    }

    /// From now on the descriptor is that of `file`. Tasks of processes that are not known may share descriptors: theirs have no
    /// names.
    pub(super) fn open(&mut self, owner: Owner, fd: i32, file: Option<&[u8]>) {
        match file.filter(|_| owner.is_process) {
            Some(file) => _ = self.set(owner, fd, Some(file)),
            None => self.forget(owner, fd),
        }
    }

    fn set(&mut self, owner: Owner, fd: i32, file: Option<&[u8]>) -> usize {
        let rows = &mut self.rows;
        let row = self.by_file.entry((owner, fd, file.map(Box::from))).or_insert_with_key(|(_, _, file)| {
            let Owner { pid, is_process } = owner;
            let file = file.clone();
            rows.push(DescriptorTimes {
                pid,
                is_process,
                fd,
                file,
                calls: 0,
                errors: 0,
                time: 0,
                off_cpu: 0,
                longest: 0,
            });
            rows.len() - 1
        });
        self.current.entry(owner).or_default().insert(fd, *row);
        *row
    }

    pub(super) fn row_mut(&mut self, row: usize) -> Option<&mut DescriptorTimes> {
        self.rows.get_mut(row)
    }

    /// Ends the descriptor: it is of no file any more.
    pub(super) fn forget(&mut self, owner: Owner, fd: i32) {
        if let Some(current) = self.current.get_mut(&owner) {
            current.remove(&fd);
        }
    }

    /// The same of all that `is_gone` names.
    pub(super) fn forget_if(&mut self, owner: Owner, is_gone: impl Fn(i32) -> bool) {
        if let Some(current) = self.current.get_mut(&owner) {
            current.retain(|fd, _| !is_gone(*fd));
        }
    }

    /// The same of all descriptors: some may have been closed unseen.
    pub(super) fn forget_all(&mut self) {
        self.current.clear();
    }

    /// The descriptors that calls were made with.
    pub(super) fn into_rows(self) -> Vec<DescriptorTimes> {
        self.rows.into_iter().filter(|row| row.calls > 0).collect()
    }
}
