//! Load M: recordings of the same events on 2 to 256 CPUs, in turn, so that every event is another CPU's than the one
//! before. Reports of them: CPU time per event and peak memory, which must not grow with the CPUs.
//!
//! `RTRACE` names the program to be measured (default: this build's); `RTRACE_BENCH_EVENTS` says how many events.

use nix::sys::resource::{UsageWho, getrusage};
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use rtrace::record::chunk_size;
use std::path::Path;
use std::process::{Command, Stdio};

#[path = "../tests/common/synthetic.rs"]
#[expect(dead_code, reason = "tests write smaller chunks")]
mod synthetic;

const PAGE: usize = 4096;
const CPUS: [usize; 6] = [2, 8, 12, 16, 64, 256];
const RUNS: usize = 15;
/// The word with which this program runs another one and prints what that used.
const MEASURE: &str = "--measure";

/// Runs the words as a command; prints its CPU seconds and peak memory in KiB.
fn measure(words: &[String]) {
    let [program, words @ ..] = words else { return };
    let done = Command::new(program).args(words).stdout(Stdio::null()).status().expect("the program starts");
    assert!(done.success(), "{words:?}: {done}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("what the program used");
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    println!("{} {}", seconds(usage.user_time()) + seconds(usage.system_time()), usage.max_rss());
}

/// CPU seconds and peak memory in MiB of one report.
fn report(rtrace: &str, path: &Path, threads: &str) -> (f64, f64) {
    let own = std::env::current_exe().expect("this program's path");
    let mut command = Command::new(own);
    let done = command.args([MEASURE, rtrace, "report", "--threads", threads]).arg(path).output().expect("a run");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).expect("two numbers");
    let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
    let mut next = || numbers.next().expect("two numbers");
    (next(), next() / 1024.0)
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((MEASURE, words)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return measure(words);
    }
    let number = |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let events: usize = number("RTRACE_BENCH_EVENTS", 2_000_000);
    let rtrace = std::env::var("RTRACE").unwrap_or_else(|_| env!("CARGO_BIN_EXE_rtrace").to_owned());
    let dir = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    for cpus in CPUS {
        let storm = synthetic::fork_storm(cpus, events, 400, 1);
        for codec in [Codec::Zstd, Codec::None] {
            let path = dir.path().join(format!("{cpus}-{}.dat", codec.name()));
            storm.write_in_chunks(&path, Version::V7(codec), chunk_size(PAGE, cpus, None));
            files.push((cpus, codec, path));
        }
    }
    println!("| CPUs | compression | threads | ns of CPU time per event | to {} CPUs | peak, MiB |", CPUS[0]);
    println!("|---|---|---|---|---|---|");
    for threads in ["1", "2"] {
        for codec in [Codec::Zstd, Codec::None] {
            let chosen: Vec<_> = files.iter().filter(|file| file.1 == codec).collect();
            let mut found = vec![(Vec::new(), Vec::new()); chosen.len()];
            for run in 0..=RUNS {
                for ((.., path), (times, peaks)) in chosen.iter().zip(&mut found) {
                    let (time, peak) = report(&rtrace, path, threads);
                    if run > 0 {
                        times.push(time * 1e9 / events as f64);
                        peaks.push(peak);
                    }
                }
            }
            let first = found[0].0.clone();
            for ((cpus, ..), (times, peaks)) in chosen.iter().zip(found) {
                // Of neighbouring runs, so that a slow minute of the machine counts on both sides.
                let ratio = median(times.iter().zip(&first).map(|(time, first)| time / first).collect());
                let (time, peak) = (median(times), peaks.into_iter().fold(0.0, f64::max));
                println!("| {cpus} | {} | {threads} | {time:.0} | {ratio:.2} | {peak:.0} |", codec.name());
            }
        }
    }
}
