//! Assertions held against a summary, without the recording.
//! Verdicts about metrics.

use super::CellSeries;
use super::comparability::Reach;
use super::runs::Difference;
use super::summary::SavedRun;
use crate::answer::analysis::durations_of;
use crate::answer::assertion::{Assertion, Checked, Dimension, DurationSource, Interval, Quantity, Reducer, Valued};
use serde::Serialize;

impl SavedRun {
    /// Holds `assertion` against what the summary has of the run: its series, and its losses. A reducer says nothing of fewer than
    /// `min_samples` durations. A quantity that is not in the summary is not known.
    pub fn judge(&self, assertion: &Assertion, min_samples: u64) -> Checked {
        let mut checked = assertion.judge(&mut |quantity| {
            let found = self.value(&quantity.value, min_samples)?;
            let is_open = !self.limits.is_empty() && !matches!(quantity.value, Quantity::Lost | Quantity::Duration);
            Ok(if is_open { Valued { value: found.value.or_less().or_more(), ..found } } else { found })
        });
        checked.reasons.extend(self.limits.iter().cloned());
        checked.explain_losses(self.lost, self.gaps, self.dropped, self.damaged);
        let filtered = self.enabled.iter().flatten().filter_map(|event| event.split_once(" if "));
        let used = |event: &str| assertion.text.contains(event);
        checked.reasons.extend(
            filtered
                .filter(|(event, _)| used(event))
                .map(|(event, filter)| format!("{event} was recorded with the filter {filter}")),
        );
        checked
    }

    fn value(&self, quantity: &Quantity, min_samples: u64) -> Result<Valued, String> {
        if self.in_ticks && quantity.dimension() != Dimension::Number {
            return Err("the recording's clock counts ticks, not time".to_owned());
        }
        let duration = Interval::exactly(self.duration as f64, Dimension::Time);
        let seen = |number: u64, dimension| {
            let value = Interval::exactly(number as f64, dimension);
            if self.has_losses() { value.or_more() } else { value }
        };
        Ok(match quantity {
            Quantity::Lost => Valued::plain(Interval::lost(self.lost, self.gaps, self.dropped, self.damaged)),
            Quantity::Duration if self.damaged > 0 || self.dropped > 0 => Valued::plain(duration.or_more()),
            Quantity::Duration => Valued::plain(duration),
            Quantity::Count(_) | Quantity::Errors(_) => {
                Valued::plain(seen(self.series_of(quantity)?.total(), Dimension::Number))
            }
            Quantity::Rate(_) => {
                let count = seen(self.series_of(quantity)?.total(), Dimension::Number);
                Valued::plain(count.over(duration, Dimension::Rate).ok_or("all events are at one moment")?)
            }
            // Time that is not known, at the edges and after losses, is in no series: it may have been busy.
            Quantity::Busy => {
                let all = self.duration as f64 * f64::from(self.cpus);
                if all <= 0.0 {
                    return Err("the window has no length".to_owned());
                }
                let busy = (sum(self.series_of(quantity)?) as f64 / all).min(1.0);
                Valued::plain(Interval { most: 1.0, ..Interval::exactly(busy, Dimension::Number) })
            }
            Quantity::Run(_) => {
                Valued::plain(Interval::exactly(sum(self.series_of(quantity)?) as f64, Dimension::Time).or_more())
            }
            Quantity::Reduced(by, _) => {
                let series = self.series_of(quantity)?;
                let mut value = reduced(*by, series, min_samples)?;
                if !series.going_on.is_empty()
                    && matches!(by, Reducer::Max | Reducer::Mean | Reducer::Trimmed | Reducer::Quantile(_))
                {
                    value = value.or(reduced(*by, &series.ended(), 0)?);
                }
                let known = !self.has_losses() && series.missing == 0;
                let value = match by {
                    _ if known => value,
                    Reducer::Count if self.damaged == 0 => value.or_more(),
                    // Of two durations of which the events between are lost one seems to be made.
                    Reducer::Sum | Reducer::Max if !self.has_losses() => value.or_more(),
                    _ => value.or_less().or_more(),
                };
                Valued { samples: Some(series.total()), missing: series.missing, ..Valued::plain(value) }
            }
            Quantity::Faults(_) | Quantity::Live(_) => return Err(NOT_KEPT.to_owned()),
        })
    }

    /// The series of a quantity, or why there is none.
    fn series_of(&self, quantity: &Quantity) -> Result<&CellSeries, String> {
        use DurationSource::{Function, Hist, Life, Lock};
        let kept = !matches!(quantity, Quantity::Reduced(_, Function(_) | Lock(_) | Life(_) | Hist(_)));
        let name = quantity.series().filter(|_| kept).ok_or(NOT_KEPT)?;
        self.series.get(&name).ok_or_else(|| match self.missing.get(&name) {
            Some(why) => why.clone(),
            None => format!("the summary has no {name}: `rtrace baseline save --metric` adds it"),
        })
    }
}

const NOT_KEPT: &str = "no summary has it: hold it against the recording";

fn sum(series: &CellSeries) -> u64 {
    series.sum.iter().fold(0, |sum, one| sum.saturating_add(*one))
}

/// One number of the durations of a series. Minimum, maximum and quantiles are known to the width of a bin, 1/64 at most.
fn reduced(by: Reducer, series: &CellSeries, min_samples: u64) -> Result<Interval, String> {
    let count = series.total();
    let needed = by.least_count().max(match by {
        Reducer::Count | Reducer::Sum => 0,
        _ => min_samples,
    });
    if count < needed {
        return Err(format!("there are {count} such intervals; {needed} are needed"));
    }
    let nth = |rank: u64| {
        let whole = series.whole();
        let mut below = 0u64;
        let bin = whole.bins_of(0).find(|(_, durations)| {
            below = below.saturating_add(*durations);
            below >= rank
        });
        let bin = durations_of(bin.map_or(0, |(bin, _)| bin));
        let most = bin.end.saturating_sub(1) as f64;
        Interval { observed: most, least: bin.start as f64, most, dimension: Dimension::Time }
    };
    Ok(match by {
        Reducer::Count => Interval::exactly(count as f64, Dimension::Number),
        Reducer::Sum => Interval::exactly(sum(series) as f64, Dimension::Time),
        Reducer::Mean => Interval::exactly(sum(series) as f64 / count as f64, Dimension::Time),
        Reducer::Trimmed => trimmed(&series.whole(), count),
        Reducer::Min => nth(1),
        Reducer::Max => nth(count),
        Reducer::Quantile(percent) => {
            let millionths = (percent * 1e4).round() as u64;
            nth((u128::from(count).saturating_mul(millionths.into()).div_ceil(1_000_000) as u64).max(1))
        }
    })
}

/// The mean without the shortest and the longest twentieth, known to the width of the bins.
fn trimmed(whole: &CellSeries, count: u64) -> Interval {
    let aside = count / 20;
    let (mut before, mut least, mut most) = (0u64, 0.0, 0.0);
    for (bin, durations) in whole.bins_of(0) {
        let after = before.saturating_add(durations);
        let kept = after.min(count - aside).saturating_sub(before.max(aside)) as f64;
        let range = durations_of(bin);
        least += range.start as f64 * kept;
        most += range.end.saturating_sub(1) as f64 * kept;
        before = after;
    }
    let [least, most] = [least, most].map(|sum| sum / (count - 2 * aside).max(1) as f64);
    Interval { observed: most, least, most, dimension: Dimension::Time }
}

/// The outcome for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeVerdict {
    /// It is better by the least effect or more, and not by chance.
    Better,
    /// It is worse by the least effect or more, and not by chance.
    Worse,
    /// Its change is below the least effect, whatever it is.
    Same,
    /// None of these is known.
    Indeterminate,
}

/// A metric of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The metric.
    pub metric: String,
    /// Outcome of the comparison.
    pub verdict: ChangeVerdict,
    /// True if more of it is better.
    pub more_is_better: bool,
    /// Its values, in nanoseconds, per second, or as a number.
    pub base: Option<f64>,
    /// Value on the new side.
    pub new: Option<f64>,
    /// The change as a share of the base: 0.1 is 10 % more.
    pub change: Option<f64>,
    /// The interval of confidence of the change, with all metrics together.
    pub interval: Option<(f64, f64)>,
    /// The probability of such a change by chance.
    pub p: Option<f64>,
    /// The same after Holm's correction.
    pub p_holm: Option<f64>,
    /// The difference that the verdict rests on.
    pub difference: Option<Difference>,
    /// The changes that this comparison could find; `None` if that is not known.
    pub reach: Option<Reach>,
    /// Number of durations or events of the rarest series, of either side.
    pub samples: [Option<u64>; 2],
    /// The value in each run, of either side.
    pub runs: [Vec<Option<f64>>; 2],
    /// Why it is indeterminate, or what else must be known.
    pub reasons: Vec<String>,
}
