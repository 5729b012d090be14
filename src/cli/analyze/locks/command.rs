//! Arguments of `rtrace analyze locks`, and its question to the events.

use super::answer::{LocksAnswer, notes};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{LockKind, LockReport, LockWaits, Locks};
use rtrace::units::Pid;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::Write;

/// Waits for contended locks of the kernel: by lock, by kind, by task and by stack
///
/// From lock:contention_begin and contention_end (since Linux 5.19), and the stack traces at the begin of waits, if they are
/// recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeLocksArgs {
    #[command(flatten)]
    shown: AnswerArgs,
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

/// The rows to show, and how many more there are.
pub(super) struct LockRows<'r> {
    pub(super) locks: Vec<&'r ((u64, LockKind), LockWaits)>,
    pub(super) tasks: Vec<&'r (Pid, LockWaits)>,
    pub(super) stacks: Vec<&'r (Vec<u64>, LockWaits)>,
    pub(super) more: [usize; 3],
}

impl AnalyzeLocksArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeLocksArgs { shown: AnswerArgs::with_top(top), ..AnalyzeLocksArgs::default() }
    }

    pub(super) fn sorted<'r, K>(&self, of: &'r [(K, LockWaits)], top: usize) -> (Vec<&'r (K, LockWaits)>, usize) {
        let mut rows: Vec<_> = of.iter().collect();
        rows.sort_by_cached_key(|(_, waits)| {
            Reverse(match self.sort {
                LockSort::Total => waits.times.total(),
                LockSort::Count => waits.times.count(),
                LockSort::Mean => waits.times.distribution().mean(),
                LockSort::Max => waits.times.greatest(),
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }

    pub(super) fn rows<'r>(&self, found: &'r LocksAnswer<'_>, top: usize) -> LockRows<'r> {
        let report = &found.report;
        let (locks, a) = self.sorted(&report.locks, top);
        let (tasks, b) = self.sorted(&report.tasks, top);
        let (stacks, c) = self.sorted(&report.stacks, top);
        LockRows { locks, tasks, stacks, more: [a, b, c] }
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeLocksArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeLocksArgs {
    type Analysis = Locks;
    const PURPOSE: &'static str = "locks";
    const LACKING: &'static str = "whole waits for contended locks";
    const COLUMNS: &'static str =
        "lock,address,kind,waits,failed,total,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu";

    fn analysis(&self, input: &QueryInput) -> Option<Locks> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let locks = Locks::new(formats, input.trace.abi, self.tasks.chosen(input));
        locks.has_events().then_some(locks)
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &LockReport) -> bool {
        !report.locks.is_empty()
    }

    fn window(report: &LockReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &LockReport) -> Vec<String> {
        let waits: u64 = report.kinds.iter().map(|(_, waits)| waits.times.count()).sum();
        let locks: HashSet<u64> = report.locks.iter().map(|((address, _), _)| *address).collect();
        vec![many(locks.len() as u64, "lock"), many(waits, "wait")]
    }

    fn notes(report: &LockReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &LocksAnswer<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top))
    }

    fn csv(&self, found: &LocksAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).locks.into_iter().map(|row| csv::row(found, row)).collect()
    }

    fn text(&self, found: &LocksAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(self, found, top, out)
    }
}
