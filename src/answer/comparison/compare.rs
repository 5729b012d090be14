//! Two summaries compared by metrics.

use super::comparability::{Comparability, Reach, SetAside, agree, median, split};
use super::judged::{ChangeVerdict, Compared};
use super::runs::{Adjusted, Difference, Method, adjusted, by_pairs, by_runs};
use super::side::{CompareOptions, bootstrap, bounds, least_samples, samples, values};
use super::statistics::holm;
use super::summary::{SavedRun, SavedRuns};
use crate::answer::assertion::{Dimension, Interval, Metric, Quantity, Reducer};
use serde::Serialize;

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Aspects that the sides have in common.
    pub comparability: Comparability,
    /// Runs that no metric is of.
    pub set_aside: Vec<SetAside>,
    /// The metrics, in the order given.
    pub metrics: Vec<Compared>,
}

/// The difference of a metric, and how much less and more it may be for what is missing, in logarithms.
struct MetricDifference {
    difference: Difference,
    slack: Slack,
}

/// Bounds of a difference below and above the one that was found, in logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slack {
    less: f64,
    more: f64,
}

/// A quantity that runs are adjusted for, and its values in the runs of both sides.
struct Adjustment<'m> {
    metric: &'m Metric,
    values: Option<[Vec<f64>; 2]>,
}

/// Compares the sides by `metrics`, each with true if more of it is better; as if `adjust_for`, which the change does not touch,
/// were the same in all runs.
pub fn compare(
    base: &SavedRuns,
    new: &SavedRuns,
    metrics: &[(Metric, bool)],
    adjust_for: Option<&Metric>,
    options: &CompareOptions,
) -> Comparison {
    let (sides, set_aside) = split([&base.runs, &new.runs], options.paired);
    let comparability = Comparability::of(&sides[0], &sides[1]);
    let adjustment = adjust_for.map(|metric| {
        let logs = [0, 1].map(|side| values(metric, &sides[side]).into_iter().collect::<Option<Vec<f64>>>());
        let [base, new] = logs;
        Adjustment { metric, values: base.zip(new).map(|(base, new)| [base, new]) }
    });
    let mut compared = Vec::new();
    let mut measured = Vec::new();
    for (metric, more_is_better) in metrics {
        let runs = [0, 1].map(|side| values(metric, &sides[side]));
        let mut found = Compared {
            metric: metric.text.clone(),
            verdict: ChangeVerdict::Indeterminate,
            more_is_better: *more_is_better,
            base: value(&runs[0]),
            new: value(&runs[1]),
            change: None,
            interval: None,
            p: None,
            p_holm: None,
            difference: None,
            reach: None,
            samples: [0, 1].map(|side| Some(samples(metric, &sides[side])).filter(|samples| *samples != u64::MAX)),
            reasons: Vec::new(),
            runs,
        };
        found.change = found.base.zip(found.new).map(|(base, new)| new / base - 1.0);
        let outcome = match comparability.possible {
            true => measure(metric, &sides, adjustment.as_ref(), &mut found, options),
            false => Err("the sides cannot be compared".to_owned()),
        };
        measured.push(outcome.map_err(|reason| found.reasons.push(reason)).ok());
        compared.push(found);
    }
    judge(&mut compared, &measured, options);
    Comparison { comparability, set_aside, metrics: compared }
}

/// The geometric mean of the runs' values, if each has one: of one run its value.
fn value(runs: &[Option<f64>]) -> Option<f64> {
    let logs: Option<Vec<f64>> = runs.iter().map(|value| value.map(f64::ln)).collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    match (logs.len(), runs.first()) {
        (1, Some(value)) => *value,
        _ => Some((logs.iter().sum::<f64>() / logs.len() as f64).exp()),
    }
}

fn measure(
    metric: &Metric,
    sides: &[Vec<&SavedRun>; 2],
    adjustment: Option<&Adjustment<'_>>,
    found: &mut Compared,
    options: &CompareOptions,
) -> Result<MetricDifference, String> {
    let lengths = [0, 1].map(|side: usize| median(sides[side].iter().copied()));
    if metric.grows_with_time() && !agree(lengths[0], lengths[1]) {
        let [base, new] = lengths.map(|length| Interval::exactly(length as f64, Dimension::Time));
        let of_time = "what adds up over time says nothing of sides of other lengths";
        return Err(format!("{of_time}: {base} and {new}; compare it by `/ duration`, or a rate"));
    }
    let (mut slack, mut lacking) = (Slack::default(), None);
    for (side, word) in [(0, "base"), (1, "new")] {
        for name in metric.quantities().iter().filter_map(|quantity| quantity.series()) {
            if let Some(run) = sides[side].iter().find(|run| !run.series.contains_key(&name)) {
                let why = run.missing.get(&name).cloned();
                let why = why.unwrap_or_else(|| {
                    format!("it has no {name}: it was not recorded, is too rare, or was not saved (`--metric`)")
                });
                return Err(format!("{word}: {}: {why}", run.file));
            }
        }
        let lost = losses(metric, &sides[side]).map_err(|why| format!("{word}: {why}"))?;
        if lost > 0.0 {
            found.reasons.push(format!("{word}: events were lost, which widens the interval"));
        }
        // As much more of the base is as much less of a change.
        *(if side == 0 { &mut slack.less } else { &mut slack.more }) += lost;
        if let Some(why) = ends(metric, &sides[side]) {
            lacking.get_or_insert(format!("{word}: {why}"));
        }
        let (count, least) = (found.samples[side].unwrap_or(u64::MAX), least_samples(metric));
        if count < least {
            return Err(format!("{word}: there are {count} samples; {least} are needed"));
        }
    }
    if options.paired && (sides[0].len() != sides[1].len() || sides[0].len() < SavedRuns::RUNS) {
        return Err(format!("pairs need as many runs on both sides, and {} at least", SavedRuns::RUNS));
    }
    if sides.iter().any(|side| side.len() >= SavedRuns::RUNS) {
        let logs = [0, 1].map(|side| found.runs[side].iter().copied().collect::<Option<Vec<f64>>>());
        let [Some(base), Some(new)] = logs else { return Err("it is 0, or has no value, in a run".to_owned()) };
        let known = [base.clone(), new.clone()];
        let by = if options.paired { by_pairs } else { by_runs };
        let (difference, [base, new]) = match adjustment.filter(|one| one.metric.text != metric.text) {
            None => by(&base, &new),
            Some(Adjustment { metric, values: None }) => return Err(format!("{metric} has no value in a run")),
            Some(Adjustment { values: Some(x), .. }) => {
                let Adjusted { values, slope, inflation } = adjusted([&base, &new], [&x[0], &x[1]], options.paired);
                let (difference, shown) = by(&values[0], &values[1]);
                (difference.adjusted(slope, inflation), shown)
            }
        };
        (found.base, found.new) = (Some(base), Some(new));
        if let Some(why) = lacking {
            let [base, new] = [0, 1].map(|side: usize| sides[side].iter().map(|run| bounds(metric, &[run])).collect());
            let as_found = by(&known[0], &known[1]).0.change;
            slack.widen(base, new, as_found, |base, new| by(base, new).0.change).ok_or_else(|| why.clone())?;
            found.reasons.push(format!("{why}, which widens the interval"));
        }
        return Ok(MetricDifference { difference, slack });
    }
    if let Some(Adjustment { metric, .. }) = adjustment {
        return Err(format!("only {} runs or more on a side can be adjusted for {metric}", SavedRuns::RUNS));
    }
    if metric.quantities().iter().all(|quantity| matches!(quantity, Quantity::Duration)) {
        return Err(format!("only {} runs or more on a side say how it varies", SavedRuns::RUNS));
    }
    if metric.quantities().iter().any(|quantity| quantity.is_extreme()) {
        let runs = SavedRuns::RUNS;
        return Err(format!("an extreme occurs once in a run: only {runs} runs or more on a side say how it varies"));
    }
    let [base, new] = [(0, "base"), (1, "new")]
        .map(|(side, word)| bootstrap(metric, &sides[side], options, word).map_err(|why| format!("{word}: {why}")));
    let (base, new) = (base?, new?);
    if let Some(why) = lacking {
        let [bounds_of_base, bounds_of_new] =
            [0, 1].map(|side: usize| bounds(metric, &sides[side]).map(|one| vec![one]));
        let change = |base: &[f64], new: &[f64]| (new[0] / base[0]).ln();
        slack
            .widen(bounds_of_base, bounds_of_new, change(&[base.value], &[new.value]), change)
            .ok_or_else(|| why.clone())?;
        found.reasons.push(format!("{why}, which widens the interval"));
    }
    (found.base, found.new) = (Some(base.value), Some(new.value));
    found.change = Some(new.value / base.value - 1.0);
    let spread = |side: usize| options.run_spread.unwrap_or(0.0).powi(2) / sides[side].len() as f64;
    let (one, other) = (base.error.powi(2) + spread(0), new.error.powi(2) + spread(1));
    let freedom = (one + other).powi(2) / (one * one / base.freedom + other * other / new.freedom);
    let [of_base, of_new] = [0, 1].map(|side: usize| sides[side].len() as f64);
    Ok(MetricDifference {
        difference: Difference {
            change: (new.value / base.value).ln(),
            error: (one + other).sqrt(),
            freedom: if freedom.is_finite() { freedom } else { base.freedom + new.freedom },
            spread: (one * of_base + other * of_new).sqrt(),
            runs: (of_base + of_new) / 2.0,
            method: Method::Blocks,
            slope: None,
            blocks: [Some(base.block), Some(new.block)],
        },
        slack,
    })
}

/// By how much the value may be greater for lost events, in logarithms.
///
/// # Errors
/// Why nothing is known.
fn losses(metric: &Metric, runs: &[&SavedRun]) -> Result<f64, String> {
    let (mut lost, mut seen) = (0u64, 0u64);
    let quantities = metric.quantities();
    let is_count = matches!(quantities[..], [Quantity::Count(_) | Quantity::Rate(_)]);
    for run in runs {
        if run.has_losses() && (!is_count || run.gaps > 0 || run.damaged > 0) {
            return Err(match run.damaged {
                0 => format!("{}: events were lost", run.file),
                _ => format!("{}: the file is damaged", run.file),
            });
        }
        lost = lost.saturating_add(run.lost.max(run.dropped));
        for series in quantities.iter().filter_map(|quantity| run.series.get(&quantity.series()?)) {
            seen = seen.saturating_add(series.total());
        }
    }
    Ok(if lost > 0 { (lost as f64 / seen.max(1) as f64).ln_1p() } else { 0.0 })
}

/// Says that more durations lack one end than a metric bears without being wider for it.
fn ends(metric: &Metric, runs: &[&SavedRun]) -> Option<String> {
    let quantities = metric.quantities();
    let (mut missing, mut total) = (0u64, 0u64);
    for run in runs {
        for series in quantities.iter().filter_map(|quantity| run.series.get(&quantity.series()?)) {
            missing = missing.saturating_add(series.missing);
            total = total.saturating_add(series.total()).saturating_add(series.missing);
        }
    }
    let allowed = quantities.iter().map(|quantity| missing_allowed(quantity)).fold(1.0, f64::min);
    (missing as f64 > total as f64 * allowed)
        .then(|| format!("{missing} of {total} durations lack one end: an event is missing"))
}

/// The least and the greatest value of each run, if they are known.
type Bounds = Option<Vec<(f64, f64)>>;

impl Slack {
    /// Adds what durations that lack an end leave open: `change` gives the difference of two sides, in logarithms, which was found to be
    /// `as_found`. `None` if nothing bounds a value.
    fn widen(
        &mut self,
        base: Bounds,
        new: Bounds,
        as_found: f64,
        change: impl Fn(&[f64], &[f64]) -> f64,
    ) -> Option<()> {
        let (base, new) = (base?, new?);
        let (least_base, most_base): (Vec<f64>, Vec<f64>) = base.into_iter().unzip();
        let (least_new, most_new): (Vec<f64>, Vec<f64>) = new.into_iter().unzip();
        self.less += (as_found - change(&most_base, &least_new)).max(0.0);
        self.more += (change(&least_base, &most_new) - as_found).max(0.0);
        Some(())
    }
}

/// The share of durations that may lack one end: none of an extreme, which may be among them, a tenth of those beyond a
/// quantile, a hundredth of anything else.
fn missing_allowed(quantity: &Quantity) -> f64 {
    match quantity {
        Quantity::Reduced(Reducer::Quantile(percent), _) => (100.0 - percent).min(*percent) / 1000.0,
        quantity if quantity.is_extreme() => 0.0,
        _ => 0.01,
    }
}

/// Gives all metrics that were measured their probabilities, intervals and verdicts.
fn judge(compared: &mut [Compared], measured: &[Option<MetricDifference>], options: &CompareOptions) {
    let certain = |one: &MetricDifference| {
        // The part of the change that what is missing cannot have made.
        let (change, slack) = (one.difference.change, one.slack);
        if change > 0.0 { (change - slack.less).max(0.0) } else { (change + slack.more).min(0.0) }
    };
    let tests: Vec<f64> = measured
        .iter()
        .flatten()
        .map(|one| Difference { change: certain(one), ..one.difference }.probability())
        .collect();
    let mut adjusted = tests.iter().zip(holm(&tests));
    let (alpha, threshold) = (options.alpha(), options.threshold());
    for (found, one) in compared.iter_mut().zip(measured) {
        let Some(one) = one else { continue };
        let Some((p, p_holm)) = adjusted.next() else { continue };
        let each = alpha / tests.len() as f64;
        let (low, high) = one.difference.interval(each);
        let (low, high) = (low - one.slack.less, high + one.slack.more);
        (found.p, found.p_holm) = (Some(*p), Some(p_holm));
        found.interval = Some((low.exp_m1(), high.exp_m1()));
        found.difference = Some(one.difference);
        found.change = Some(one.difference.change.exp_m1());
        let change = certain(one);
        let unknown_spread = one.difference.method == Method::Blocks && options.run_spread.is_none();
        let reach = Reach::of(&one.difference, each, threshold);
        found.reach = Some(reach).filter(|_| !unknown_spread && one.slack == Slack::default());
        found.verdict = if unknown_spread {
            found.reasons.push(format!("how much runs differ is unknown: record {} a side", SavedRuns::RUNS));
            ChangeVerdict::Indeterminate
        } else if p_holm <= alpha && change.abs() >= threshold {
            if (change > 0.0) == found.more_is_better { ChangeVerdict::Better } else { ChangeVerdict::Worse }
        } else if -threshold <= low && high <= threshold {
            ChangeVerdict::Same
        } else {
            let is_near =
                found.reach.is_some_and(|reach| reach.runs.is_some_and(|runs| runs as f64 <= one.difference.runs));
            found.reasons.push(match is_near {
                true => "the change is too near to the least effect to tell".to_owned(),
                false => "the interval is too wide to tell".to_owned(),
            });
            ChangeVerdict::Indeterminate
        };
    }
}
