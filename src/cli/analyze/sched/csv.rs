//! `rtrace analyze sched --csv`.

use super::answer::SchedAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::{TaskSched, TimeIn};

/// A task as [`Question::COLUMNS`](crate::cli::analyze::answers::Question::COLUMNS) has it.
pub(super) fn row(found: &SchedAnswer<'_>, task: &TaskSched) -> Vec<String> {
    let (waits, longest) = (task.waits.distribution(), task.longest_wait);
    let mut cells = vec![found.comm(task), task.pid.0.to_string()];
    cells.extend([task.life.0, task.life.1].map(|time| time.to_string()));
    cells.extend(TimeIn::ALL.map(|state| task.time(state).to_string()));
    let counts = [task.voluntary, task.involuntary, task.migrations, task.wakeups, waits.count];
    cells.extend(counts.map(|count| count.to_string()));
    cells.extend(distribution::csv(&waits));
    cells.push(longest.map_or_else(String::new, |longest| longest.at.to_string()));
    cells.push(longest.map_or_else(String::new, |longest| longest.cpu.0.to_string()));
    cells
}
