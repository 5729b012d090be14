//! Arguments of `rtrace analyze syscalls`, and its question to the events.

use super::answer::{SyscallsAnswer, notes};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::RecordingMachine;
use crate::cli::query::QueryInput;
use rtrace::analysis::{DescriptorCalls, SyscallReport, SyscallTimes, Syscalls};
use rtrace::events::glob_matches;
use rtrace::export::ArgumentPositions;
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// System calls: how many, how long, how many failed and why, and how long their tasks were off the CPU
///
/// From raw_syscalls:sys_enter and sys_exit, or else from the events of the system `syscalls`; the time off the CPU from
/// sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeSyscallsArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only calls of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    call: Vec<String>,
    /// Order of the calls, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: SyscallSort,
    /// Table that --csv prints
    #[arg(long, value_enum, value_name = "TABLE", default_value_t, requires = "csv")]
    table: SyscallTable,
}

/// A table of the answer.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SyscallTable {
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
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeSyscallsArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl AnalyzeSyscallsArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeSyscallsArgs { shown: AnswerArgs::with_top(top), ..AnalyzeSyscallsArgs::default() }
    }
}

impl Question for AnalyzeSyscallsArgs {
    type Analysis = Syscalls;
    const PURPOSE: &'static str = "syscalls";
    const LACKING: &'static str = "system calls";
    const COLUMNS: &'static str =
        "call,number,calls,failed,total,off_cpu,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu,errors";

    fn analysis(&self, input: &QueryInput) -> Option<Syscalls> {
        let syscalls = Syscalls::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        let syscalls = Some(syscalls).filter(Syscalls::has_events)?.with_descriptors(descriptor_calls(input));
        Some(match self.tasks.chosen(input) {
            Some(callers) => syscalls.of_tasks(callers),
            None => syscalls,
        })
    }

    fn columns(&self) -> &'static str {
        match self.table {
            SyscallTable::Calls => Self::COLUMNS,
            SyscallTable::Tasks => "pid,comm,calls,failed,total,off_cpu",
            SyscallTable::Fds => "pid,is_process,comm,fd,file,calls,failed,total,off_cpu,max",
        }
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &SyscallReport) -> bool {
        !report.calls.is_empty()
    }

    fn window(report: &SyscallReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &SyscallReport) -> Vec<String> {
        let failed: u64 = report.calls.iter().map(SyscallTimes::failed).sum();
        let of_tasks = many(report.tasks.len() as u64, "task");
        vec![format!("{} of {of_tasks}", many(report.times.count(), "call")), format!("{failed} failed")]
    }

    fn notes(report: &SyscallReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &SyscallsAnswer<'_>, top: usize) -> Value {
        let SyscallsAnswer { report, .. } = found;
        let rows = (self.calls(found, top).0, first(&report.tasks, top).0, first(&report.descriptors, top).0);
        json::answer(found, &rows)
    }

    fn csv(&self, found: &SyscallsAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        let SyscallsAnswer { report, .. } = found;
        match self.table {
            SyscallTable::Calls => self.calls(found, top).0.into_iter().map(|call| csv::call(found, call)).collect(),
            SyscallTable::Tasks => first(&report.tasks, top).0.into_iter().map(|task| csv::task(found, task)).collect(),
            SyscallTable::Fds => {
                first(&report.descriptors, top).0.into_iter().map(|one| csv::descriptor(found, one)).collect()
            }
        }
    }

    fn text(&self, found: &SyscallsAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(self, found, top, out)
    }
}

/// The first `top` of some rows, and how many more there are.
pub(super) fn first<T>(rows: &[T], top: usize) -> (Vec<&T>, usize) {
    let mut rows: Vec<&T> = rows.iter().collect();
    let more = cut(&mut rows, top);
    (rows, more)
}

/// The calls of the recorded machine that take descriptors, and the processes of the recording's tasks.
fn descriptor_calls(input: &QueryInput) -> DescriptorCalls {
    let positions = ArgumentPositions::new("fd");
    let calls = RecordingMachine::of_recording(&input.trace).into_iter().flat_map(RecordingMachine::calls);
    let calls = calls.map(|(number, name)| (number, name, positions.of(name)));
    DescriptorCalls::new(calls, input.processes().iter().copied())
}
