//! `rtrace analyze sched`.

mod found;
mod json;
mod timehist;

use super::answers::{self, Question, ShowArgs};
use super::distribution;
use super::table::Table;
use super::words::{cut, many, not_shown, percent};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{Distribution, Sched, SchedReport, TaskSched, TimeIn};
use rtrace::events::glob_matches;
use rtrace::units::Pid;
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// Time of tasks and CPUs: running, waiting for a CPU, preempted, asleep, blocked
///
/// From sched_switch, and as far as they are recorded from sched_waking, sched_wakeup, sched_wakeup_new,
/// sched_process_fork, sched_migrate_task and sched_stat_iowait. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    #[command(flatten)]
    rows: Rows,
}

/// The tasks to show. All are followed, whichever are shown.
#[derive(clap::Args, Default)]
struct Rows {
    /// Each stay of a task on a CPU as a line instead, like `perf sched timehist`
    #[arg(long, conflicts_with_all = ["top", "sort"])]
    timehist: bool,
    /// Only these tasks
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    pid: Vec<i32>,
    /// Only tasks of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    comm: Vec<String>,
    /// Order of the tasks, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
}

/// An order of tasks.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    /// Time on a CPU
    #[default]
    Run,
    /// Time from wakeup to CPU, all waits together
    Wait,
    /// The longest wait from wakeup to CPU
    MaxWait,
    /// Time preempted
    Preempted,
    /// Time blocked (state D)
    Blocked,
    /// Number of switches
    Switches,
}

impl Rows {
    /// The tasks to show, in order, and how many more there are.
    fn of<'r>(&self, found: &'r Found<'_>, top: usize) -> (Vec<&'r TaskSched>, usize) {
        let mut tasks: Vec<&TaskSched> = found.report.tasks.iter().filter(|task| self.shows(found, task)).collect();
        tasks.sort_by_key(|task| {
            Reverse(match self.sort {
                Sort::Run => task.time(TimeIn::Run),
                Sort::Wait => task.time(TimeIn::Wait),
                Sort::MaxWait => task.waits.distribution().greatest,
                Sort::Preempted => task.time(TimeIn::Preempted),
                Sort::Blocked => task.time(TimeIn::Blocked),
                Sort::Switches => task.voluntary + task.involuntary,
            })
        });
        let more = cut(&mut tasks, top);
        (tasks, more)
    }

    fn shows(&self, found: &Found<'_>, task: &TaskSched) -> bool {
        self.chooses(task.pid, || found.comm(task))
    }

    fn chooses(&self, pid: Pid, comm: impl FnOnce() -> String) -> bool {
        let named = |comm: String| self.comm.iter().any(|pattern| glob_matches(pattern, &comm));
        (self.pid.is_empty() || self.pid.contains(&pid.0)) && (self.comm.is_empty() || named(comm()))
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.rows.timehist { timehist::run(args) } else { answers::run(args) }
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }
}

impl Question for Args {
    type Analysis = Sched;
    const PURPOSE: &'static str = "sched";
    const LACKING: &'static str = "sched_switch";
    const COLUMNS: &'static str = "comm,pid,begin,end,run,wait,preempted,sleep,blocked,unknown,voluntary,involuntary,migrations,wakeups,\
         waits,wait_mean,wait_p50,wait_p90,wait_p99,wait_p999,wait_max,wait_max_at,wait_max_cpu";

    fn analysis(&self, input: &Input) -> Option<Sched> {
        let sched = Sched::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        sched.has_events().then_some(sched)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn is_answer(report: &SchedReport) -> bool {
        report.counts.switches > 0
    }

    fn window(report: &SchedReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &SchedReport) -> Vec<String> {
        let (cpus, counts) = (report.cpus.len() as u64, report.counts);
        vec![many(cpus, "CPU"), many(counts.switches, "switch"), many(counts.wakeups, "wakeup")]
    }

    fn notes(report: &SchedReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, &self.rows.of(found, top).0)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows.of(found, top).0.into_iter().map(|task| csv(found, task)).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text(self, found, top, out)
    }
}

fn text(args: &Args, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let unit = place.unit;
    let (begin, end) = report.window.unwrap_or_default();
    let length = end - begin;

    let share = |part: u64| percent(part, length);
    writeln!(out, "\nCPUs")?;
    let heading = [
        "CPU",
        "busy %",
        "idle %",
        "unknown %",
        "switches",
        "wakeups",
        "waiting: mean",
        "max",
        "idle while a task waited %",
    ];
    let mut table = Table::new(0, heading);
    for cpu in &report.cpus {
        table.row([
            cpu.cpu.0.to_string(),
            share(cpu.busy),
            share(cpu.idle),
            share(cpu.unknown),
            cpu.switches.to_string(),
            cpu.wakeups.to_string(),
            format!("{:.3}", cpu.mean_queue()),
            cpu.longest_queue().to_string(),
            share(cpu.idle_while_waited),
        ]);
    }
    table.write(out)?;
    writeln!(
        out,
        "A CPU was idle while a task waited for one: {} {}",
        unit.long(report.idle_while_waited),
        unit.long_name()
    )?;

    let (tasks, more) = args.rows.of(found, top);
    writeln!(out, "\nTasks: where their time went ({})", unit.long_name())?;
    let heading = [
        "TASK",
        "PID",
        "run",
        "wait",
        "preempted",
        "sleep",
        "blocked",
        "unknown",
        "run %",
        "switches: own",
        "forced",
        "migrations",
    ];
    let mut table = Table::new(1, heading);
    for task in &tasks {
        let time = |state| unit.long(task.time(state));
        table.row([
            found.comm(task),
            task.pid.0.to_string(),
            time(TimeIn::Run),
            time(TimeIn::Wait),
            time(TimeIn::Preempted),
            time(TimeIn::Sleep),
            time(TimeIn::Blocked),
            time(TimeIn::Unknown),
            share(task.time(TimeIn::Run)),
            task.voluntary.to_string(),
            task.involuntary.to_string(),
            task.migrations.to_string(),
        ]);
    }
    table.write(out)?;
    not_shown(more, out)?;

    if report.has_wakeups {
        waits(found, &tasks, out)?;
        not_shown(more, out)?;
    }
    Ok(())
}

/// Waits from wakeup to CPU.
fn waits(found: &Found<'_>, tasks: &[&TaskSched], out: &mut dyn Write) -> Result<(), Failure> {
    let unit = found.place.unit;
    writeln!(out, "\nWaits from wakeup to CPU ({})", unit.short_name())?;
    let heading = ["TASK", "PID", "count"].into_iter().chain(distribution::TIMES).chain(["at", "CPU", "woken by"]);
    let mut table = Table::new(1, heading);
    let numbers = |of: &Distribution| {
        std::iter::once(of.count.to_string()).chain(distribution::cells(of, unit)).collect::<Vec<_>>()
    };
    let all = found.report.waits.distribution();
    let mut row = vec!["(all)".to_owned(), "-".to_owned()];
    row.extend(numbers(&all));
    table.row(row);
    for task in tasks {
        let mut row = vec![found.comm(task), task.pid.0.to_string()];
        row.extend(numbers(&task.waits.distribution()));
        if let Some(longest) = task.longest_wait {
            row.extend([unit.point(longest.at), longest.cpu.0.to_string()]);
            row.extend(longest.waker.map(|waker| format!("{} [{}]", found.waker(waker.pid), waker.pid.0)));
        }
        table.row(row);
    }
    Ok(table.write(out)?)
}

/// A task as [`Question::COLUMNS`] has it.
fn csv(found: &Found<'_>, task: &TaskSched) -> Vec<String> {
    let (waits, longest) = (task.waits.distribution(), task.longest_wait);
    let mut cells = vec![found.comm(task), task.pid.0.to_string()];
    cells.extend([task.life.0, task.life.1].map(|time| time.to_string()));
    cells.extend(TimeIn::ALL.map(|state| task.time(state).to_string()));
    let counts = [task.voluntary, task.involuntary, task.migrations, task.wakeups, waits.count];
    cells.extend(counts.map(|count| count.to_string()));
    cells.extend(distribution::csv(&waits));
    cells.push(longest.map_or_else(String::new, |longest| longest.at.to_string()));
    cells.push(longest.map_or_else(String::new, |longest| longest.cpu.0.to_string()));
    cells
}
