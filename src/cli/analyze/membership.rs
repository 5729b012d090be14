//! Columns of tables of tasks: the cgroup and the container that a task was in, and its number in its own pid namespace.
//! Time that a cgroup's quota left of what tasks waited.

use super::answers::{AnalysisAnswer, Row};
use rtrace::analysis::{KnownPart, TaskIo, TaskSched, TaskSyscalls, ThrottledTime, TimeIn};
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

/// `time` in a state, in which tasks wait for a CPU, without what a quota took of it for certain. Where that is known of a part of
/// the tasks' time only, all that it may have taken is left out: a recording of more may prove it.
pub(super) fn unthrottled(
    (state, time): (TimeIn, u64),
    throttled: ThrottledTime,
    (of_state, of_throttled): (KnownPart, KnownPart),
) -> Cell {
    if of_throttled == KnownPart::Whole {
        return Cell::Time(time.saturating_sub(throttled.least_in(state)));
    }
    let least = Cell::Time(time.saturating_sub(throttled.most));
    if of_state == KnownPart::Whole && throttled.most > 0 { Cell::AtLeast(least.into()) } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_no_more_than_the_whole() {
        let throttled = ThrottledTime { wait: 20, preempted: 30, most: 70 };
        let left = |state, of_state, of_throttled| unthrottled((state, 100), throttled, (of_state, of_throttled));
        let whole = KnownPart::Whole;
        assert_eq!(left(TimeIn::Wait, whole, whole), Cell::Time(80));
        assert_eq!(left(TimeIn::Preempted, whole, whole), Cell::Time(70));
        // `limited` makes the first one at least so much.
        assert_eq!(left(TimeIn::Preempted, KnownPart::AtLeast, KnownPart::Unknown), Cell::Time(30));
        assert_eq!(left(TimeIn::Wait, whole, KnownPart::Unknown), Cell::AtLeast(Cell::Time(30).into()));
        let none = ThrottledTime::default();
        assert_eq!(unthrottled((TimeIn::Wait, 100), none, (whole, KnownPart::Unknown)), Cell::Time(100));
    }
}
