//! `rtrace analyze wakers`.

use super::answers::{AnalysisAnswer, AnswerArgs, AnswerPlace, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::sched::notes;
use super::words::many;
use crate::cli::query::QueryInput;
use rtrace::analysis::{Needs, RowSubject, Sched, SchedReport, WAKER_NEEDS, WakeFlow, WakeSource};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::Coverage;
use rtrace::units::Pid;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Wakeups by waker and task: how often, and from the wakeup to the CPU
///
/// From sched_switch, sched_waking, sched_wakeup and sched_wakeup_new. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeWakersArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Order of the rows, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: WakerSort,
    /// Subject of a row: a task, or all tasks of a name
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: WakerRows,
}

/// The subject of the rows.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WakerRows {
    /// A task that woke, and a task that was woken
    #[default]
    Pid,
    /// All tasks of a name, and all of another
    Comm,
}

/// An order of rows.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WakerSort {
    /// Number of wakeups
    #[default]
    Count,
    /// Time from wakeup to CPU, all together
    Total,
    /// The longest time from wakeup to CPU
    Max,
}

impl Question for AnalyzeWakersArgs {
    type Analysis = Sched;
    const PURPOSE: &'static str = "wakers";
    const LACKING: &'static str = "wakeups and sched_switch";
    const NEEDS: &'static [Needs] = WAKER_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Sched> {
        let sched = Sched::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        sched.has_events().then(|| sched.with_flows(self.tasks.set(input)))
    }

    fn covering(analysis: Sched, coverage: &Coverage) -> Sched {
        analysis.covering(coverage)
    }

    fn outline(report: &SchedReport) -> Option<Outline> {
        let wakes = &report.flows.wakes;
        let wakeups = wakes.iter().map(|one| one.wakeups).sum();
        (report.counts.switches > 0 && !wakes.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(wakeups, "wakeup"), many(wakes.len() as u64, "pair")],
            lost: report.counts.losses > 0,
            notes: notes(report),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, SchedReport>, top: usize) -> Answer {
        let (unit, known) = (found.place.unit, &found.known());
        let title = format!(
            "From wakeup to CPU by waker and task (total: {}; others: {})",
            unit.long_name(),
            unit.short_name()
        );
        Answer::of([wakers().grid(rows(found, self.of(found)), top, known).part(title).into()])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        wakers().definitions()
    }
}

impl AnalyzeWakersArgs {
    /// The rows in order.
    fn of<'r>(&self, found: &'r AnalysisAnswer<'_, SchedReport>) -> Vec<WakerPair<'r>> {
        let wakes = found.report.flows.wakes.iter();
        let mut flows: Vec<WakerPair<'_>> = match self.by {
            WakerRows::Pid => wakes.map(|flow| WakerPair { flow: Cow::Borrowed(flow), is_named: false }).collect(),
            WakerRows::Comm => by_name(found),
        };
        flows.sort_by_key(|WakerPair { flow, .. }| {
            Reverse(match self.sort {
                WakerSort::Count => flow.wakeups,
                WakerSort::Total => flow.delays.total(),
                WakerSort::Max => flow.delays.greatest(),
            })
        });
        flows
    }
}

/// A row: wakeups of one task by another, or of all tasks of a name by all of another.
struct WakerPair<'a> {
    flow: Cow<'a, WakeFlow>,
    /// True of all tasks of the names that those of `flow` have.
    is_named: bool,
}

impl WakerPair<'_> {
    /// Name and number of a task, or its name if the row is of all that have it.
    fn task(&self, place: &AnswerPlace<'_>, pid: Pid) -> String {
        place.comm(pid).filter(|_| self.is_named).unwrap_or_else(|| place.task(pid))
    }

    /// The number of a task, if the row is of it alone.
    fn number(&self, place: &AnswerPlace<'_>, pid: Pid) -> Option<i32> {
        (!self.is_named || pid.0 == 0 || place.comm(pid).is_none()).then_some(pid.0)
    }
}

/// The wakeups of all tasks of a name by all of another; tasks without a name stay by themselves.
fn by_name<'r>(found: &'r AnalysisAnswer<'_, SchedReport>) -> Vec<WakerPair<'r>> {
    let name = |pid: Pid| found.place.comm(pid).unwrap_or_else(|| pid.to_string());
    let mut places = HashMap::new();
    let mut rows: Vec<WakerPair<'_>> = Vec::new();
    for flow in &found.report.flows.wakes {
        let waker = match flow.waker {
            WakeSource::Task(pid) if pid.0 != 0 => (0, name(pid)),
            WakeSource::Task(_) => (1, String::new()),
            WakeSource::SoftIrq => (2, String::new()),
            WakeSource::HardIrq => (3, String::new()),
        };
        let place = *places.entry((waker, name(flow.task))).or_insert(rows.len());
        let Some(row) = rows.get_mut(place) else {
            rows.push(WakerPair { flow: Cow::Borrowed(flow), is_named: true });
            continue;
        };
        let sum = row.flow.to_mut();
        if flow.delays.greatest() > sum.delays.greatest() {
            sum.longest_at = flow.longest_at;
        }
        sum.delays.merge(&flow.delays);
        sum.wakeups = sum.wakeups.saturating_add(flow.wakeups);
        sum.elsewhere = sum.elsewhere.saturating_add(flow.elsewhere);
        sum.covered &= flow.covered;
    }
    rows
}

type WakeRow<'a> = Row<'a, SchedReport, WakerPair<'a>>;

fn wakers<'a>() -> Table<WakeRow<'a>> {
    type Of<'a> = Column<WakeRow<'a>>;
    fn waker(row: &WakeRow<'_>) -> Option<Pid> {
        match row.of.flow.waker {
            WakeSource::Task(pid) => Some(pid),
            _ => None,
        }
    }
    let context = |row: &WakeRow<'a>| match row.of.flow.waker {
        WakeSource::Task(_) => "task".into(),
        WakeSource::SoftIrq => "softirq".into(),
        WakeSource::HardIrq => "irq".into(),
    };
    let named = |row: &WakeRow<'a>| match row.of.flow.waker {
        WakeSource::Task(pid) if pid.0 == 0 => "(idle task)".into(),
        WakeSource::Task(pid) => row.of.task(&row.found.place, pid).into(),
        WakeSource::SoftIrq => "(soft interrupt)".into(),
        WakeSource::HardIrq => "(interrupt)".into(),
    };
    Table::new(
        "wakers",
        vec![
            Of::new("", Kind::Text, "Name and number of the task that woke, or its context.", named)
                .text("WAKER")
                .no_json(),
            Of::new("context", Kind::Text, "Context of the waking code: task, softirq or irq.", context).csv("context"),
            Of::new("waker", Kind::Count, "Number of the task that woke; null for an interrupt, and by name.", |row| {
                waker(row).and_then(|pid| row.of.number(&row.found.place, pid)).into()
            })
            .csv("waker"),
            Of::new("waker_comm", Kind::Text, "Name of the task that woke.", |row| {
                waker(row).and_then(|pid| row.found.place.comm(pid)).into()
            })
            .csv("waker_task"),
            Of::new("", Kind::Text, "Name and number of the task that was woken.", |row| {
                row.of.task(&row.found.place, row.of.flow.task).into()
            })
            .text("WOKE")
            .no_json(),
            Of::new("comm", Kind::Text, "Name of the task that was woken.", |row| {
                row.found.place.comm(row.of.flow.task).into()
            })
            .csv("task"),
            Of::new("pid", Kind::Count, "Number of the task that was woken; null by name.", |row| {
                row.of.number(&row.found.place, row.of.flow.task).into()
            })
            .csv("pid"),
            Of::new("wakeups", Kind::Count, "Wakeups from sleep.", |row| row.of.flow.wakeups.into())
                .text("wakeups")
                .csv("wakeups"),
            Of::new("elsewhere", Kind::Count, "Delays that ended on another CPU than the waker's.", |row| {
                row.of.flow.elsewhere.into()
            })
            .text("elsewhere")
            .csv("elsewhere"),
            Of::new("delays.total", Kind::Sum, "All delays together.", |row| Cell::Time(row.of.flow.delays.total()))
                .text("total")
                .csv("total")
                .no_json(),
            Of::new("delays", Kind::Distribution, "Times from wakeup to CPU.", |row| (&row.of.flow.delays).into())
                .text("")
                .csv(""),
            Of::new("longest.at", Kind::Point, "End of the longest delay.", |row| {
                row.of.flow.longest_at.map(Cell::Point).into()
            })
            .text("at")
            .csv("max_at")
            .minor(1),
        ],
    )
    .about(|row| RowSubject::Task(row.of.flow.covered))
    .csv(true)
}
