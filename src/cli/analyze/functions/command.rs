//! `rtrace analyze functions`: its question to the events.

use super::answer::{FunctionsAnswer, notes};
use super::args::AnalyzeFunctionsArgs;
use super::{csv, folded, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{FUNCTION_NEEDS, FunctionReport, FunctionTimes, Needs};
use serde_json::Value;
use std::io::Write;

pub(in crate::cli::analyze) fn run(args: &AnalyzeFunctionsArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeFunctionsArgs {
    type Analysis = FunctionTimes;
    const PURPOSE: &'static str = "functions";
    const LACKING: &'static str = "whole calls of function_graph";
    const COLUMNS: &'static str = "function,address,calls,whole,asleep,preempted,interrupted,net,own,net_mean,net_p50,net_p90,net_p99,\
         net_p999,net_max,whole_mean,whole_p50,whole_p90,whole_p99,whole_p999,whole_max,max_at,max_pid,max_cpu";
    const NEEDS: &'static [Needs] = FUNCTION_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "functions.whole.count",
        "functions.whole.total",
        "functions.asleep",
        "functions.preempted",
        "functions.interrupted",
        "functions.net.total",
        "functions.own",
        "functions.net.mean",
        "functions.net.p50",
        "functions.net.p90",
        "functions.net.p99",
        "functions.net.p99.9",
        "functions.net.max",
        "functions.whole.mean",
        "functions.whole.p50",
        "functions.whole.p90",
        "functions.whole.p99",
        "functions.whole.p99.9",
        "functions.whole.max",
        "functions.longest.at",
        "functions.longest.pid",
        "functions.longest.cpu",
    ];

    fn analysis(&self, input: &QueryInput) -> Option<FunctionTimes> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let functions = FunctionTimes::new(formats, input.trace.abi, self.tasks.chosen(input));
        functions.has_events().then_some(functions)
    }

    fn lost(report: &FunctionReport) -> bool {
        report.counts.losses > 0
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
