//! `rtrace analyze syscalls`.

mod found;
mod json;

use super::FileArgs;
use super::answers::{self, Finding, Question};
use super::place::Place;
use super::table::Table;
use super::tasks::TaskArgs;
use super::words::{cut, many, not_shown, percent, quoted};
use super::{distribution, errno};
use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::Machine;
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{SyscallTimes, Syscalls};
use rtrace::events::glob_matches;
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// System calls: how many, how long, how many failed and why, and how long their tasks were off the CPU
///
/// From raw_syscalls:sys_enter and sys_exit, or else from the events of the system `syscalls`; the time off the CPU from
/// sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only calls of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    call: Vec<String>,
    /// Number of rows in a table; 0 for all [default: 20; all with --json and --csv]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Order of the calls, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// The calls as comma-separated values instead of text; times in the clock's unit
    #[arg(long, conflicts_with = "json")]
    csv: bool,
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
    fn calls<'r>(&self, found: &'r Found<'_>, top: usize) -> (Vec<&'r SyscallTimes>, usize) {
        let named = |call: &SyscallTimes| self.call.iter().any(|pattern| glob_matches(pattern, &found.name(call)));
        let mut calls: Vec<&SyscallTimes> =
            found.report.calls.iter().filter(|call| self.call.is_empty() || named(call)).collect();
        calls.sort_by_cached_key(|call| Reverse(self.sort.key(call)));
        let more = cut(&mut calls, top);
        (calls, more)
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args, &args.file, args.json, args.csv)
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { top, ..Args::default() }
    }
}

impl Question for Args {
    type Analysis = Syscalls;
    type Found<'e> = Found<'e>;
    const PURPOSE: &'static str = "syscalls";
    const LACKING: &'static str = "system calls";

    fn analysis(&self, input: &Input) -> Option<Syscalls> {
        let syscalls = Syscalls::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        let syscalls = Some(syscalls).filter(Syscalls::has_events)?;
        Some(match self.tasks.chosen(input) {
            Some(callers) => syscalls.of_tasks(callers),
            None => syscalls,
        })
    }

    fn found<'e>(&self, input: &'e Input, place: Place<'e>, report: Finding<Self>) -> Option<Found<'e>> {
        (!report.calls.is_empty()).then(|| Found { place, machine: Machine::of_recording(&input.trace), report })
    }

    fn place<'f>(found: &'f Found<'_>) -> &'f Place<'f> {
        &found.place
    }

    fn document(&self, input: &Input, found: &[Found<'_>]) -> Value {
        let rows = |found| (self.calls(found, self.top.unwrap_or(0)).0, tasks(found, self.top.unwrap_or(0)).0);
        json::document(&input.path, found.iter().map(|found| (found, rows(found))))
    }

    fn csv(&self, found: &[Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
        csv(self, found, out)
    }

    fn text(&self, found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        text(self, found, out)
    }
}

fn tasks<'r>(found: &'r Found<'_>, top: usize) -> (Vec<&'r rtrace::analysis::TaskSyscalls>, usize) {
    let mut tasks: Vec<_> = found.report.tasks.iter().collect();
    let more = cut(&mut tasks, top);
    (tasks, more)
}

fn text(args: &Args, found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let unit = place.unit;
    let (begin, end) = report.window.unwrap_or_default();
    let failed: u64 = report.calls.iter().map(SyscallTimes::failed).sum();
    writeln!(
        out,
        "Window: {} to {}, {} {}; {} of {}; {failed} failed",
        unit.point(begin),
        unit.point(end),
        unit.long(end - begin),
        unit.long_name(),
        many(report.times.count(), "call"),
        many(report.tasks.len() as u64, "task"),
    )?;
    for note in notes(report) {
        writeln!(out, "Note: {note}")?;
    }
    let off = |time: u64, of: u64| if report.has_switches { percent(time, of) } else { "-".to_owned() };

    let (calls, more) = args.calls(found, args.top.unwrap_or(20));
    writeln!(out, "\nCalls (total: {}; others: {})", unit.long_name(), unit.short_name())?;
    let heading = ["CALL", "calls", "failed", "total", "off CPU %"].into_iter().chain(distribution::TIMES);
    let mut table = Table::new(1, heading.chain(["at", "task"]));
    for call in &calls {
        let (times, total) = (call.times.distribution(), call.times.total());
        let mut row = vec![found.name(call), times.count.to_string(), call.failed().to_string()];
        row.extend([unit.long(total), off(call.off_cpu, total)]);
        row.extend(distribution::cells(&times, unit));
        if let Some(longest) = call.longest {
            row.extend([unit.point(longest.at), format!("{} [{}]", found.comm(longest.pid), longest.pid.0)]);
        }
        table.row(row);
    }
    table.write(out)?;
    not_shown(more, out)?;

    if calls.iter().any(|call| call.failed() > 0) {
        writeln!(out, "\nErrors")?;
        let mut table = Table::new(2, ["CALL", "errors"]);
        for call in calls.iter().filter(|call| call.failed() > 0) {
            table.row([found.name(call), errno::list(&call.errors)]);
        }
        table.write(out)?;
    }

    let (tasks, more) = tasks(found, args.top.unwrap_or(20));
    writeln!(out, "\nTasks (total: {})", unit.long_name())?;
    let mut table = Table::new(1, ["TASK", "PID", "calls", "failed", "total", "off CPU %"]);
    for task in tasks {
        table.row([
            found.comm(task.pid),
            task.pid.0.to_string(),
            task.calls.to_string(),
            task.errors.to_string(),
            unit.long(task.time),
            off(task.off_cpu, task.time),
        ]);
    }
    table.write(out)?;
    Ok(not_shown(more, out)?)
}

fn csv(args: &Args, found: &[Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "buffer,call,number,calls,failed,total,off_cpu,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu,errors"
    )?;
    for found in found {
        for call in args.calls(found, args.top.unwrap_or(0)).0 {
            let times = call.times.distribution();
            let mut cells = vec![quoted(found.place.buffer), quoted(&found.name(call)), call.number.to_string()];
            cells.extend([times.count, call.failed(), times.total].map(|number| number.to_string()));
            cells.push(if found.report.has_switches { call.off_cpu.to_string() } else { String::new() });
            cells.extend(distribution::csv(&times));
            let longest = call.longest.map(|longest| (longest.at, longest.pid.0, longest.cpu.0));
            let longest = longest.map(|(at, pid, cpu)| [at.to_string(), pid.to_string(), cpu.to_string()]);
            cells.extend(longest.unwrap_or_default());
            cells.push(quoted(&errno::list(&call.errors)));
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}
