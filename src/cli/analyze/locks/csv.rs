//! `rtrace analyze locks --csv`.

use super::answer::LocksAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::{LockKind, LockWaits};

/// A lock as [`Question::COLUMNS`](crate::cli::analyze::answers::Question::COLUMNS) has it.
pub(super) fn row(found: &LocksAnswer<'_>, ((address, kind), waits): &((u64, LockKind), LockWaits)) -> Vec<String> {
    let mut row = vec![found.lock(*address), format!("{address:#x}"), kind.name()];
    row.extend([waits.times.count(), waits.failed, waits.times.total()].map(|number| number.to_string()));
    row.extend(distribution::csv(&waits.times.distribution()));
    let longest = waits.longest.into_iter();
    row.extend(longest.flat_map(|one| [one.at.to_string(), one.pid.0.to_string(), one.cpu.0.to_string()]));
    row
}
