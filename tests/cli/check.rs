//! `rtrace check`.

use crate::common::account::agree;
use crate::common::corpus::{corpus, is_small, own};
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn small() -> String {
    own().join("host/small-zlib.dat").to_string_lossy().into_owned()
}

/// Recordings of all kinds of machines, those with lost events among them.
#[test]
fn quantities_are_those_of_the_definitions() {
    let env = TestEnvironment::new();
    let mut compared = 0;
    for path in trace_files() {
        let file = path.to_string_lossy().into_owned();
        let sound = env.rtrace(&["report", "--count", &file]).status() == Some(0);
        // The others are damaged, or too large for a slow program.
        if sound && is_small(&path, 1 << 18) {
            let Some(quantities) = agree(&env, "check", &file, &[]) else { return };
            compared += usize::from(quantities > 20);
        }
    }
    assert!(compared >= 3, "{compared} files");
}

#[test]
fn many_durations_and_any_number_of_threads() {
    let env = TestEnvironment::new();
    fork_storm(5, 30_000, 60, 2).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let Some(quantities) = agree(&env, "check", "trace.dat", &[]) else { return };
    assert!(quantities > 20, "{quantities}");
    agree(&env, "check", "trace.dat", &["--since", "+5ms", "--until", "-5ms"]);
    let check = |threads: &str| {
        let wait = "p99(latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)) < 1us";
        env.rtrace(&["check", "--json", "--threads", threads, "-a", wait, "-a", "lost == 0"]).stdout()
    };
    let expected = check("1");
    for threads in ["2", "3", "8"] {
        assert!(check(threads) == expected, "{threads} threads");
    }
}

#[test]
fn verdicts_and_exit_codes() {
    let env = TestEnvironment::new();
    for (assertions, exit, words) in [
        (&["lost == 0", "duration < 1s"][..], 0, "2 assertions: 2 pass, 0 fail, 0 indeterminate"),
        (&["lost == 0", "count(sched:sched_switch) < 6"], 3, "found 6, wanted < 6"),
        (&["max(wait(rcu_preempt)) <= 9153ns"], 0, "found 9.153 us in 1 interval, wanted <= 9.153 us"),
        // Task 1513 was woken, too, and waits yet at the end.
        (&["max(wait()) <= 40us"], 0, "found 9.153 us to 39.112 us in 2 intervals, wanted <= 40 us"),
        (&["max(wait()) <= 39111ns"], 4, "one that goes on at the end is longer: since 2128.995375533 (task 1513)"),
        (
            &["max(wait()) < 9153ns"],
            3,
            "9.153 us from 2128.995307877 to 2128.995317030 on CPU 0, task rcu_preempt [15]",
        ),
        (&["p99(wait()) < 1s"], 4, "there are 2 such intervals; 100 are needed"),
        (&["p50(wait(migration*)) < 1s"], 4, "there is 1 such interval; 2 are needed"),
        (&["max(wait(nosuch)) < 1s"], 4, "no task `nosuch` is in the recording"),
        (&["count(block:block_rq_issue) == 0"], 4, "no event matches `block:block_rq_issue`"),
        (&["max(syscall()) < 1s"], 4, "no system calls were recorded"),
        (&["max(io()) < 1s"], 4, "block:block_rq_complete was not recorded"),
        // A failure counts more than what is unknown.
        (&["max(io()) < 1s", "lost > 0"], 3, "2 assertions: 0 pass, 1 fail, 1 indeterminate"),
        (&["run(find) / duration > 97%", "run(1525) <= duration"], 0, "found 0.976, wanted > 0.97"),
        (&["count(sched:sched_switch) / duration - 1/s < 10000/s"], 0, "wanted < 10000 /s"),
        (&["busy < 99%"], 0, "wanted < 0.99"),
    ] {
        let args: Vec<&str> = assertions.iter().flat_map(|one| ["--assert", one]).collect();
        let outcome = env.rtrace(&[&["check", &small()], &args[..]].concat());
        outcome.exits(exit).complains("").prints_with(words);
    }
    let few = env.rtrace(&["check", &small(), "-a", "max(wait()) < 1s", "--min-samples", "3"]);
    few.exits(4).prints_with("there are 2 such intervals; 3 are needed");
    let empty = env.rtrace(&["check", &small(), "-a", "duration < 1s", "--since", "99999"]);
    empty.exits(1).prints("").complains_with("holds nothing in this window");
}

/// A name that occurs nowhere may be mistyped: nothing is known of it, unless the user means one that is absent.
#[test]
fn a_name_that_occurs_nowhere_passes_nothing() {
    let env = TestEnvironment::new();
    for (assertion, near) in [
        ("run(rcu_premept) < 5ms", "no task `rcu_premept` is in the recording: did you mean `rcu_preempt`?"),
        ("run(99999) < 5ms", "no task `99999` is in the recording"),
        ("sum(wait(nosuch)) < 1ms", "no task `nosuch` is in the recording"),
        ("sum(preempted(nosuch*)) < 1ms", "no task `nosuch*` is in the recording"),
        ("run(nosuch) / duration < 1%", "no task `nosuch` is in the recording"),
    ] {
        env.rtrace(&["check", &small(), "-a", assertion]).exits(4).prints_with(near);
        env.rtrace(&["check", &small(), "-a", assertion, "--allow-absent"]).exits(0).prints_with("1 pass");
    }
    std::fs::write(env.path().join("rtrace.toml"), "allow-absent = true\n[assert]\na = 'run(nosuch) < 5ms'\n").unwrap();
    env.rtrace(&["check", &small(), "--spec", "rtrace.toml"]).exits(0);
    // Tasks that the file names, whether or not they ran.
    env.rtrace(&["check", &small(), "-a", "run(find) >= 0s", "-a", "run(rcu_*) < 5ms"]).exits(0);
}

/// Kinds, operations and system calls of the architecture are known: another one is an error.
#[test]
fn a_name_outside_of_its_vocabulary_is_refused() {
    let env = TestEnvironment::new();
    for (assertion, error) in [
        (
            "count(io(readd)) == 0",
            "`readd` is no operation of requests\n  assert: count(io(readd)) == 0\n                   ^~~~~\n  Hint: did you mean `read`?",
        ),
        ("count(irq(softirqq)) == 0", "`softirqq` is no kind of handler"),
        ("count(irq(softirq:FOO)) == 0", "`FOO` is no soft interrupt"),
        ("count(lock(rwsem:Q)) == 0", "`rwsem:Q` is no kind of lock"),
        ("errors(syscall(opennat)) == 0", "`opennat` is no system call of this architecture"),
        ("count(syscall(open*x)) < 5", "`open*x` is no system call of this architecture"),
    ] {
        let outcome = env.rtrace(&["check", &small(), "-a", assertion, "--allow-absent"]);
        outcome.exits(2).prints("");
        assert!(outcome.stderr().contains(error), "{assertion}: {}", outcome.stderr());
    }
    for known in [
        "count(io(r*)) == 0",
        "count(irq(softirq:NET_*)) == 0",
        "count(irq(softirq:vector 12)) == 0",
        "count(lock(rwsem:*)) == 0",
        "count(syscall(newfstat)) == 0",
        "count(syscall(999)) == 0",
    ] {
        let outcome = env.rtrace(&["check", &small(), "-a", known]);
        outcome.complains("");
        assert!(matches!(outcome.status(), Some(0 | 4)), "{known}: {:?}", outcome.status());
    }
    let diff = env.rtrace(&["diff", &small(), &small(), "--metric", "mean(syscall(opennat))"]);
    diff.exits(2).complains_with("`opennat` is no system call of this architecture");
}

/// A file of trace-cmd has the formats of whole systems: they do not say that an event was enabled.
#[test]
fn what_never_happened_may_not_have_been_recorded() {
    let env = TestEnvironment::new();
    let formats = env.rtrace(&["report", "--events", &small()]).stdout();
    assert!(formats.contains("name: sched_swap_numa\n"), "the file has the format");
    let outcome = env.rtrace(&["check", &small(), "-a", "count(sched:sched_swap_numa) == 0"]);
    outcome.exits(4).prints_with("which does not say that it was enabled");
    let outcome = env.rtrace(&["check", &small(), "-a", "count(sched:sched_swap_numa) <= 5"]);
    outcome.exits(4);
}

#[test]
fn what_is_wrong_is_shown_with_its_place() {
    let env = TestEnvironment::new();
    for (assertion, error) in [
        ("lots == 0", "no such quantity\n  assert: lots == 0\n          ^~~~"),
        ("max(wait()) < 5", "a time is compared with a number"),
        (
            "count(sched:sched_switch if nosuch == 1) < 5",
            "field `nosuch` not found in sched:sched_switch\n  assert: count(sched:sched_switch if nosuch == 1) < 5",
        ),
        (
            "max(latency(sched:sched_waking, sched:sched_switch, pid)) < 1s",
            "sched:sched_switch has no number or text `pid`",
        ),
    ] {
        let outcome = env.rtrace(&["check", &small(), "--assert", assertion]);
        outcome.exits(2).prints("");
        assert!(outcome.stderr().contains(error), "{assertion}: {}", outcome.stderr());
    }
    let nothing = env.rtrace(&["check", &small()]);
    nothing.exits(2);
    assert!(nothing.stderr().contains("nothing is asserted"), "{}", nothing.stderr());
}

/// The line shows the interval of the verdict, of all of the recording and of a part.
#[test]
fn the_line_that_is_proposed_takes_the_measured_wait_apart() {
    let env = TestEnvironment::new();
    let small = small();
    for window in [&[][..], &["--since", "+100us"]] {
        let args = [&["check", &small, "--assert", "max(wait()) < 1ns"], window].concat();
        let said = env.rtrace(&args).exits(3).stdout();
        let interval = said.lines().find_map(|line| line.trim().split_once(" on CPU ")).expect(&said).0;
        let line = said.split('`').find_map(|part| part.strip_prefix("rtrace ")).expect(&said);
        let why = env.rtrace(&line.split(' ').collect::<Vec<_>>()).exits(0).stdout();
        assert!(why.contains(&interval.replace(" us from", " us, from")), "{line}: {interval}\n{why}");
    }
}

/// Verdicts have colours where somebody wants them, and nothing else of the text changes.
#[test]
fn verdicts_are_coloured() {
    let env = TestEnvironment::new();
    let args = ["check", &small(), "-a", "max(wait()) < 9153ns", "-a", "lost == 0", "-a", "max(io()) < 1s"];
    let plain = env.rtrace(&args).exits(3).stdout();
    assert!(!plain.contains('\x1b'), "a pipe gets none");
    assert!(plain.contains("See `rtrace why 15 "), "{plain}");
    let colored = env.rtrace(&[&args[..], &["--color", "always"]].concat()).exits(3).stdout();
    for word in
        ["\x1b[1;31mFAIL\x1b[0m  ", "\x1b[32mpass\x1b[0m  ", "\x1b[33mindeterminate\x1b[0m ", "\x1b[1;31m1 fail\x1b[0m"]
    {
        assert!(colored.contains(word), "{word:?}: {colored:?}");
    }
    let sequences = ["\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"];
    assert_eq!(sequences.iter().fold(colored, |text, sequence| text.replace(sequence, "")), plain);
    let document = env.rtrace(&[&args[..], &["--json", "--color", "always"]].concat()).exits(3).stdout();
    assert!(!document.contains('\x1b'), "{document}");
}

/// One number a line, or the exit code 4 and why there is none.
#[test]
fn a_quantity_is_a_number_for_a_shell() {
    let env = TestEnvironment::new();
    let value = |words: &[&str]| env.rtrace(&[&["check", &small(), "--value"], words].concat());
    value(&["lost"]).exits(0).complains("").prints("0\n");
    value(&["count(sched:sched_switch)", "--value", "lost + 1"]).exits(0).prints("6\n1\n");
    for (words, why) in [
        (&["max(wait(nosuch))"][..], "max(wait(nosuch)) is unknown: no task `nosuch` is in the recording"),
        (&["max(io())"], "max(io()) is unknown: "),
        (&["busy"], "`--bound observed` what the recorded events alone give"),
        (&["run(nosuch)", "--bound", "most"], "is unknown"),
    ] {
        value(words).exits(4).prints("").complains_with(why);
    }
    for (words, why) in [
        (&["lost == 0"][..], "a quantity is not compared with anything"),
        (&["5ms"], "it says nothing about the recording"),
        (&["lost", "--json"], "--json"),
        (&["wait"], "which of them is compared"),
    ] {
        value(words).exits(2).prints("").complains_with(why);
    }
    let bound =
        |which: &str| value(&["busy", "--bound", which]).exits(0).stdout().trim().parse::<f64>().expect("a number");
    let [least, observed, most] = ["least", "observed", "most"].map(bound);
    assert!(0.0 <= least && least <= observed && observed <= most && most <= 1.0, "{least} {observed} {most}");
}

#[test]
fn a_file_of_assertions() {
    let env = TestEnvironment::new();
    let spec = |text: &str| {
        std::fs::write(env.path().join("rtrace.toml"), text).unwrap();
        env.rtrace(&["check", &small(), "--spec", "rtrace.toml"])
    };
    let good = spec("min-samples = 2\n[assert]\n\"z: none lost\" = \"lost == 0\"\nquick = 'max(wait()) < 1ms'\n");
    good.exits(0)
        .prints_with("pass           z: none lost\n  lost == 0\n  found 0, wanted == 0\npass           quick\n");
    spec("min-samples = 3\n[assert]\nquick = 'max(wait()) < 1ms'\n").exits(4);
    for (text, error) in [
        ("[assert]\nquick = 'max(wait()) <'\n", "quick: a number or a quantity is expected here"),
        ("[assert]\nquick = 7\n", "`quick` must be an assertion in quotes"),
        ("[asserts]\n", "unknown field `asserts`"),
        ("[assert\n", "rtrace.toml"),
        ("min-samples = 3\n", "nothing is asserted"),
        ("", "nothing is asserted"),
        ("# only words\n\n", "nothing is asserted"),
        ("quick = 'max(wait()) < 1ms'\n", "has one a line, `max(wait()) < 5ms`"),
        ("lost == 0\n# x\nmax(wait) <\n", "rtrace.toml:3: a number or a quantity is expected here"),
    ] {
        let outcome = spec(text);
        outcome.exits(2).prints("");
        assert!(outcome.stderr().contains(error), "{text}: {}", outcome.stderr());
    }
    env.rtrace(&["check", &small(), "--spec", "nosuch.toml"]).exits(1);
    for lines in [
        "# one a line\n\n  lost == 0\r\nmax(wait) < 1ms # quick\n",
        "count(irq(irq, task=\"a#b\")) == 0\nlost == 0",
        "count(sched:sched_switch if next_comm ~ \"x # y\") == 0\nlost == 0 # \"that\"",
    ] {
        let outcome = spec(lines);
        outcome.complains("").prints_with("2 assertions: ");
    }
}

#[test]
fn other_tools_read_the_verdicts() {
    let env = TestEnvironment::new();
    let summary = env.path().join("summary.md");
    let assertions = ["-a", "lost == 0", "-a", "max(wait()) < 1us", "-a", "max(io()) < 1ms"];
    let file = small();
    let args = [&["check", &file, "--junit", "out.xml", "--github"], &assertions[..]].concat();
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    let output = command.args(&args).env("GITHUB_STEP_SUMMARY", &summary).output().expect("rtrace runs");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines[0].starts_with("::error title=fail%3A max(wait()) < 1us::max(wait()) < 1us: found 9.153 us"),
        "{said}"
    );
    assert!(lines[1].starts_with("::warning title=indeterminate%3A max(io()) < 1ms::"), "{said}");
    assert_eq!(lines[2], "1 pass, 1 fail, 1 indeterminate");
    let table = std::fs::read_to_string(summary).expect("a summary");
    assert!(table.contains("| pass | lost == 0 | found 0, wanted == 0 |\n"), "{table}");
    let junit = std::fs::read_to_string(env.path().join("out.xml")).expect("a report");
    for part in [
        "tests=\"3\" failures=\"1\" errors=\"1\"",
        " time=\"0.",
        " hostname=\"",
        "name=\"lost == 0\"/>",
        "<failure message=\"found 9.153 us",
        "max(wait()) &lt; 1us",
    ] {
        assert!(junit.contains(part), "{part}: {junit}");
    }
    let json = env.rtrace(&[&["check", &small(), "--json"], &assertions[..]].concat());
    json.exits(3);
    let json: Value = serde_json::from_str(&json.stdout()).expect("JSON");
    assert_eq!((&json["schema"], &json["verdict"]), (&"rtrace.check".into(), &"fail".into()));
    let wait = &json["assertions"][1];
    assert_eq!((wait["left"]["observed"].as_f64(), wait["spot"]["pid"].as_i64()), (Some(9153.0), Some(15)));
    let context = wait["context"].as_array().expect("lines");
    let times: Vec<&str> =
        context.iter().filter_map(|line| line.as_str()?.split("] ").nth(1)?.split(':').next()).collect();
    assert!(times.len() >= 4 && times.is_sorted(), "{wait}");
    assert!(times.contains(&"2128.995307877") && times.contains(&"2128.995317030"), "begin and end: {wait}");
    assert_eq!(json["assertions"][2]["left"], Value::Null);
}

/// Tasks that run on two CPUs at once, and without having been woken: single events are missing.
#[test]
fn an_interval_with_an_unknown_end_bounds_what_is_known() {
    let env = TestEnvironment::new();
    fork_storm(2, 20_000, 60, 1).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let json =
        env.rtrace(&["check", "--json", "-a", "max(wait()) < 1h", "-a", "p50(wait()) < 1h", "-a", "count(wait()) > 0"]);
    json.exits(0);
    let json: Value = serde_json::from_str(&json.stdout()).expect("JSON");
    let value = |at: usize| {
        let left = &json["assertions"][at]["left"];
        ["least", "observed", "most"].map(|name| left[name].as_f64().expect("a number"))
    };
    let sched = env.rtrace(&["analyze", "sched", "--json", "--top", "0"]).stdout();
    let sched: Value = serde_json::from_str(&sched).expect("JSON");
    let counts = &sched["buffers"][0]["counts"];
    let missing = counts["contradictions"].as_f64().unwrap() + counts["missed_wakeups"].as_f64().unwrap();
    assert!(missing > 10.0, "{counts}");
    let [least, observed, most] = value(2);
    assert_eq!((least, most), (observed, observed + missing), "as many more intervals");
    let limit = format!("count(wait()) <= {observed}");
    let [least, observed, most] = value(0);
    assert!(least == observed && observed <= most && most < 1e12, "{least} {observed} {most}");
    let [least, middle, most] = value(1);
    assert!(least < middle && middle < most && most <= observed, "{least} {middle} {most}");
    let outcome = env.rtrace(&["check", "-a", &limit]);
    outcome.exits(4).prints_with("more intervals are unknown: begin or end is not in the recording");
}

/// Any flipped bit that may have hidden an event is reported: nothing passes then, nor does a duration fail, which may span
/// the damaged place.
#[test]
fn nothing_is_sure_of_a_damaged_file() {
    let env = TestEnvironment::new();
    fork_storm(2, 4_000, 20, 3).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let max = "max(latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)) < 1h";
    env.rtrace(&["check", "-a", max]).exits(0);
    let least = max.replace("< 1h", "< 1ns");
    env.rtrace(&["check", "-a", &least]).exits(3);
    let mut bytes = std::fs::read(env.path().join("trace.dat")).unwrap();
    let at = bytes.len() * 3 / 4;
    bytes[at] ^= 0x40;
    std::fs::write(env.path().join("trace.dat"), bytes).unwrap();
    let outcome = env.rtrace(&["check", "-a", max, "-a", &least, "-a", "duration >= 0s", "-a", "lost < 1000"]);
    outcome.exits(4).prints_with("1 pass, 0 fail, 3 indeterminate");
    outcome.prints_with("the file is damaged in 1 place");
}

/// The sum, number and longest of the durations of rows with one name; `None` of what is unknown where events were lost.
struct Rows {
    total: Option<u64>,
    count: u64,
    max: Option<u64>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows { total: Some(0), count: 0, max: Some(0) }
    }
}

impl Rows {
    fn add(&mut self, distribution: &Value) {
        let number = |name: &str| distribution[name].as_u64();
        let count = number("count").unwrap_or(0);
        self.count += count;
        if count > 0 {
            self.total = self.total.zip(number("total")).map(|(sum, more)| sum + more);
            self.max = self.max.zip(number("max")).map(|(max, other)| max.max(other));
        }
    }
}

/// Assertions about a buffer, each with the number on its left side.
fn of_analyses(analyses: &Value, buffer: usize) -> Vec<(String, u64)> {
    let rows = |what: &str, list: &str| analyses[what]["buffers"][buffer][list].as_array().cloned().unwrap_or_default();
    let mut named: BTreeMap<String, Rows> = BTreeMap::new();
    for row in rows("functions", "functions") {
        named.entry(format!("function({})", row["function"].as_str().unwrap())).or_default().add(&row["whole"]);
    }
    for row in rows("locks", "kinds") {
        named.entry(format!("lock({})", row["kind"].as_str().unwrap())).or_default().add(&row["waits"]);
    }
    let mut asked = Vec::new();
    let mut live: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows("memory", "sites") {
        let site = row["site"].as_str().unwrap();
        let function = site.split_once('+').map_or(site, |(function, _)| function);
        // Unknown where events were lost.
        if let Some(taken) = row["live_taken"].as_u64() {
            *live.entry(function.to_owned()).or_default() += taken;
        }
        named.entry(format!("life({function})")).or_default().add(&row["lives"]);
    }
    asked.extend(live.into_iter().map(|(function, bytes)| (format!("live({function}) >= 0"), bytes)));
    for row in rows("faults", "tasks") {
        let faults = row["user"].as_u64().unwrap() + row["kernel"].as_u64().unwrap();
        asked.push((format!("faults({}) >= 0", row["pid"]), faults));
    }
    for (name, rows) in named.into_iter().filter(|(_, rows)| rows.count > 0) {
        asked.extend(rows.max.map(|max| (format!("max({name}) >= 0ns"), max)));
        asked.extend(rows.total.map(|total| (format!("sum({name}) >= 0ns"), total)));
        asked.push((format!("count({name}) >= 0"), rows.count));
    }
    asked
}

/// The left sides of assertions about a buffer.
fn observed(env: &TestEnvironment, file: &str, buffer: &str, asked: &[(String, u64)]) -> Vec<Value> {
    let args: Vec<&str> = asked.iter().flat_map(|(assertion, _)| ["-a", assertion]).collect();
    let out = env.rtrace(&[&["check", "--json", "--buffer", buffer, file], &args[..]].concat());
    let document: Value = serde_json::from_str(&out.stdout()).expect("JSON");
    document["assertions"].as_array().unwrap().clone()
}

/// Each analysis is held against an account of its own; its quantities are what it says.
#[test]
fn functions_locks_memory_and_faults_are_those_of_their_analyses() {
    let env = TestEnvironment::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for path in trace_files().iter().filter(|path| is_small(path, 1 << 20)) {
        let file = path.to_string_lossy().into_owned();
        let all = env.rtrace(&["analyze", "all", "--json", "--top", "0", &file]);
        if all.status() != Some(0) {
            continue;
        }
        let all: Value = serde_json::from_str(&all.stdout()).expect("JSON");
        let analyses = &all["analyses"];
        for what in ["functions", "locks", "memory", "faults"] {
            for (place, buffer) in analyses[what]["buffers"].as_array().iter().flat_map(|all| all.iter().enumerate()) {
                let mut one = json!({});
                one[what] = json!({"buffers": [analyses[what]["buffers"][place]]});
                let asked = of_analyses(&one, 0);
                if asked.is_empty() {
                    continue;
                }
                let found = observed(&env, &file, buffer["buffer"].as_str().unwrap(), &asked);
                for ((assertion, number), found) in asked.iter().zip(&found) {
                    assert_eq!(
                        found["left"]["observed"].as_f64(),
                        Some(*number as f64),
                        "{file}: {assertion}: {found}"
                    );
                    *kinds
                        .entry(assertion.split(')').next().unwrap().split('(').rev().nth(1).unwrap().to_owned())
                        .or_default() += 1;
                }
            }
        }
    }
    let compared = |kind: &str| kinds.get(kind).copied().unwrap_or(0);
    assert!(
        corpus().is_none() || ["function", "lock", "life", "live", "faults"].iter().all(|kind| compared(kind) > 5),
        "{kinds:?}"
    );
}

/// The numbers that `check --json` finds for some quantities, in their order; none of a file with several buffers.
fn numbers(env: &TestEnvironment, file: &str, quantities: &[String]) -> Vec<Option<f64>> {
    let assertions: Vec<String> = quantities.iter().map(|one| format!("{one} >= {}", zero(one))).collect();
    let args: Vec<&str> = assertions.iter().flat_map(|one| ["-a", one]).collect();
    let out = env.rtrace(&[&["check", "--json", file], &args[..]].concat()).stdout();
    let Ok(document) = serde_json::from_str::<Value>(&out) else { return Vec::new() };
    let all = document["assertions"].as_array().expect("assertions");
    all.iter().map(|one| one["left"]["observed"].as_f64()).collect()
}

/// Calls, handlers, requests and waits of each task are those of all tasks together, and calls those that `analyze` counts for it.
#[test]
fn durations_of_tasks_add_up_to_those_of_all() {
    let env = TestEnvironment::new();
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for path in trace_files().iter().filter(|path| is_small(path, 1 << 18)) {
        let file = path.to_string_lossy().into_owned();
        let lines = env.rtrace(&["report", "--format", "json", &file]);
        let events: Vec<Value> = lines.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut pids: Vec<i64> = events.iter().filter_map(|event| event["pid"].as_i64()).collect();
        pids.sort_unstable();
        pids.dedup();
        let is_one_buffer = !numbers(&env, &file, &["duration".to_owned()]).is_empty();
        if lines.status() != Some(0) || pids.is_empty() || pids.len() > 30 || !is_one_buffer {
            continue;
        }
        for source in ["syscall", "irq", "io", "lock"] {
            let whole = numbers(&env, &file, &[format!("count({source}())"), format!("sum({source}())")]);
            let [Some(count), Some(sum)] = whole[..] else { continue };
            let of = |what: &str| pids.iter().map(|pid| format!("{what}({source}(task={pid}))")).collect::<Vec<_>>();
            let add = |what: &str| numbers(&env, &file, &of(what)).into_iter().flatten().sum::<f64>();
            if count > 0.0 {
                assert_eq!((add("count"), add("sum")), (count, sum), "{file}: {source}");
                *compared.entry(source).or_default() += 1;
            }
        }
        let analyzed = env.rtrace(&["analyze", "syscalls", "--json", "--top", "0", &file]).stdout();
        let analyzed: Value = serde_json::from_str(&analyzed).unwrap_or_default();
        let tasks = analyzed["buffers"][0]["tasks"].as_array().cloned().unwrap_or_default();
        for task in tasks.iter().filter(|_| analyzed["buffers"].as_array().is_some_and(|all| all.len() == 1)) {
            let of = |what: &str| format!("{what}(syscall(task={}))", task["pid"]);
            let expected = ["calls", "failed", "time"].map(|name| task[name].as_f64());
            let found = numbers(&env, &file, &[of("count"), of("errors"), of("sum")]);
            // Unknown where events were lost.
            let known = found.iter().zip(&expected).filter(|(_, expected)| expected.is_some());
            assert!(
                known.clone().count() >= 2 && known.clone().all(|(found, expected)| found == expected),
                "{file}: {found:?}: {task}"
            );
        }
    }
    assert!(
        corpus().is_none() || ["syscall", "irq"].iter().all(|source| compared.contains_key(source)),
        "{compared:?}"
    );
}

/// Entries, from the events as `report` has them.
#[test]
fn histograms_are_sums_by_key() {
    let env = TestEnvironment::new();
    let mut compared = 0;
    for path in trace_files().iter().filter(|path| is_small(path, 1 << 18)) {
        let file = path.to_string_lossy().into_owned();
        let lines = env.rtrace(&["report", "--format", "json", &file]);
        let events: Vec<Value> = lines.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let plain = |event: &&Value| event["event"] == "sched:sched_switch" && event["buffer"].is_null();
        let switches: Vec<&Value> = events.iter().filter(plain).collect();
        if lines.status() != Some(0) || switches.len() < 10 {
            continue;
        }
        let (mut by_task, mut by_name): (BTreeMap<i64, u64>, BTreeMap<String, u64>) = Default::default();
        for switch in &switches {
            let fields = &switch["fields"];
            *by_task.entry(fields["next_pid"].as_i64().unwrap()).or_default() += 1;
            let name = by_name.entry(fields["next_comm"].as_str().unwrap().to_owned()).or_default();
            *name += fields["prev_prio"].as_u64().unwrap();
        }
        let most = *by_task.values().max().unwrap();
        let (busiest, _) = by_task.iter().find(|(_, count)| **count == most).unwrap();
        let asked = [
            ("max(hist(sched:sched_switch, key=next_pid)) >= 0".to_owned(), most),
            (
                "min(hist(sched:sched_switch, key=next_pid, val=hitcount)) >= 0".to_owned(),
                *by_task.values().min().unwrap(),
            ),
            ("count(hist(sched:sched_switch, key=next_pid)) >= 0".to_owned(), by_task.len() as u64),
            (format!("max(hist(sched:sched_switch if next_pid == {busiest}, key=next_pid)) >= 0"), most),
            (
                "max(hist(sched:sched_switch, key=next_comm, val=prev_prio)) >= 0".to_owned(),
                *by_name.values().max().unwrap(),
            ),
            ("sum(hist(sched:sched_switch, key=next_comm, val=prev_prio)) >= 0".to_owned(), by_name.values().sum()),
        ];
        for ((assertion, number), found) in asked.iter().zip(observed(&env, &file, "", &asked)) {
            assert_eq!(found["left"]["observed"].as_f64(), Some(*number as f64), "{file}: {assertion}: {found}");
            // With losses an entry is at least what was seen.
            let more = found["left"]["most"].is_null() || found["left"]["most"].as_f64() == Some(*number as f64);
            assert!(more, "{file}: {assertion}: {found}");
        }
        compared += 1;
    }
    assert!(compared >= 3, "{compared} files");
    let wrong =
        env.rtrace(&["check", &small(), "-a", "max(hist(sched:sched_switch, key=next_pid, val=next_comm)) < 1"]);
    wrong.exits(2).complains_with("sched:sched_switch has no number `next_comm` to be summed");
    let missing = env.rtrace(&["check", &small(), "-a", "max(function()) < 1s", "-a", "faults() == 0"]);
    missing.exits(4).prints_with("no such events are in the recording");
}

/// A saved summary gives the recording's verdicts, or says that it does not know: never another one.
#[test]
fn a_saved_summary_is_checked_as_its_recording() {
    let env = TestEnvironment::new();
    for (seed, name) in [(3, "one.dat"), (4, "two.dat")] {
        fork_storm(4, 20_000, 40, seed).write(&env.path().join(name), Version::V7(Codec::Zstd));
    }
    env.rtrace(&["baseline", "save", "one.dat", "-o", "one.json", "--metric", "run(7)"]).exits(0);
    let quantities = [
        "lost",
        "duration",
        "count(sched:sched_switch)",
        "rate(sched:sched_wakeup)",
        "count(wait())",
        "sum(preempted())",
        "mean(wait())",
        "trimmed(wait())",
        "p50(wait())",
        "p99.9(preempted())",
        "min(wait())",
        "max(wait())",
        "busy",
        "run(7)",
    ];
    let assertions: Vec<String> =
        quantities.iter().map(|quantity| format!("{quantity} == {}", zero(quantity))).collect();
    let asked: Vec<&str> = assertions.iter().flat_map(|assertion| ["-a", assertion]).collect();
    let left = |file: &str| -> Vec<Value> {
        let text = env.rtrace(&[&["check", file, "--json"], &asked[..]].concat()).stdout();
        let document: Value = serde_json::from_str(&text).unwrap();
        document["assertions"].as_array().unwrap().iter().map(|one| one["left"].clone()).collect()
    };
    let number = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
    for ((quantity, recorded), saved) in quantities.iter().zip(left("one.dat")).zip(left("one.json")) {
        assert!(!recorded.is_null() && !saved.is_null(), "{quantity}: {recorded} {saved}");
        // All that the recording may be, the summary allows.
        let within = number(&saved["least"]) <= number(&recorded["least"]) * 1.0001 + 1.0
            && number(&saved["most"]) * 1.0001 + 1.0 >= number(&recorded["most"]);
        assert!(within, "{quantity}: {recorded} {saved}");
        let exact = quantity.contains("count") || quantity.contains("sum") || quantity.contains("mean");
        assert!(!exact || saved["observed"] == recorded["observed"], "{quantity}: {recorded} {saved}");
        let near = (number(&saved["observed"]) - number(&recorded["observed"])).abs();
        let timed = quantity.contains("wait()") || quantity.contains("preempted()");
        assert!(!timed || near <= number(&recorded["observed"]) / 50.0, "{quantity}: {recorded} {saved}");
    }
    let check = |file: &str, assertion: &str| env.rtrace(&["check", file, "-a", assertion]);
    check("one.json", "lost == 0").exits(0).prints_with("1 pass");
    check("one.json", "max(wait()) < 1ns").exits(3).prints_with("FAIL");
    check("one.json", "count(wait()) > 0").exits(0);
    // Quantities that the summary lacks are not known.
    check("one.json", "count(sched:sched_process_hang) == 0").exits(4).prints_with("`rtrace baseline save --metric`");
    check("one.json", "p99(function(vfs_read)) < 1ms").exits(4).prints_with("no summary has it");
    check("one.json", "mean(syscall()) < 1s").exits(4).prints_with("no system calls were recorded");
    env.rtrace(&["check", "one.json", "-a", "lost == 0", "--since", "+1ms"]).exits(2).complains_with("no events");
    env.rtrace(&["baseline", "save", "one.dat", "two.dat", "-o", "both.json"]).exits(0);
    let both = check("both.json", "lost == 0");
    both.exits(0).prints_with("(run 2 of 2, two.dat)").prints_with("2 assertions: 2 pass");
    env.rtrace(&["check", "both.json", "-a", "lost == 0", "--junit", "both.xml"]).exits(0);
    // Losses leave what they leave of a recording.
    let lossy = trace_files().into_iter().find(|path| {
        let count = env.rtrace(&["check", &path.to_string_lossy(), "-a", "lost > 0"]);
        is_small(path, 1 << 18) && count.status() == Some(0)
    });
    if let Some(lossy) = lossy {
        env.rtrace(&["baseline", "save", &lossy.to_string_lossy(), "-o", "lossy.json"]);
        check("lossy.json", "lost == 0").exits(3);
        check("lossy.json", "lost > 0").exits(0);
        check("lossy.json", "max(wait()) < 100000s").exits(4);
    }
}

/// Nothing, in a quantity's unit.
fn zero(quantity: &str) -> &'static str {
    match quantity {
        "duration" | "run(7)" => "0s",
        _ if quantity.starts_with("rate") => "0/s",
        _ if quantity.starts_with("sum") => "0s",
        _ if quantity.contains("wait()") || quantity.contains("preempted()") => match quantity.starts_with("count") {
            true => "0",
            false => "0s",
        },
        _ => "0",
    }
}

/// Of the recorder's own threads a part was recorded: what seems to be their waits is none, as in `analyze sched`.
#[test]
fn waits_are_those_of_analyze_sched_without_the_recorders_own() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/readme/late.dat");
    let sched = env.rtrace(&["analyze", "sched", file, "--json"]).exits(0).stdout();
    let sched: Value = serde_json::from_str(&sched).expect("JSON");
    let waits = &sched["buffers"][0]["waits"];
    for (quantity, number, unit) in [("count", &waits["count"], ""), ("max", &waits["max"], "ns")] {
        let number = number.as_u64().unwrap_or_else(|| panic!("{waits}"));
        env.rtrace(&["check", file, "-a", &format!("{quantity}(wait()) == {number}{unit}")]).exits(0);
    }
    env.rtrace(&["dump", file]).prints_with("all, but not rtrace's own threads 15143");
}
