//! Columns of tables of tasks: the cgroup and the container that a task was in, and its number in its own pid namespace.

use super::answers::{AnalysisAnswer, Row};
use rtrace::analysis::{TaskIo, TaskSched, TaskSyscalls};
use rtrace::internal::table::{AnswerCell as Cell, AnswerColumn as Column, ColumnKind as Kind};
use rtrace::internal::trace_dat::Cgroups;
use rtrace::units::Pid;

/// A row about a task.
pub(super) trait OfTask {
    /// The task, and the moment that is shown; `None` for the end of the window.
    fn moment(&self) -> (Pid, Option<u64>);
}

impl OfTask for &TaskSched {
    fn moment(&self) -> (Pid, Option<u64>) {
        (self.pid, Some(self.life.1))
    }
}

impl OfTask for &TaskIo {
    fn moment(&self) -> (Pid, Option<u64>) {
        (self.task, None)
    }
}

impl OfTask for &TaskSyscalls {
    fn moment(&self) -> (Pid, Option<u64>) {
        (self.pid, None)
    }
}

/// Counts of a task.
impl<T> OfTask for &(Pid, T) {
    fn moment(&self) -> (Pid, Option<u64>) {
        (self.0, None)
    }
}

impl<R, T: OfTask> Row<'_, R, T> {
    /// The finding of `of` about the row's task.
    fn found<'s, C>(&'s self, of: impl FnOnce(&'s Cgroups, Pid, u64) -> Option<C>) -> Option<C> {
        let (task, at) = self.of.moment();
        let at = at.or(self.found.window().map(|(_, end)| end))?;
        of(self.found.place.cgroups.as_deref()?, task, at)
    }
}

/// Those of the columns that the recording knows something of.
pub(super) fn known<'a, R, T: OfTask>(found: &AnalysisAnswer<'_, R>) -> Vec<Column<Row<'a, R, T>>> {
    let Some(cgroups) = found.place.cgroups.as_deref() else { return Vec::new() };
    let mut columns = vec![cgroup()];
    if !cgroups.containers().is_empty() {
        columns.push(container());
    }
    if cgroups.has_inner_pids() {
        columns.push(inner_pid());
    }
    columns
}

/// All of the columns.
pub(super) fn all<'a, R, T: OfTask>() -> Vec<Column<Row<'a, R, T>>> {
    vec![cgroup(), container(), inner_pid()]
}

fn cgroup<'a, R, T: OfTask>() -> Column<Row<'a, R, T>> {
    let definition = "Cgroup that the task was in last; null if not known, only of recordings that hold them.";
    Column::new("cgroup", Kind::Text, definition, |row: &Row<'a, R, T>| {
        row.found(|cgroups, task, at| cgroups.at(task, at)).map(str::to_owned).into()
    })
    .text("cgroup")
    .csv("cgroup")
    .minor(2)
}

fn container<'a, R, T: OfTask>() -> Column<Row<'a, R, T>> {
    let definition =
        "Name of its container, or the begin of its id; null if it is in none, only of recordings with containers.";
    Column::new("container", Kind::Text, definition, |row: &Row<'a, R, T>| {
        let container = row.found(|cgroups, task, at| cgroups.at(task, at).and_then(|path| cgroups.container(path)));
        container.map(str::to_owned).into()
    })
    .text("container")
    .csv("container")
    .minor(1)
}

fn inner_pid<'a, R, T: OfTask>() -> Column<Row<'a, R, T>> {
    let definition =
        "Number of the task in its own pid namespace; null if not known, only of recordings with several of them.";
    Column::new("inner_pid", Kind::Count, definition, |row: &Row<'a, R, T>| {
        let inner = row.found(|cgroups, task, at| cgroups.inner_pid(task, at));
        inner.map_or(Cell::Undefined, |pid| pid.0.into())
    })
    .text("pid inside")
    .csv("inner_pid")
    .minor(1)
}
