//! Arguments of `rtrace analyze osnoise`, and its question to the events.

use super::answer::OsnoiseAnswer;
use super::cpus::{NUMBERS, cells};
use super::json;
use super::text;
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::noise::{self, NoiseView};
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{NOISE_NEEDS, Needs, Osnoise, OsnoiseReport};
use rtrace::units::parse_duration;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// Noise of the operating system, as the tracer osnoise measures it: time available, noises and their causes
///
/// From the tracer's own entries, and the events osnoise:*_noise and osnoise:sample_threshold as far as they are recorded. The
/// longest noise is shown with the interferences in it. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeOsnoiseArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    /// Explain the first noise longer than this, not the longest
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    beyond: Option<Duration>,
}

impl AnalyzeOsnoiseArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeOsnoiseArgs { shown: AnswerArgs::with_top(top), ..AnalyzeOsnoiseArgs::default() }
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeOsnoiseArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeOsnoiseArgs {
    type Analysis = Osnoise;
    const PURPOSE: &'static str = "osnoise";
    const LACKING: &'static str = "samples of osnoise";
    const COLUMNS: &'static str =
        "cpu,periods,runtime_us,noise_us,available_percent,max_noise_us,max_single_us,hw,nmi,irq,softirq,thread";
    const NEEDS: &'static [Needs] = NOISE_NEEDS;
    const NUMBERS: &'static [&'static str] = NUMBERS;

    fn analysis(&self, input: &QueryInput) -> Option<Osnoise> {
        let beyond = self.beyond.map(noise::nanoseconds);
        let osnoise = Osnoise::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, beyond);
        osnoise.has_events().then_some(osnoise)
    }

    fn lost(report: &OsnoiseReport) -> bool {
        report.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn is_answer(report: &OsnoiseReport) -> bool {
        !report.cpus.is_empty()
    }

    fn window(report: &OsnoiseReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &OsnoiseReport) -> Vec<String> {
        let periods = report.cpus.iter().map(|(_, cpu)| cpu.periods).fold(0, u64::saturating_add);
        vec![many(report.cpus.len() as u64, "CPU"), many(periods, "period")]
    }

    fn notes(report: &OsnoiseReport) -> Vec<String> {
        noise::losses(report.losses).into_iter().collect()
    }

    fn json(&self, found: &OsnoiseAnswer<'_>, top: usize) -> Value {
        json::answer(&NoiseView::of(found), top)
    }

    fn csv(&self, found: &OsnoiseAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        let rows = found.report.cpus.iter().take(if top == 0 { usize::MAX } else { top });
        rows.map(|(cpu, of)| std::iter::once(cpu.0.to_string()).chain(cells(of)).collect()).collect()
    }

    fn text(&self, found: &OsnoiseAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(&NoiseView::of(found), self.beyond, top, out)
    }
}
