//! `rtrace analyze sched`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::membership::{self, unthrottled};
use super::words::many;
use crate::cli::query::{ClockUnit, QueryInput, no_task_called};
use rtrace::analysis::{
    CpuSched, Needs, RowSubject, SCHED_NEEDS, Sched, SchedReport, TaskSched, ThrottledTime, TimeIn, Waker,
    throttled_time,
};
use rtrace::events::glob_matches;
use rtrace::internal::answers::cell_text;
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::{Coverage, TimeOptions};
use rtrace::units::{Pid, grouped};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Time of tasks and CPUs: running, waiting for a CPU, preempted, asleep, blocked
///
/// From sched_switch, and as far as they are recorded from sched_waking, sched_wakeup, sched_wakeup_new,
/// sched_process_fork, sched_migrate_task and sched_stat_iowait. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeSchedArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    pub(super) rows: SchedRowArgs,
}

/// The tasks to show. All are followed, whichever are shown.
#[derive(clap::Args, Default)]
pub(super) struct SchedRowArgs {
    /// Each stay of a task on a CPU as a line instead, like `perf sched timehist`
    #[arg(long, conflicts_with_all = ["top", "sort", "markdown", "html", "more"])]
    pub(super) timehist: bool,
    /// Only these tasks
    #[arg(short = 'P', long, value_name = "PID,...", value_delimiter = ',')]
    pub(super) pid: Vec<i32>,
    /// Only tasks of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    pub(super) comm: Vec<String>,
    /// Order of the tasks, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: SchedSort,
}

/// An order of tasks.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SchedSort {
    /// Time on a CPU
    #[default]
    Run,
    /// Time from wakeup to CPU, all waits together
    Wait,
    /// The longest wait from wakeup to CPU
    #[value(alias = "max-wait")]
    Max,
    /// The 99th percentile of the waits from wakeup to CPU
    P99,
    /// Time preempted
    Preempted,
    /// Time blocked (state D)
    Blocked,
    /// Number of switches
    Switches,
}

impl SchedRowArgs {
    /// The tasks to show, in order.
    fn of<'r>(&self, found: &'r AnalysisAnswer<'_, SchedReport>) -> Vec<&'r TaskSched> {
        let is_shown = |task: &&TaskSched| self.chooses(task.pid, || found.comm(task));
        let mut tasks: Vec<&TaskSched> = found.report.tasks.iter().filter(is_shown).collect();
        let left = |task, state| {
            let throttled = throttled(found, task).unwrap_or_default();
            TaskSched::time(task, state).saturating_sub(throttled.least_in(state))
        };
        tasks.sort_by_cached_key(|task| {
            Reverse(match self.sort {
                SchedSort::Run => task.time(TimeIn::Run),
                SchedSort::Wait => left(task, TimeIn::Wait),
                SchedSort::Max => task.waits.distribution().greatest,
                SchedSort::P99 => task.waits.distribution().p99,
                SchedSort::Preempted => left(task, TimeIn::Preempted),
                SchedSort::Blocked => task.time(TimeIn::Blocked),
                SchedSort::Switches => task.voluntary + task.involuntary,
            })
        });
        tasks
    }

    /// The reason why none of some tasks, each with its name, is chosen; `None` if one is, or all are.
    fn chooses_none(&self, tasks: impl IntoIterator<Item = (Pid, String)>) -> Option<String> {
        if self.pid.is_empty() && self.comm.is_empty() {
            return None;
        }
        let mut names = BTreeSet::new();
        for (pid, name) in tasks {
            if self.chooses(pid, || name.clone()) {
                return None;
            }
            names.insert(name);
        }
        let pids = || {
            let pids: Vec<String> = self.pid.iter().map(ToString::to_string).collect();
            format!("no task with the pid {}", pids.join(" or "))
        };
        Some(no_task_called(&self.comm, &names).unwrap_or_else(|| match self.comm.is_empty() {
            true => format!("{}; the threads of a process are chosen by name (--comm)", pids()),
            false => format!("{} is called `{}`", pids(), self.comm.join("` or `")),
        }))
    }

    pub(super) fn chooses(&self, pid: Pid, comm: impl FnOnce() -> String) -> bool {
        let named = |comm: String| self.comm.iter().any(|pattern| glob_matches(pattern, &comm));
        (self.pid.is_empty() || self.pid.contains(&pid.0)) && (self.comm.is_empty() || named(comm()))
    }
}

impl Question for AnalyzeSchedArgs {
    type Analysis = Sched;
    const PURPOSE: &'static str = "sched";
    const LACKING: &'static str = "sched_switch";
    const NEEDS: &'static [Needs] = SCHED_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Sched> {
        let (formats, abi) = (input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        let mut sched = Sched::new(formats.iter().copied(), abi);
        if let Some(cgroups) = input.trace.cgroups(&TimeOptions::default()) {
            sched = sched.with_throttling(formats, abi, |name| input.symbols.kallsyms.address_of(name));
            sched = sched.with_quotas(Arc::new(cgroups));
        }
        sched.has_events().then_some(sched)
    }

    fn covering(analysis: Sched, coverage: &Coverage) -> Sched {
        analysis.covering(coverage)
    }

    fn outline(report: &SchedReport) -> Option<Outline> {
        let (cpus, counts) = (report.cpus.len() as u64, report.counts);
        (counts.switches > 0).then(|| Outline {
            window: report.window,
            extent: vec![many(cpus, "CPU"), many(counts.switches, "switch"), many(counts.wakeups, "wakeup")],
            lost: counts.losses > 0,
            notes: notes(report),
        })
    }

    fn absent(&self, found: &[AnalysisAnswer<'_, SchedReport>]) -> Option<String> {
        let tasks = |one: &AnalysisAnswer<'_, SchedReport>| -> Vec<(Pid, String)> {
            one.report.tasks.iter().map(|task| (task.pid, one.comm(task))).collect()
        };
        self.rows.chooses_none(found.iter().flat_map(tasks))
    }

    fn answer(&self, found: &AnalysisAnswer<'_, SchedReport>, top: usize) -> Answer {
        let (unit, report, known) = (found.place.unit, &found.report, &found.known());
        let idle =
            Cell::Time(report.idle_while_waited).limited("idle_while_waited", &|number| known(number, RowSubject::All));
        let (idle, ms) = (cell_text(&idle, Kind::Sum, unit), unit.long_name());
        let quotas = if found.place.cgroups.is_some() { throttling() } else { Vec::new() };
        let tasks =
            tasks().and(quotas).and(membership::known(found)).grid(rows(found, self.rows.of(found)), top, known);
        let mut tasks = tasks.part(format!("Tasks: where their time went ({ms})"));
        if report.has_wakeups {
            let all = all_waits().grid([report], 0, known);
            tasks = tasks.part(format!("Waits from wakeup to CPU ({})", unit.short_name())).headed_by(all);
        }
        Answer::of([
            facts().grid([report], 0, known).into(),
            cpus().grid(rows(found, &report.cpus), 0, known).part("CPUs").into(),
            vec![format!("A CPU was idle while a task waited for one: {idle} {ms}")].into(),
            tasks.into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [facts().definitions(), cpus().definitions(), tasks().and(throttling()).and(membership::all()).definitions()]
            .concat()
    }
}

fn facts<'a>() -> Table<&'a SchedReport> {
    type Of<'a> = Column<&'a SchedReport>;
    let waits = |of: &&SchedReport| if of.has_wakeups { (&of.waits).into() } else { Cell::Undefined };
    Table::new(
        "",
        vec![
            Of::new("counts.switches", Kind::Count, "Events sched_switch.", |of| of.counts.switches.into()),
            Of::new("counts.wakeups", Kind::Count, "Wakeups of tasks that were asleep or blocked.", |of| {
                of.counts.wakeups.into()
            }),
            Of::new("counts.awake", Kind::Count, "Wakeups of tasks that were awake.", |of| of.counts.awake.into()),
            Of::new(
                "counts.missed_wakeups",
                Kind::Count,
                "Times that a task came to its CPU from sleep without a wakeup.",
                |of| of.counts.missed_wakeups.into(),
            ),
            Of::new("counts.contradictions", Kind::Count, "Events that contradict what was known.", |of| {
                of.counts.contradictions.into()
            }),
            Of::new("counts.censored", Kind::Count, "Intervals cut off by an edge or by losses.", |of| {
                of.counts.censored.into()
            }),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
            Of::new(
                "idle_while_waited",
                Kind::Sum,
                "Time in which a CPU was idle while a task waited for one.",
                |of| Cell::Time(of.idle_while_waited),
            ),
            Of::new("waits", Kind::Distribution, "Waits of all tasks from wakeup to CPU; null without wakeups.", waits),
            Of::new("preempted", Kind::Distribution, "Times that tasks were preempted, of all tasks.", |of| {
                (&of.preempted).into()
            }),
        ],
    )
}

type CpuRow<'a> = Row<'a, SchedReport, &'a CpuSched>;

fn cpus<'a>() -> Table<CpuRow<'a>> {
    type Of<'a> = Column<CpuRow<'a>>;
    fn share(row: &CpuRow<'_>, part: u64) -> Cell {
        Cell::Share(part, row.found.length())
    }
    let queue = |row: &CpuRow<'a>| Cell::List(row.of.queue.iter().map(|time| Cell::Time(*time)).collect());
    Table::new(
        "cpus",
        vec![
            Of::new("cpu", Kind::Count, "CPU.", |row| row.of.cpu.0.into()).text("CPU"),
            Of::new("busy", Kind::Share, "With a task on it.", |row| share(row, row.of.busy)).text("busy %"),
            Of::new("idle", Kind::Share, "With its idle task.", |row| share(row, row.of.idle)).text("idle %"),
            Of::new("unknown", Kind::Share, "No event tells.", |row| share(row, row.of.unknown)).text("unknown %"),
            Of::new("switches", Kind::Count, "Events sched_switch.", |row| row.of.switches.into())
                .text("switches")
                .minor(1),
            Of::new("wakeups", Kind::Count, "Wakeups of tasks on it.", |row| row.of.wakeups.into())
                .text("wakeups")
                .minor(1),
            Of::new("queue.mean", Kind::Decimal(3), "Mean number of tasks that waited for it.", |row| {
                Cell::Decimal(row.of.mean_queue())
            })
            .text("waiting: mean"),
            Of::new("queue.max", Kind::Count, "The most tasks that waited for it.", |row| {
                (row.of.longest_queue() as u64).into()
            })
            .text("max"),
            Of::new("queue.time", Kind::Data, "Time with 0, 1, 2, ... tasks that waited for it.", queue),
            Of::new("idle_while_waited", Kind::Share, "Idle time in which a task waited, for whichever CPU.", |row| {
                share(row, row.of.idle_while_waited)
            })
            .text("idle while a task waited %")
            .minor(2),
        ],
    )
    .about(|row| RowSubject::Cpu(row.of.cpu))
}

type TaskRow<'a> = Row<'a, SchedReport, &'a TaskSched>;

fn tasks<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    fn time(row: &TaskRow<'_>, state: TimeIn) -> Cell {
        Cell::Time(row.of.time(state))
    }
    fn left(row: &TaskRow<'_>, state: TimeIn, of_state: &str) -> Cell {
        let known = |number| row.found.known()(number, RowSubject::Task(row.of.covered));
        let time = row.of.time(state);
        throttled(row.found, row.of).map_or(Cell::Time(time), |throttled| {
            unthrottled((state, time), throttled, (known(of_state), known("tasks.throttled")))
        })
    }
    let io_wait = |row: &TaskRow<'a>| row.found.report.has_io_wait.then_some(Cell::Time(row.of.io_wait)).into();
    let waker = |row: &TaskRow<'a>| {
        let waker = row.of.longest_wait.and_then(|longest| longest.waker);
        waker.map(|waker| format!("{} [{}]", row.found.waker(waker.pid), waker.pid.0)).into()
    };
    let run = |row: &TaskRow<'a>| Cell::Share(row.of.time(TimeIn::Run), row.found.length());
    Table::new(
        "tasks",
        vec![
            Of::new("comm", Kind::Text, "Name of the task.", |row| row.found.comm(row.of).into())
                .text("TASK")
                .csv("comm")
                .names_rows(),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.pid.0.into())
                .text("PID")
                .csv("pid")
                .names_rows(),
            Of::new("begin", Kind::Point, "Begin of its life, or of the window.", |row| Cell::Point(row.of.life.0))
                .csv("begin"),
            Of::new("end", Kind::Point, "End of its life, or of the window.", |row| Cell::Point(row.of.life.1))
                .csv("end"),
            Of::new("run", Kind::Sum, "Time on a CPU.", |row| time(row, TimeIn::Run)).text("run").csv("run"),
            Of::new("wait", Kind::Sum, "Time from wakeup to CPU.", |row| left(row, TimeIn::Wait, "tasks.wait"))
                .text("wait")
                .csv("wait"),
            Of::new("preempted", Kind::Sum, "Time off its CPU while it could run.", |row| {
                left(row, TimeIn::Preempted, "tasks.preempted")
            })
            .text("preempted")
            .csv("preempted"),
            Of::new("sleep", Kind::Sum, "Time asleep.", |row| time(row, TimeIn::Sleep)).text("sleep").csv("sleep"),
            Of::new("blocked", Kind::Sum, "Time in state D.", |row| time(row, TimeIn::Blocked))
                .text("blocked")
                .csv("blocked"),
            Of::new("unknown", Kind::Sum, "Time of which no event tells.", |row| time(row, TimeIn::Unknown))
                .text("unknown")
                .csv("unknown")
                .minor(2),
            Of::new("run", Kind::Share, "Time on a CPU in % of the window.", run).text("run %").no_json(),
            Of::new(
                "io_wait",
                Kind::Sum,
                "Part of blocked that the kernel puts down to I/O; null without sched_stat_iowait.",
                io_wait,
            ),
            Of::new("voluntary", Kind::Count, "Switches in which it gave its CPU away.", |row| row.of.voluntary.into())
                .text("switches: own")
                .csv("voluntary")
                .minor(3),
            Of::new("involuntary", Kind::Count, "Switches in state R.", |row| row.of.involuntary.into())
                .text("forced")
                .csv("involuntary")
                .minor(3),
            Of::new("migrations", Kind::Count, "Times that it came to another CPU.", |row| row.of.migrations.into())
                .text("migrations")
                .csv("migrations")
                .minor(3),
            Of::new("wakeups", Kind::Count, "Wakeups while it was asleep or blocked.", |row| row.of.wakeups.into())
                .csv("wakeups"),
            Of::new("waits.count", Kind::Count, "Waits from wakeup to CPU.", |row| row.of.waits.count().into())
                .text("count")
                .csv("waits")
                .in_part(1)
                .no_json(),
            Of::new("waits", Kind::Distribution, "Waits from wakeup to CPU.", |row| (&row.of.waits).into())
                .text("")
                .csv("wait_")
                .in_part(1),
            Of::new("longest_wait.time", Kind::Time, "The longest wait.", |row| {
                row.of.longest_wait.map(|one| Cell::Time(one.time)).into()
            }),
            Of::new("longest_wait.at", Kind::Point, "End of the longest wait.", |row| {
                row.of.longest_wait.map(|one| Cell::Point(one.at)).into()
            })
            .text("at")
            .csv("wait_max_at")
            .in_part(1)
            .minor(1),
            Of::new("longest_wait.cpu", Kind::Count, "CPU on which it ended.", |row| {
                row.of.longest_wait.map(|one| one.cpu.0).into()
            })
            .text("CPU")
            .csv("wait_max_cpu")
            .in_part(1)
            .minor(3),
            Of::new("longest_wait.waker", Kind::Text, "Task that ended it.", waker)
                .text("woken by")
                .to_left(false)
                .in_part(1)
                .no_json(),
            Of::new(
                "longest_wait.waker.pid",
                Kind::Count,
                "Number of the task that ended it; 0 of an idle task.",
                |row| row.waker().map(|waker| waker.pid.0).into(),
            ),
            Of::new("longest_wait.waker.comm", Kind::Text, "Name of that task.", |row| {
                row.waker().map(|waker| row.found.waker(waker.pid)).into()
            }),
            Of::new("longest_wait.waker.cpu", Kind::Count, "CPU of that task.", |row| {
                row.waker().map(|waker| waker.cpu.0).into()
            }),
            Of::new("preemptions", Kind::Distribution, "Times that it was preempted.", |row| {
                (&row.of.preempted).into()
            }),
            Of::new("slices", Kind::Distribution, "Stays on a CPU.", |row| (&row.of.slices).into()),
        ],
    )
    .about(|row| RowSubject::Task(row.of.covered))
    .csv(true)
}

/// Columns of recordings that hold cgroups: what quotas did.
fn throttling<'a>() -> Vec<Column<TaskRow<'a>>> {
    let least = "Time for which a quota kept it from CPUs, at least; null if no quotas are known.";
    let most = "The same, at most: what is more is in wait and preempted.";
    vec![
        Column::new("throttled.least", Kind::Sum, least, |row: &TaskRow<'a>| {
            throttled(row.found, row.of).map(|found| Cell::Time(found.least())).into()
        })
        .text("throttled: at least")
        .csv("throttled_least"),
        Column::new("throttled.most", Kind::Sum, most, |row: &TaskRow<'a>| {
            throttled(row.found, row.of).map(|found| Cell::Time(found.most)).into()
        })
        .text("at most")
        .csv("throttled_most"),
    ]
}

/// Time for which quotas kept a task from CPUs, if it is known.
fn throttled(found: &AnalysisAnswer<'_, SchedReport>, task: &TaskSched) -> Option<ThrottledTime> {
    let cgroups = found.place.cgroups.as_deref().filter(|_| found.place.unit == ClockUnit::Nanoseconds);
    cgroups.and_then(|cgroups| throttled_time(task, cgroups))
}

/// The waits of all tasks, as the second part of [`tasks`] has those of one.
fn all_waits<'a>() -> Table<&'a SchedReport> {
    type Of<'a> = Column<&'a SchedReport>;
    Table::new(
        "",
        vec![
            Of::new("", Kind::Text, "", |_: &&SchedReport| "(all)".into()).text(""),
            Of::new("", Kind::Text, "", |_| "-".into()).text(""),
            Of::new("waits.count", Kind::Count, "", |of| of.waits.count().into()).text(""),
            Of::new("waits", Kind::Distribution, "", |of| (&of.waits).into()).text(""),
        ],
    )
}

impl TaskRow<'_> {
    fn waker(&self) -> Option<Waker> {
        self.of.longest_wait.and_then(|longest| longest.waker)
    }
}

impl AnalysisAnswer<'_, SchedReport> {
    /// The name of a task; of one that no event names, that of the recording.
    fn comm(&self, task: &TaskSched) -> String {
        let known = if task.comm.is_empty() { self.place.comm(task.pid) } else { None };
        known.unwrap_or_else(|| String::from_utf8_lossy(&task.comm).into_owned())
    }

    fn waker(&self, pid: Pid) -> String {
        let named = self.report.tasks.iter().rev().find(|task| task.pid == pid && !task.comm.is_empty());
        match (pid.0, named) {
            (0, _) => "idle".to_owned(),
            (_, Some(task)) => String::from_utf8_lossy(&task.comm).into_owned(),
            (_, None) => self.place.comm(pid).unwrap_or_else(|| "?".to_owned()),
        }
    }
}

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &SchedReport) -> Vec<String> {
    let mut notes = Vec::new();
    let counts = report.counts;
    if !report.has_wakeups {
        notes.push("no wakeups are recorded: what a task waited for its CPU is unknown time".to_owned());
    }
    if counts.losses > 0 {
        let places = many(counts.losses, "place");
        notes.push(format!(
            "events were lost at {places}: what tasks did there is unknown time, and no duration spans it"
        ));
    }
    if report.has_wakeups && counts.missed_wakeups > 0 {
        let tasks = many(counts.missed_wakeups, "time");
        notes.push(format!("{tasks} a task came to its CPU from sleep without a wakeup: unknown time"));
    }
    if counts.contradictions > 0 {
        let switches = many(counts.contradictions, "event");
        let verb = if counts.contradictions == 1 { "contradicts" } else { "contradict" };
        let most = report.tasks.iter().max_by_key(|task| task.contradictions);
        let most = most.map_or_else(String::new, |task| {
            let comm = String::from_utf8_lossy(&task.comm);
            format!(", {} about {comm} [{}]", grouped(task.contradictions), task.pid.0)
        });
        notes.push(format!("{switches} {verb} what was known{most}: events are missing, or the clocks of CPUs differ"));
    }
    notes
}
