//! `rtrace analyze functions`.

mod found;
mod json;

use super::answers::{self, Question, ShowArgs};
use super::distribution;
use super::table::Table;
use super::tasks::TaskArgs;
use super::words::{cut, many, not_shown};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{CalledFunction, FunctionReport, FunctionTimes};
use rtrace::events::glob_matches;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;

/// Functions of the kernel: how often they were called, and their time, waits and interrupts taken out
///
/// From the tracer function_graph; the time off the CPU from sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only functions of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Order of the functions, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
    /// Own times by call stack, for flame graphs, instead of text; in the clock's unit
    #[arg(long, conflicts_with_all = ["json", "csv", "function", "top"])]
    folded: bool,
}

/// An order of functions.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    /// Net time in none of the functions that it called
    #[default]
    Own,
    /// Net time of all calls together
    Net,
    /// Whole time of all calls together
    Whole,
    /// Number of calls
    Count,
    /// Mean net time
    Mean,
    /// The net time that 99 of 100 calls do not exceed
    P99,
    /// The longest call
    Max,
}

impl Sort {
    fn key(self, function: &CalledFunction) -> u64 {
        match self {
            Sort::Own => function.own,
            Sort::Net => function.net.total(),
            Sort::Whole => function.whole.total(),
            Sort::Count => function.whole.count(),
            Sort::Mean => function.net.distribution().mean(),
            Sort::P99 => function.net.distribution().p99,
            Sort::Max => function.whole.greatest(),
        }
    }
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }

    /// The functions to show, in order, and how many more there are.
    fn rows<'r>(&self, found: &'r Found<'_>, top: usize) -> (Vec<&'r CalledFunction>, usize) {
        let named = |function: &CalledFunction| {
            let name = found.name(function);
            self.function.iter().any(|pattern| glob_matches(pattern, &name))
        };
        let is_shown = |function: &&CalledFunction| self.function.is_empty() || named(function);
        let mut rows: Vec<&CalledFunction> = found.report.functions.iter().filter(is_shown).collect();
        rows.sort_by_cached_key(|function| Reverse(self.sort.key(function)));
        let more = cut(&mut rows, top);
        (rows, more)
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for Args {
    type Analysis = FunctionTimes;
    const PURPOSE: &'static str = "functions";
    const LACKING: &'static str = "whole calls of function_graph";
    const COLUMNS: &'static str = "function,address,calls,whole,asleep,preempted,interrupted,net,own,net_mean,net_p50,net_p90,net_p99,\
         net_p999,net_max,whole_mean,whole_p50,whole_p90,whole_p99,whole_p999,whole_max,max_at,max_pid,max_cpu";

    fn analysis(&self, input: &Input) -> Option<FunctionTimes> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let functions = FunctionTimes::new(formats, input.trace.abi, self.tasks.chosen(input));
        functions.has_events().then_some(functions)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &FunctionReport) -> bool {
        !report.functions.is_empty()
    }

    fn window(report: &FunctionReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &FunctionReport) -> Vec<String> {
        let calls: u64 = report.functions.iter().map(|function| function.whole.count()).sum();
        vec![many(report.functions.len() as u64, "function"), many(calls, "call")]
    }

    fn notes(report: &FunctionReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top).0)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).0.into_iter().map(|function| csv(found, function)).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        if self.folded { folded(found, out) } else { text(self, found, top, out) }
    }

    fn is_bare(&self) -> bool {
        self.folded
    }
}

fn text(args: &Args, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let unit = place.unit;
    let (rows, more) = args.rows(found, top);
    writeln!(out, "\nFunctions: where their time went ({})", unit.long_name())?;
    let heading = ["FUNCTION", "calls", "whole", "asleep", "preempted", "interrupted", "net", "own"];
    let mut table = Table::new(1, heading);
    let off_cpu = |time| if report.has_switches { unit.long(time) } else { "-".to_owned() };
    for function in &rows {
        let mut row = vec![found.name(function), function.whole.count().to_string()];
        row.push(unit.long(function.whole.total()));
        row.extend([off_cpu(function.asleep), off_cpu(function.preempted)]);
        row.extend([function.interrupted, function.net.total(), function.own].map(|time| unit.long(time)));
        table.row(row);
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nNet time of a call, and the longest call as a whole ({})", unit.short_name())?;
    let heading = ["FUNCTION", "calls"].into_iter().chain(distribution::TIMES);
    let mut table = Table::new(1, heading.chain(["longest", "at", "CPU", "TASK"]));
    for function in &rows {
        let mut row = vec![found.name(function), function.net.count().to_string()];
        row.extend(distribution::cells(&function.net.distribution(), unit));
        row.extend(function.longest.into_iter().flat_map(|longest| {
            [unit.short(longest.time), unit.point(longest.at), longest.cpu.0.to_string(), place.task(longest.pid)]
        }));
        table.row(row);
    }
    table.write(out)?;
    not_shown(more, out)?;
    Ok(())
}

/// A line for each call stack; tasks of one name together.
fn folded(found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for folded in &found.report.folded {
        let sum = lines.entry(found.line(folded)).or_default();
        *sum = sum.saturating_add(folded.own);
    }
    for (line, own) in lines {
        writeln!(out, "{line} {own}")?;
    }
    Ok(())
}

/// A function as [`Question::COLUMNS`] has it.
fn csv(found: &Found<'_>, function: &CalledFunction) -> Vec<String> {
    let off_cpu = |time: u64| if found.report.has_switches { time.to_string() } else { String::new() };
    let mut cells = vec![found.name(function), format!("{:#x}", function.address)];
    cells.extend([function.whole.count(), function.whole.total()].map(|number| number.to_string()));
    cells.extend([off_cpu(function.asleep), off_cpu(function.preempted)]);
    cells.extend([function.interrupted, function.net.total(), function.own].map(|number| number.to_string()));
    cells.extend(distribution::csv(&function.net.distribution()));
    cells.extend(distribution::csv(&function.whole.distribution()));
    let longest = function.longest.into_iter();
    cells.extend(longest.flat_map(|one| [one.at.to_string(), one.pid.0.to_string(), one.cpu.0.to_string()]));
    cells
}
