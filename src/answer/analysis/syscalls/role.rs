//! The part that a call plays for its process's file descriptors.

use super::descriptors::Owner;
use crate::answer::analysis::map::Map;
use crate::base::units::Pid;
use std::sync::Arc;

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
