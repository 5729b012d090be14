//! Arguments of `rtrace analyze syscalls`, and its question to the events.

use super::answer::{Found, notes};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, Question, ShowArgs};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::Machine;
use crate::cli::query::Input;
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
pub(in crate::cli::analyze) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only calls of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    call: Vec<String>,
    /// Order of the calls, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
    /// Table that --csv prints
    #[arg(long, value_enum, value_name = "TABLE", default_value_t, requires = "csv")]
    table: Rows,
}

/// A table of the answer.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rows {
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
enum Sort {
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

impl Sort {
    fn key(self, call: &SyscallTimes) -> u64 {
        let times = || call.times.distribution();
        match self {
            Sort::Total => call.times.total(),
            Sort::Count => call.times.count(),
            Sort::Mean => times().mean(),
            Sort::P99 => times().p99,
            Sort::Max => times().greatest,
            Sort::Errors => call.failed(),
            Sort::OffCpu => call.off_cpu,
        }
    }
}

impl Args {
    /// The calls to show, in order, and how many more there are.
    pub(super) fn calls<'r>(&self, found: &'r Found<'_>, top: usize) -> (Vec<&'r SyscallTimes>, usize) {
        let named = |call: &SyscallTimes| self.call.iter().any(|pattern| glob_matches(pattern, &found.name(call)));
        let mut calls: Vec<&SyscallTimes> =
            found.report.calls.iter().filter(|call| self.call.is_empty() || named(call)).collect();
        calls.sort_by_cached_key(|call| Reverse(self.sort.key(call)));
        let more = cut(&mut calls, top);
        (calls, more)
    }
}

pub(in crate::cli::analyze) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }
}

impl Question for Args {
    type Analysis = Syscalls;
    const PURPOSE: &'static str = "syscalls";
    const LACKING: &'static str = "system calls";
    const COLUMNS: &'static str =
        "call,number,calls,failed,total,off_cpu,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu,errors";

    fn analysis(&self, input: &Input) -> Option<Syscalls> {
        let syscalls = Syscalls::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        let syscalls = Some(syscalls).filter(Syscalls::has_events)?.with_descriptors(descriptor_calls(input));
        Some(match self.tasks.chosen(input) {
            Some(callers) => syscalls.of_tasks(callers),
            None => syscalls,
        })
    }

    fn columns(&self) -> &'static str {
        match self.table {
            Rows::Calls => Self::COLUMNS,
            Rows::Tasks => "pid,comm,calls,failed,total,off_cpu",
            Rows::Fds => "pid,is_process,comm,fd,file,calls,failed,total,off_cpu,max",
        }
    }

    fn shown(&self) -> &ShowArgs {
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

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        let Found { report, .. } = found;
        let rows = (self.calls(found, top).0, first(&report.tasks, top).0, first(&report.descriptors, top).0);
        json::answer(found, &rows)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        let Found { report, .. } = found;
        match self.table {
            Rows::Calls => self.calls(found, top).0.into_iter().map(|call| csv::call(found, call)).collect(),
            Rows::Tasks => first(&report.tasks, top).0.into_iter().map(|task| csv::task(found, task)).collect(),
            Rows::Fds => first(&report.descriptors, top).0.into_iter().map(|one| csv::descriptor(found, one)).collect(),
        }
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
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
fn descriptor_calls(input: &Input) -> DescriptorCalls {
    let positions = ArgumentPositions::new("fd");
    let calls = Machine::of_recording(&input.trace).into_iter().flat_map(Machine::calls);
    let calls = calls.map(|(number, name)| (number, name, positions.of(name)));
    DescriptorCalls::new(calls, input.processes().iter().copied())
}
