//! `rtrace analyze syscalls`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::membership;
use super::words::{errors, losses, many};
use crate::cli::machine::RecordingMachine;
use crate::cli::query::{QueryInput, none_called};
use rtrace::analysis::{
    DescriptorCalls, DescriptorTimes, Needs, SYSCALL_NEEDS, SyscallReport, SyscallTimes, Syscalls, TaskSyscalls,
};
use rtrace::events::glob_matches;
use rtrace::export::ArgumentPositions;
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::Pid;
use std::cmp::Reverse;

/// System calls: how many, how long, how many failed and why, and how long their tasks were off the CPU
///
/// From raw_syscalls:sys_enter and sys_exit, or else from the events of the system `syscalls`; the time off the CPU from
/// sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeSyscallsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only calls of this name, in the tables of calls and errors; may be a glob and be given several times
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

impl Question for AnalyzeSyscallsArgs {
    type Analysis = Syscalls;
    const PURPOSE: &'static str = "syscalls";
    const LACKING: &'static str = "system calls";
    const NEEDS: &'static [Needs] = SYSCALL_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Syscalls> {
        let syscalls = Syscalls::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        let syscalls = Some(syscalls).filter(Syscalls::has_events)?.with_descriptors(descriptor_calls(input));
        Some(syscalls.of(self.tasks.set(input)))
    }

    fn outline(report: &SyscallReport) -> Option<Outline> {
        let counts = report.counts;
        let failed: u64 = report.calls.iter().map(SyscallTimes::failed).sum();
        let of_tasks = many(report.tasks.len() as u64, "task");
        let entries =
            if counts.unfinished == 1 { "1 entry".to_owned() } else { format!("{} entries", counts.unfinished) };
        let notes = [
            losses(counts.losses, counts.censored, "call"),
            (counts.unfinished > 0).then(|| format!("{entries} without an exit")),
            (counts.without_entry > 0).then(|| format!("{} without an entry", many(counts.without_entry, "exit"))),
            (!report.has_switches).then(|| "no sched_switch is recorded: the time off the CPU is unknown".to_owned()),
        ];
        (!report.calls.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![format!("{} of {of_tasks}", many(report.times.count(), "call")), format!("{failed} failed")],
            lost: counts.losses > 0,
            notes: notes.into_iter().flatten().collect(),
        })
    }

    fn absent(&self, found: &[AnalysisAnswer<'_, SyscallReport>]) -> Option<String> {
        let calls = found.iter().flat_map(|one| one.report.calls.iter().map(|call| one.call(call)));
        none_called("system call", "--call", &self.call, &calls.collect())
    }

    fn answer(&self, found: &AnalysisAnswer<'_, SyscallReport>, top: usize) -> Answer {
        let (report, known) = (&found.report, &found.known());
        let (ms, us) = (found.place.unit.long_name(), found.place.unit.short_name());
        let is = |table| self.table == table;
        let called = |call: &&SyscallTimes| {
            let named = |pattern: &String| glob_matches(pattern, &found.call(call));
            self.call.is_empty() || self.call.iter().any(named)
        };
        let mut of: Vec<&SyscallTimes> = report.calls.iter().filter(called).collect();
        of.sort_by_cached_key(|call| Reverse(self.sort.key(call)));
        let calls = calls().csv(is(SyscallTable::Calls)).grid(rows(found, of), top, known);
        let tasks = tasks().csv(is(SyscallTable::Tasks)).and(membership::known(found)).grid(
            rows(found, &report.tasks),
            top,
            known,
        );
        let fds = descriptors().csv(is(SyscallTable::Fds)).grid(rows(found, &report.descriptors), top, known);
        let all = if self.call.is_empty() { "" } else { "of all calls; " };
        let title = format!("File descriptors ({all}total: {ms}; max: {us})");
        Answer::of([
            facts().grid([report], 0, known).into(),
            calls.part(format!("Calls (total: {ms}; others: {us})")).part_of_some("Errors").into(),
            tasks.part(format!("Tasks ({all}total: {ms})")).into(),
            if report.descriptors.is_empty() { fds } else { fds.part(title) }.into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [facts().definitions(), calls().csv(true).definitions()];
        [tables.concat(), tasks().csv(true).and(membership::all()).definitions(), descriptors().csv(true).definitions()]
            .concat()
    }
}

fn facts<'a>() -> Table<&'a SyscallReport> {
    type Of<'a> = Column<&'a SyscallReport>;
    Table::new(
        "",
        vec![
            Of::new("counts.unfinished", Kind::Count, "Entries without an exit.", |of| of.counts.unfinished.into()),
            Of::new("counts.without_entry", Kind::Count, "Exits without an entry.", |of| {
                of.counts.without_entry.into()
            }),
            Of::new("counts.censored", Kind::Count, "Calls that went on where events were lost.", |of| {
                of.counts.censored.into()
            }),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
            Of::new("times", Kind::Distribution, "Times of all calls.", |of| (&of.times).into()),
        ],
    )
}

/// Time off the CPU, which is unknown without sched_switch.
fn off_cpu<T>(row: &Row<'_, SyscallReport, T>, time: u64, whole: u64) -> Cell {
    if row.found.report.has_switches { Cell::Share(time, whole) } else { Cell::Undefined }
}

type CallRow<'a> = Row<'a, SyscallReport, &'a SyscallTimes>;

fn calls<'a>() -> Table<CallRow<'a>> {
    type Of<'a> = Column<CallRow<'a>>;
    let off = |row: &CallRow<'a>| off_cpu(row, row.of.off_cpu, row.of.times.total());
    let caller = |row: &CallRow<'a>| {
        row.of.longest.first().map(|one| format!("{} [{}]", row.found.caller(one.pid), one.pid.0)).into()
    };
    Table::new(
        "calls",
        vec![
            Of::new("call", Kind::Text, "Name of the call.", |row| row.found.call(row.of).into())
                .text("CALL")
                .csv("call")
                .names_rows(),
            Of::new("number", Kind::Count, "Number of the call.", |row| Cell::Signed(row.of.number)).csv("number"),
            Of::new("times.count", Kind::Count, "Calls with entry and exit.", |row| row.of.times.count().into())
                .text("calls")
                .csv("calls")
                .no_json(),
            Of::new("failed", Kind::Count, "Calls with a result from -4095 to -1.", |row| row.of.failed().into())
                .text("failed")
                .csv("failed"),
            Of::new("times.total", Kind::Sum, "Time from entry to exit, all calls together.", |row| {
                Cell::Time(row.of.times.total())
            })
            .text("total")
            .csv("total")
            .no_json(),
            Of::new("off_cpu", Kind::Share, "Part of it off the CPU; in text in %; unknown without sched_switch.", off)
                .text("off CPU %")
                .csv("off_cpu")
                .minor(1),
            Of::new("times", Kind::Distribution, "Times from entry to exit.", |row| (&row.of.times).into())
                .text("")
                .csv(""),
            Of::new("longest.at", Kind::Point, "Entry of the longest call.", |row| {
                row.of.longest.first().map(|one| Cell::Point(one.at)).into()
            })
            .text("at")
            .csv("max_at")
            .minor(1),
            Of::new("longest.comm", Kind::Text, "Task of the longest call.", caller)
                .text("task")
                .to_left(false)
                .no_json(),
            Of::new("longest.pid", Kind::Count, "Number of its task.", |row| {
                row.of.longest.first().map(|one| one.pid.0).into()
            })
            .csv("max_pid"),
            Of::new("longest.cpu", Kind::Count, "CPU of its exit.", |row| {
                row.of.longest.first().map(|one| one.cpu.0).into()
            })
            .csv("max_cpu"),
            Of::new("longest.time", Kind::Time, "The longest call.", |row| {
                row.of.longest.first().map(|one| Cell::Time(one.time)).into()
            }),
            Of::new("longest.comm", Kind::Text, "Name of its task.", |row| {
                row.of.longest.first().map(|one| row.found.caller(one.pid)).into()
            }),
            Of::new("errors", Kind::Tally, "Failed calls by error.", |row| errors(&row.of.errors))
                .text("errors")
                .csv("errors")
                .in_part(1),
        ],
    )
}

type TaskRow<'a> = Row<'a, SyscallReport, &'a TaskSyscalls>;

fn tasks<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    let comm = |row: &TaskRow<'a>| row.found.caller(row.of.pid).into();
    Table::new(
        "tasks",
        vec![
            Of::new("", Kind::Text, "Name of the task.", comm).text("TASK").no_json(),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.pid.0.into()).text("PID").csv("pid"),
            Of::new("comm", Kind::Text, "Name of the task.", comm).csv("comm"),
            Of::new("calls", Kind::Count, "Calls with entry and exit.", |row| row.of.calls.into())
                .text("calls")
                .csv("calls"),
            Of::new("failed", Kind::Count, "Calls that failed.", |row| row.of.errors.into())
                .text("failed")
                .csv("failed"),
            Of::new("time", Kind::Sum, "Time of all calls together.", |row| Cell::Time(row.of.time))
                .text("total")
                .csv("total"),
            Of::new(
                "off_cpu",
                Kind::Share,
                "Part of it off the CPU; in text in %; unknown without sched_switch.",
                |row| off_cpu(row, row.of.off_cpu, row.of.time),
            )
            .text("off CPU %")
            .csv("off_cpu"),
        ],
    )
}

type FdRow<'a> = Row<'a, SyscallReport, &'a DescriptorTimes>;

fn descriptors<'a>() -> Table<FdRow<'a>> {
    type Of<'a> = Column<FdRow<'a>>;
    /// The file that a descriptor was opened with.
    fn file(row: &FdRow<'_>) -> Option<String> {
        Some(String::from_utf8_lossy(row.of.file.as_deref()?).into_owned())
    }
    let comm = |row: &FdRow<'a>| row.found.caller(row.of.pid).into();
    let off = |row: &FdRow<'a>| off_cpu(row, row.of.off_cpu, row.of.time);
    Table::new(
        "descriptors",
        vec![
            Of::new("", Kind::Text, "Name of the process.", comm).text("PROCESS").no_json(),
            Of::new("pid", Kind::Count, "Number of the process, or of the task if its process is not known.", |row| {
                row.of.pid.0.into()
            })
            .text("PID")
            .csv("pid"),
            Of::new("is_process", Kind::Flag, "False if pid is that of a task.", |row| Cell::Flag(row.of.is_process)),
            Of::new("", Kind::Count, "1 if pid is that of a process.", |row| u64::from(row.of.is_process).into())
                .csv("is_process")
                .no_json(),
            Of::new("comm", Kind::Text, "Name of the process.", comm).csv("comm"),
            Of::new("fd", Kind::Count, "The descriptor.", |row| row.of.fd.into()).text("fd").csv("fd"),
            Of::new("file", Kind::Text, "The path that it was opened with, if that is known.", |row| file(row).into())
                .csv("file"),
            Of::new("calls", Kind::Count, "Calls with this descriptor.", |row| row.of.calls.into())
                .text("calls")
                .csv("calls"),
            Of::new("failed", Kind::Count, "Calls that failed.", |row| row.of.errors.into())
                .text("failed")
                .csv("failed"),
            Of::new("time", Kind::Sum, "Time of all calls together.", |row| Cell::Time(row.of.time))
                .text("total")
                .csv("total"),
            Of::new("off_cpu", Kind::Share, "Part of it off the CPU; in text in %; unknown without sched_switch.", off)
                .text("off CPU %")
                .csv("off_cpu"),
            Of::new("longest", Kind::Time, "The longest call.", |row| Cell::Time(row.of.longest))
                .text("max")
                .csv("max"),
            Of::new("", Kind::Text, "The path that it was opened with.", |row| {
                file(row).map_or(Cell::Undefined, Cell::Text)
            })
            .text("file")
            .no_json(),
        ],
    )
}

impl AnalysisAnswer<'_, SyscallReport> {
    /// The call's name; its number if it has none.
    fn call(&self, call: &SyscallTimes) -> String {
        let known = || RecordingMachine::of_recording(&self.input.trace)?.name(call.number);
        match (&call.name, known()) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => format!("number {}", call.number),
        }
    }

    fn caller(&self, pid: Pid) -> String {
        self.place.comm(pid).unwrap_or_else(|| "?".to_owned())
    }
}

/// The calls of the recorded machine that take descriptors, and the processes of the recording's tasks.
fn descriptor_calls(input: &QueryInput) -> DescriptorCalls {
    let positions = ArgumentPositions::new("fd");
    let calls = RecordingMachine::of_recording(&input.trace).into_iter().flat_map(RecordingMachine::calls);
    let calls = calls.map(|(number, name)| (number, name, positions.of(name)));
    DescriptorCalls::new(calls, input.processes().iter().copied())
}
