//! Arguments of `rtrace analyze syscalls`, and the rows that they choose.

use super::answer::SyscallsAnswer;
use crate::cli::analyze::answers::AnswerArgs;
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::cut;
use rtrace::analysis::SyscallTimes;
use rtrace::events::glob_matches;
use std::cmp::Reverse;

/// System calls: how many, how long, how many failed and why, and how long their tasks were off the CPU
///
/// From raw_syscalls:sys_enter and sys_exit, or else from the events of the system `syscalls`; the time off the CPU from
/// sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeSyscallsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    pub(super) tasks: TaskArgs,
    /// Only calls of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    call: Vec<String>,
    /// Order of the calls, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: SyscallSort,
    /// Table that --csv prints
    #[arg(long, value_enum, value_name = "TABLE", default_value_t, requires = "csv")]
    pub(super) table: SyscallTable,
}

/// A table of the answer.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SyscallTable {
    /// Calls by name
    #[default]
    Calls,
    /// Tasks
    Tasks,
    /// File descriptors
    Fds,
}

/// An order of calls.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SyscallSort {
    /// Time of all calls together
    #[default]
    Total,
    /// Number of calls
    Count,
    /// Mean time
    Mean,
    /// The time that 99 of 100 calls do not exceed
    P99,
    /// The longest call
    Max,
    /// Number of failed calls
    Errors,
    /// Time off the CPU
    OffCpu,
}

impl SyscallSort {
    fn key(self, call: &SyscallTimes) -> u64 {
        let times = || call.times.distribution();
        match self {
            SyscallSort::Total => call.times.total(),
            SyscallSort::Count => call.times.count(),
            SyscallSort::Mean => times().mean(),
            SyscallSort::P99 => times().p99,
            SyscallSort::Max => times().greatest,
            SyscallSort::Errors => call.failed(),
            SyscallSort::OffCpu => call.off_cpu,
        }
    }
}

impl AnalyzeSyscallsArgs {
    /// The calls to show, in order, and how many more there are.
    pub(super) fn calls<'r>(&self, found: &'r SyscallsAnswer<'_>, top: usize) -> (Vec<&'r SyscallTimes>, usize) {
        let named = |call: &SyscallTimes| self.call.iter().any(|pattern| glob_matches(pattern, &found.name(call)));
        let mut calls: Vec<&SyscallTimes> =
            found.report.calls.iter().filter(|call| self.call.is_empty() || named(call)).collect();
        calls.sort_by_cached_key(|call| Reverse(self.sort.key(call)));
        let more = cut(&mut calls, top);
        (calls, more)
    }

    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeSyscallsArgs { shown: AnswerArgs::with_top(top), ..AnalyzeSyscallsArgs::default() }
    }
}

/// The first `top` of some rows, and how many more there are.
pub(super) fn first<T>(rows: &[T], top: usize) -> (Vec<&T>, usize) {
    let mut rows: Vec<&T> = rows.iter().collect();
    let more = cut(&mut rows, top);
    (rows, more)
}
