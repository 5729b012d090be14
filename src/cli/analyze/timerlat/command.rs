//! Arguments of `rtrace analyze timerlat`, and its question to the events.

use super::answer::TimerlatAnswer;
use super::contexts::{NUMBERS, contexts};
use super::{json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::distribution;
use crate::cli::analyze::noise::{self, NoiseView};
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{Durations, NOISE_NEEDS, Needs, Timerlat, TimerlatReport};
use rtrace::units::parse_duration;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// Latencies of timers and the threads that they wake, as the tracer timerlat measures them, and the parts of one of them
///
/// From the tracer's own entries, and the events osnoise:*_noise as far as they are recorded. The sample whose thread was latest
/// is taken apart. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeTimerlatArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    /// Take the first sample apart whose thread was later than this, not the latest
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    beyond: Option<Duration>,
}

impl AnalyzeTimerlatArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeTimerlatArgs { shown: AnswerArgs::with_top(top), ..AnalyzeTimerlatArgs::default() }
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeTimerlatArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeTimerlatArgs {
    type Analysis = Timerlat;
    const PURPOSE: &'static str = "timerlat";
    const LACKING: &'static str = "samples of timerlat";
    const COLUMNS: &'static str = "cpu,context,samples,last,min,mean,p50,p90,p99,p999,max";
    const NEEDS: &'static [Needs] = NOISE_NEEDS;
    const NUMBERS: &'static [&'static str] = NUMBERS;

    fn analysis(&self, input: &QueryInput) -> Option<Timerlat> {
        let beyond = self.beyond.map(noise::nanoseconds);
        let timerlat = Timerlat::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, beyond);
        timerlat.has_events().then_some(timerlat)
    }

    fn lost(report: &TimerlatReport) -> bool {
        report.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn is_answer(report: &TimerlatReport) -> bool {
        !report.cpus.is_empty()
    }

    fn window(report: &TimerlatReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &TimerlatReport) -> Vec<String> {
        let samples = report.cpus.iter().map(|(_, cpu)| cpu.irq.count()).fold(0, u64::saturating_add);
        vec![many(report.cpus.len() as u64, "CPU"), many(samples, "sample")]
    }

    fn notes(report: &TimerlatReport) -> Vec<String> {
        let unfinished = report.cpus.iter().map(|(_, cpu)| cpu.unfinished).fold(0, u64::saturating_add);
        let samples = many(unfinished, "sample");
        let unfinished = (unfinished > 0).then(|| format!("{samples} without the thread's part"));
        noise::losses(report.losses).into_iter().chain(unfinished).collect()
    }

    fn json(&self, found: &TimerlatAnswer<'_>, top: usize) -> Value {
        json::answer(&NoiseView::of(found), top)
    }

    fn csv(&self, found: &TimerlatAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        let rows = found.report.cpus.iter().take(if top == 0 { usize::MAX } else { top });
        let cells = |(cpu, context, times, last): (u32, &str, &Durations, Option<u64>)| {
            let times = times.distribution();
            let start = [cpu.to_string(), context.to_owned(), times.count.to_string()];
            let numbers = [last.unwrap_or(0).to_string(), times.least.to_string()];
            start.into_iter().chain(numbers).chain(distribution::csv(&times)).collect()
        };
        rows.flat_map(|(cpu, of)| contexts(of).map(|(context, times, last)| (cpu.0, context, times, last)))
            .map(cells)
            .collect()
    }

    fn text(&self, found: &TimerlatAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(&NoiseView::of(found), self.beyond, top, out)
    }
}
