//! Arguments of `rtrace analyze sched`, and its question to the events.

use super::answer::{SchedAnswer, notes};
use super::{csv, json, text, timehist};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{Sched, SchedReport, TaskSched, TimeIn};
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
pub(in crate::cli::analyze) struct AnalyzeSchedArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    #[command(flatten)]
    pub(super) rows: SchedRowArgs,
}

/// The tasks to show. All are followed, whichever are shown.
#[derive(clap::Args, Default)]
pub(super) struct SchedRowArgs {
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
    MaxWait,
    /// Time preempted
    Preempted,
    /// Time blocked (state D)
    Blocked,
    /// Number of switches
    Switches,
}

impl SchedRowArgs {
    /// The tasks to show, in order, and how many more there are.
    pub(super) fn of<'r>(&self, found: &'r SchedAnswer<'_>, top: usize) -> (Vec<&'r TaskSched>, usize) {
        let mut tasks: Vec<&TaskSched> = found.report.tasks.iter().filter(|task| self.shows(found, task)).collect();
        tasks.sort_by_key(|task| {
            Reverse(match self.sort {
                SchedSort::Run => task.time(TimeIn::Run),
                SchedSort::Wait => task.time(TimeIn::Wait),
                SchedSort::MaxWait => task.waits.distribution().greatest,
                SchedSort::Preempted => task.time(TimeIn::Preempted),
                SchedSort::Blocked => task.time(TimeIn::Blocked),
                SchedSort::Switches => task.voluntary + task.involuntary,
            })
        });
        let more = cut(&mut tasks, top);
        (tasks, more)
    }

    fn shows(&self, found: &SchedAnswer<'_>, task: &TaskSched) -> bool {
        self.chooses(task.pid, || found.comm(task))
    }

    pub(super) fn chooses(&self, pid: Pid, comm: impl FnOnce() -> String) -> bool {
        let named = |comm: String| self.comm.iter().any(|pattern| glob_matches(pattern, &comm));
        (self.pid.is_empty() || self.pid.contains(&pid.0)) && (self.comm.is_empty() || named(comm()))
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeSchedArgs) -> Result<Exit, Failure> {
    if args.rows.timehist { timehist::run(args) } else { answers::run(args) }
}

impl AnalyzeSchedArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeSchedArgs { shown: AnswerArgs::with_top(top), ..AnalyzeSchedArgs::default() }
    }
}

impl Question for AnalyzeSchedArgs {
    type Analysis = Sched;
    const PURPOSE: &'static str = "sched";
    const LACKING: &'static str = "sched_switch";
    const COLUMNS: &'static str = "comm,pid,begin,end,run,wait,preempted,sleep,blocked,unknown,voluntary,involuntary,migrations,wakeups,\
         waits,wait_mean,wait_p50,wait_p90,wait_p99,wait_p999,wait_max,wait_max_at,wait_max_cpu";

    fn analysis(&self, input: &QueryInput) -> Option<Sched> {
        let sched = Sched::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        sched.has_events().then_some(sched)
    }

    fn shown(&self) -> &AnswerArgs {
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

    fn json(&self, found: &SchedAnswer<'_>, top: usize) -> Value {
        json::answer(found, &self.rows.of(found, top).0)
    }

    fn csv(&self, found: &SchedAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows.of(found, top).0.into_iter().map(|task| csv::row(found, task)).collect()
    }

    fn text(&self, found: &SchedAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(self, found, top, out)
    }
}
