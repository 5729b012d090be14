//! Arguments of `rtrace analyze irq`, and its question to the events.

use super::answer::{IrqAnswer, notes};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{IrqReport, IrqSource, Irqs};
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// Interrupts, soft interrupts, timers and work items: how long they ran, and how long they were waited for
///
/// From the events irq:*, irq_vectors:*_entry and *_exit, timer:timer_expire_*, timer:hrtimer_expire_* and
/// workqueue:workqueue_execute_*, as far as they are recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeIrqArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    /// Only handlers of these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = ["irq", "vector", "softirq", "tasklet", "timer", "hrtimer", "work"])]
    kind: Vec<String>,
    /// Order of the handlers, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: IrqSort,
}

/// An order of handlers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IrqSort {
    /// Own time
    #[default]
    Own,
    /// Number of runs
    Count,
    /// The longest run
    Max,
    /// The longest delay
    MaxDelay,
}

impl AnalyzeIrqArgs {
    /// The handlers to show, in order, and how many more there are.
    pub(super) fn rows<'r>(&self, found: &'r IrqAnswer<'_>, top: usize) -> (Vec<&'r IrqSource>, usize) {
        let is_shown =
            |source: &&IrqSource| self.kind.is_empty() || self.kind.iter().any(|one| one == source.kind.name());
        let mut rows: Vec<&IrqSource> = found.report.sources.iter().filter(is_shown).collect();
        rows.sort_by_cached_key(|source| {
            Reverse(match self.sort {
                IrqSort::Own => source.own,
                IrqSort::Count => source.times.count(),
                IrqSort::Max => source.times.distribution().greatest,
                IrqSort::MaxDelay => source.delays.distribution().greatest,
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeIrqArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl AnalyzeIrqArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeIrqArgs { shown: AnswerArgs::with_top(top), ..AnalyzeIrqArgs::default() }
    }
}

impl Question for AnalyzeIrqArgs {
    type Analysis = Irqs;
    const PURPOSE: &'static str = "irq";
    const LACKING: &'static str = "interrupts, timers or work items";
    const COLUMNS: &'static str = "kind,handler,id,runs,total,own,mean,p50,p90,p99,p999,max,max_at,max_cpu,delays,delay_mean,\
         delay_p50,delay_p90,delay_p99,delay_p999,delay_max";

    fn analysis(&self, input: &QueryInput) -> Option<Irqs> {
        let irqs = Irqs::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        irqs.has_events().then_some(irqs)
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
