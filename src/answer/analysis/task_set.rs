//! Some tasks, of whose events an analysis is.

use crate::base::units::Pid;
use std::collections::HashSet;
use std::sync::Arc;

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
}

impl TaskSet {
    /// True if the task is among them.
    #[inline]
    pub fn contains(&self, task: Pid) -> bool {
        match self {
            TaskSet::All => true,
            TaskSet::Only(tasks) => tasks.contains(&task),
            TaskSet::Except(tasks) => !tasks.contains(&task),
        }
    }
}

impl FromIterator<Pid> for TaskSet {
    fn from_iter<I: IntoIterator<Item = Pid>>(tasks: I) -> Self {
        TaskSet::Only(Arc::new(tasks.into_iter().collect()))
    }
}
