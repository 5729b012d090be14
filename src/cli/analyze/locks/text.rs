//! `rtrace analyze locks` as text.

use super::answer::LocksAnswer;
use super::args::AnalyzeLocksArgs;
use crate::cli::analyze::distribution;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{many, not_shown};
use crate::cli::exit::Failure;
use rtrace::analysis::{LockWaits, RowSubject};
use rtrace::units::Pid;
use std::io::Write;

/// Number of waits, their total, distribution and the longest, after the row's name.
fn cells(name: impl IntoIterator<Item = String>, waits: &LockWaits, found: &LocksAnswer<'_>) -> Vec<String> {
    let place = &found.place;
    let (unit, times) = (place.unit, waits.times.distribution());
    let mut row: Vec<String> = name.into_iter().collect();
    let before = [&vec![""; row.len()][..], &["locks.waits.count", "locks.waits.total"]].concat();
    let longest = ["locks.longest.at", "locks.longest.cpu", "locks.longest.pid"];
    let numbers = distribution::names(&before, "locks.waits", &longest);
    row.extend([times.count.to_string(), unit.long(times.total)]);
    row.extend(distribution::cells(&times, unit));
    row.extend(
        waits
            .longest
            .into_iter()
            .flat_map(|longest| [unit.point(longest.at), longest.cpu.0.to_string(), place.task(longest.pid)]),
    );
    found.limits.row(RowSubject::All, &numbers, row)
}

fn heading<'t>(names: &[&'t str]) -> Vec<&'t str> {
    let times = ["waits", "total"].into_iter().chain(distribution::TIMES);
    names.iter().copied().chain(times).chain(["at", "CPU", "TASK"]).collect()
}

pub(super) fn write(
    args: &AnalyzeLocksArgs,
    found: &LocksAnswer<'_>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let LocksAnswer { place, report, .. } = found;
    let (unit, rows) = (place.unit, args.rows(found, top));
    writeln!(out, "\nKinds (total: {}; others: {})", unit.long_name(), unit.short_name())?;
    let mut kinds = TextTable::new(1, heading(&["KIND"]));
    args.sorted(&report.kinds, 0).0.iter().for_each(|(kind, waits)| kinds.row(cells([kind.name()], waits, found)));
    kinds.write(out)?;

    writeln!(out, "\nLocks")?;
    let mut locks = TextTable::new(2, heading(&["LOCK", "KIND"]));
    for ((address, kind), waits) in &rows.locks {
        locks.row(cells([found.lock(*address), kind.name()], waits, found));
    }
    locks.write(out)?;
    not_shown(rows.more[0], out)?;

    writeln!(out, "\nTasks that waited")?;
    // The last column is that of the first.
    let columns = heading(&["TASK"]).len() - 1;
    let mut tasks = TextTable::new(1, heading(&["TASK"]).into_iter().take(columns));
    let row = |pid: Pid, waits: &LockWaits| cells([place.task(pid)], waits, found).into_iter().take(columns);
    rows.tasks.iter().for_each(|(pid, waits)| tasks.row(row(*pid, waits)));
    tasks.write(out)?;
    not_shown(rows.more[1], out)?;

    if rows.stacks.is_empty() {
        writeln!(out, "\nNo stack traces: `rtrace record --for locks` records where waits begin.")?;
        return Ok(());
    }
    writeln!(out, "\nStacks, the innermost function first (total: {}; max: {})", unit.long_name(), unit.short_name())?;
    for (stack, waits) in &rows.stacks {
        let (count, total) = (many(waits.times.count(), "wait"), unit.long(waits.times.total()));
        writeln!(out, "{count}, total {total}, max {}", unit.short(waits.times.greatest()))?;
        for function in found.stack(stack) {
            writeln!(out, "    {function}")?;
        }
    }
    not_shown(rows.more[2], out)?;
    Ok(())
}
