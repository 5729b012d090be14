//! `rtrace analyze reclaim`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::words::{left_out, losses, many};
use crate::cli::query::QueryInput;
use rtrace::analysis::{Needs, RECLAIM_NEEDS, Reclaim, ReclaimKind, ReclaimReport, Stalls};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::Pid;

/// Stalls for memory: direct reclaim, cgroups at their limit, compaction; by kind, task
///
/// From mm_vmscan_direct_reclaim_begin and _end, those of cgroups and nodes, mm_compaction_begin and _end, and kswapd's
/// wake and sleep. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeReclaimArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
}

impl Question for AnalyzeReclaimArgs {
    type Analysis = Reclaim;
    const PURPOSE: &'static str = "reclaim";
    const LACKING: &'static str = "whole stalls for memory";
    const NEEDS: &'static [Needs] = RECLAIM_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Reclaim> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let reclaim = Reclaim::new(formats, input.trace.abi, self.tasks.set(input));
        reclaim.has_events().then_some(reclaim)
    }

    fn outline(report: &ReclaimReport) -> Option<Outline> {
        let stalls = report.kinds.iter().map(|(_, stalls)| stalls.times.count()).sum();
        let more = [
            (report.unfinished, "stall", "not ended at the window's end"),
            (report.without_begin, "end", "without a begin"),
        ];
        (!report.tasks.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(stalls, "stall"), many(report.tasks.len() as u64, "row")],
            lost: report.losses > 0,
            notes: losses(report.losses, report.censored, "stall").into_iter().chain(left_out(&more)).collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, ReclaimReport>, top: usize) -> Answer {
        let (unit, report, known) = (found.place.unit, &found.report, &found.known());
        let units = format!("(total: {}; others: {})", unit.long_name(), unit.short_name());
        Answer::of([
            counts().grid([report], 0, known).into(),
            kinds().grid(rows(found, &report.kinds), 0, known).part(format!("Kinds {units}")).into(),
            tasks().grid(rows(found, &report.tasks), top, known).part("Tasks").into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [counts().definitions(), kinds().definitions(), tasks().definitions()].concat()
    }
}

fn counts<'a>() -> Table<&'a ReclaimReport> {
    type Of<'a> = Column<&'a ReclaimReport>;
    Table::new(
        "",
        vec![
            Of::new("unfinished", Kind::Count, "Stalls not ended at the window's end.", |of| of.unfinished.into()),
            Of::new("without_begin", Kind::Count, "Ends without a begin.", |of| of.without_begin.into()),
            Of::new("censored", Kind::Count, "Stalls that went on where events were lost.", |of| of.censored.into()),
            Of::new("losses", Kind::Count, "Places where events were lost.", |of| of.losses.into()),
        ],
    )
}

/// A row of stalls.
type StallRow<'a, K> = Row<'a, ReclaimReport, &'a (K, Stalls)>;

/// A table of stalls: what names its rows, and their times.
fn stalls<'a, K>(key: &'static str, names: Vec<Column<StallRow<'a, K>>>) -> Table<StallRow<'a, K>> {
    type Of<'a, K> = Column<StallRow<'a, K>>;
    let stalls = vec![
        Of::<K>::new("stalls.count", Kind::Count, "Stalls that ended.", |row| row.of.1.times.count().into())
            .text("stalls")
            .csv("stalls")
            .no_json(),
        Of::<K>::new("in_vain", Kind::Count, "Stalls that reclaimed no page; null for compaction and kswapd.", |row| {
            row.of.1.in_vain.map_or(Cell::Undefined, Cell::Count)
        })
        .text("in vain")
        .csv("in_vain"),
        Of::<K>::new("pages", Kind::Count, "Pages reclaimed; null likewise.", |row| {
            row.of.1.pages.map_or(Cell::Undefined, Cell::Count)
        })
        .text("pages")
        .csv("pages"),
        Of::<K>::new(
            "max_order",
            Kind::Count,
            "The greatest order wanted (2^order pages); null for compaction.",
            |row| row.of.1.max_order.map_or(Cell::Undefined, Cell::Count),
        )
        .text("order")
        .csv("max_order")
        .minor(3),
        Of::<K>::new("stalls.total", Kind::Sum, "Time of all stalls together.", |row| {
            Cell::Time(row.of.1.times.total())
        })
        .text("total")
        .csv("total")
        .no_json(),
        Of::<K>::new("stalls", Kind::Distribution, "Times of stalls.", |row| (&row.of.1.times).into()).text("").csv(""),
        Of::<K>::new("longest.at", Kind::Point, "Begin of the longest stall.", |row| {
            row.of.1.longest.map(|(at, _)| Cell::Point(at)).into()
        })
        .text("at")
        .csv("max_at")
        .minor(1),
        Of::<K>::new("longest.pid", Kind::Count, "Number of the task of the longest stall.", |row| {
            row.of.1.longest.map(|(_, pid)| pid.0).into()
        })
        .csv("max_pid"),
    ];
    Table::new(key, names.into_iter().chain(stalls).collect())
}

fn kinds<'a>() -> Table<StallRow<'a, ReclaimKind>> {
    type Of<'a> = Column<StallRow<'a, ReclaimKind>>;
    stalls("kinds", vec![Of::new("kind", Kind::Text, "Kind of the stall.", |row| row.of.0.name().into()).text("KIND")])
}

fn tasks<'a>() -> Table<StallRow<'a, (Pid, ReclaimKind)>> {
    type Of<'a> = Column<StallRow<'a, (Pid, ReclaimKind)>>;
    let task = |row: &StallRow<'a, (Pid, ReclaimKind)>| row.found.place.task(row.of.0.0).into();
    let comm = |row: &StallRow<'a, (Pid, ReclaimKind)>| row.found.place.comm(row.of.0.0).into();
    stalls(
        "tasks",
        vec![
            Of::new("", Kind::Text, "Name and number of the task.", task).text("TASK").no_json(),
            Of::new("comm", Kind::Text, "Name of the task.", comm).csv("task"),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.0.0.0.into()).csv("pid"),
            Of::new("kind", Kind::Text, "Kind of the stall.", |row| row.of.0.1.name().into()).text("KIND").csv("kind"),
        ],
    )
    .csv(true)
}
