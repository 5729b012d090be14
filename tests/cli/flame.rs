//! Call stacks: folded lines, speedscope's files, Chrome's trace events, each against the other, and read by others.

use crate::common::bounded::output;
use crate::common::corpus::corpus;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::perfetto::{Trace, engine};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Recordings with function_graph, alone and with switches between tasks; and one with stack traces.
fn recordings() -> Option<[PathBuf; 3]> {
    let Some(corpus) = corpus() else {
        not_run("call stacks of recordings: there is no corpus");
        return None;
    };
    Some(["vm-6.12/graph-depth.dat", "all-tracers/graph-retval-ev.dat", "vm-6.12/stack.dat"].map(|of| corpus.join(of)))
}

fn convert(env: &TestEnvironment, file: &std::path::Path, to: &str) -> String {
    env.rtrace(&["convert", &file.to_string_lossy(), "--to", to, "-o", "-"]).exits(0).stdout()
}

/// The numbers of folded lines by their stacks.
fn folded(text: &str) -> BTreeMap<Vec<String>, u64> {
    let line = |line: &str| {
        let (stack, number) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        (stack.split(';').map(str::to_owned).collect(), number.parse().unwrap_or_else(|e| panic!("{line}: {e}")))
    };
    text.lines().map(line).collect()
}

/// What a profile of speedscope says, folded: the time of each stack, or its number.
fn folded_profile(frames: &[Value], profile: &Value, into: &mut BTreeMap<Vec<String>, u64>) {
    let name =
        |frame: &Value| frames[frame.as_u64().expect("a frame") as usize]["name"].as_str().expect("a name").to_owned();
    let task = profile["name"].as_str().expect("a name").rsplit_once(' ').expect("a PID").0.to_owned();
    let mut stack = vec![task];
    if profile["type"] == "sampled" {
        for (sample, weight) in
            profile["samples"].as_array().expect("samples").iter().zip(profile["weights"].as_array().expect("weights"))
        {
            let stack = stack.iter().cloned().chain(sample.as_array().expect("a stack").iter().map(name)).collect();
            *into.entry(stack).or_default() += weight.as_u64().expect("a weight");
        }
        return;
    }
    assert_eq!(profile["unit"], "nanoseconds");
    let mut last = profile["startValue"].as_u64().expect("a time");
    for event in profile["events"].as_array().expect("events") {
        let at = event["at"].as_u64().expect("a time");
        assert!(at >= last, "time goes backwards");
        if stack.len() > 1 && at > last {
            *into.entry(stack.clone()).or_default() += at - last;
        }
        last = at;
        match event["type"].as_str() {
            Some("O") => stack.push(name(&event["frame"])),
            _ => assert_eq!(stack.pop(), Some(name(&event["frame"])), "frames do not nest"),
        }
    }
    assert_eq!((stack.len(), Some(last)), (1, profile["endValue"].as_u64()));
}

#[test]
fn folded_and_speedscope_say_the_same() {
    let env = TestEnvironment::new();
    for file in recordings().into_iter().flatten() {
        let lines = folded(&convert(&env, &file, "folded"));
        assert!(lines.len() > 10, "{}: {lines:?}", file.display());
        let text = convert(&env, &file, "speedscope");
        let whole: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let frames = whole["shared"]["frames"].as_array().expect("frames");
        let mut found = BTreeMap::new();
        for profile in whole["profiles"].as_array().expect("profiles") {
            folded_profile(frames, profile, &mut found);
        }
        assert_eq!(found, lines, "{}", file.display());
        valid(&env, &text);
    }
}

/// Checks a file against speedscope's schema.
fn valid(env: &TestEnvironment, text: &str) {
    let Some(engine) = engine() else { return };
    if !engine.join("speedscope.json").exists() {
        return not_run("speedscope's schema: tests/cli/perfetto/fetch-engine has not fetched it");
    }
    std::fs::write(env.path().join("profile.json"), text).expect("a file");
    let script = "import json, sys; sys.path.insert(0, sys.argv[1] + '/python'); import jsonschema\n\
                  jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1] + '/speedscope.json')))";
    let mut command = Command::new("python3");
    command.args(["-c", script]).arg(engine).arg(env.path().join("profile.json"));
    let done = output(&mut command).expect("python3");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The times that function_graph's exits tell are those of the calls that we add up.
#[test]
fn folded_times_are_the_tracers() {
    let Some(corpus) = corpus() else { return not_run("the times of function_graph: there is no corpus") };
    let env = TestEnvironment::new();
    for file in ["vm-6.12/graph.dat", "arm64/graph.dat"].map(|of| corpus.join(of)) {
        let all: u64 = folded(&convert(&env, &file, "folded")).values().sum();
        let events = env.rtrace(&["report", "--format", "json", &file.to_string_lossy()]).exits(0).stdout();
        let mut told = 0;
        for line in events.lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let fields = &event["fields"];
            if event["event"] == "ftrace:funcgraph_exit" && fields["depth"] == 0 {
                told += fields["rettime"].as_u64().expect("a time") - fields["calltime"].as_u64().expect("a time");
            }
        }
        // Records are written a little after the times that they hold.
        assert!(told > 100_000_000 && all.abs_diff(told) < told / 100, "{}: {all} ns of {told}", file.display());
    }
}

#[test]
fn perfettos_engine_reads_chromes_events() {
    let Some(engine) = engine() else { return };
    for file in recordings().into_iter().flatten() {
        let trace = Trace::of(&engine, std::slice::from_ref(&file), &["--to", "chrome"]);
        let counts = trace.counts(&file);
        let calls = counts.get("funcgraph_entry").copied().unwrap_or(0);
        let found = trace.number("select count(*) from slice where category = 'function_graph' and name not like '[%'");
        assert_eq!(found, calls, "{}", file.display());
        let others: i64 =
            counts.iter().filter(|(name, _)| !name.starts_with("funcgraph")).map(|(_, count)| count).sum();
        assert_eq!(trace.number("select count(*) from slice where category != 'function_graph'"), others);
        assert!(trace.errors().is_empty(), "{}: {:?}", file.display(), trace.errors());
    }
}
