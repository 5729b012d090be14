//! Rates of `rtrace diff`: changes found where there is none, and injected changes found.
//!
//! `cargo bench --bench diff -- DIRECTORY` with recordings (`*.dat`) of one load, made one after the other. Pairs of sides are
//! drawn from them at random: whole recordings, and windows of a second, of which neighbours are pairs (`--paired`). With
//! nothing changed a pair of sides with any verdict better or worse is a false alarm; all default metrics count. `one after the
//! other` are sides as they were recorded, the base's first. Then all durations of a series of the new side are scaled, and `worse`
//! is what is wanted: by its p99, its mean, its trimmed mean, and that adjusted for another series.

use rtrace::analysis::{bin, durations_of};
use rtrace::internal::comparison::{CellSeries, SavedRuns, SplitMix64};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Series whose durations are scaled, each with one that it is adjusted for.
const SERIES: [(&str, &str); 4] = [
    ("syscall(clock_nanosleep)", "syscall(getppid)"),
    ("syscall(getppid)", "syscall(clock_nanosleep)"),
    ("syscall(pread64)", "syscall(clock_nanosleep)"),
    ("syscall(read)", "syscall(clock_nanosleep)"),
];

fn rtrace(args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(args).output().expect("rtrace runs");
    assert!(matches!(output.status.code(), Some(0 | 3 | 4)), "{args:?}: {:?}", output);
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
fn scale(series: &mut CellSeries, factor: f64) {
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

/// The summary of a part of a recording.
fn save(file: &Path, part: &[&str], saved: &Path) -> SavedRuns {
    let metrics: Vec<String> = SERIES.iter().map(|(name, _)| format!("mean({name})")).collect();
    let options: Vec<&str> = metrics.iter().flat_map(|metric| ["--metric", metric]).collect();
    rtrace(&[&["baseline", "save", text(file), "-o", text(saved)], part, &options[..]].concat());
    serde_json::from_slice(&fs::read(saved).expect("a summary")).expect("a summary")
}

/// Pairs of sides in which nothing changed.
const DRAWS: usize = 200;

struct Bench {
    /// Recordings as they were made, one after the other.
    runs: Vec<SavedRuns>,
    /// Windows of a second, each with the one after it.
    pairs: Vec<[SavedRuns; 2]>,
    base: PathBuf,
    new: PathBuf,
    rng: SplitMix64,
}

impl Bench {
    /// Some numbers below `of`, without repetition.
    fn some(&mut self, count: usize, of: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..of).collect();
        for at in 0..count {
            let other = at + self.rng.below(of - at);
            order.swap(at, other);
        }
        order.truncate(count);
        order
    }

    /// Writes two sides of `runs` recordings.
    fn draw_runs(&mut self, runs: usize) {
        let order = self.some(2 * runs, self.runs.len());
        let side = |numbers: &[usize]| numbers.iter().map(|number| &self.runs[*number]).collect::<Vec<_>>();
        self.write(&side(&order[..runs]), &side(&order[runs..]), None);
    }

    /// Writes two sides of `runs` recordings, made one after the other.
    fn draw_neighbours(&mut self, runs: usize) {
        let first = self.rng.below(self.runs.len() - 2 * runs + 1);
        let side = |first: usize| (first..first + runs).map(|number| &self.runs[number]).collect::<Vec<_>>();
        self.write(&side(first), &side(first + runs), None);
    }

    /// Writes two sides of that number of windows: of each pair one, whichever, is the base's.
    fn draw_pairs(&mut self, pairs: usize, change: Option<(&str, f64)>) {
        let order = self.some(pairs, self.pairs.len());
        let first: Vec<usize> = order.iter().map(|_| self.rng.below(2)).collect();
        let pairs = || order.iter().map(|number| &self.pairs[*number]).zip(&first);
        let base: Vec<&SavedRuns> = pairs().map(|(pair, first)| &pair[*first]).collect();
        let new: Vec<&SavedRuns> = pairs().map(|(pair, first)| &pair[1 - first]).collect();
        self.write(&base, &new, change);
    }

    /// Durations of `change`'s series are scaled on the new side.
    fn write(&self, base: &[&SavedRuns], new: &[&SavedRuns], change: Option<(&str, f64)>) {
        let side = |runs: &[&SavedRuns]| SavedRuns::new(runs.iter().flat_map(|one| one.runs.clone()).collect());
        let (base, mut new) = (side(base), side(new));
        if let Some((name, factor)) = change {
            new.runs.iter_mut().for_each(|run| scale(run.series.get_mut(name).expect("the series"), factor));
        }
        for (path, side) in [(&self.base, base), (&self.new, new)] {
            fs::write(path, serde_json::to_vec(&side.compact()).expect("a document")).expect("a file");
        }
    }

    /// Counts pairs of sides with a false alarm.
    fn alarms(&mut self, what: &str, options: &[&str], draw: impl Fn(&mut Self)) {
        let (mut alarms, mut counts) = (0, BTreeMap::<String, usize>::new());
        for _ in 0..DRAWS {
            draw(self);
            let found = verdicts(&self.base, &self.new, options);
            alarms += usize::from(found.values().any(|verdict| ["better", "worse"].contains(&verdict.as_str())));
            found.into_values().for_each(|verdict| *counts.entry(verdict).or_default() += 1);
        }
        println!("{what}: {alarms} of {DRAWS} pairs with a false alarm; metrics: {counts:?}");
    }

    fn found(&mut self, pairs: usize, change: (&str, f64), options: &[&str]) -> usize {
        let worse = |bench: &mut Self| {
            bench.draw_pairs(pairs, Some(change));
            verdicts(&bench.base, &bench.new, options).values().any(|verdict| verdict == "worse")
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
    let mut runs: Vec<SavedRuns> = files.iter().map(|file| save(file, &[], &saved)).collect();
    // A recording that lacks events is compared with nothing.
    let mut whole = runs.iter().map(|run| !run.runs[0].has_losses()).collect::<Vec<_>>().into_iter();
    files.retain(|_| whole.next() == Some(true));
    runs.retain(|run| !run.runs[0].has_losses());
    let size = fs::metadata(&saved).map_or(0, |file| file.len());
    println!("{} recordings; the last summary has {size} bytes", runs.len());
    let window = |file: &Path, at: u32| {
        let (since, until) = (format!("+{at}s"), format!("+{}s", at + 1));
        save(file, &["--since", &since, "--until", &until], &saved).compact()
    };
    let pairs = files.iter().flat_map(|file| [0, 2].map(|at| [window(file, at), window(file, at + 1)])).collect();
    let (base, new) = (scratch.path().join("base.json"), scratch.path().join("new.json"));
    let mut bench = Bench { runs, pairs, base, new, rng: SplitMix64::new(19) };
    bench.alarms("1 recording a side", &[], |bench| bench.draw_runs(1));
    bench.alarms("1 recording a side, --run-spread 0%", &["--run-spread", "0"], |bench| bench.draw_runs(1));
    bench.alarms("5 recordings a side", &[], |bench| bench.draw_runs(5));
    bench.alarms("10 recordings a side", &[], |bench| bench.draw_runs(10));
    for runs in [5, 10] {
        let what = format!("{runs} recordings a side, one after the other");
        bench.alarms(&what, &[], |bench| bench.draw_neighbours(runs));
    }
    for pairs in [30, 50] {
        bench.alarms(&format!("{pairs} pairs of windows"), &["--paired"], |bench| bench.draw_pairs(pairs, None));
        let adjusted = ["--paired", "--adjust-for", "trimmed(syscall(clock_nanosleep))"];
        bench.alarms(&format!("{pairs} pairs, adjusted"), &adjusted, |bench| bench.draw_pairs(pairs, None));
        for (name, other) in SERIES {
            let [p99, mean, trimmed] = ["p99", "mean", "trimmed"].map(|by| format!("{by}({name})"));
            let other = format!("trimmed({other})");
            let small = |metric| ["--paired", "--min-effect", "1%", "--metric", metric];
            let of_tail = bench.found(pairs, (name, 1.10), &["--paired", "--metric", &p99]);
            let of_mean = bench.found(pairs, (name, 1.03), &small(&mean));
            let of_middle = bench.found(pairs, (name, 1.03), &small(&trimmed));
            let of_adjusted = [&small(&trimmed)[..], &["--adjust-for", &other]].concat();
            let of_adjusted = bench.found(pairs, (name, 1.03), &of_adjusted);
            println!(
                "{pairs} pairs, {name}, found of 100: +10 % by p99 {of_tail}, +3 % by mean {of_mean}, by trimmed mean \
                 {of_middle}, adjusted {of_adjusted}"
            );
        }
    }
}
