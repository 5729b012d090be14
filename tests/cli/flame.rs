//! Call stacks: folded lines, speedscope's files, Chrome's trace events, each against the other, and read by others.

use crate::common::bounded::output;
use crate::common::corpus::corpus;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::perfetto::{Trace, engine};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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

/// A profile of speedscope, folded: the time of each stack, or its number.
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
        let mut printed = 0;
        for line in events.lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let fields = &event["fields"];
            if event["event"] == "ftrace:funcgraph_exit" && fields["depth"] == 0 {
                printed += fields["rettime"].as_u64().expect("a time") - fields["calltime"].as_u64().expect("a time");
            }
        }
        // Records are written a little after the times that they hold.
        assert!(
            printed > 100_000_000 && all.abs_diff(printed) < printed / 100,
            "{}: {all} ns of {printed}",
            file.display()
        );
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

/// Each value that Chrome's slices end with is that of the return of this task at this time; hardly one is missing.
#[test]
fn returned_values_end_chromes_slices() {
    let Some([_, file, _]) = recordings() else { return };
    let env = TestEnvironment::new();
    let mut returns: BTreeMap<(i64, i64), Vec<i64>> = BTreeMap::new();
    let json = convert(&env, &file, "json");
    for event in json.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        if event["event"] == "ftrace:funcgraph_exit" {
            let key = (event["pid"].as_i64().expect("a task"), event["ts"].as_i64().expect("a time"));
            let value = event["fields"]["retval"].as_u64().expect("a value");
            returns.entry(key).or_default().push(value as i64);
        }
    }
    let expected: usize = returns.values().map(Vec::len).sum();
    let mut found = 0;
    let trace: Value = serde_json::from_str(&convert(&env, &file, "chrome")).expect("JSON");
    for end in trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "E") {
        let value = match &end["args"]["retval"] {
            Value::Null => continue,
            Value::String(text) => u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("digits") as i64,
            number => number.as_i64().expect("a number"),
        };
        // The idle tasks have numbers of their own.
        let task = Some(end["tid"].as_i64().expect("a task")).filter(|task| *task < 4 << 20).unwrap_or(0);
        let time = (end["ts"].as_f64().expect("a time") * 1000.0).round() as i64;
        let at = returns.get_mut(&(task, time)).unwrap_or_else(|| panic!("no return: {end}"));
        let at_value = at.iter().position(|one| *one == value).unwrap_or_else(|| panic!("another value: {end}"));
        at.swap_remove(at_value);
        found += 1;
    }
    assert!(expected > 100 && found * 10 > expected * 9, "{found} of {expected}");
}

/// The sum of numbers by the name of a frame, of titles as in `name (NUMBER unit, SHARE%)`.
fn by_name<'t>(titles: impl Iterator<Item = (&'t str, u64)>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (name, number) in titles {
        *sums.entry(name.to_owned()).or_default() += number;
    }
    sums
}

/// The names of our picture's frames with their numbers, which stand in `data-n`.
fn ours(svg: &str) -> BTreeMap<String, u64> {
    let frames = svg.lines().filter_map(|line| line.strip_prefix("<g data-s=\"")).map(|line| {
        let number = line.split_once("data-n=\"").expect("a number").1.split('"').next().expect("a number");
        let title = line.split_once("<title>").expect("a title").1.split_once("</title>").expect("its end").0;
        (title.rsplit_once(" (").expect("a number").0, number.parse().expect("a number"))
    });
    by_name(frames)
}

/// The same of inferno's.
fn infernos(lines: &str) -> BTreeMap<String, u64> {
    let mut options = inferno::flamegraph::Options::default();
    (options.min_width, options.count_name) = (0.0, "n".to_owned());
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, lines.lines(), &mut svg).expect("inferno draws");
    let svg = String::from_utf8(svg).expect("text");
    let titles = svg.split("<title>").skip(1).map(|rest| rest.split("</title>").next().expect("its end"));
    let frames = titles.map(|title| {
        let (name, number) = title.rsplit_once(" (").unwrap_or_else(|| panic!("{title}"));
        let number = number.split(" n").next().expect("a number").replace(',', "");
        (name, number.parse().unwrap_or_else(|e| panic!("{title}: {e}")))
    });
    let mut sums = by_name(frames);
    sums.remove("all");
    sums
}

#[test]
fn pictures_have_infernos_frames() {
    let env = TestEnvironment::new();
    for file in recordings().into_iter().flatten() {
        let name = file.to_string_lossy();
        for off_cpu in [&[][..], &["--off-cpu"]] {
            let flame = |out| env.rtrace(&[&["flame", &name, "--force", "-o", out], off_cpu].concat());
            // function_graph alone has no switches between tasks.
            let drawn = flame("run.svg");
            if name.contains("graph-depth") && !off_cpu.is_empty() {
                drawn.exits(1).complains_with("no task leaves its CPU");
                assert!(!env.path().join("run.svg").exists());
                continue;
            }
            let line = drawn.exits(0).stdout();
            flame("run.folded").exits(0);
            let read = |name| std::fs::read_to_string(env.path().join(name)).expect("a file");
            let (svg, lines) = (read("run.svg"), read("run.folded"));
            let narrow = line.split_once(" frame").map_or(0, |(before, _)| {
                before.rsplit_once(' ').expect("a number").1.replace(',', "").parse().expect("a number")
            });
            let total: u64 = folded(&lines).values().sum();
            let (ours, theirs) = (ours(&svg), infernos(&lines));
            // Each left out is narrower than a tenth of the 1180 pixels' unit.
            let missing = |name: &String| theirs[name] - ours.get(name).copied().unwrap_or(0);
            let left: u64 = theirs.keys().map(missing).sum();
            assert!(ours.keys().all(|name| theirs.contains_key(name)), "{name} {off_cpu:?}");
            assert!(left * 11_800 <= narrow * total, "{name} {off_cpu:?}: {left} of {total} missing, {narrow} frames");
            assert!(ours.len() > 5, "{name}: {ours:?}");
            std::fs::remove_file(env.path().join("run.svg")).expect("a picture");
        }
    }
}

#[test]
fn times_without_stacks_are_called_so() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/readme/late.dat");
    let outcome = env.rtrace(&["flame", file, "--off-cpu", "-o", "a.svg"]);
    outcome.exits(0).prints_with("a.svg: time off the CPU by task, without stacks; ");
    outcome.complains_with("no stack was recorded").complains_with("`rtrace record --for offcpu`");
    let json = env.rtrace(&["flame", file, "--off-cpu", "--json", "--force", "-o", "a.svg"]).exits(0).stdout();
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON")["stacks"], 0);
}

/// Each time off the CPU, counted once more from the events as JSON has them.
#[test]
fn time_off_the_cpu_is_what_the_switches_say() {
    let Some(corpus) = corpus() else { return not_run("the time off the CPU: there is no corpus") };
    let env = TestEnvironment::new();
    for file in ["vm-6.12/stack.dat", "all-tracers/graph-retval-ev.dat"].map(|of| corpus.join(of)) {
        let name = file.to_string_lossy();
        env.rtrace(&["flame", &name, "--off-cpu", "--force", "-o", "run.folded"]).exits(0);
        let lines = folded(&std::fs::read_to_string(env.path().join("run.folded")).expect("lines"));
        let all: u64 = lines.values().sum();
        // Chosen tasks have the lines that they have among all.
        for comm in
            lines.keys().map(|frames| frames[0].clone()).collect::<std::collections::BTreeSet<_>>().iter().take(3)
        {
            let some = ["flame", &name, "--off-cpu", "--comm", comm, "--force", "-o", "some.folded"];
            env.rtrace(&some).exits(0);
            let some = folded(&std::fs::read_to_string(env.path().join("some.folded")).expect("lines"));
            let expected = lines.clone().into_iter().filter(|(frames, _)| frames[0] == *comm);
            assert_eq!(some, expected.collect(), "{name}: {comm}");
        }
        let hidden = env.rtrace(&["flame", &name, "--off-cpu", "--filter", "sched:sched_switch: prev_pid > 0"]);
        hidden.exits(2).complains_with("needs all switches");
        let (mut left, mut sum) = (BTreeMap::new(), 0);
        for line in env.rtrace(&["report", "--format", "json", &name]).exits(0).stdout().lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            assert_ne!(event["type"], "lost", "{name}");
            if event["event"] != "sched:sched_switch" {
                continue;
            }
            let pid = |field: &str| event["fields"][field].as_i64().expect("a pid");
            let now = event["ts"].as_u64().expect("a time");
            if let Some(since) = left.remove(&pid("next_pid")) {
                sum += now - since;
            }
            if pid("prev_pid") != 0 {
                left.insert(pid("prev_pid"), now);
            }
        }
        assert!(sum > 0 && all == sum, "{name}: {all} ns, and the switches say {sum}");
    }
}

/// A thread of Firefox's profile, folded: the nanoseconds of each stack, or its number.
fn folded_thread(thread: &Value, into: &mut BTreeMap<Vec<String>, u64>) {
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let list = |of: &Value| of.as_array().expect("a list").clone();
    let (stacks, frames, functions) = (&thread["stackTable"], &thread["frameTable"], &thread["funcTable"]);
    let name = thread["name"].as_str().expect("a name").split(" on CPU ").next().expect("a name");
    let samples = &thread["samples"];
    let weights = list(&samples["weight"]);
    let times: Vec<f64> = list(&samples["time"]).iter().map(|time| time.as_f64().expect("a time")).collect();
    assert!(times.is_sorted() && weights.len() == times.len() && samples["length"] == times.len());
    for (stack, weight) in list(&samples["stack"]).iter().zip(&weights) {
        let weight = weight.as_f64().expect("a weight");
        let weight = if samples["weightType"] == "tracing-ms" { (weight * 1e6).round() } else { weight } as u64;
        let (mut names, mut at) = (Vec::new(), stack);
        while !at.is_null() {
            let function = &frames["func"][number(&stacks["frame"][number(at)])];
            let text = &thread["stringArray"][number(&functions["name"][number(function)])];
            names.push(text.as_str().expect("a name").to_owned());
            at = &stacks["prefix"][number(at)];
        }
        if weight > 0 && !names.is_empty() {
            names.push(name.to_owned());
            names.reverse();
            *into.entry(names).or_default() += weight;
        }
    }
}

/// A session of Firefox Profiler's command line, which ends with it.
struct Profiler<'e> {
    program: PathBuf,
    env: &'e TestEnvironment,
}

impl Profiler<'_> {
    fn ask(&self, words: &[&str]) -> Value {
        // Its server has half a second to start, which a busy machine does not give it.
        for _ in 0..20 {
            let done = self.run(words);
            let said = String::from_utf8_lossy(&done.stderr);
            if done.status.success() {
                return serde_json::from_slice(&done.stdout).unwrap_or(Value::Null);
            }
            assert!(said.contains("still starting"), "{words:?}: {said}");
            std::thread::sleep(std::time::Duration::from_secs(1));
            self.run(&["stop", "--all"]);
        }
        panic!("{words:?}: its server does not start");
    }

    fn run(&self, words: &[&str]) -> std::process::Output {
        let mut command = Command::new("node");
        command.arg(&self.program).args(words).arg("--json").current_dir(self.env.path());
        command.env("PROFILER_CLI_SESSION_DIR", self.env.path().join("session"));
        output(&mut command).expect("node")
    }
}

impl Drop for Profiler<'_> {
    fn drop(&mut self) {
        self.run(&["stop", "--all"]);
    }
}

#[test]
fn firefox_profiles_are_what_folded_lines_say() {
    for file in recordings().into_iter().flatten() {
        let env = TestEnvironment::new();
        let lines = folded(&convert(&env, &file, "folded"));
        let text = convert(&env, &file, "firefox");
        let profile: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut found = BTreeMap::new();
        let threads = profile["threads"].as_array().expect("threads");
        threads.iter().for_each(|thread| folded_thread(thread, &mut found));
        assert_eq!(found, lines, "{}", file.display());
        std::fs::write(env.path().join("run.json"), &text).expect("a file");
        read_by_firefox(&env, &file, threads);
    }
}

/// Firefox Profiler itself finds all threads, all events as markers, and the time of each function.
fn read_by_firefox(env: &TestEnvironment, file: &Path, threads: &[Value]) {
    let Some(engine) = engine() else { return };
    let program = engine.join("profiler-cli/profiler-cli.js");
    if !program.exists() {
        return not_run("Firefox Profiler's command line: tests/cli/perfetto/fetch-engine has not fetched it");
    }
    let profiler = Profiler { program, env };
    profiler.ask(&["load", "run.json"]);
    let listed = profiler.ask(&["thread", "list", "--limit", "0"]);
    assert_eq!(listed["totalThreadCount"], threads.len(), "{}: {listed}", file.display());
    let markers: u64 = listed["threads"]
        .as_array()
        .expect("threads")
        .iter()
        .map(|t| t["markerCount"].as_u64().expect("a count"))
        .sum();
    let counts = env.rtrace(&["report", "--count", "--json", &file.to_string_lossy()]).exits(0).stdout();
    let counts: Value = serde_json::from_str(&counts).expect("JSON");
    let of_stacks =
        ["ftrace:kernel_stack", "ftrace:funcgraph_entry", "ftrace:funcgraph_exit", "ftrace:fgraph_retaddr_entry"];
    let counts = counts["events"].as_object().expect("events").iter();
    let expected: u64 = counts
        .filter(|(name, _)| !of_stacks.contains(&name.as_str()))
        .map(|(_, count)| count.as_u64().expect("a count"))
        .sum();
    assert_eq!(markers, expected, "{}", file.display());
    // The thread with the most samples: the own time of all its functions.
    let longest = threads.iter().enumerate().max_by_key(|(_, thread)| thread["samples"]["length"].as_u64());
    let (number, thread) = longest.expect("a thread");
    let mut own = BTreeMap::new();
    folded_thread(thread, &mut own);
    let own: u64 = own.values().sum();
    profiler.ask(&["thread", "select", &format!("t-{number}")]);
    let functions = profiler.ask(&["thread", "functions"]);
    let found: f64 = functions["functions"]
        .as_array()
        .expect("functions")
        .iter()
        .map(|f| f["selfSamples"].as_f64().expect("time"))
        .sum();
    let found = if functions["weightType"] == "tracing-ms" { found * 1e6 } else { found };
    assert!((found - own as f64).abs() <= 1e-6 * own as f64, "{}: {found} of {own}", file.display());
}

/// The drawn stacks and events are said as JSON, beside the picture.
#[test]
fn a_picture_is_described_as_json() {
    let Some([file, ..]) = recordings() else { return };
    let env = TestEnvironment::new();
    let printed = env.rtrace(&["flame", &file.to_string_lossy(), "-o", "x.svg", "--json"]).exits(0).stdout();
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    let size = std::fs::metadata(env.path().join("x.svg")).expect("a picture").len();
    assert_eq!((printed["output"].as_str(), printed["bytes"].as_u64()), (Some("x.svg"), Some(size)));
    assert!(printed["stacks"].as_u64() > Some(0), "{printed}");
    env.rtrace(&["flame", &file.to_string_lossy(), "-o", "-", "--json"]).exits(2).complains_with("cannot both go");
}

#[test]
fn a_window_without_events_is_not_a_lack_of_stacks() {
    let env = TestEnvironment::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/host/small-zlib.dat");
    let flame = |options: &[&str]| env.rtrace(&[&["flame", file.to_str().unwrap(), "-o", "f.svg"], options].concat());
    flame(&[]).exits(1).complains_with("hold no call stacks");
    flame(&["--since", "999999"]).exits(1).complains_with("no event matches: the events lie between");
    flame(&["--comm", "nosuch"]).exits(1).complains_with("no task is called `nosuch`");
}

#[test]
fn another_form_of_picture_is_refused_and_not_written_as_svg() {
    let env = TestEnvironment::new();
    env.rtrace(&["flame", "run.dat", "-o", "x.pdf"])
        .exits(2)
        .complains_with("not written as .pdf")
        .complains_with(".svg");
    assert!(!env.path().join("x.pdf").exists());
}
