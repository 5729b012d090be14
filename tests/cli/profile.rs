//! `report --profile`.

use crate::common::environment::TestEnvironment;
use crate::common::profiles::alike;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

#[test]
fn a_profile_is_trace_cmds() {
    let env = TestEnvironment::new();
    let packed = std::fs::read(data("profile/events-v6.trace-cmd.gz")).expect("the profile");
    let mut theirs = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut theirs).expect("text");
    let ours = env.rtrace(&["report", "--profile", &data("traces/i386/events-v6.dat")]);
    ours.exits(0).complains("");
    assert!(ours.stdout().lines().count() > 200);
    alike(&theirs, &ours.stdout());
}

fn for_each_object(value: &Value, of: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            of(members);
            members.values().for_each(|member| for_each_object(member, of));
        }
        Value::Array(values) => values.iter().for_each(|value| for_each_object(value, of)),
        _ => {}
    }
}

/// Points in time are local time where that is asked for and known.
#[test]
fn a_profile_and_intervals_have_local_time() {
    let env = TestEnvironment::new();
    let (file, undated) = (data("fleet/web1.dat"), data("traces/host/small-zlib.dat"));
    let local = |words: &[&str]| {
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        let output = command.args(words).env("TZ", "UTC").output().expect("rtrace starts");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // The recording began at 1795574033.666650580 s by the wall clock, by that of the trace at as many.
    let profile = local(&["profile", "--input", &file, "--limit", "1", "--wide", "--wall"]);
    assert!(profile.lines().any(|row| row.starts_with("rtrace-") && row.contains("  2026-11-25T02:33:5")), "{profile}");
    let hist = ["hist", "-i", &file, "sched_switch", "-k", "next_comm", "--every", "100ms"];
    let map = local(&[&hist[..], &["--wall"]].concat());
    assert!(map.lines().next().is_some_and(|line| line.contains(" from 2026-11-25T02:33:53.600000, ")), "{map}");
    let document: Value = serde_json::from_str(&local(&[&hist[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(document["begin_wall"], "2026-11-25T02:33:53.600000000+00:00");
    // In JSON each point has it beside it, to the nanosecond; this clock counts from 1970 on.
    for (args, names) in [
        (["profile", "--input", &file, "--json"], &["max_at", "min_at"][..]),
        (["why", "*", &file, "--json"], &["begin", "end", "at"][..]),
    ] {
        let document: Value = serde_json::from_str(&local(&args)).expect("JSON");
        let (mut points, mut without) = (Vec::new(), 0);
        for_each_object(&document, &mut |object| {
            for name in names {
                match (object.get(*name).and_then(Value::as_u64), object.get(&format!("{name}_wall"))) {
                    (Some(at), Some(wall)) => points.push((at, wall.as_str().expect("a time").to_owned())),
                    (Some(1..), None) => without += 1,
                    _ => {}
                }
            }
        });
        assert!(points.len() > 4 && without == 0, "{args:?}: {points:?}, {without} without");
        for (at, wall) in points {
            let second = 53 + (at / 1_000_000_000 - 1_795_574_033);
            assert_eq!(wall, format!("2026-11-25T02:33:{second}.{:09}+00:00", at % 1_000_000_000), "{args:?}");
        }
    }
    assert!(!local(&["profile", "--input", &undated, "--json"]).contains("_wall"));
    let undated = ["profile", "--input", &undated, "--wall"];
    env.rtrace(&undated).exits(2).complains_with("does not say what time of day it was");
    env.rtrace(&["profile", "--input", &file, "--wall", "--json"]).exits(2).complains_with("the table has local time");
    env.rtrace(&["profile", "--wall", "-e", "sched", "--", "true"]).exits(2).complains_with("`--input FILE` names");
    env.rtrace(&["hist", "-i", &file, "sched_switch", "-k", "next_comm", "--wall"])
        .exits(2)
        .complains_with("`--every`");
}

#[test]
fn a_file_with_switches_alone_has_a_profile() {
    let env = TestEnvironment::new();
    let ours = env.rtrace(&["report", "--profile", &data("traces/vm-6.1/trig.dat")]);
    ours.exits(0).complains("");
    assert_eq!(ours.stdout(), std::fs::read_to_string(data("profile/trig.txt")).expect("the profile"));
}

#[test]
fn a_profile_says_the_same_as_json() {
    let env = TestEnvironment::new();
    let file = data("traces/s390x/inst.dat");
    let text = env.rtrace(&["report", "--profile", "-G", "--by-comm", &file]).exits(0).stdout();
    let json = env.rtrace(&["report", "--profile", "-G", "--by-comm", "--json", &file]).exits(0).stdout();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let mut lines = vec!["cpus=2".to_owned()];
    for buffer in json["buffers"].as_array().expect("buffers") {
        if let Some(name) = buffer["buffer"].as_str() {
            lines.extend([String::new(), format!("Instance: {name}")]);
        }
        for task in buffer["tasks"].as_array().expect("tasks") {
            let comm = task["comm"].as_str().unwrap_or_default();
            match task["kind"].as_str() {
                Some("cpu") => lines.push(format!("Global CPU[{}] Events", task["cpu"])),
                Some("group") => lines.extend([String::new(), format!("group: {comm}")]),
                _ => lines.extend([String::new(), format!("task: {comm}-{}", task["pid"])]),
            }
            for event in task["events"].as_array().expect("events") {
                let (label, times) = (event["label"].as_str().expect("a label"), &event["times"]);
                lines.push(format!("  Event: {label} ({})", times["count"]));
                if times["total"] != 0 {
                    let (total, average) = (&times["total"], &times["average"]);
                    *lines.last_mut().expect("a line") += &format!(" Total: {total} Avg: {average}");
                }
            }
        }
    }
    let short: Vec<&str> = text.lines().map(|line| line.split(" Max: ").next().unwrap_or(line)).collect();
    assert_eq!(short, lines);
    assert!(
        lines.iter().any(|line| line == "Instance: one") && lines.iter().any(|line| line.starts_with("Global CPU"))
    );
}

#[test]
fn wrong_hooks_are_refused() {
    let env = TestEnvironment::new();
    let file = data("traces/i386/events-v6.dat");
    let hook = "sched_waking,pd/sched_switch,next_pid";
    env.rtrace(&["report", "--profile", "-H", hook, &file])
        .exits(1)
        .complains(&format!("rtrace: hook `{hook}`: sched_waking has no field `pd`\n  Hint: did you mean `pid`?\n"));
    let printed = env.rtrace(&["report", "--profile", "-H", "a/b", &file]).exits(2).stderr();
    assert!(
        printed.contains("invalid hook `a/b`: expected [SYSTEM:]START,FIELD[,PID]/[SYSTEM:]END,FIELD[,FLAGS]"),
        "{printed}"
    );
    let printed = env.rtrace(&["report", "--by-comm", &file]).exits(2).stderr();
    assert!(printed.contains("it is about `--profile`"), "{printed}");
}
