//! The columns of one CPU in a picture.

use rtrace::analysis::StripCell;
use rtrace::units::Pid;
use std::collections::BTreeMap;

/// The columns of a CPU.
pub(super) struct ModelStrip {
    pub(super) cells: Vec<StripCell>,
    /// The task that ran longest there, but for the idle task, and its time.
    pub(super) top: Option<(Pid, u64)>,
    /// True if the running task is known wherever [`StripCell::known`] says so.
    pub(super) has_tasks: bool,
}

impl ModelStrip {
    /// All columns together.
    pub(super) fn sum(&self) -> StripCell {
        let mut sum = StripCell::default();
        self.cells.iter().for_each(|cell| sum.add(cell));
        sum
    }
}

/// The task that ran longest, but for the idle task, and its time.
pub(super) fn longest(tasks: &BTreeMap<Pid, u64>) -> Option<(Pid, u64)> {
    let tasks = tasks.iter().filter(|(pid, _)| pid.0 != 0);
    tasks.max_by_key(|(pid, time)| (**time, std::cmp::Reverse(pid.0))).map(|(pid, time)| (*pid, *time))
}
