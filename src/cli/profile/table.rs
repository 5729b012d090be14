//! A profile as a table: the longest times of all tasks first.

use crate::cli::query::ClockUnit;
use rtrace::analysis::{Profile, ProfiledEvent, ProfiledTask, Times, Who};
use rtrace::internal::answers::TextTable;
use rtrace::symbols::Symbols;
use rtrace::units::grouped;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};

/// One event of one task, as shown.
struct ProfileRow {
    task: String,
    event: String,
    times: Times,
}

/// The same without its texts, while there may be as many as events.
struct CandidateRow<'p> {
    /// Index into the tasks' names.
    task: usize,
    event: ProfiledEvent<'p>,
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
    let (rows, all) = longest(profile.tasks(symbols, by_comm), symbols, limit);
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

/// The `limit` rows with the longest times in all, all rows without one, the longest first; and the number of all.
fn longest<'p>(
    tasks: impl Iterator<Item = ProfiledTask<'p>>,
    symbols: &Symbols,
    limit: Option<usize>,
) -> (Vec<ProfileRow>, usize) {
    let (mut rows, mut names, mut all) =
        (ProfileRows { rows: Vec::new(), most: MANY, limit, shortest: None }, Vec::new(), 0);
    for task in tasks {
        names.push(name(&task));
        all += rows.add(task.events, names.len() - 1, symbols);
    }
    rows.drop_shorter();
    let shown = |CandidateRow { task, event, times }| ProfileRow {
        task: String::clone(&names[task]),
        event: label(&event, symbols),
        times,
    };
    let mut rows: Vec<ProfileRow> = rows.rows.into_iter().map(shown).collect();
    rows.sort_by(|a, b| (length(&a.times), &a.task, &a.event).cmp(&(length(&b.times), &b.task, &b.event)));
    rows.truncate(limit.unwrap_or(usize::MAX));
    (rows, all)
}

/// The length of a row, of which the longest come first.
type RowLength = Reverse<(u64, u64)>;

fn length(times: &Times) -> RowLength {
    Reverse((times.total, times.count))
}

/// Rows that may be among the longest.
struct ProfileRows<'p> {
    rows: Vec<CandidateRow<'p>>,
    /// Shorter ones are dropped when there are more than this number.
    most: usize,
    limit: Option<usize>,
    /// The shortest of those that may be shown, once shorter ones were dropped.
    shortest: Option<RowLength>,
}

const MANY: usize = 1 << 16;

impl<'p> ProfileRows<'p> {
    /// Adds the rows of the task that is the `task`th, one for all events of the same text; gives their number.
    fn add(&mut self, events: Vec<ProfiledEvent<'p>>, task: usize, symbols: &Symbols) -> usize {
        let (mut shared, mut places) = (Vec::<CandidateRow<'p>>::new(), HashMap::new());
        let mut added = 0;
        for event in events {
            let times = event.times();
            // A page fault or a timer has an address in its label: they may be as many as events.
            if event.has_own_label() && event.system() != "sched" {
                added += 1;
                self.push(CandidateRow { task, event, times });
                continue;
            }
            match places.entry(label(&event, symbols)) {
                Entry::Occupied(known) => {
                    let row: &mut CandidateRow<'p> = &mut shared[*known.get()];
                    row.times = row.times.and(&times);
                }
                Entry::Vacant(new) => {
                    new.insert(shared.len());
                    shared.push(CandidateRow { task, event, times });
                }
            }
        }
        added += shared.len();
        shared.into_iter().for_each(|row| self.push(row));
        added
    }

    fn push(&mut self, row: CandidateRow<'p>) {
        if self.shortest.is_some_and(|shortest| length(&row.times) > shortest) {
            return;
        }
        self.rows.push(row);
        if self.rows.len() > self.most {
            self.drop_shorter();
            self.most = self.rows.len() * 2 + MANY;
        }
    }

    /// Drops the rows that are shorter than as many others as are shown; of equals all stay.
    fn drop_shorter(&mut self) {
        let rows = &mut self.rows;
        let Some(last) = self.limit.and_then(|limit| limit.checked_sub(1)).filter(|last| *last < rows.len()) else {
            return;
        };
        let last = length(&rows.select_nth_unstable_by_key(last, |row| length(&row.times)).1.times);
        rows.retain(|row| length(&row.times) <= last);
        self.shortest = Some(last);
    }
}

fn name(task: &ProfiledTask<'_>) -> String {
    let comm = String::from_utf8_lossy(&task.comm);
    match task.who {
        Who::Global => "all tasks".to_owned(),
        Who::Cpu(cpu) => format!("cpu {cpu}"),
        Who::Group => comm.into_owned(),
        Who::Task(pid) => format!("{comm}-{pid}"),
    }
}

/// Its text. Wakeups and statistics, which differ by a number that says nothing to a reader, are one row each.
fn label(event: &ProfiledEvent<'_>, symbols: &Symbols) -> String {
    let label = match event.system() {
        "sched" if !event.name().starts_with("sched_switch") => event.name().to_owned(),
        _ => event.label(symbols),
    };
    match label.split_once(':') {
        Some(("sched_switch", "R" | "R+")) => format!("{label} preempted"),
        Some(("sched_switch", "S")) => format!("{label} asleep"),
        Some(("sched_switch", "D")) => format!("{label} blocked"),
        None if label.starts_with("sched_wak") => format!("{label} until it ran"),
        _ => label,
    }
}
