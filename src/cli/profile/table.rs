//! A profile as a table: the longest times of all tasks first.

use crate::cli::query::ClockUnit;
use rtrace::analysis::{Profile, ProfiledTask, Times, Who};
use rtrace::internal::answers::TextTable;
use rtrace::symbols::Symbols;
use rtrace::units::grouped;
use std::collections::HashMap;
use std::io::{self, Write};

/// One event of one task.
struct ProfileRow {
    task: String,
    event: String,
    times: Times,
}

/// Writes the `limit` rows with the longest times in all, all rows without one, in lines of `width` characters,
/// below which `hint` says how to see all columns.
pub(crate) fn write(
    profile: &Profile,
    symbols: &Symbols,
    by_comm: bool,
    limit: Option<usize>,
    unit: ClockUnit,
    (width, hint): (Option<usize>, &str),
    out: &mut dyn Write,
) -> io::Result<()> {
    let tasks = profile.tasks(symbols, by_comm);
    let (rows, all) = longest(&tasks, symbols, limit);
    let shown = rows.len();
    let (long, short) = (unit.long_name(), unit.short_name());
    let heading = [
        "TASK",
        "EVENT",
        "COUNT",
        &format!("TOTAL {long}"),
        &format!("MEAN {short}"),
        &format!("MAX {short}"),
        "MAX AT",
    ];
    let mut table = TextTable::new(2, heading).minor([0, 0, 0, 0, 2, 0, 1]);
    for ProfileRow { task, event, times } in &rows {
        let timed = |text: String| match times.total {
            0 => "-".to_owned(),
            _ => times.known(text).unwrap_or_else(|| "?".to_owned()),
        };
        table.row([
            task.clone(),
            event.clone(),
            grouped(times.count),
            timed(unit.long(times.total)),
            timed(unit.short(times.average())),
            timed(unit.short(times.max)),
            timed(unit.micros(times.max_at)),
        ]);
    }
    for limit in profile.limits() {
        writeln!(out, "Note: {limit}")?;
    }
    if rows.iter().any(|row| row.times.doubtful) {
        writeln!(out, "Note: events were lost: where ? is, two durations may seem to be one")?;
    }
    let left_out = table.fit(width, hint);
    table.write(out)?;
    left_out.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if shown < all {
        let left = grouped((all - shown) as u64);
        writeln!(out, "{left} more rows: --limit {all} shows them, --layout trace-cmd the stacks, too")?;
    }
    Ok(())
}

/// The `limit` rows with the longest times in all, all rows without one, the longest first; and the number of all. Rows of addresses
/// may be as many as events: those that are not among the first are dropped task by task.
fn longest(tasks: &[ProfiledTask<'_>], symbols: &Symbols, limit: Option<usize>) -> (Vec<ProfileRow>, usize) {
    let (mut rows, mut all) = (Vec::new(), 0);
    for task in tasks {
        let of_task = rows_of(task, symbols);
        all += of_task.len();
        rows.extend(of_task);
        if limit.is_some_and(|limit| rows.len() / 2 > limit) {
            sort(&mut rows, limit);
        }
    }
    sort(&mut rows, limit);
    (rows, all)
}

/// The longest first, and no more than `limit`.
fn sort(rows: &mut Vec<ProfileRow>, limit: Option<usize>) {
    rows.sort_by(|a, b| {
        let key = |row: &ProfileRow| std::cmp::Reverse((row.times.total, row.times.count));
        (key(a), &a.task, &a.event).cmp(&(key(b), &b.task, &b.event))
    });
    rows.truncate(limit.unwrap_or(usize::MAX));
}

/// The rows of a task. Wakeups and statistics, which differ by a number that says nothing to a reader, are one row each.
fn rows_of(task: &ProfiledTask<'_>, symbols: &Symbols) -> Vec<ProfileRow> {
    let comm = String::from_utf8_lossy(&task.comm);
    let name = match task.who {
        Who::Global => "all tasks".to_owned(),
        Who::Cpu(cpu) => format!("cpu {cpu}"),
        Who::Group => comm.into_owned(),
        Who::Task(pid) => format!("{comm}-{pid}"),
    };
    let mut rows: Vec<ProfileRow> = Vec::new();
    // A page fault or a timer has an address in its label: they may be as many as events.
    let mut places: HashMap<String, usize> = HashMap::new();
    for event in &task.events {
        let label = match event.system() {
            "sched" if !event.name().starts_with("sched_switch") => event.name().to_owned(),
            _ => event.label(symbols),
        };
        let label = match label.split_once(':') {
            Some(("sched_switch", "R" | "R+")) => format!("{label} preempted"),
            Some(("sched_switch", "S")) => format!("{label} asleep"),
            Some(("sched_switch", "D")) => format!("{label} blocked"),
            None if label.starts_with("sched_wak") => format!("{label} until it ran"),
            _ => label,
        };
        match places.get(&label).and_then(|place| rows.get_mut(*place)) {
            Some(row) => row.times = row.times.and(event.times()),
            None => {
                places.insert(label.clone(), rows.len());
                rows.push(ProfileRow { task: name.clone(), event: label, times: *event.times() });
            }
        }
    }
    rows
}
