//! `rtrace diff` and `rtrace baseline`.

use crate::common::account::agree;
use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::{Synthetic, fork_storm};
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Writes a recording of `count` waits on each of two CPUs, of 20 us to 30 us times `factor`, by a seed of their own.
fn waits(env: &TestEnvironment, name: &str, seed: u64, count: u64, factor: f64) {
    let mut recording = Synthetic::new(2, "7 worker\n8 worker\n");
    let mut state = seed;
    for cpu in 0..2usize {
        let pid = 7 + cpu as i32;
        for nth in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = 1_000_000_000 + nth * 100_000;
            let wait = (20_000.0 * factor) as u64 + ((state >> 33) % 10_000) * (factor * 1000.0) as u64 / 1000;
            let (idle, task) = (0i32.to_le_bytes(), pid.to_le_bytes());
            let target = (cpu as i32).to_le_bytes();
            recording.event(cpu, at, "sched_waking", 0, &[("pid", &task), ("target_cpu", &target)]);
            recording.event(cpu, at + wait, "sched_switch", 0, &[("prev_pid", &idle), ("next_pid", &task)]);
            let asleep = 1u64.to_le_bytes();
            let left: &[(&str, &[u8])] = &[("prev_pid", &task), ("prev_state", &asleep), ("next_pid", &idle)];
            recording.event(cpu, at + wait + 20_000, "sched_switch", pid, left);
        }
    }
    recording.write(&env.path().join(name), Version::V7(Codec::Zstd));
}

const MEAN: [&str; 2] = ["--metric", "mean(wait())"];

fn diff(env: &TestEnvironment, base: &[&str], new: &[&str], options: &[&str]) -> crate::common::environment::Outcome {
    env.rtrace(&[&["diff", "--run-spread=0%"], base, options, &["--"], new].concat())
}

/// Values, errors by the same random numbers, probabilities, intervals and verdicts: by blocks, runs, pairs, and one run
/// against several.
#[test]
fn a_whole_comparison_is_that_of_the_definitions() {
    let env = TestEnvironment::new();
    let metrics = ["--metric", "max(wait())", "--metric", "min(wait())", "--metric", "p99(wait())"];
    for (nth, factor) in (1..=40u32).zip([1.0, 1.07].into_iter().cycle()) {
        waits(&env, "run.dat", u64::from(nth), 600 + u64::from(nth), factor);
        let saved = format!("{nth}.json");
        env.rtrace(&[&["baseline", "save", "run.dat", "-o", &saved], &metrics[..]].concat()).exits(0);
    }
    let chosen = [
        "mean(wait())",
        "trimmed(wait())",
        "p50(wait())",
        "max(wait())",
        "min(wait())",
        "rate(sched:sched_waking)",
        "busy",
    ];
    let chosen: Vec<&str> = chosen.iter().flat_map(|metric| ["--metric", metric]).collect();
    let ratio = ["--metric", "p90(wait()) / mean(wait())", "--seed", "7", "--resamples", "200", "--run-spread", "1%"];
    let five =
        ["1.json", "3.json", "5.json", "7.json", "9.json", "--", "2.json", "4.json", "6.json", "8.json", "10.json"];
    // Of twenty pairs a fifth at each end is set aside.
    let side = |first: u32| (0..20).map(move |nth| format!("{}.json", first + 2 * nth));
    let many: Vec<String> = side(1).chain(["--".to_owned()]).chain(side(2)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let same = ["1.json", "--", "3.json", "--", "--run-spread", "0%", "--confidence", "90%"];
    for (sides, options, least) in [
        (&["1.json", "--", "2.json"][..], &[&ratio[..], &chosen].concat()[..], 3),
        (&["1.json", "3.json", "--", "2.json", "4.json", "6.json"], &ratio[..8], 1),
        (&same[..3], &[&same[4..], &chosen].concat(), 2),
        (&same[..3], &chosen, 2),
        (&five, &[], 5),
        (&five, &[&["--paired", "--min-effect", "8%"], &chosen[..]].concat(), 6),
        (&[&five[..5], &["--", "12.json"]].concat(), &chosen, 6),
        (&many, &chosen, 6),
        (&many, &[&["--paired"], &chosen[..]].concat(), 6),
        (&five, &[&["--adjust-for", "p50(wait())"], &chosen[..]].concat(), 6),
        (&many, &[&["--paired", "--adjust-for", "p50(wait())"], &chosen[..8]].concat(), 4),
    ] {
        let words = [&sides[1..], &["--"], options].concat();
        let Some(measured) = agree(&env, "diff", sides[0], &words) else { return };
        assert!(measured >= least, "{sides:?} {options:?}: {measured} metrics");
    }
}

/// Two files need no mark between them, and options may follow those after it.
#[test]
fn two_files_are_base_and_new() {
    let env = TestEnvironment::new();
    waits(&env, "a.dat", 1, 300, 1.0);
    waits(&env, "b.dat", 2, 300, 1.3);
    let marked = env.rtrace(&["diff", "--json", "a.dat", "--", "b.dat"]);
    for words in [&["a.dat", "b.dat", "--json"][..], &["a.dat", "--", "b.dat", "--json"], &["a.dat", "--json", "b.dat"]]
    {
        let other = env.rtrace(&[&["diff"], words].concat());
        assert_eq!((other.status(), other.stdout()), (marked.status(), marked.stdout()), "{words:?}");
    }
}

/// Rates and cells are those of the part that was chosen, not of the whole recording.
#[test]
fn a_part_is_as_long_as_it_is() {
    let env = TestEnvironment::new();
    waits(&env, "run.dat", 1, 1000, 1.0);
    let part = ["baseline", "save", "run.dat", "-o", "part.json", "--since", "+20ms", "--until", "+60ms"];
    env.rtrace(&part).exits(0);
    let saved: Value = serde_json::from_slice(&fs::read(env.path().join("part.json")).unwrap()).unwrap();
    let run = &saved["runs"][0];
    assert_eq!(run["duration"], 40_000_000);
    let wakings = run["series"]["count(sched:sched_waking)"]["count"].as_array().unwrap();
    // 12.5 of 20,000 a second fall into each 64th.
    assert!(wakings.iter().all(|count| (12..=14).contains(&count.as_u64().unwrap_or(0))), "{wakings:?}");
}

/// One run says nothing of how its extremes vary; several do.
#[test]
fn extremes_are_those_of_runs() {
    let env = TestEnvironment::new();
    let runs = |letter: &str, factor: f64, first: u64| {
        (0..5u64)
            .map(|nth| {
                let name = format!("{letter}{nth}.dat");
                waits(&env, &name, first + nth, 300, factor);
                name
            })
            .collect::<Vec<_>>()
    };
    let (base, same, slow) = (runs("a", 1.0, 1), runs("b", 1.0, 11), runs("c", 1.2, 21));
    let metrics = ["--metric", "max(wait())", "--metric", "min(wait())", "--fail-on", "worse"];
    let words = |of: &[String]| of.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let diff = |base: &[String], new: &[String]| {
        let line = format!("diff {} -- {}", words(base), words(new));
        let line: Vec<&str> = line.split(' ').collect();
        env.rtrace(&[&line[..1], &metrics, &line[1..]].concat())
    };
    diff(&base, &same).exits(0).prints_with("2 metrics: 0 worse, 0 better, 2 same, 0 indeterminate");
    diff(&base, &slow).exits(3).prints_with("2 metrics: 2 worse, 0 better, 0 same, 0 indeterminate");
    diff(&slow, &base).exits(0).prints_with("2 metrics: 0 worse, 2 better, 0 same, 0 indeterminate");
    // One new run is held against the spread of the base's.
    diff(&base, &slow[..1]).exits(3).prints_with("2 metrics: 2 worse, 0 better, 0 same, 0 indeterminate");
    diff(&base[..1], &slow[..1]).exits(4).prints_with("an extreme occurs once in a run");
}

#[test]
fn verdicts_and_exit_codes() {
    let env = TestEnvironment::new();
    for (name, seed, factor) in [("a.dat", 1, 1.0), ("b.dat", 2, 1.0), ("slow.dat", 3, 1.2)] {
        waits(&env, name, seed, 700, factor);
    }
    let worse = ["--metric", "mean(wait())", "--fail-on", "worse"];
    diff(&env, &["a.dat"], &["b.dat"], &worse)
        .exits(0)
        .prints_with("1 metric: 0 worse, 0 better, 1 same, 0 indeterminate");
    diff(&env, &["a.dat"], &["slow.dat"], &worse).exits(3).prints_with("worse");
    diff(&env, &["a.dat"], &["slow.dat"], &MEAN).exits(3).prints_with("worse");
    let never = [&MEAN[..], &["--fail-on", "never"]].concat();
    diff(&env, &["a.dat"], &["slow.dat"], &never).exits(0).prints_with("worse");
    diff(&env, &["slow.dat"], &["a.dat"], &worse).exits(0).prints_with("1 better");
    let change = ["--metric", "mean(wait())", "--fail-on", "change"];
    diff(&env, &["slow.dat"], &["a.dat"], &change).exits(3);
    let more = ["--more-is-better", "rate(sched:sched_waking) / (1/s) * mean(wait()) / 1s", "--fail-on", "worse"];
    diff(&env, &["slow.dat"], &["a.dat"], &more).exits(3).prints_with("worse");
    // Not recorded, too few, a single duration: never the same.
    for metric in ["mean(syscall())", "p99.9(wait())", "duration", "mean(wait(nosuch))", "p50(io())"] {
        for fail_on in ["worse", "change", "never"] {
            let options = ["--metric", metric, "--fail-on", fail_on];
            diff(&env, &["a.dat"], &["b.dat"], &options).exits(4).prints_with("indeterminate");
        }
    }
    // By itself one run a side has no verdict.
    env.rtrace(&["diff", "a.dat", "--fail-on", "worse", "--", "slow.dat"]).exits(4).prints_with("record 5 a side");
    // A verdict counts more than what is indeterminate.
    let both = ["--metric", "mean(wait())", "--metric", "duration"];
    diff(&env, &["a.dat"], &["slow.dat"], &[&both[..], &["--fail-on", "worse"]].concat()).exits(3);
    diff(&env, &["a.dat"], &["b.dat"], &[&both[..], &["--fail-on", "worse"]].concat()).exits(4);
    diff(&env, &["a.dat"], &["b.dat"], &both).exits(4);
    diff(&env, &["a.dat"], &["b.dat"], &[&both[..], &["--fail-on", "never"]].concat()).exits(0);
    diff(&env, &["a.dat"], &["b.dat"], &[]).exits(0).prints_with("p99(wait())");
    for bad in ["faults(ls)", "lost", "mean(wait()) < 1ms", "mean(weit())", "5ms"] {
        diff(&env, &["a.dat"], &["b.dat"], &["--metric", bad]).exits(2).complains_with("metric: ");
    }
    env.rtrace(&["diff", "a.dat"]).exits(2);
    env.rtrace(&["diff", "a.dat", "b.dat"]).exits(4).prints_with("record 5 a side");
    diff(&env, &["a.dat"], &["nosuch.dat"], &MEAN).exits(1);
    diff(&env, &["a.dat"], &["b.dat", "--json"], &MEAN).exits(0).prints_with("\"rtrace.diff\"");
    let filter = ["--metric", "count(sched:sched_waking if nosuch == 1)"];
    diff(&env, &["a.dat"], &["b.dat"], &filter).exits(2).complains_with("nosuch");
}

#[test]
fn what_was_lost_or_damaged_is_not_the_same() {
    let env = TestEnvironment::new();
    let small = own().join("host/small-zlib.dat").to_string_lossy().into_owned();
    let options = ["--metric", "mean(wait())", "--fail-on", "worse"];
    diff(&env, &[&small], &[&small], &options).exits(4).prints_with("there are 2 samples; 20 are needed");
    waits(&env, "a.dat", 1, 700, 1.0);
    let whole = fs::read(env.path().join("a.dat")).expect("the file");
    fs::write(env.path().join("cut.dat"), &whole[..whole.len() * 9 / 10]).expect("a file");
    diff(&env, &["a.dat"], &["cut.dat"], &options).exits(4);
    let saved = env.rtrace(&["baseline", "save", "cut.dat", "-o", "cut.json"]);
    saved.exits(4).complains_with("cut.dat lacks events: comparisons with it are mostly indeterminate");
}

/// A comparison of too few runs says how many it takes, and which change it finds.
#[test]
fn an_indeterminate_comparison_says_what_it_takes() {
    let env = TestEnvironment::new();
    let names: Vec<String> = (0..10).map(|run| format!("{run}.dat")).collect();
    for (seed, name) in names.iter().enumerate() {
        waits(&env, name, 7 * seed as u64, 500, 1.0 + 0.2 * (seed % 3) as f64);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let said = diff(&env, &names[..5], &names[5..], &MEAN);
    said.exits(4)
        .prints_with("FINDS  NEEDS        VERDICT")
        .prints_with("NEEDS: runs a side that tell 5.0 % from none");
    let document = |options: &[&str]| -> Value {
        let text = diff(&env, &names[..5], &names[5..], &[&MEAN[..], &["--json"], options].concat()).stdout();
        serde_json::from_str(&text).expect("JSON")
    };
    let runs = |effect: &str| document(&["--min-effect", effect])["metrics"][0]["reach"]["runs"].as_u64();
    let (one, two) = (runs("2%").expect("a number"), runs("4%").expect("a number"));
    assert!(one > 3 * two && one < 5 * two && two > 5, "{one} {two}");
    // The median of the same waits explains nearly all of their mean.
    let by = document(&["--adjust-for", "p50(wait())"]);
    let plain = document(&[]);
    let spread = |document: &Value| document["metrics"][0]["difference"]["spread"].as_f64().expect("a number");
    assert!(spread(&by) < 0.5 * spread(&plain), "{by} {plain}");
    assert_eq!((&by["adjust_for"], &plain["adjust_for"]), (&"p50(wait())".into(), &Value::Null));
    let few = diff(&env, &names[..1], &names[1..2], &[&MEAN[..], &["--adjust-for", "p50(wait())"]].concat());
    few.exits(4).prints_with("only 5 runs or more on a side can be adjusted for p50(wait())");
}

#[test]
fn a_saved_summary_says_the_same() {
    let env = TestEnvironment::new();
    fork_storm(5, 20_000, 60, 2).write(&env.path().join("a.dat"), Version::V7(Codec::Zstd));
    fork_storm(6, 20_000, 60, 2).write(&env.path().join("b.dat"), Version::V7(Codec::Zstd));
    let expected = diff(&env, &["a.dat"], &["b.dat"], &["--json"]).stdout();
    for threads in ["1", "3"] {
        assert!(
            diff(&env, &["a.dat"], &["b.dat"], &["--json", "--threads", threads]).stdout() == expected,
            "{threads}"
        );
    }
    for file in ["a", "b"] {
        let saved = format!("{file}.json");
        env.rtrace(&["baseline", "save", &format!("{file}.dat"), "-o", &saved]).exits(0).prints("");
        // As the recording is: it tells of tasks.
        assert_eq!(env.path().join(&saved).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(diff(&env, &["a.json"], &["b.json"], &["--json"]).stdout() == expected, "of saved summaries");
    let document: Value = serde_json::from_str(&expected).expect("JSON");
    assert_eq!(document["schema"], "rtrace.diff");
    let other = diff(&env, &["a.dat"], &["b.dat"], &["--json", "--seed", "2"]).stdout();
    assert!(other != expected, "another seed draws other blocks");
    // The digest is that of sha256sum(1).
    let sums = Command::new("sha256sum").arg(env.path().join("a.dat")).output().expect("sha256sum");
    let sum = String::from_utf8_lossy(&sums.stdout).into_owned();
    assert_eq!(document["base"][0]["sha256"].as_str(), sum.split(' ').next());
    // A digit more, and it is no summary.
    let text = fs::read_to_string(env.path().join("a.json")).expect("a summary");
    for (from, to) in
        [("\"cells\":64", "\"cells\":640"), ("\"version\":1", "\"version\":7"), ("\"runs\":[", "\"runs\":[7,")]
    {
        assert!(text.contains(from), "{from}");
        fs::write(env.path().join("bad.json"), text.replace(from, to)).expect("a file");
        diff(&env, &["bad.json"], &["b.json"], &[]).exits(2).complains_with("bad.json");
    }
}

#[test]
fn metrics_of_a_baseline_are_compared_however_few_their_samples() {
    let env = TestEnvironment::new();
    waits(&env, "base.dat", 1, 200, 1.0);
    waits(&env, "new.dat", 2, 200, 1.8);
    let compare = |saved: &[&str]| {
        env.rtrace(&[&["baseline", "save", "base.dat", "--force", "-o", "base.json"], saved].concat()).exits(0);
        env.rtrace(&["baseline", "compare", "--run-spread=0", "base.json", "new.dat"])
    };
    let usual = compare(&[]);
    usual.prints_with("`--metric 'rate(sched:sched_switch)'` compares it");
    assert!(!usual.stdout().contains("\nmean(wait"), "{}", usual.stdout());
    let named = compare(&["--metric", "mean(wait(7))"]).exits(3).stdout();
    let line = named.lines().find(|line| line.starts_with("mean(wait(7))")).unwrap_or_else(|| panic!("{named}"));
    assert!(line.ends_with("worse"), "{named}");
}

#[test]
fn baselines() {
    let env = TestEnvironment::new();
    let names: Vec<String> = (0..11).map(|run| format!("{run}.dat")).collect();
    for (seed, name) in names.iter().enumerate() {
        waits(&env, name, 7 * seed as u64, 500, if seed == 10 { 1.3 } else { 1.0 });
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let save = |files: &[&str], out: &str| {
        env.rtrace(&[&["baseline", "save", "-o", out], files].concat()).exits(0);
        fs::metadata(env.path().join(out)).expect("a summary").len()
    };
    let (one, five) = (save(&names[..1], "one.json"), save(&names[..5], "five.json"));
    assert!(one < 100_000 && five < 50_000, "{one} and {five} bytes");
    let compare = |base: &str, new: &[&str], options: &[&str]| {
        env.rtrace(&[&["baseline", "compare", "--run-spread=0", base], new, &MEAN[..], options].concat())
    };
    for base in ["one.json", "five.json"] {
        compare(base, &["7.dat"], &[]).exits(0).prints_with("same");
        compare(base, &["10.dat"], &[]).exits(3).prints_with("worse");
        compare(base, &["10.dat"], &["--fail-on", "never"]).exits(0);
        compare(base, &["7.dat"], &["--metric", "mean(wait(7))"]).exits(4).prints_with("it has no wait(7)");
    }
    compare("five.json", &names[5..10], &["--markdown"])
        .exits(0)
        .prints_with("| mean(wait()) | ")
        .prints_with("5 runs");
    let new = env.rtrace(&["baseline", "save", "-o", "worker.json", "7.dat", "--metric", "p50(wait(7))"]);
    new.exits(0);
    compare("worker.json", &["8.dat"], &["--metric", "mean(wait(7))"]).exits(0);
    // Joined, they are five runs again.
    save(&["one.json", "1.dat", "2.dat", "3.dat", "4.dat"], "joined.json");
    compare("joined.json", &["10.dat"], &[]).exits(3).prints_with("(5 runs)");
    // It is the next one's baseline, although it is worse.
    compare("one.json", &["10.dat"], &["--update"]).exits(3);
    compare("one.json", &["10.dat"], &[]).exits(0).prints_with("same");
    compare("7.dat", &["10.dat"], &[]).exits(2).complains_with("is not a saved summary");
    compare("7.dat", &["one.json"], &[])
        .exits(2)
        .complains_with("the summary comes first: `rtrace baseline compare one.json 7.dat`");
}
