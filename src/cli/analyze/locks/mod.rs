//! `rtrace analyze locks`.

mod found;
mod json;

use super::answers::{self, Question, ShowArgs};
use super::distribution;
use super::place::Place;
use super::table::Table;
use super::tasks::TaskArgs;
use super::words::{cut, many, not_shown};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{LockKind, LockReport, LockWaits, Locks};
use rtrace::units::Pid;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::Write;

/// Waits for contended locks of the kernel: by lock, by kind, by task and by stack
///
/// From lock:contention_begin and contention_end (since Linux 5.19), and the stack traces at the begin of waits, if they are
/// recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Order of the rows, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
}

/// An order of rows.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    /// Time of all waits together
    #[default]
    Total,
    /// Number of waits
    Count,
    /// Mean wait
    Mean,
    /// The longest wait
    Max,
}

/// The rows to show, and how many more there are.
struct Rows<'r> {
    locks: Vec<&'r ((u64, LockKind), LockWaits)>,
    tasks: Vec<&'r (Pid, LockWaits)>,
    stacks: Vec<&'r (Vec<u64>, LockWaits)>,
    more: [usize; 3],
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }

    fn sorted<'r, K>(&self, of: &'r [(K, LockWaits)], top: usize) -> (Vec<&'r (K, LockWaits)>, usize) {
        let mut rows: Vec<_> = of.iter().collect();
        rows.sort_by_cached_key(|(_, waits)| {
            Reverse(match self.sort {
                Sort::Total => waits.times.total(),
                Sort::Count => waits.times.count(),
                Sort::Mean => waits.times.distribution().mean(),
                Sort::Max => waits.times.greatest(),
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }

    fn rows<'r>(&self, found: &'r Found<'_>, top: usize) -> Rows<'r> {
        let report = &found.report;
        let (locks, a) = self.sorted(&report.locks, top);
        let (tasks, b) = self.sorted(&report.tasks, top);
        let (stacks, c) = self.sorted(&report.stacks, top);
        Rows { locks, tasks, stacks, more: [a, b, c] }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for Args {
    type Analysis = Locks;
    const PURPOSE: &'static str = "locks";
    const LACKING: &'static str = "whole waits for contended locks";
    const COLUMNS: &'static str =
        "lock,address,kind,waits,failed,total,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu";

    fn analysis(&self, input: &Input) -> Option<Locks> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let locks = Locks::new(formats, input.trace.abi, self.tasks.chosen(input));
        locks.has_events().then_some(locks)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &LockReport) -> bool {
        !report.locks.is_empty()
    }

    fn window(report: &LockReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &LockReport) -> Vec<String> {
        let waits: u64 = report.kinds.iter().map(|(_, waits)| waits.times.count()).sum();
        let locks: HashSet<u64> = report.locks.iter().map(|((address, _), _)| *address).collect();
        vec![many(locks.len() as u64, "lock"), many(waits, "wait")]
    }

    fn notes(report: &LockReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top))
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).locks.into_iter().map(|row| csv(found, row)).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text(self, found, top, out)
    }
}

/// Number of waits, their total, distribution and the longest, after the row's name.
fn cells(name: impl IntoIterator<Item = String>, waits: &LockWaits, place: &Place<'_>) -> Vec<String> {
    let (unit, times) = (place.unit, waits.times.distribution());
    let mut row: Vec<String> = name.into_iter().collect();
    row.extend([times.count.to_string(), unit.long(times.total)]);
    row.extend(distribution::cells(&times, unit));
    row.extend(
        waits
            .longest
            .into_iter()
            .flat_map(|longest| [unit.point(longest.at), longest.cpu.0.to_string(), place.task(longest.pid)]),
    );
    row
}

fn heading<'t>(names: &[&'t str]) -> Vec<&'t str> {
    let times = ["waits", "total"].into_iter().chain(distribution::TIMES);
    names.iter().copied().chain(times).chain(["at", "CPU", "TASK"]).collect()
}

fn text(args: &Args, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let (unit, rows) = (place.unit, args.rows(found, top));
    writeln!(out, "\nKinds (total: {}; others: {})", unit.long_name(), unit.short_name())?;
    let mut kinds = Table::new(1, heading(&["KIND"]));
    args.sorted(&report.kinds, 0).0.iter().for_each(|(kind, waits)| kinds.row(cells([kind.name()], waits, place)));
    kinds.write(out)?;

    writeln!(out, "\nLocks")?;
    let mut locks = Table::new(2, heading(&["LOCK", "KIND"]));
    for ((address, kind), waits) in &rows.locks {
        locks.row(cells([found.lock(*address), kind.name()], waits, place));
    }
    locks.write(out)?;
    not_shown(rows.more[0], out)?;

    writeln!(out, "\nTasks that waited")?;
    // The last column is that of the first.
    let columns = heading(&["TASK"]).len() - 1;
    let mut tasks = Table::new(1, heading(&["TASK"]).into_iter().take(columns));
    let row = |pid: Pid, waits: &LockWaits| cells([place.task(pid)], waits, place).into_iter().take(columns);
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

/// A lock as [`Question::COLUMNS`] has it.
fn csv(found: &Found<'_>, ((address, kind), waits): &((u64, LockKind), LockWaits)) -> Vec<String> {
    let mut row = vec![found.lock(*address), format!("{address:#x}"), kind.name()];
    row.extend([waits.times.count(), waits.failed, waits.times.total()].map(|number| number.to_string()));
    row.extend(distribution::csv(&waits.times.distribution()));
    let longest = waits.longest.into_iter();
    row.extend(longest.flat_map(|one| [one.at.to_string(), one.pid.0.to_string(), one.cpu.0.to_string()]));
    row
}
