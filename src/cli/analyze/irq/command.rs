//! `rtrace analyze irq`: its question to the events.

use super::answer::{IrqAnswer, notes};
use super::args::AnalyzeIrqArgs;
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{IRQ_NEEDS, IrqReport, Irqs, Needs};
use serde_json::Value;
use std::io::Write;

pub(in crate::cli::analyze) fn run(args: &AnalyzeIrqArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeIrqArgs {
    type Analysis = Irqs;
    const PURPOSE: &'static str = "irq";
    const LACKING: &'static str = "interrupts, timers or work items";
    const COLUMNS: &'static str = "kind,handler,id,runs,total,own,mean,p50,p90,p99,p999,max,max_at,max_cpu,delays,delay_mean,\
         delay_p50,delay_p90,delay_p99,delay_p999,delay_max";
    const NEEDS: &'static [Needs] = IRQ_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "",
        "handlers.times.count",
        "handlers.times.total",
        "handlers.own",
        "handlers.times.mean",
        "handlers.times.p50",
        "handlers.times.p90",
        "handlers.times.p99",
        "handlers.times.p99.9",
        "handlers.times.max",
        "handlers.longest.at",
        "handlers.longest.cpu",
        "handlers.delays.count",
        "handlers.delays.mean",
        "handlers.delays.p50",
        "handlers.delays.p90",
        "handlers.delays.p99",
        "handlers.delays.p99.9",
        "handlers.delays.max",
    ];

    fn analysis(&self, input: &QueryInput) -> Option<Irqs> {
        let irqs = Irqs::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        irqs.has_events().then_some(irqs)
    }

    fn lost(report: &IrqReport) -> bool {
        report.counts.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn is_answer(report: &IrqReport) -> bool {
        !report.sources.is_empty()
    }

    fn window(report: &IrqReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &IrqReport) -> Vec<String> {
        let runs: u64 = report.sources.iter().map(|source| source.times.count()).sum();
        vec![many(report.sources.len() as u64, "handler"), many(runs, "run")]
    }

    fn notes(report: &IrqReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &IrqAnswer<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top).0)
    }

    fn csv(&self, found: &IrqAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).0.into_iter().map(|source| csv::row(found, source)).collect()
    }

    fn text(&self, found: &IrqAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(self, found, top, out)
    }
}
