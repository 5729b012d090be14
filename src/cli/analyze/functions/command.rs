//! Arguments of `rtrace analyze functions`, and its question to the events.

use super::answer::{FunctionsAnswer, notes};
use super::{csv, folded, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{CalledFunction, FunctionReport, FunctionTimes};
use rtrace::events::glob_matches;
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// Functions of the kernel: how often they were called, and their time, waits and interrupts taken out
///
/// From the tracer function_graph; the time off the CPU from sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeFunctionsArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only functions of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Order of the functions, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: CalledFunctionSort,
    /// Own times by call stack, for flame graphs, instead of text; in the clock's unit
    #[arg(long, conflicts_with_all = ["json", "csv", "function", "top"])]
    folded: bool,
}

/// An order of functions.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CalledFunctionSort {
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

impl CalledFunctionSort {
    fn key(self, function: &CalledFunction) -> u64 {
        match self {
            CalledFunctionSort::Own => function.own,
            CalledFunctionSort::Net => function.net.total(),
            CalledFunctionSort::Whole => function.whole.total(),
            CalledFunctionSort::Count => function.whole.count(),
            CalledFunctionSort::Mean => function.net.distribution().mean(),
            CalledFunctionSort::P99 => function.net.distribution().p99,
            CalledFunctionSort::Max => function.whole.greatest(),
        }
    }
}

impl AnalyzeFunctionsArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeFunctionsArgs { shown: AnswerArgs::with_top(top), ..AnalyzeFunctionsArgs::default() }
    }

    /// The functions to show, in order, and how many more there are.
    pub(super) fn rows<'r>(&self, found: &'r FunctionsAnswer<'_>, top: usize) -> (Vec<&'r CalledFunction>, usize) {
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

pub(in crate::cli::analyze) fn run(args: &AnalyzeFunctionsArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeFunctionsArgs {
    type Analysis = FunctionTimes;
    const PURPOSE: &'static str = "functions";
    const LACKING: &'static str = "whole calls of function_graph";
    const COLUMNS: &'static str = "function,address,calls,whole,asleep,preempted,interrupted,net,own,net_mean,net_p50,net_p90,net_p99,\
         net_p999,net_max,whole_mean,whole_p50,whole_p90,whole_p99,whole_p999,whole_max,max_at,max_pid,max_cpu";

    fn analysis(&self, input: &QueryInput) -> Option<FunctionTimes> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let functions = FunctionTimes::new(formats, input.trace.abi, self.tasks.chosen(input));
        functions.has_events().then_some(functions)
    }

    fn shown(&self) -> &AnswerArgs {
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

    fn json(&self, found: &FunctionsAnswer<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top).0)
    }

    fn csv(&self, found: &FunctionsAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).0.into_iter().map(|function| csv::row(found, function)).collect()
    }

    fn text(&self, found: &FunctionsAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        if self.folded { folded::write(found, out) } else { text::write(self, found, top, out) }
    }

    fn is_bare(&self) -> bool {
        self.folded
    }
}
