//! Arguments of `rtrace analyze locks`, and the rows that they choose.

use super::answer::LocksAnswer;
use crate::cli::analyze::answers::AnswerArgs;
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::cut;
use rtrace::analysis::{LockKind, LockWaits};
use rtrace::units::Pid;
use std::cmp::Reverse;

/// Waits for contended locks of the kernel: by lock, by kind, by task and by stack
///
/// From lock:contention_begin and contention_end (since Linux 5.19), and the stack traces at the begin of waits, if they are
/// recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeLocksArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    pub(super) tasks: TaskArgs,
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
