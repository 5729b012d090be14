//! `rtrace analyze sched`: its question to the events.

use super::answer::{SchedAnswer, notes};
use super::args::AnalyzeSchedArgs;
use super::{csv, json, text, timehist};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{Needs, RowSubject, SCHED_NEEDS, Sched, SchedReport};
use rtrace::internal::trace_dat::Coverage;
use serde_json::Value;
use std::io::Write;

pub(in crate::cli::analyze) fn run(args: &AnalyzeSchedArgs) -> Result<Exit, Failure> {
    if args.rows.timehist { timehist::run(args) } else { answers::run(args) }
}

impl Question for AnalyzeSchedArgs {
    type Analysis = Sched;
    const PURPOSE: &'static str = "sched";
    const LACKING: &'static str = "sched_switch";
    const COLUMNS: &'static str = "comm,pid,begin,end,run,wait,preempted,sleep,blocked,unknown,voluntary,involuntary,migrations,wakeups,\
         waits,wait_mean,wait_p50,wait_p90,wait_p99,wait_p999,wait_max,wait_max_at,wait_max_cpu";
    const NEEDS: &'static [Needs] = SCHED_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "tasks.begin",
        "tasks.end",
        "tasks.run",
        "tasks.wait",
        "tasks.preempted",
        "tasks.sleep",
        "tasks.blocked",
        "tasks.unknown",
        "tasks.voluntary",
        "tasks.involuntary",
        "tasks.migrations",
        "tasks.wakeups",
        "tasks.waits.count",
        "tasks.waits.mean",
        "tasks.waits.p50",
        "tasks.waits.p90",
        "tasks.waits.p99",
        "tasks.waits.p99.9",
        "tasks.waits.max",
        "tasks.longest_wait.at",
        "tasks.longest_wait.cpu",
    ];

    fn analysis(&self, input: &QueryInput) -> Option<Sched> {
        let sched = Sched::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        sched.has_events().then_some(sched)
    }

    fn covering(analysis: Sched, coverage: &Coverage) -> Sched {
        analysis.covering(coverage)
    }

    fn lost(report: &SchedReport) -> bool {
        report.counts.losses > 0
    }

    fn task(found: &SchedAnswer<'_>, pid: i32) -> RowSubject {
        RowSubject::Task(found.report.tasks.iter().any(|task| task.pid.0 == pid && task.covered))
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
