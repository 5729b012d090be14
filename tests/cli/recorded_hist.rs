//! `hist -i` and `latency -i`, against a count of what `report` prints.

use crate::common::corpus::corpus;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use serde_json::Value;
use std::collections::BTreeMap;

const RECORDING: &str = "vm-6.1/trig.dat";

fn file() -> String {
    format!("{}/tests/data/traces/{RECORDING}", env!("CARGO_MANIFEST_DIR"))
}

/// The events of the recording, as `report` has them.
fn events(env: &TestEnvironment) -> Vec<Value> {
    let lines = env.rtrace(&["report", "--format", "json", &file()]).exits(0).stdout();
    lines.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn json(env: &TestEnvironment, words: &[&str]) -> Value {
    let stdout = env.rtrace(words).exits(0).stdout();
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn a_table_is_a_count_of_the_events() {
    let env = TestEnvironment::new();
    let mut wanted: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for event in events(&env).iter().filter(|event| event["event"] == "sched:sched_switch") {
        let entry = wanted.entry(event["fields"]["next_comm"].as_str().expect("a text").to_owned()).or_default();
        entry.0 += 1;
        entry.1 += event["fields"]["next_prio"].as_u64().expect("a number");
    }
    assert!(wanted.len() > 3, "{wanted:?}");
    let words = ["hist", "-i", &file(), "sched:sched_switch", "--key", "next_comm", "--val", "next_prio", "--json"];
    let document = json(&env, &words);
    let entries = document["tables"][0]["entries"].as_array().expect("entries");
    let found: BTreeMap<String, (u64, u64)> = entries
        .iter()
        .map(|entry| {
            let number = |value: &Value| value.as_u64().expect("a number");
            let sums = (number(&entry["hitcount"]), number(&entry["values"][0]["value"]));
            (entry["keys"]["next_comm"].as_str().expect("a text").to_owned(), sums)
        })
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(document["recording"]["lost"], 0);
    for threads in ["1", "2", "3", "8"] {
        let words: Vec<&str> = words.iter().copied().chain(["--threads", threads]).collect();
        assert_eq!(json(&env, &words), document, "{threads} threads");
    }
    // Only some of them.
    let document =
        json(&env, &["hist", "-i", &file(), "sched_switch", "--key", "next_comm", "--if", "next_pid == 0", "--json"]);
    let idle: u64 = wanted.iter().filter(|(comm, _)| comm.starts_with("swapper")).map(|(_, sums)| sums.0).sum();
    assert_eq!(document["tables"][0]["hits"], idle);
}

#[test]
fn a_latency_is_the_time_since_the_last_begin() {
    let env = TestEnvironment::new();
    let (mut on, mut times, mut ends) = (BTreeMap::new(), Vec::new(), 0u64);
    for event in &events(&env) {
        let (fields, time) = (&event["fields"], event["ts"].as_u64());
        match event["event"].as_str() {
            Some("sched:sched_switch") => {
                ends += 1;
                let pid = fields["next_pid"].as_i64().expect("a number");
                if let Some(begin) = on.remove(&pid) {
                    times.push(time.expect("nanoseconds") - begin);
                }
                on.insert(fields["prev_pid"].as_i64().expect("a number"), time.expect("nanoseconds"));
            }
            _ => continue,
        }
    }
    assert!(times.len() > 20, "{times:?}");
    // An event may end one time and begin another: the kernel sets both triggers, in the order of the command line.
    let words = [
        "latency",
        "-i",
        &file(),
        "sched:sched_switch",
        "sched:sched_switch",
        "--by",
        "prev_pid=next_pid",
        "--ns",
        "--json",
    ];
    let document = json(&env, &words);
    let summary = &document["tables"][0]["summary"];
    assert_eq!(summary["hitcount"].as_u64(), Some(times.len() as u64), "{document:#}");
    assert_eq!(summary["sum"].as_u64(), Some(times.iter().sum()), "{document:#}");
    assert_eq!(document["stages"][1]["events"].as_u64(), Some(ends));
    for threads in ["1", "3"] {
        let words: Vec<&str> = words.iter().copied().chain(["--threads", threads]).collect();
        assert_eq!(json(&env, &words), document, "{threads} threads");
    }
}

/// Two recordings: the whole and its first events.
#[test]
fn tables_of_two_recordings_are_compared_key_by_key() {
    let env = TestEnvironment::new();
    env.rtrace(&["split", &file(), "-e", "60", "-o", "part.dat"]).exits(0);
    let of = |path: &str| {
        let words = ["hist", "-i", path, "sched_switch", "--key", "next_comm,prev_pid", "--json"];
        let table = json(&env, &words)["tables"][0].clone();
        let entries = table["entries"].as_array().expect("entries").clone();
        let entries = entries.into_iter().map(|entry| (entry["keys"].to_string(), entry["hitcount"].as_u64()));
        (table["hits"].as_u64().expect("a number"), entries.collect::<BTreeMap<String, Option<u64>>>())
    };
    let ((hits_before, before), (hits_after, after)) = (of("part.dat"), of(&file()));
    assert!(hits_before > 10 && hits_after > hits_before, "{hits_before} {hits_after}");
    let words = ["hist", "-i", &file(), "--against", "part.dat", "sched_switch", "--key", "next_comm,prev_pid"];
    let document = json(&env, &[&words[..], &["--json"]].concat());
    assert_eq!(document["schema"], "rtrace.hist-diff");
    let changes = document["changes"].as_array().expect("changes");
    let (mut sum, mut last) = (0, u64::MAX);
    for change in changes {
        let (keys, was, is) = (change["keys"].to_string(), change["before"].as_u64(), change["after"].as_u64());
        assert_eq!(was.unwrap_or(0), before.get(&keys).copied().flatten().unwrap_or(0), "{keys}");
        assert_eq!(is, after.get(&keys).copied().flatten(), "{keys}");
        let change = is.unwrap_or(0).abs_diff(was.unwrap_or(0));
        assert!(change <= last, "{document:#}");
        (sum, last) = (sum + change, change);
    }
    assert_eq!((changes.len(), sum), (after.len(), hits_after - hits_before));
    let text = env.rtrace(&[&words[..], &["-n", "1"]].concat()).exits(0).stdout();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(
        text.lines().last().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")),
        Some(format!("{hits_before} {hits_after} hits"))
    );
    env.rtrace(&["hist", "--against", "part.dat", "sched_switch", "--key", "next_comm"]).exits(2);
    env.rtrace(&["hist", "-i", &file(), "--against", "none.dat", "sched_switch", "--key", "next_comm"]).exits(1);
}

/// Losses stand before any event, often before one that nobody asked for.
#[test]
fn a_loss_is_seen_whatever_event_follows_it() {
    let Some(corpus) = corpus() else { return not_run("losses of the corpus: there is none") };
    let env = TestEnvironment::new();
    for kernel in ["arm64", "i386", "s390x"] {
        let file = corpus.join(kernel).join("lost.dat");
        let file = file.to_str().expect("a path in UTF-8");
        let lines = env.rtrace(&["report", "--format", "json", file]).exits(0).stdout();
        let (mut lost, mut gaps, mut sum, mut times, mut spanning) = (0, 0, 0, 0, 0);
        let (mut begun, mut before): (BTreeMap<i64, u64>, BTreeMap<i64, u64>) = Default::default();
        for line in lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
            if line["type"] == "lost" {
                line["count"].as_u64().map_or_else(|| gaps += 1, |count| lost += count);
                before.append(&mut begun);
            }
            let (Some(pid), Some(time)) = (line["pid"].as_i64(), line["ts"].as_u64()) else { continue };
            match line["event"].as_str() {
                Some("raw_syscalls:sys_enter") => {
                    begun.insert(pid, time);
                    before.remove(&pid);
                }
                Some("raw_syscalls:sys_exit") => {
                    spanning += u64::from(before.remove(&pid).is_some());
                    let Some(begin) = begun.remove(&pid) else { continue };
                    (times, sum) = (times + 1, sum + time - begin);
                }
                _ => {}
            }
        }
        assert!(spanning > 3 && lost > 1_000, "{kernel}: {spanning} calls span losses of {lost}");
        for event in ["raw_syscalls:sys_enter", "sched:sched_waking", "irq:softirq_entry"] {
            let document = json(&env, &["hist", "-i", file, event, "--key", "common_pid", "--json"]);
            let found = &document["recording"];
            assert_eq!((found["lost"].as_u64(), found["gaps"].as_u64()), (Some(lost), Some(gaps)), "{kernel}: {event}");
        }
        let of_calls = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "--by", "common_pid", "--ns", "--json"];
        for threads in ["1", "2", "5"] {
            let words = [&["latency", "-i", file, "--threads", threads][..], &of_calls].concat();
            let document = json(&env, &words);
            let summary = &document["tables"][0]["summary"];
            let found = (summary["hitcount"].as_u64(), summary["sum"].as_u64());
            assert_eq!(found, (Some(times), Some(sum)), "{kernel}, {threads} threads");
            let strict = env.rtrace(&[&words[..], &["--max-lost", "5"]].concat());
            strict.exits(4).complains_with(&format!("{lost} events were lost"));
        }
    }
}

#[test]
fn a_statement_is_answered_by_a_recording() {
    let env = TestEnvironment::new();
    let join = "select end.next_comm as comm, TIMESTAMP_DELTA as lat from sched_switch as start \
                join sched_switch as end on start.prev_pid = end.next_pid";
    let lines = env.rtrace(&["synth", "sql", "-i", &file(), "-n", "slept", "--json", join]).exits(0).stdout();
    let fired: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let words =
        ["latency", "-i", &file(), "sched_switch", "sched_switch", "--by", "prev_pid=next_pid", "--ns", "--json"];
    let summary = json(&env, &words)["tables"][0]["summary"].clone();
    assert_eq!(summary["hitcount"].as_u64(), Some(fired.len() as u64));
    let sum: u64 = fired.iter().map(|event| event["fields"]["lat"].as_u64().expect("a number")).sum();
    assert_eq!(summary["sum"].as_u64(), Some(sum));
    assert!(fired.iter().all(|event| event["event"] == "synthetic:slept"), "{lines}");
    let text = env.rtrace(&["synth", "sql", "-i", &file(), "-n", "slept", join]).exits(0).stdout();
    assert_eq!(
        text.lines().filter(|line| line.contains(": slept: comm=") && line.contains(" lat=")).count(),
        fired.len()
    );
    let table = env.rtrace(&["synth", "sql", "-i", &file(), "select next_comm from sched_switch"]).exits(0).stdout();
    let own = env.rtrace(&["hist", "-i", &file(), "sched_switch", "hist:keys=next_comm"]).exits(0).stdout();
    assert_eq!(table, own);
}

#[test]
fn what_a_recording_cannot_answer_is_said() {
    let env = TestEnvironment::new();
    let of = |words: &[&str], complaint: &str| {
        let words: Vec<&str> = words.iter().copied().chain(["-i"]).collect();
        let path = file();
        let words: Vec<&str> = words.into_iter().chain([path.as_str()]).collect();
        env.rtrace(&words).exits(2).prints("").complains_with(complaint);
    };
    of(&["hist", "sched_swich", "--key", "next_pid"], "did you mean `sched_switch`?");
    of(&["hist", "sched_switch", "--key", "nextpid"], "did you mean `next_pid`?");
    of(&["hist", "sched_switch", "--key", "next_pid", "--size", "128"], "--kernel-map");
    of(&["hist", "sched_switch", "hist:keys=next_pid:d=common_timestamp-$ts"], "ts");
    of(&["hist", "sched_switch", "--key", "next_pid", "--follow"], "cannot be used with a recording");
    of(&["latency", "sched_switch", "sched_switch", "--by", "prevpid=next_pid"], "prev_pid");
    env.rtrace(&["hist", "sched:sched_switch", "--key", "next_pid", "--since", "1"]).exits(2).complains_with("-i FILE");
}
