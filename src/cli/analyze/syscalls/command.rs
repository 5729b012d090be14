//! `rtrace analyze syscalls`: its question to the events.

use super::answer::{SyscallsAnswer, notes};
use super::args::{AnalyzeSyscallsArgs, SyscallTable, first};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::RecordingMachine;
use crate::cli::query::QueryInput;
use rtrace::analysis::{DescriptorCalls, Needs, SYSCALL_NEEDS, SyscallReport, SyscallTimes, Syscalls};
use rtrace::export::ArgumentPositions;
use serde_json::Value;
use std::io::Write;

pub(in crate::cli::analyze) fn run(args: &AnalyzeSyscallsArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeSyscallsArgs {
    type Analysis = Syscalls;
    const PURPOSE: &'static str = "syscalls";
    const LACKING: &'static str = "system calls";
    const COLUMNS: &'static str =
        "call,number,calls,failed,total,off_cpu,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu,errors";
    const NEEDS: &'static [Needs] = SYSCALL_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "calls.times.count",
        "calls.failed",
        "calls.times.total",
        "calls.off_cpu",
        "calls.times.mean",
        "calls.times.p50",
        "calls.times.p90",
        "calls.times.p99",
        "calls.times.p99.9",
        "calls.times.max",
        "calls.longest.at",
        "calls.longest.pid",
        "calls.longest.cpu",
        "calls.errors",
    ];

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

    fn lost(report: &SyscallReport) -> bool {
        report.counts.losses > 0
    }

    fn numbers(&self) -> &'static [&'static str] {
        match self.table {
            SyscallTable::Calls => Self::NUMBERS,
            SyscallTable::Tasks => &["", "", "tasks.calls", "tasks.failed", "tasks.time", "tasks.off_cpu"],
            SyscallTable::Fds => FD_NUMBERS,
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

/// The numbers of the table of file descriptors.
const FD_NUMBERS: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    "descriptors.calls",
    "descriptors.failed",
    "descriptors.time",
    "descriptors.off_cpu",
    "descriptors.longest",
];

/// The calls of the recorded machine that take descriptors, and the processes of the recording's tasks.
fn descriptor_calls(input: &QueryInput) -> DescriptorCalls {
    let positions = ArgumentPositions::new("fd");
    let calls = RecordingMachine::of_recording(&input.trace).into_iter().flat_map(RecordingMachine::calls);
    let calls = calls.map(|(number, name)| (number, name, positions.of(name)));
    DescriptorCalls::new(calls, input.processes().iter().copied())
}
