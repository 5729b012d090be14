//! Arguments of comparisons.
//! The metrics of a comparison for which none were chosen.

use crate::cli::exit::Failure;
use crate::cli::query::WindowArgs;
use crate::cli::terminal::{Color, PagerArgs};
use anyhow::anyhow;
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::{CompareOptions, SavedRun, SavedRuns};
use std::collections::BTreeSet;
use std::num::NonZero;

/// The part of each recording that counts.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli) struct PartArgs {
    #[command(flatten)]
    pub(in crate::cli) window: WindowArgs,
    /// Buffer to look at, if several hold events; the empty name for the top buffer
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) buffer: Option<String>,
    /// Number of threads; the output is the same for any number [default: one per CPU]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) threads: Option<NonZero<usize>>,
}

/// Metrics to compare, and the gate.
#[derive(clap::Args, Clone)]
pub(in crate::cli) struct CompareArgs {
    /// Quantity to compare, in the language of assertions, instead of the default ones; more of it is worse
    #[arg(short, long, value_name = "QUANTITY", value_parser = metric)]
    metric: Vec<Metric>,
    /// The same, of which more is better
    #[arg(long, value_name = "QUANTITY", value_parser = metric)]
    more_is_better: Vec<Metric>,
    /// Compare as if this quantity, which the machine moves and the change does not, were the same in all runs
    ///
    /// As the time of a fixed piece of work: `trimmed(syscall(getppid))`.
    #[arg(long, value_name = "QUANTITY", value_parser = metric)]
    adjust_for: Option<Metric>,
    /// Least change that counts
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    min_effect: f64,
    /// Probability that no metric is wrongly called better or worse, all together
    #[arg(long, value_name = "PERCENT", default_value = "99%", value_parser = share)]
    confidence: f64,
    /// Standard deviation between runs of one thing, for sides of less than five runs, which say nothing of it; 0% compares
    /// these recordings alone, as if no two runs differed
    #[arg(long, value_name = "PERCENT", value_parser = share_or_none)]
    run_spread: Option<f64>,
    /// Runs are pairs, recorded one after the other
    ///
    /// The first of each side, the second of each, and so on.
    #[arg(long)]
    paired: bool,
    /// End with 0 where a metric is indeterminate and none is worse
    #[arg(long)]
    pub(super) allow_indeterminate: bool,
    /// Seed of the resampling
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    seed: u64,
    /// Number of resamples
    #[arg(long, value_name = "N", default_value_t = 1000, hide_short_help = true, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    resamples: u32,
    /// One JSON document instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Markdown instead of text, for a pull request
    #[arg(long, conflicts_with = "json")]
    pub(super) markdown: bool,
    /// All columns, also where the terminal is too narrow for them
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(super) wide: bool,
    /// Colour the verdicts of the text
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_short_help = true)]
    pub(super) color: Color,
    #[command(flatten)]
    pub(super) pager: PagerArgs,
    #[command(flatten)]
    pub(super) part: PartArgs,
}

/// The outcome that ends with 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum FailOn {
    /// A metric is worse
    Worse,
    /// A metric is better or worse
    Change,
    /// None
    Never,
}

impl FailOn {
    pub(super) fn name(self) -> &'static str {
        match self {
            FailOn::Worse => "worse",
            FailOn::Change => "change",
            FailOn::Never => "never",
        }
    }
}

impl CompareArgs {
    /// The metrics asked for, each with true if more of it is better.
    pub(super) fn metrics(&self) -> Vec<(Metric, bool)> {
        let (less, more) =
            (self.metric.iter().map(|one| (one, false)), self.more_is_better.iter().map(|one| (one, true)));
        less.chain(more).map(|(metric, more)| (metric.clone(), more)).collect()
    }

    /// The metric that runs are adjusted for.
    pub(super) fn adjust_for(&self) -> Option<&Metric> {
        self.adjust_for.as_ref()
    }

    pub(super) fn options(&self) -> CompareOptions {
        let CompareArgs { min_effect, confidence, run_spread, paired, seed, resamples, .. } = *self;
        CompareOptions { min_effect, confidence, run_spread, paired, seed, resamples }
    }
}

/// A metric; its errors show the place.
pub(in crate::cli) fn metric(text: &str) -> Result<Metric, String> {
    Metric::parse(text).map_err(|error| {
        let hints: String = error.hints().iter().map(|hint| format!("\n  Hint: {hint}")).collect();
        format!("\n{error}{hints}")
    })
}

/// The same, or 0.
fn share_or_none(text: &str) -> Result<f64, String> {
    if matches!(text, "0" | "0%") { Ok(0.0) } else { share(text) }
}

/// `5%` or `0.05`, between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    let (digits, factor) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 0.01));
    match digits.trim().parse::<f64>() {
        Ok(number) if number * factor > 0.0 && number * factor < 1.0 => Ok(number * factor),
        _ => Err("a share between 0 and 1 is wanted, as 5% or 0.05".to_owned()),
    }
}

/// Least number of samples on one side for a duration to be chosen: ten of them lie above its p99.
const LEAST: u64 = 1000;

/// The metrics that a summary was made for.
pub(super) fn named_metrics(runs: &SavedRuns) -> Result<Vec<Metric>, Failure> {
    let texts: BTreeSet<&String> = runs.runs.iter().flat_map(|run| &run.metrics).collect();
    let parsed = texts.into_iter().map(|text| Metric::parse(text));
    Ok(parsed.collect::<Result<_, _>>().map_err(|error| anyhow!("a metric of the summary: {error}"))?)
}

/// Metrics, each with true if more of it is better; and the names of those that were left out.
type Chosen = (Vec<(Metric, bool)>, Vec<String>);

/// The metrics asked for, or those that the base was saved with and those of all series that both sides have; and those of the
/// latter that are too rare on both.
pub(super) fn chosen(asked: &[(Metric, bool)], base: &SavedRuns, new: &SavedRuns) -> Result<Chosen, Failure> {
    if !asked.is_empty() {
        return Ok((asked.to_vec(), Vec::new()));
    }
    let runs = || base.runs.iter().chain(&new.runs);
    let named = named_metrics(base)?;
    let is_named = |text: &String| named.iter().any(|metric| metric.to_string() == *text);
    let names: BTreeSet<&String> = runs().flat_map(|run| run.series.keys()).collect();
    let mut metrics: Vec<(Metric, bool)> = named.iter().map(|metric| (metric.clone(), false)).collect();
    let mut left_out = Vec::new();
    for name in names {
        // The most of each side: a series that one side has in plenty, and the other has not, is to be seen.
        let most = |runs: &[SavedRun]| {
            runs.iter().filter_map(|run| run.series.get(name)).map(|series| series.total()).max().unwrap_or(0)
        };
        let is_enough = name == "busy" || most(&base.runs).max(most(&new.runs)) >= LEAST;
        for text in of_series(name).into_iter().filter(|text| !is_named(text)) {
            if is_enough {
                let metric = Metric::parse(&text).map_err(|error| anyhow!("a series of the summary: {error}"))?;
                metrics.push((metric, false));
            } else {
                left_out.push(text);
            }
        }
    }
    Ok((metrics, left_out))
}

/// The metrics of a series.
fn of_series(name: &str) -> Vec<String> {
    let reduced = |reducers: &[&str]| reducers.iter().map(|reducer| format!("{reducer}({name})")).collect();
    match name {
        "busy" => vec!["busy".to_owned()],
        "wait()" => reduced(&["mean", "p50", "p99"]),
        "preempted()" => reduced(&["mean"]),
        name if name.starts_with("errors(") => vec![name.to_owned()],
        name if name.starts_with("run(") => vec![format!("{name} / duration")],
        name => match name.strip_prefix("count(") {
            Some(events) => vec![format!("rate({events}")],
            None => reduced(&["mean", "p99"]),
        },
    }
}
