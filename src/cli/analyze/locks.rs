//! `rtrace analyze locks`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::words::{function, left_out, losses, many, variable};
use crate::cli::query::QueryInput;
use rtrace::analysis::{LOCK_NEEDS, LockKind, LockReport, LockWaits, Locks, Needs};
use rtrace::internal::answers::not_shown;
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::Pid;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Waits for contended locks of the kernel: by lock, by kind, by task and by stack
///
/// From lock:contention_begin and contention_end (since Linux 5.19), and the stack traces at the begin of waits, if they are
/// recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeLocksArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Order of the rows, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: LockSort,
}

/// An order of rows.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LockSort {
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

impl AnalyzeLocksArgs {
    fn sorted<'r, K>(&self, of: &'r [(K, LockWaits)]) -> Vec<&'r (K, LockWaits)> {
        let mut rows: Vec<_> = of.iter().collect();
        rows.sort_by_cached_key(|(_, waits)| {
            Reverse(match self.sort {
                LockSort::Total => waits.times.total(),
                LockSort::Count => waits.times.count(),
                LockSort::Mean => waits.times.distribution().mean(),
                LockSort::Max => waits.times.greatest(),
            })
        });
        rows
    }
}

impl Question for AnalyzeLocksArgs {
    type Analysis = Locks;
    const PURPOSE: &'static str = "locks";
    const LACKING: &'static str = "whole waits for contended locks";
    const NEEDS: &'static [Needs] = LOCK_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Locks> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let locks = Locks::new(formats, input.trace.abi, self.tasks.set(input));
        locks.has_events().then_some(locks)
    }

    fn outline(report: &LockReport) -> Option<Outline> {
        let counts = report.counts;
        let waits: u64 = report.kinds.iter().map(|(_, waits)| waits.times.count()).sum();
        let locks: HashSet<u64> = report.locks.iter().map(|((address, _), _)| *address).collect();
        let more = [
            (counts.unfinished, "wait", "not ended at the window's end"),
            (counts.without_begin, "end", "without a begin"),
        ];
        (!report.locks.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(locks.len() as u64, "lock"), many(waits, "wait")],
            lost: counts.losses > 0,
            notes: losses(counts.losses, counts.censored, "wait").into_iter().chain(left_out(&more)).collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, LockReport>, top: usize) -> Answer {
        let (unit, report, known) = (found.place.unit, &found.report, &found.known());
        let (ms, us) = (unit.long_name(), unit.short_name());
        let kinds_rows = rows(found, report.kinds.iter());
        let text = rows(found, self.sorted(&report.kinds));
        let sorted = self.sorted(&report.stacks);
        Answer::of([
            counts().grid([report], 0, known).into(),
            kinds().grid(kinds_rows, 0, known).into(),
            kinds().no_json().grid(text, 0, known).part(format!("Kinds (total: {ms}; others: {us})")).into(),
            locks().grid(rows(found, self.sorted(&report.locks)), top, known).part("Locks").into(),
            tasks().grid(rows(found, self.sorted(&report.tasks)), top, known).part("Tasks that waited").into(),
            self.stack_lines(found, &sorted, top).into(),
            stacks().grid(rows(found, sorted), top, known).into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [counts().definitions(), kinds().definitions(), locks().definitions()];
        [tables.concat(), tasks().definitions(), stacks().definitions()].concat()
    }
}

impl AnalyzeLocksArgs {
    /// The stacks as text.
    fn stack_lines(
        &self,
        found: &AnalysisAnswer<'_, LockReport>,
        stacks: &[&(Vec<u64>, LockWaits)],
        top: usize,
    ) -> Vec<String> {
        let unit = found.place.unit;
        if stacks.is_empty() {
            let none = "No stack traces: `rtrace record --for locks` records where waits begin.";
            return vec![String::new(), none.to_owned()];
        }
        let (ms, us) = (unit.long_name(), unit.short_name());
        let title = format!("Stacks, the innermost function first (total: {ms}; max: {us})");
        let mut lines = vec![String::new(), title];
        let shown = if top == 0 { stacks.len() } else { top.min(stacks.len()) };
        for (stack, waits) in stacks.iter().take(shown) {
            let (count, total) = (many(waits.times.count(), "wait"), unit.long(waits.times.total()));
            lines.push(format!("{count}, total {total}, max {}", unit.short(waits.times.greatest())));
            lines.extend(found.stack(stack).into_iter().map(|function| format!("    {function}")));
        }
        lines.extend(not_shown(stacks.len() - shown));
        lines
    }
}

fn counts<'a>() -> Table<&'a LockReport> {
    type Of<'a> = Column<&'a LockReport>;
    Table::new(
        "",
        vec![
            Of::new("counts.unfinished", Kind::Count, "Waits not ended at the window's end.", |of| {
                of.counts.unfinished.into()
            }),
            Of::new("counts.without_begin", Kind::Count, "Ends without a begin.", |of| of.counts.without_begin.into()),
            Of::new("counts.censored", Kind::Count, "Waits that went on where events were lost.", |of| {
                of.counts.censored.into()
            }),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
        ],
    )
}

/// A row of waits.
type WaitRow<'a, K> = Row<'a, LockReport, &'a (K, LockWaits)>;

/// A table of waits: what names its rows, and their times.
fn waits<'a, K>(key: &'static str, names: Vec<Column<WaitRow<'a, K>>>, of_task: bool) -> Table<WaitRow<'a, K>> {
    let task = |row: &WaitRow<'a, K>| row.of.1.longest.map(|one| row.found.place.task(one.pid)).into();
    let waits = vec![
        Column::<WaitRow<'a, K>>::new("waits.count", Kind::Count, "Waits that ended.", |row| {
            row.of.1.times.count().into()
        })
        .text("waits")
        .csv("waits")
        .no_json(),
        Column::<WaitRow<'a, K>>::new("failed", Kind::Count, "Waits that ended without the lock.", |row| {
            row.of.1.failed.into()
        })
        .csv("failed"),
        Column::<WaitRow<'a, K>>::new("waits.total", Kind::Sum, "Time of all waits together.", |row| {
            Cell::Time(row.of.1.times.total())
        })
        .text("total")
        .csv("total")
        .no_json(),
        Column::<WaitRow<'a, K>>::new("waits", Kind::Distribution, "Times of waits.", |row| (&row.of.1.times).into())
            .text("")
            .csv(""),
        Column::<WaitRow<'a, K>>::new("longest.at", Kind::Point, "Begin of the longest wait.", |row| {
            row.of.1.longest.map(|one| Cell::Point(one.at)).into()
        })
        .text("at")
        .csv("max_at")
        .minor(1),
        Column::<WaitRow<'a, K>>::new("longest.pid", Kind::Count, "Number of the task that waited longest.", |row| {
            row.of.1.longest.map(|one| one.pid.0).into()
        })
        .csv("max_pid"),
        Column::<WaitRow<'a, K>>::new("longest.cpu", Kind::Count, "CPU on which the longest wait ended.", |row| {
            row.of.1.longest.map(|one| one.cpu.0).into()
        })
        .text("CPU")
        .csv("max_cpu")
        .minor(3),
        Column::<WaitRow<'a, K>>::new("longest.time", Kind::Time, "The longest wait.", |row| {
            row.of.1.longest.map(|one| Cell::Time(one.time)).into()
        }),
        Column::<WaitRow<'a, K>>::new("longest.pid", Kind::Text, "Task of the longest wait.", task)
            .text("TASK")
            .to_left(false)
            .no_json()
            .hidden(of_task),
    ];
    Table::new(key, names.into_iter().chain(waits).collect())
}

fn kinds<'a>() -> Table<WaitRow<'a, LockKind>> {
    type Of<'a> = Column<WaitRow<'a, LockKind>>;
    waits(
        "kinds",
        vec![
            Of::new("kind", Kind::Text, "Kind of the lock.", |row| row.of.0.name().into()).text("KIND"),
            Of::new("flags", Kind::Count, "The kernel's flags of the kind.", |row| u64::from(row.of.0.0).into()),
        ],
        false,
    )
}

fn locks<'a>() -> Table<WaitRow<'a, (u64, LockKind)>> {
    type Of<'a> = Column<WaitRow<'a, (u64, LockKind)>>;
    let lock = |row: &WaitRow<'a, (u64, LockKind)>| variable(row.found.kallsyms(), row.of.0.0).into();
    waits(
        "locks",
        vec![
            // Most lie in memory that was allocated and have no name but their address.
            Of::new("lock", Kind::Text, "Name of the lock, or its address.", lock).text("LOCK").csv("lock"),
            Of::new("address", Kind::Address, "Address of the lock.", |row| Cell::Address(row.of.0.0)).csv("address"),
            Of::new("kind", Kind::Text, "Kind of the lock.", |row| row.of.0.1.name().into()).text("KIND").csv("kind"),
        ],
        false,
    )
    .csv(true)
}

fn tasks<'a>() -> Table<WaitRow<'a, Pid>> {
    type Of<'a> = Column<WaitRow<'a, Pid>>;
    waits(
        "tasks",
        vec![
            Of::new("", Kind::Text, "Name and number of the task.", |row| row.found.place.task(row.of.0).into())
                .text("TASK")
                .no_json(),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.0.0.into()),
            Of::new("comm", Kind::Text, "Name of the task.", |row| row.found.place.comm(row.of.0).into()),
        ],
        true,
    )
}

fn stacks<'a>() -> Table<WaitRow<'a, Vec<u64>>> {
    type Of<'a> = Column<WaitRow<'a, Vec<u64>>>;
    let stack =
        |row: &WaitRow<'a, Vec<u64>>| Cell::List(row.found.stack(&row.of.0).into_iter().map(Cell::Text).collect());
    waits("stacks", vec![Of::new("stack", Kind::Data, "Functions, the innermost first.", stack)], false)
}

impl AnalysisAnswer<'_, LockReport> {
    /// A stack's functions, the innermost first, without the one that wrote the event.
    fn stack(&self, addresses: &[u64]) -> Vec<String> {
        let names = addresses.iter().map(|address| function(self.kallsyms(), *address));
        names.skip_while(|name| name.starts_with("trace_event_raw_event_")).collect()
    }
}
