//! How often `rtrace diff` calls a change where there is none, and how often it finds one that was put in.
//!
//! `cargo bench --bench diff -- DIRECTORY` with recordings (`*.dat`) of one load, made one after the other. Pairs of sides are
//! drawn from them at random. With nothing changed a pair with any verdict better or worse is a false alarm; all default
//! metrics count. Then all durations of a series of the new side are scaled, and `worse` is what is wanted.

use rtrace::analysis::{bin, durations_of};
use rtrace::comparison::{Series, SplitMix64, Summary};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Metrics whose durations are scaled.
const SERIES: [&str; 4] = ["syscall(clock_nanosleep)", "syscall(getppid)", "syscall(pread64)", "syscall(read)"];

fn rtrace(args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(args).output().expect("rtrace runs");
    assert!(!output.stdout.is_empty() || output.status.success(), "{args:?}: {:?}", output);
    output.stdout
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of characters")
}

/// The verdicts of a comparison, by metric.
fn verdicts(base: &Path, new: &Path, options: &[&str]) -> BTreeMap<String, String> {
    let said = rtrace(&[&["diff", text(base), "--json"], options, &["--", text(new)]].concat());
    let said: Value = serde_json::from_slice(&said).expect("a document");
    let metrics = said["metrics"].as_array().expect("metrics");
    metrics.iter().map(|one| (one["metric"].to_string(), one["verdict"].as_str().unwrap_or("").to_owned())).collect()
}

/// Scales all durations: those of a bin are spread evenly over it.
fn scale(series: &mut Series, factor: f64) {
    for cell in 0..series.bins.len() {
        let (mut next, mut scaled) = (0u64, BTreeMap::<u16, i64>::new());
        for &number in &series.bins[cell] {
            if number < 0 {
                next += number.unsigned_abs();
                continue;
            }
            let range = durations_of(next as u16);
            let width = (range.end - range.start) as f64;
            for one in 0..number {
                let duration = range.start as f64 + width * (one as f64 + 0.5) / number as f64;
                *scaled.entry(bin((duration * factor) as u64)).or_default() += 1;
            }
            next += 1;
        }
        series.sum[cell] = (series.sum[cell] as f64 * factor).round() as u64;
        let mut coded = Vec::new();
        let mut next = 0;
        for (bin, count) in scaled {
            if bin > next {
                coded.push(-i64::from(bin - next));
            }
            coded.push(count);
            next = bin + 1;
        }
        series.bins[cell] = coded;
    }
}

struct Bench {
    runs: Vec<Summary>,
    base: PathBuf,
    new: PathBuf,
    rng: SplitMix64,
}

impl Bench {
    /// Writes two sides of so many runs, drawn without repetition; durations of `change`'s series are scaled.
    fn draw(&mut self, runs: usize, change: Option<(&str, f64)>) {
        let mut order: Vec<usize> = (0..self.runs.len()).collect();
        for at in 0..2 * runs {
            let other = at + self.rng.below(order.len() - at);
            order.swap(at, other);
        }
        let side = |numbers: &[usize]| {
            Summary::new(numbers.iter().flat_map(|number| self.runs[*number].runs.clone()).collect()).compact()
        };
        let (base, mut new) = (side(&order[..runs]), side(&order[runs..2 * runs]));
        if let Some((name, factor)) = change {
            new.runs.iter_mut().for_each(|run| scale(run.series.get_mut(name).expect("the series"), factor));
        }
        for (path, side) in [(&self.base, base), (&self.new, new)] {
            fs::write(path, serde_json::to_vec(&side).expect("a document")).expect("a file");
        }
    }

    fn found(&mut self, runs: usize, metric: &str, change: (&str, f64), effect: &str) -> usize {
        let options = ["--metric", metric, "--min-effect", effect];
        let worse = |bench: &mut Self| {
            bench.draw(runs, Some(change));
            verdicts(&bench.base, &bench.new, &options).values().any(|verdict| verdict == "worse")
        };
        (0..100).filter(|_| worse(self)).count()
    }
}

fn main() {
    let Some(directory) = env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        println!("diff: no directory of recordings given: nothing is measured");
        return;
    };
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "dat"))
        .collect();
    files.sort();
    let scratch = tempfile::tempdir().expect("a directory");
    let saved = scratch.path().join("saved.json");
    let metrics: Vec<String> = SERIES.iter().map(|name| format!("mean({name})")).collect();
    let options: Vec<&str> = metrics.iter().flat_map(|metric| ["--metric", metric]).collect();
    let runs: Vec<Summary> = files
        .iter()
        .map(|file| {
            rtrace(&[&["baseline", "save", text(file), "-o", text(&saved)], &options[..]].concat());
            serde_json::from_slice(&fs::read(&saved).expect("a summary")).expect("a summary")
        })
        .collect();
    let size = fs::metadata(&saved).expect("a summary").len();
    println!("{} recordings, {size} bytes the last summary", runs.len());
    let (base, new) = (scratch.path().join("base.json"), scratch.path().join("new.json"));
    let mut bench = Bench { runs, base, new, rng: SplitMix64::new(19) };
    for runs in [1, 5, 10] {
        if 2 * runs > bench.runs.len() {
            continue;
        }
        let (mut alarms, mut counts) = (0, BTreeMap::<String, usize>::new());
        for _ in 0..200 {
            bench.draw(runs, None);
            let found = verdicts(&bench.base, &bench.new, &[]);
            let changed: Vec<_> = found.iter().filter(|(_, one)| ["better", "worse"].contains(&one.as_str())).collect();
            alarms += usize::from(!changed.is_empty());
            changed.iter().for_each(|(metric, verdict)| println!("  alarm: {metric} {verdict}"));
            found.into_values().for_each(|verdict| *counts.entry(verdict).or_default() += 1);
        }
        println!("{runs} a side, nothing changed: {alarms} of 200 pairs with an alarm; metrics: {counts:?}");
        for name in SERIES {
            let p99 = bench.found(runs, &format!("p99({name})"), (name, 1.10), "5%");
            let mean = bench.found(runs, &format!("mean({name})"), (name, 1.03), "1%");
            println!("{runs} a side, {name}: +10 % found in {p99} of 100 by p99, +3 % in {mean} of 100 by the mean");
        }
    }
}
