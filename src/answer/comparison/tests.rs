//! Comparisons of summaries whose truth is known.

use super::{
    CellSeries, ChangeVerdict, CompareOptions, SavedRun, SavedRuns, SplitMix64, Weights, block_length, compare,
};
use crate::answer::analysis::{CellPlan, Cells, Missing};
use crate::answer::assertion::Metric;

const SECOND: u64 = 1_000_000_000;

/// Noise of which each value is `memory` times the one before, and new noise; its standard deviation is 1.
fn noise(count: usize, memory: f64, rng: &mut SplitMix64) -> Vec<f64> {
    let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
    let mut last = normal();
    (0..count)
        .map(|_| {
            last = memory * last + (1.0 - memory * memory).sqrt() * normal();
            last
        })
        .collect()
}

/// A run of one second with 200 durations in each of 64 cells: around 100 us, times `factor`, and with a tail.
fn run(seed: u64, factor: f64) -> SavedRun {
    let mut rng = SplitMix64::new(seed);
    let plan = CellPlan::new(0, SECOND - 1, 64);
    let (mut waits, mut counts) = (Cells::new(plan), Cells::new(plan));
    let levels = noise(64, 0.5, &mut rng);
    for (cell, level) in levels.iter().enumerate() {
        for nth in 0..200 {
            let at = (cell as u64 * 200 + nth) * (SECOND / 12_800);
            let tail = if rng.below(20) == 0 { 1.5 + rng.unit() } else { 0.8 + 0.4 * rng.unit() };
            waits.add(at, (100_000.0 * factor * tail * (1.0 + 0.03 * level)) as u64);
            counts.count(at);
        }
    }
    let mut run = SavedRun {
        file: format!("run {seed}"),
        clock: "local".into(),
        cpus: 2,
        duration: SECOND,
        cells: 64,
        ..SavedRun::default()
    };
    run.enabled = Some(vec!["sched:sched_switch".into()]);
    run.series.insert("wait()".into(), CellSeries::new(&waits, Missing::default(), Vec::new()));
    run.series.insert("count(sched:sched_switch)".into(), CellSeries::new(&counts, Missing::default(), Vec::new()));
    run
}

fn metrics(texts: &[&str]) -> Vec<(Metric, bool)> {
    texts.iter().map(|text| (Metric::parse(text).unwrap(), false)).collect()
}

fn verdicts(base: Vec<SavedRun>, new: Vec<SavedRun>, texts: &[&str], options: CompareOptions) -> Vec<ChangeVerdict> {
    let found = compare(&SavedRuns::new(base), &SavedRuns::new(new), &metrics(texts), None, &options);
    found.metrics.iter().map(|one| one.verdict).collect()
}

/// The variance of the mean of a stationary bootstrap has a closed form: with the circular covariances C(k) it is
/// (C(0) + 2 sum of (1 - k/n) (1 - 1/L)^k C(k)) / n (Politis and Romano, 1994, Lemma 1).
#[test]
fn resamples_vary_as_the_closed_form_says() {
    for (memory, length) in [(0.0, 1.0f64), (0.0, 4.0), (0.7, 1.0), (0.7, 3.0), (0.9, 12.5)] {
        let values = noise(64, memory, &mut SplitMix64::new(3));
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let covariance = |lag: usize| {
            (0..count).map(|at| (values[at] - mean) * (values[(at + lag) % count] - mean)).sum::<f64>() / count as f64
        };
        let part =
            |lag: usize| (1.0 - lag as f64 / count as f64) * (1.0 - 1.0 / length).powi(lag as i32) * covariance(lag);
        let expected = (covariance(0) + 2.0 * (1..count).map(part).sum::<f64>()) / count as f64;
        let (mut weights, mut rng) = (Weights::once(&[count]), SplitMix64::new(11));
        let drawn: Vec<f64> = (0..20_000)
            .map(|_| {
                weights.draw(length, &mut rng);
                weights.0[0].iter().zip(&values).map(|(weight, value)| weight * value).sum::<f64>() / count as f64
            })
            .collect();
        let found = super::side::variance(&drawn);
        assert!((found / expected - 1.0).abs() < 0.05, "{memory} {length}: {found} for {expected}");
    }
}

#[test]
fn blocks_are_as_long_as_the_memory() {
    let mean = |memory: f64| {
        (0..40).map(|seed| block_length(&noise(256, memory, &mut SplitMix64::new(seed)))).sum::<f64>() / 40.0
    };
    let (none, some, much) = (mean(0.0), mean(0.5), mean(0.9));
    // By the formula for such noise, with n = 256: (2 m / (1 - m^2))^(2/3) n^(1/3) is 7.7 and 28.5.
    assert!(none < 3.0 && (4.0..11.0).contains(&some) && (14.0..40.0).contains(&much), "{none} {some} {much}");
    assert_eq!((block_length(&[1.0; 64]), block_length(&[])), (1.0, 1.0));
}

/// The errors are those that many runs show, though the runs' cells are alike to their neighbours.
#[test]
fn errors_are_those_of_many_runs() {
    let metrics = metrics(&["mean(wait())"]);
    let logs: Vec<f64> =
        (0..60).map(|seed| super::side::values(&metrics[0].0, &[&run(seed, 1.0)])[0].unwrap().ln()).collect();
    let actual = super::side::variance(&logs).sqrt();
    let options = CompareOptions { resamples: 300, ..CompareOptions::default() };
    let errors =
        (0..20).map(|seed| super::side::bootstrap(&metrics[0].0, &[&run(seed, 1.0)], &options, "base").unwrap().error);
    let mean = errors.sum::<f64>() / 20.0;
    assert!((0.7..1.6).contains(&(mean / actual)), "{mean} for {actual}");
}

#[test]
fn changes_are_found_and_no_others() {
    let options = CompareOptions { resamples: 200, run_spread: Some(0.0), ..CompareOptions::default() };
    let all = ["mean(wait())", "p99(wait())", "rate(sched:sched_switch)"];
    let (mut alarms, mut found) = (0, 0);
    for pair in 0..12 {
        let (base, new) = (run(2 * pair, 1.0), run(2 * pair + 1, 1.0));
        let same = verdicts(vec![base.clone()], vec![new], &all, options);
        alarms += usize::from(same.iter().any(|one| matches!(one, ChangeVerdict::Better | ChangeVerdict::Worse)));
        assert_eq!(same[2], ChangeVerdict::Same, "events come at equal times");
        let worse = verdicts(vec![base], vec![run(2 * pair + 1, 1.1)], &["p99(wait())"], options);
        found += usize::from(worse[0] == ChangeVerdict::Worse);
    }
    assert!(alarms == 0 && found >= 11, "{alarms} alarms, {found} of 12 found");
    let runs = |from: u64, factor| (from..from + 5).map(|seed| run(seed, factor)).collect::<Vec<_>>();
    let of_runs = |factor| verdicts(runs(0, 1.0), runs(50, factor), &["mean(wait())"], options)[0];
    assert_eq!(
        (of_runs(1.0), of_runs(1.12), of_runs(0.85)),
        (ChangeVerdict::Same, ChangeVerdict::Worse, ChangeVerdict::Better)
    );
    let paired = CompareOptions { paired: true, ..options };
    let pairs = |factor| verdicts(runs(0, 1.0), runs(50, factor), &["mean(wait())"], paired)[0];
    assert_eq!((pairs(1.0), pairs(1.12)), (ChangeVerdict::Same, ChangeVerdict::Worse));
    // One run says nothing of others, or as much as the options say.
    for (run_spread, expected) in [
        (None, ChangeVerdict::Indeterminate),
        (Some(0.0), ChangeVerdict::Worse),
        (Some(0.2), ChangeVerdict::Indeterminate),
    ] {
        let options = CompareOptions { run_spread, ..options };
        let one = verdicts(vec![run(0, 1.0)], vec![run(1, 1.2)], &["mean(wait())"], options);
        assert_eq!(one, [expected], "{run_spread:?}");
    }
    // One run against the spread of five, saved as wholes.
    let whole = SavedRuns::new(runs(0, 1.0)).compact();
    assert!(whole.check().is_ok());
    let one = compare(&whole, &SavedRuns::new(vec![run(60, 1.3)]), &metrics(&["p50(wait())"]), None, &options);
    assert_eq!(one.metrics[0].verdict, ChangeVerdict::Worse, "{:?}", one.metrics[0]);
}

#[test]
fn nothing_is_the_same_by_default() {
    let options = CompareOptions { resamples: 200, run_spread: Some(0.0), ..CompareOptions::default() };
    let all = ["mean(wait())", "rate(sched:sched_switch)"];
    let with = |change: &dyn Fn(&mut SavedRun)| {
        let mut new = run(1, 1.0);
        change(&mut new);
        verdicts(vec![run(0, 1.0)], vec![new], &all, options)
    };
    use ChangeVerdict::{Indeterminate, Same, Worse};
    assert_eq!(with(&|_| ()), [Same, Same]);
    assert_eq!(with(&|run| run.clock = "mono".into()), [Indeterminate; 2]);
    assert_eq!(with(&|run| run.in_ticks = true), [Indeterminate; 2]);
    assert_eq!(with(&|run| run.enabled = Some(vec!["sched:sched_switch if prev_pid == 1".into()])), [Indeterminate; 2]);
    assert_eq!(with(&|run| run.damaged = 1), [Indeterminate; 2]);
    assert_eq!(with(&|run| run.gaps = 1), [Indeterminate; 2]);
    // Losses are counted: the rate is known to a thousandth, or to a tenth.
    assert_eq!(with(&|run| run.lost = 12), [Indeterminate, Same]);
    assert_eq!(with(&|run| run.dropped = 1200), [Indeterminate, Indeterminate]);
    assert_eq!(with(&|run| run.series.get_mut("wait()").unwrap().missing = 200), [Indeterminate, Same]);
    assert_eq!(with(&|run| drop(run.series.remove("wait()"))), [Indeterminate, Same]);
    let half = |run: &mut SavedRun| run.duration /= 2;
    let sum = ["sum(wait())"];
    let mut short = run(1, 1.0);
    half(&mut short);
    assert_eq!(verdicts(vec![run(0, 1.0)], vec![short], &sum, options), [Indeterminate], "a run that ended halfway");
    assert_eq!(with(&half)[1], Worse, "twice the rate");
    assert_eq!(verdicts(vec![run(0, 1.0)], vec![run(1, 1.0)], &["duration"], options), [Indeterminate]);
}

/// One run of many that lost events, or ended halfway, is set aside and named; if half of a side are so, they decide.
#[test]
fn one_run_of_many_that_lacks_events_is_set_aside() {
    let options = CompareOptions { resamples: 200, ..CompareOptions::default() };
    let runs = |from: u64, factor| (from..from + 7).map(|seed| run(seed, factor)).collect::<Vec<_>>();
    let with = |changed: usize, factor: f64, paired: bool, change: &dyn Fn(&mut SavedRun)| {
        let mut new = runs(50, factor);
        new.iter_mut().take(changed).for_each(change);
        let options = CompareOptions { paired, ..options };
        let (base, new) = (SavedRuns::new(runs(0, 1.0)), SavedRuns::new(new));
        let found = compare(&base, &new, &metrics(&["mean(wait())"]), None, &options);
        (found.metrics[0].verdict, found.set_aside.iter().map(|one| one.reason.clone()).collect::<Vec<_>>())
    };
    use ChangeVerdict::{Indeterminate, Same, Worse};
    let lossy = |run: &mut SavedRun| run.lost = 11_768;
    let short = |run: &mut SavedRun| run.duration /= 2;
    assert_eq!(with(1, 1.0, false, &lossy), (Same, vec!["11,768 events lost".to_owned()]));
    assert_eq!(
        with(1, 1.2, false, &short),
        (Worse, vec!["it lasted 0.500 s, the median of its side 1.000 s".to_owned()])
    );
    let (verdict, reasons) = with(2, 1.2, true, &lossy);
    assert_eq!((verdict, reasons.len(), reasons[0].as_str()), (Worse, 4, "the other run of its pair is set aside"));
    assert_eq!(with(4, 1.0, false, &lossy), (Indeterminate, vec![]));
    assert_eq!(with(7, 1.0, true, &lossy), (Indeterminate, vec![]));
}

/// Durations that lack an end are bounded: a large change is decided, whatever they were, and one that they can have made is not.
#[test]
fn ends_that_are_missing_leave_what_they_cannot_change() {
    let options = CompareOptions { resamples: 200, ..CompareOptions::default() };
    let runs = |from: u64, factor, missing: (u64, Option<(u64, u64)>)| {
        let mut runs: Vec<SavedRun> = (from..from + 5).map(|seed| run(seed, factor)).collect();
        for run in &mut runs {
            let series = run.series.get_mut("wait()").unwrap();
            (series.missing, series.missing_most) = missing;
        }
        runs
    };
    let verdict =
        |factor, missing, metric| verdicts(runs(0, 1.0, (0, None)), runs(50, factor, missing), &[metric], options)[0];
    use ChangeVerdict::{Indeterminate, Worse};
    // 30 of 12,800 are more than a tenth of those beyond p99; any one of them leaves a maximum open.
    for metric in ["p99(wait())", "p50(wait())", "trimmed(wait())"] {
        assert_eq!(verdict(6.7, (30, None), metric), Worse, "{metric}");
    }
    assert_eq!(verdict(1.0, (2_000, None), "p99(wait())"), Indeterminate);
    assert_eq!(verdict(6.7, (2_000, None), "mean(wait())"), Indeterminate);
    assert_eq!(verdict(6.7, (2_000, Some((1_000_000, 200_000_000))), "mean(wait())"), Worse);
    assert_eq!(verdict(6.7, (1, Some((1_000, 1_000))), "max(wait())"), Worse);
}

#[test]
fn summaries_that_anybody_may_have_written() {
    let good = SavedRuns::new(vec![run(0, 1.0)]);
    assert!(good.check().is_ok());
    let bad = |change: &dyn Fn(&mut SavedRuns)| {
        let mut summary = good.clone();
        change(&mut summary);
        summary.check().unwrap_err().to_string()
    };
    assert!(bad(&|summary| summary.version = 2).contains("version 2"));
    assert!(bad(&|summary| summary.runs.clear()).contains("no run"));
    assert!(bad(&|summary| summary.runs[0].cells = 0).contains("cells"));
    assert!(bad(&|summary| summary.runs[0].cells = 63).contains("each cell"));
    let series =
        |change: &dyn Fn(&mut CellSeries)| bad(&|summary| change(summary.runs[0].series.get_mut("wait()").unwrap()));
    assert!(series(&|series| series.bins[0].push(1)).contains("as many durations"));
    assert!(series(&|series| series.bins[0].push(i64::MIN)).contains("more bins"));
    assert!(series(&|series| drop(series.bins.pop())).contains("bins for each"));
}

/// A series is the same after it was coded, and as a whole has the same quantiles.
#[test]
fn series_are_coded_without_loss() {
    let run = run(5, 1.0);
    let series = &run.series["wait()"];
    let whole = series.whole();
    assert_eq!((whole.total(), whole.sum[0]), (12_800, series.sum.iter().sum()));
    assert!(whole.mistake(1).is_none());
    let mut as_whole = run.clone();
    as_whole.cells = 1;
    as_whole.series.values_mut().for_each(|series| *series = series.whole());
    for (metric, _) in metrics(&["p50(wait())", "p99(wait())", "mean(wait())", "rate(sched:sched_switch)"]) {
        let values = [&run, &as_whole].map(|run| super::side::values(&metric, &[run])[0].unwrap());
        assert!((values[0] / values[1] - 1.0).abs() < 1e-12, "{metric}: {values:?}");
    }
}
