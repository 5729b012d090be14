//! `rtrace analyze migrations`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::sched::notes;
use super::words::many;
use crate::cli::query::QueryInput;
use rtrace::analysis::{MOVE_NEEDS, MoveCount, Needs, RowSubject, Sched, SchedReport, TaskMoves};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::Coverage;
use rtrace::units::CpuId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Moves of tasks between CPUs and NUMA nodes: by CPUs, by task, by what it did before
///
/// From sched_switch; whether a task was woken before it moved, from sched_waking and sched_wakeup. `rtrace help analyses`
/// defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeMigrationsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
}

impl Question for AnalyzeMigrationsArgs {
    type Analysis = Sched;
    const PURPOSE: &'static str = "migrations";
    const LACKING: &'static str = "tasks that came to a CPU twice";
    const NEEDS: &'static [Needs] = MOVE_NEEDS;

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
        let tasks = &report.flows.tasks;
        let moves = tasks.iter().map(|task| task.moves.all()).sum();
        (!tasks.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(moves, "move"), many(tasks.len() as u64, "task")],
            lost: report.counts.losses > 0,
            notes: notes(report),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, SchedReport>, top: usize) -> Answer {
        let (report, known) = (&found.report, &found.known());
        let nodes = found.input.trace.numa_nodes();
        let between =
            |cpus: (CpuId, CpuId)| nodes.as_ref().and_then(|nodes| Some((nodes.of(cpus.0)?, nodes.of(cpus.1)?)));
        let all = report.flows.moves.iter();
        let cpus: Vec<CpuMoves> =
            all.map(|(cpus, moves)| CpuMoves { cpus: *cpus, nodes: between(*cpus), moves: *moves }).collect();
        let is_one = nodes.as_ref().is_some_and(|nodes| nodes.with_cpus() < 2);
        let by_node = by_node(&cpus);
        let of_nodes = between_nodes().grid(rows(found, &by_node), top, known);
        let of_nodes = if nodes.is_none() || is_one { of_nodes } else { of_nodes.part("NUMA nodes") };
        let mut answer = Answer::of([
            of_nodes.into(),
            moves(nodes.is_none() || is_one).grid(rows(found, &cpus), top, known).part("CPUs").into(),
            tasks().grid(rows(found, &report.flows.tasks), top, known).part("Tasks").into(),
        ]);
        if nodes.is_none() {
            answer
                .notes
                .push("which NUMA node each CPU is of was not recorded: moves between nodes are unknown".to_owned());
        }
        answer
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [between_nodes().definitions(), moves(false).definitions(), tasks().definitions()].concat()
    }
}

/// The moves of a row.
trait OfMoves {
    fn moves(&self) -> MoveCount;
}

/// Moves from one CPU to another.
struct CpuMoves {
    cpus: (CpuId, CpuId),
    /// Their nodes, if both are known.
    nodes: Option<(u32, u32)>,
    moves: MoveCount,
}

/// Moves between nodes, the most first; those that stayed in a node too.
fn by_node(cpus: &[CpuMoves]) -> Vec<((u32, u32), MoveCount)> {
    let mut sums: BTreeMap<(u32, u32), MoveCount> = BTreeMap::new();
    for one in cpus {
        one.nodes.into_iter().for_each(|nodes| *sums.entry(nodes).or_default() += one.moves);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, moves)| Reverse(moves.all()));
    sums
}

type NodeRow<'a> = Row<'a, SchedReport, &'a ((u32, u32), MoveCount)>;
type CpuRow<'a> = Row<'a, SchedReport, &'a CpuMoves>;
type TaskRow<'a> = Row<'a, SchedReport, &'a TaskMoves>;

impl OfMoves for NodeRow<'_> {
    fn moves(&self) -> MoveCount {
        self.of.1
    }
}

impl OfMoves for CpuRow<'_> {
    fn moves(&self) -> MoveCount {
        self.of.moves
    }
}

impl OfMoves for TaskRow<'_> {
    fn moves(&self) -> MoveCount {
        self.of.moves
    }
}

/// The columns of a table: what names its rows, and their moves.
fn columns<R: OfMoves>(names: impl IntoIterator<Item = Column<R>>) -> Vec<Column<R>> {
    let moves = [
        Column::new("moves", Kind::Count, "All moves.", |row: &R| row.moves().all().into()).text("moves").csv("moves"),
        Column::new("woken", Kind::Count, "Moves between a wakeup and the run after it.", |row: &R| {
            row.moves().woken.into()
        })
        .text("woken")
        .csv("woken"),
        Column::new("preempted", Kind::Count, "Moves while it was preempted.", |row: &R| row.moves().preempted.into())
            .text("preempted")
            .csv("preempted"),
        Column::new("asleep", Kind::Count, "Moves from a sleep without a wakeup that was recorded.", |row: &R| {
            row.moves().asleep.into()
        })
        .text("asleep")
        .csv("asleep")
        .minor(1),
    ];
    names.into_iter().chain(moves).collect()
}

fn between_nodes<'a>() -> Table<NodeRow<'a>> {
    type Of<'a> = Column<NodeRow<'a>>;
    Table::new(
        "nodes",
        columns([
            Of::new("from", Kind::Count, "Node of the CPU that the tasks ran on before.", |row| row.of.0.0.into())
                .text("FROM"),
            Of::new("to", Kind::Count, "Node of the CPU that they came to.", |row| row.of.0.1.into()).text("TO"),
        ]),
    )
}

/// `no_nodes`: text does not show the nodes of the CPUs.
fn moves<'a>(no_nodes: bool) -> Table<CpuRow<'a>> {
    type Of<'a> = Column<CpuRow<'a>>;
    Table::new(
        "moves",
        columns([
            Of::new("from", Kind::Count, "CPU that the tasks ran on before.", |row| row.of.cpus.0.0.into())
                .text("FROM"),
            Of::new("to", Kind::Count, "CPU that they came to.", |row| row.of.cpus.1.0.into()).text("TO"),
            Of::new("from_node", Kind::Count, "NUMA node of the first; null if not known.", |row| {
                row.of.nodes.map_or(Cell::Undefined, |(from, _)| from.into())
            })
            .text("from node")
            .hidden(no_nodes),
            Of::new("to_node", Kind::Count, "NUMA node of the other; null if not known.", |row| {
                row.of.nodes.map_or(Cell::Undefined, |(_, to)| to.into())
            })
            .text("to node")
            .hidden(no_nodes),
        ]),
    )
}

fn tasks<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    let share = |row: &TaskRow<'a>| Cell::Share(row.of.moves.all(), row.of.arrivals);
    let mut columns = columns([
        Of::new("", Kind::Text, "Name and number of the task.", |row| row.found.place.task(row.of.task).into())
            .text("TASK")
            .no_json(),
        Of::new("comm", Kind::Text, "Name of the task.", |row| row.found.place.comm(row.of.task).into()).csv("task"),
        Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.task.0.into()).csv("pid"),
    ]);
    columns.push(
        Of::new("arrivals", Kind::Count, "Times that it came to a CPU, the one before being known.", |row| {
            row.of.arrivals.into()
        })
        .text("arrivals")
        .csv("arrivals"),
    );
    columns.push(Of::new("share", Kind::Share, "Moves in % of arrivals.", share).text("%").no_json());
    Table::new("tasks", columns).about(|row| RowSubject::Task(row.of.covered)).csv(true)
}
