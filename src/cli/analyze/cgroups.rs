//! `rtrace analyze cgroups`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::membership::unthrottled;
use super::sched::notes;
use super::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, QueryInput};
use anyhow::anyhow;
use rtrace::analysis::{
    CGROUP_NEEDS, CgroupReport, CgroupSched, CgroupTimes, Needs, RowSubject, ThrottledTime, TimeIn,
};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::{CgroupCounters, Coverage, OptionId, QuotaCounters, TimeOptions};

/// Time of tasks by cgroup or container, beside the kernel's own account and throttling
///
/// Of recordings made with `record --cgroups` or `--cgroup`: from sched_switch, and as far as they are recorded from sched_waking and
/// sched_wakeup. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeCgroupsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
}

impl Question for AnalyzeCgroupsArgs {
    type Analysis = CgroupTimes;
    const PURPOSE: &'static str = "cgroups";
    const LACKING: &'static str = "sched_switch";
    const NEEDS: &'static [Needs] = CGROUP_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn check(&self, input: &QueryInput) -> Result<(), Failure> {
        if input.trace.option(OptionId::RTRACE_CGROUPS).is_some() {
            return Ok(());
        }
        let error = anyhow!("{} does not say which cgroups its tasks were in", input.path.display());
        Err(Failure::new(Exit::Failed, error).hint("`rtrace record --for sched --cgroups` stores it."))
    }

    fn analysis(&self, input: &QueryInput) -> Option<CgroupTimes> {
        let cgroups = input.trace.cgroups(&TimeOptions::default())?;
        let (formats, abi) = (input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        let address = |name: &str| input.symbols.kallsyms.address_of(name);
        let times = CgroupTimes::new(formats.iter().copied(), abi, cgroups).with_throttling(formats, abi, address);
        times.has_events().then_some(times)
    }

    fn covering(analysis: CgroupTimes, coverage: &Coverage) -> CgroupTimes {
        analysis.covering(coverage)
    }

    fn outline(report: &CgroupReport) -> Option<Outline> {
        let counts = report.sched.counts;
        (counts.switches > 0).then(|| Outline {
            window: report.sched.window,
            extent: vec![many(report.cgroups.len() as u64, "cgroup"), many(counts.switches, "switch")],
            lost: counts.losses > 0,
            notes: notes(&report.sched).into_iter().chain(elsewhere(report)).collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, CgroupReport>, top: usize) -> Answer {
        // The kernel's account is that of the whole recording.
        let is_whole = self.shown.file.is_whole() && found.place.unit == ClockUnit::Nanoseconds;
        let row = |of| CgroupRow { of, is_whole };
        let cgroups = found.report.cgroups.iter().map(row);
        let table = cgroups_table().grid(rows(found, cgroups), top, &found.known());
        // Before the first event and after the last one tasks run, too.
        let has_counters = is_whole && found.report.cgroups.iter().any(|cgroup| cgroup.counters.is_some());
        let since = if has_counters { "; the kernel's account: from the recorder's begin to its end" } else { "" };
        let unit = found.place.unit.long_name();
        Answer::of([table.part(format!("Cgroups, each with all below it ({unit}{since})")).into()])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        cgroups_table().definitions()
    }
}

/// The note about tasks whose cgroups are not known.
fn elsewhere(report: &CgroupReport) -> Option<String> {
    let of = &report.elsewhere;
    (of.tasks > 0).then(|| {
        format!("{} at times of which no cgroup is known: their time there is in no row", many(of.tasks, "task"))
    })
}

/// A cgroup, and whether the kernel's account of it is of the same time.
struct CgroupRow<'a> {
    of: &'a CgroupSched,
    is_whole: bool,
}

type CgroupsRow<'a> = Row<'a, CgroupReport, CgroupRow<'a>>;

fn cgroups_table<'a>() -> Table<CgroupsRow<'a>> {
    type Of<'a> = Column<CgroupsRow<'a>>;
    fn throttled(row: &CgroupsRow<'_>) -> Option<ThrottledTime> {
        row.of.of.throttled.filter(|_| row.found.place.unit == ClockUnit::Nanoseconds)
    }
    fn time(row: &CgroupsRow<'_>, state: TimeIn) -> Cell {
        Cell::Time(row.of.of.time(state))
    }
    fn left(row: &CgroupsRow<'_>, state: TimeIn, of_state: &str) -> Cell {
        let known = |number| row.found.known()(number, subject(row));
        let time = row.of.of.time(state);
        throttled(row).map_or(Cell::Time(time), |throttled| {
            unthrottled((state, time), throttled, (known(of_state), known("cgroups.throttled")))
        })
    }
    fn subject(row: &CgroupsRow<'_>) -> RowSubject {
        if row.of.of.covered { RowSubject::Task(true) } else { RowSubject::All }
    }
    fn counted(row: &CgroupsRow<'_>, of: impl FnOnce(CgroupCounters) -> Cell) -> Cell {
        row.of.of.counters.filter(|_| row.of.is_whole).map_or(Cell::Undefined, of)
    }
    fn of_quota(row: &CgroupsRow<'_>, of: impl FnOnce(QuotaCounters) -> Cell) -> Cell {
        counted(row, |counters| counters.quota.map_or(Cell::Undefined, of))
    }
    let run = |row: &CgroupsRow<'a>| Cell::Share(row.of.of.time(TimeIn::Run), row.found.length());
    Table::new(
        "cgroups",
        vec![
            Of::new("path", Kind::Text, "Path of the cgroup in its hierarchy.", |row| row.of.of.path.clone().into())
                .text("CGROUP")
                .csv("path")
                .names_rows(),
            Of::new("tasks", Kind::Count, "Tasks that were in it or below at some time.", |row| row.of.of.tasks.into())
                .text("tasks")
                .csv("tasks"),
            Of::new("run", Kind::Sum, "Time of its tasks on CPUs.", |row| time(row, TimeIn::Run)).text("run").csv("run"),
            Of::new("run", Kind::Share, "The same in % of the window, on one CPU.", run).text("run %").no_json(),
            Of::new("own_run", Kind::Sum, "Part of run of tasks in itself, none of those below.", |row| {
                Cell::Time(row.of.of.own_run)
            })
            .csv("own_run"),
            Of::new("wait", Kind::Sum, "Time of its tasks from wakeup to CPU.", |row| {
                left(row, TimeIn::Wait, "cgroups.wait")
            })
            .text("wait")
            .csv("wait"),
            Of::new("preempted", Kind::Sum, "Time off a CPU while they could run.", |row| {
                left(row, TimeIn::Preempted, "cgroups.preempted")
            })
            .text("preempted")
            .csv("preempted"),
            Of::new(
                "throttled.least",
                Kind::Sum,
                "Time for which a quota kept its tasks from CPUs, at least; null if no quotas are known.",
                |row| throttled(row).map(|throttled| Cell::Time(throttled.least())).into(),
            )
            .text("throttled: at least")
            .csv("throttled_least"),
            Of::new("throttled.most", Kind::Sum, "The same, at most: what is more is in wait and preempted.", |row| {
                throttled(row).map(|throttled| Cell::Time(throttled.most)).into()
            })
            .text("at most")
            .csv("throttled_most"),
            Of::new("sleep", Kind::Sum, "Time asleep.", |row| time(row, TimeIn::Sleep)).csv("sleep"),
            Of::new("blocked", Kind::Sum, "Time in state D.", |row| time(row, TimeIn::Blocked))
                .text("blocked")
                .csv("blocked")
                .minor(1),
            Of::new("unknown", Kind::Sum, "Time of which no event tells.", |row| time(row, TimeIn::Unknown))
                .text("unknown")
                .csv("unknown")
                .minor(3),
            Of::new("stays", Kind::Count, "Stays of its tasks on a CPU.", |row| row.of.of.stays.into())
                .text("stays")
                .csv("stays")
                .minor(2),
            Of::new(
                "kernel.usage",
                Kind::Sum,
                "CPU time by the kernel's own account; null where its hierarchy has none, and of a part of a recording.",
                |row| counted(row, |counters| counters.usage.map_or(Cell::Undefined, Cell::Time)),
            )
            .text("kernel: run")
            .csv("kernel_usage")
            .minor(1),
            Of::new(
                "kernel.throttled",
                Kind::Sum,
                "Time for which its quota (cpu.max) kept it from CPUs, added up over CPUs, by the kernel's account.",
                |row| of_quota(row, |quota| Cell::Time(quota.throttled)),
            )
            .text("throttled")
            .csv("kernel_throttled"),
            Of::new("kernel.periods", Kind::Count, "Periods of its quota.", |row| {
                of_quota(row, |quota| quota.periods.into())
            })
            .csv("kernel_periods"),
            Of::new("kernel.throttled_periods", Kind::Count, "Of them, those in which it was throttled.", |row| {
                of_quota(row, |quota| quota.throttled_periods.into())
            })
            .text("in periods")
            .csv("kernel_throttled_periods")
            .minor(2),
        ],
    )
    .about(subject)
    .csv(true)
}
