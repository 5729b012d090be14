//! Messages about recordings and documents that do not hold what was asked for.

use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::{Synthetic, fork_storm};
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::write::{NewFile, Version};
use rtrace::internal::trace_dat::{Codec, OptionId, Trace};
use serde_json::Value;
use std::fs;
use std::path::Path;

const V7: Version = Version::V7(Codec::Zstd);

fn trig() -> String {
    own().join("vm-6.1/trig.dat").to_string_lossy().into_owned()
}

/// Writes a recording as `name`, with options more.
fn storm(env: &TestEnvironment, name: &str, options: &[(OptionId, &str)]) {
    let with = |storm: Synthetic, (id, text): &(OptionId, &str)| storm.with_option(*id, text.as_bytes());
    options.iter().fold(fork_storm(2, 400, 20, 3), with).write(&env.path().join(name), V7);
}

#[test]
fn documents_of_rtrace_are_named() {
    let env = TestEnvironment::new();
    storm(&env, "a.dat", &[]);
    env.rtrace(&["convert", "a.dat", "-o", "events.json"]).exits(0);
    env.rtrace(&["baseline", "save", "-o", "base.json", "a.dat"]).exits(0);
    let sched = env.rtrace(&["analyze", "sched", "--json", "a.dat"]).exits(0).stdout();
    fs::write(env.path().join("sched.json"), sched).expect("to write");
    fs::write(env.path().join("chrome.json"), r#"{"traceEvents":[]}"#).expect("to write");
    for (file, says) in [
        ("events.json", "it is rtrace's own JSON of events (rtrace.events)"),
        ("base.json", "`rtrace baseline compare base.json NEW.dat`"),
        ("sched.json", "rtrace.analyze.sched, as `analyze sched` writes it"),
        ("chrome.json", "https://ui.perfetto.dev opens it"),
    ] {
        for verb in [&["report"][..], &["dump"], &["analyze", "sched"]] {
            env.rtrace(&[verb, &[file]].concat()).exits(1).complains_with(says);
        }
    }
    env.rtrace(&["diff", "a.dat", "events.json"])
        .exits(2)
        .complains_with("not a saved summary: it is rtrace's own JSON of events");
}

#[test]
fn a_start_before_the_first_event_is_noted() {
    let env = TestEnvironment::new();
    let file = trig();
    for args in [&["report", "--since", "1s"][..], &["check", "-a", "lost == 0", "--since", "1"]] {
        let outcome = env.rtrace(&[args, &[&file]].concat());
        outcome.exits(0).complains_with("1s is before the first event at 195.680323: nothing is cut off");
        outcome.complains_with("`+1s` counts from the first event, `--since -TIME` from the last one.");
    }
    env.rtrace(&["split", "-o", "part.dat", &file, "0.2"])
        .exits(0)
        .complains_with("0.2s is before the first event at 195.6");
    for since in ["0", "195.6", "+0.1", "-1s", "195.7"] {
        env.rtrace(&["report", "--since", since, &file]).exits(0).complains("");
    }
}

#[test]
fn a_time_of_day_before_the_boot_stays_what_it_is() {
    let env = TestEnvironment::new();
    let noon = 1_795_000_000_000_000_000_i64;
    storm(&env, "a.dat", &[(OptionId::RTRACE_WALL_CLOCK, &format!("1000000 {noon} 100"))]);
    let at = |time: &str| {
        let outcome = env.rtrace(&["why", "sh", "a.dat", "--at", time]);
        outcome.exits(1).stderr()
    };
    let before = at("2001-02-03 04:05:06");
    assert!(before.contains(": 2001-02-03T04:05:06.000000 is outside of it"), "{before}");
    assert!(at("99.5").contains(": 99.500000 is outside of it"));
}

#[test]
fn a_call_that_is_not_there_is_told_from_none() {
    let env = TestEnvironment::new();
    let mut tried = 0;
    for path in trace_files() {
        let file = path.to_string_lossy().into_owned();
        if path.metadata().is_ok_and(|of| of.len() > 4_000_000)
            || env.rtrace(&["why", "*", "--worst", "syscall", &file]).status() != Some(0)
        {
            continue;
        }
        tried += 1;
        let outcome = env.rtrace(&["why", "*", "--worst", "syscall", "--call", "nosuch", &file]);
        outcome.exits(1).complains_with("holds no whole call of nosuch by *");
        outcome.complains_with("it holds whole calls of ");
        if tried == 3 {
            break;
        }
    }
    println!("{tried} recordings");
}

#[test]
fn events_that_were_recorded_and_did_not_come_are_named() {
    let env = TestEnvironment::new();
    let events = "buffer \npower:cpu_idle\npower:cpu_frequency\npower:cpu_idle_miss\nsched:sched_switch\n";
    storm(&env, "a.dat", &[(OptionId::RTRACE_EVENTS, events)]);
    let outcome = env.rtrace(&["analyze", "idle", "a.dat"]).exits(1).stderr();
    assert!(outcome.contains("power:cpu_frequency, power:cpu_idle, power:cpu_idle_miss were recorded, and none came"));
    assert!(outcome.contains("cpuidle") && !outcome.contains("--for idle"), "{outcome}");
    // Without any of them the remedy is to record them.
    storm(&env, "b.dat", &[(OptionId::RTRACE_EVENTS, "buffer \nsched:sched_wakeup\n")]);
    env.rtrace(&["analyze", "idle", "b.dat"])
        .exits(1)
        .complains_with("`rtrace record --for idle` records what is needed");
}

#[test]
fn runs_of_a_command_are_compared_whatever_its_pid_was() {
    let env = TestEnvironment::new();
    let of = |name: &str, tasks: &str| {
        storm(&env, name, &[(OptionId::RTRACE_COVERAGE, &format!("buffer \n{tasks}\n"))]);
    };
    of("a.dat", "tasks 7\nchildren\ncommand");
    of("b.dat", "tasks 9\nchildren\ncommand");
    of("c.dat", "tasks 7\nchildren");
    let diff = |new: &str| env.rtrace(&["diff", "a.dat", new]).stdout();
    let (own, others) = (diff("b.dat"), diff("c.dat"));
    assert!(!own.contains("nothing can be compared"), "{own}");
    assert!(others.contains("nothing can be compared"), "{others}");
}

#[test]
fn the_assertion_says_what_records_its_events() {
    let env = TestEnvironment::new();
    env.rtrace(&["check", &trig(), "-a", "max(syscall()) < 1s"])
        .exits(4)
        .prints_with("no system calls were recorded: `rtrace record --for syscalls` does");
    env.rtrace(&["check", &trig(), "-a", "max(wait()) < 1s"])
        .exits(4)
        .prints_with("neither sched_waking nor sched_wakeup was recorded: `rtrace record --for sched` does");
}

#[test]
fn sizes_are_numbers_of_assertions() {
    let env = TestEnvironment::new();
    for (bound, status) in [("1K", 0), ("1KiB", 0), ("8MiB", 0), ("1G", 0)] {
        let assertion = format!("count(sched:sched_switch) / 1000000 < {bound}");
        env.rtrace(&["check", &trig(), "-a", &assertion]).exits(status);
    }
    // 1024, and not 1000.
    env.rtrace(&["check", &trig(), "-a", "lost + 1024 == 1K"]).exits(0);
}

#[test]
fn tasks_that_came_meanwhile_are_told_without_others() {
    let env = TestEnvironment::new();
    storm(&env, "a.dat", &[(OptionId::RTRACE_COVERAGE, "buffer \ntasks \njoined 1\nchildren")]);
    let summary = env.rtrace(&["report", "--summary", "a.dat"]).exits(0).stdout();
    let tasks = summary.lines().find(|line| line.trim_start().starts_with("tasks")).unwrap_or_default();
    assert!(tasks.ends_with(" 1 that came meanwhile and what they fork"), "{tasks}");
}

#[test]
fn runs_of_one_side_that_differ_are_told_from_sides_that_do() {
    let env = TestEnvironment::new();
    fork_storm(2, 400, 20, 3).write(&env.path().join("a.dat"), V7);
    fork_storm(2, 4000, 20, 3).write(&env.path().join("b.dat"), V7);
    let said = env.rtrace(&["diff", "a.dat", "b.dat", "--", "a.dat", "b.dat"]).stdout();
    let line = said.lines().find(|line| line.contains("duration: ")).unwrap_or_default();
    assert!(line.ends_with(": of all runs, the longest took more than 1.5 times as long as the shortest"), "{said}");
}

#[test]
fn why_takes_a_file_called_as_a_task_for_the_task() {
    let env = TestEnvironment::new();
    storm(&env, "a.dat", &[]);
    fs::write(env.path().join("victim"), "a program").expect("to write");
    env.rtrace(&["why", "a.dat", "victim"]).exits(2).complains_with("TASK comes before FILE");
}

#[test]
fn a_folder_of_recordings_has_no_tables() {
    let env = TestEnvironment::new();
    fs::create_dir(env.path().join("days")).expect("a folder");
    let compact = || env.rtrace(&["compact", "days"]).exits(0).stderr();
    assert_eq!(compact(), "");
    storm(&env, "days/a.dat", &[]);
    assert!(compact().contains("days holds recordings and no tables") && compact().contains("--to parquet"));
}

/// Members of a document that its schema does not describe, or describes as something else.
fn undescribed(value: &Value, schema: &Value, place: &str, found: &mut Vec<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_one = |of: &Value| of == kind || of == "number" && kind == "integer";
    let is_known = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is_one),
        Value::String(_) => is_one(&schema["type"]),
        _ => true,
    };
    if !is_known {
        found.push(format!("{place} is {kind}"));
    }
    match value {
        Value::Array(values) => {
            values.iter().take(3).for_each(|value| undescribed(value, &schema["items"], place, found));
        }
        Value::Object(members) if schema["properties"].is_object() => {
            let known = &schema["properties"];
            // Rows by their names have the members of a row.
            let is_by_name = schema["items"].is_object() && members.keys().all(|name| known[name].is_null());
            for (name, value) in members {
                let at = format!("{place}.{name}");
                match (is_by_name, &known[name]) {
                    (true, _) => undescribed(value, &schema["items"], place, found),
                    (false, Value::Null) if !name.ends_with("_wall") => found.push(format!("{at} is not described")),
                    (false, schema) => undescribed(value, schema, &at, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn schemas_describe_the_documents_of_analyses() {
    let env = TestEnvironment::new();
    let (mut found, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
    for path in trace_files().iter().filter(|path| path.metadata().is_ok_and(|of| of.len() < 300_000)) {
        let outcome = env.rtrace(&["analyze", "all", "--json", &path.to_string_lossy()]);
        let Ok(all) = serde_json::from_str::<Value>(&outcome.stdout()) else { continue };
        let Value::Object(documents) = &all["analyses"] else { continue };
        for document in documents.values().filter(|document| document["schema"].is_string()) {
            let name = document["schema"].as_str().unwrap_or_default();
            let schema = env.rtrace(&["schema", name]).exits(0).stdout();
            let schema: Value = serde_json::from_str(&schema).expect("JSON");
            seen.insert(name.to_owned());
            undescribed(document, &schema, name, &mut found);
        }
        if seen.len() > 6 {
            break;
        }
    }
    found.sort_unstable();
    found.dedup();
    assert!(found.is_empty(), "{found:#?}");
    assert!(seen.contains("rtrace.analyze.sched"), "{seen:?}");
    println!("{seen:?}");
}

/// A latency tracer's text is no event, and is not nothing: what reads it names it.
#[test]
fn the_text_of_a_latency_tracer_is_named() {
    let env = TestEnvironment::new();
    let facts = Trace::open_path(Path::new(&trig())).expect("a recording");
    let file = fs::File::create(env.path().join("lat.dat")).expect("a file");
    let mut file = NewFile::create(file, &facts, V7, &[""]).expect("a recording");
    file.text("", "local", IRQSOFF.as_bytes()).expect("a text");
    file.finish().expect("a file");
    let said =
        "irqsoff: longest latency 6,237 us on CPU 1 in cat [65], from _raw_write_lock_irq to __raw_spin_unlock_irq";
    env.rtrace(&["report", "--summary", "lat.dat"]).exits(0).prints_with(said);
    env.rtrace(&["report", "lat.dat"]).exits(0).prints_with(IRQSOFF);
    for to in ["json", "csv", "perfetto"] {
        let out = env.rtrace(&["convert", "--to", to, "lat.dat", to]);
        out.exits(0).prints_with("left out: the text of tracer irqsoff");
    }
}

/// The head of one that Linux 6.12 wrote.
const IRQSOFF: &str = "\
# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 6.12.117-rtrace
# --------------------------------------------------------------------
# latency: 6237 us, #113/113, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)
#    -----------------
#    | task: cat-65 (uid:0 nice:0 policy:0 rt_prio:0)
#    -----------------
#  => started at: _raw_write_lock_irq
#  => ended at:   __raw_spin_unlock_irq
";
