//! Traces of Perfetto, read by Perfetto's own engine.

mod pages;

use crate::common::bounded::output;
use crate::common::corpus::{corpus, is_small, own};
use crate::common::environment::TestEnvironment;
use crate::common::long::is_left_out;
use crate::common::not_run::not_run;
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files_below;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that `fetch-engine` made; `None`, with a line that says why, if there is none.
pub(crate) fn engine() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    let engine = target.join("perfetto-engine");
    let node = Command::new("node").arg("--version").output().is_ok_and(|done| done.status.success());
    if !engine.join("ready").exists() {
        not_run("Perfetto's engine: tests/cli/perfetto/fetch-engine has not fetched it");
    } else if !node {
        not_run("Perfetto's engine: there is no node");
    } else {
        return Some(engine);
    }
    None
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/perfetto").join(name)
}

/// A trace in the engine.
pub(crate) struct Trace {
    env: TestEnvironment,
    engine: PathBuf,
    /// The line that convert printed.
    line: String,
}

impl Trace {
    /// Of these files, converted with these options.
    pub(crate) fn of(engine: &Path, files: &[PathBuf], options: &[&str]) -> Self {
        let env = TestEnvironment::new();
        let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let args = [&["convert", "-o", "trace.pftrace"], options, &names].concat();
        let line = env.rtrace(&args).stdout();
        Trace { env, engine: engine.to_owned(), line }
    }

    /// The rows of each query.
    fn ask(&self, queries: &[&str]) -> Vec<Vec<Value>> {
        let mut command = Command::new("python3");
        command.arg(here("query.py")).arg(&self.engine).arg(self.env.path().join("trace.pftrace")).args(queries);
        let done = output(&mut command).expect("python3");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{queries:?}: {said}");
        let text = String::from_utf8(done.stdout).expect("JSON");
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }

    /// The one number that a query gives.
    pub(crate) fn number(&self, query: &str) -> i64 {
        let rows = self.ask(&[query]).remove(0);
        let row = rows.first().and_then(Value::as_object).unwrap_or_else(|| panic!("{query}: {rows:?}"));
        row.values().next().and_then(Value::as_i64).unwrap_or_else(|| panic!("{query}: {rows:?}"))
    }

    /// By name, how many events `report --count` finds.
    pub(crate) fn counts(&self, file: &Path) -> BTreeMap<String, i64> {
        counts(&self.env, file)
    }

    /// The engine's counts of errors and lost data.
    pub(crate) fn errors(&self) -> Vec<Value> {
        self.ask(&[ERRORS]).remove(0)
    }
}

/// Without the switches that are made up where it is not known what ran, and the ends of handlers there.
const COUNTS: &str = "select ftrace_event.name as name, count(*) as n from ftrace_event left join thread using (utid)
    where iif(ftrace_event.name = 'sched_switch',
        arg_set_id not in (select arg_set_id from args where key in ('prev_pid', 'next_pid') and int_value > 4194304),
        coalesce(tid, 0) <= 4194304)
    group by 1";
const OF_GAP: &str = "select cast(sum(name = '[lost events]') as int) as lost,
    cast(sum(name = '[not recorded]') as int) as unrecorded, cast(sum(dur < 0) as int) as open
    from sched join thread using (utid) where tid > 4194304";
const ERRORS: &str = "select name, idx, value from stats where severity in ('error', 'data_loss') and value != 0";

/// The engine's words for recordings in which events are missing: filtered, lost, or of some CPUs only.
const OF_GAPS: [&str; 2] = ["ftrace_cpu_has_data_loss", "misplaced_end_event"];

/// By name, how many events `report --count` finds.
fn counts(env: &TestEnvironment, file: &Path) -> BTreeMap<String, i64> {
    let text = env.rtrace(&["report", "--count", "--json", &file.to_string_lossy()]).stdout();
    let all: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}: {text}", file.display()));
    let mut counts = BTreeMap::new();
    for (event, count) in all["events"].as_object().expect("events") {
        let name = event.rsplit(':').next().unwrap_or_default();
        *counts.entry(name.to_owned()).or_default() += count.as_i64().expect("a count");
    }
    counts
}

/// Gaps with lost events, and of switches that are not from the task that the CPU's last one was to; `None` with instances, whose
/// switches are no states.
fn gaps_between_switches(env: &TestEnvironment, file: &Path) -> Option<[i64; 2]> {
    let (mut running, mut lossy, mut gaps) = (BTreeMap::new(), BTreeSet::new(), [0; 2]);
    for line in env.rtrace(&["report", "--format", "json", &file.to_string_lossy()]).stdout().lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}: {line}", file.display()));
        let cpu = event["cpu"].as_u64();
        match event["type"].as_str() {
            _ if event.get("buffer").is_some() => return None,
            Some("lost") => _ = lossy.insert(cpu),
            Some("event") => {
                let is_switch = event["event"] == "sched:sched_switch";
                let now = if is_switch { event["fields"]["prev_pid"].as_i64() } else { event["pid"].as_i64() };
                let is_lossy = lossy.remove(&cpu);
                if let Some(last) = running.get_mut(&cpu) {
                    gaps[0] += i64::from(is_lossy);
                    gaps[1] += i64::from(!is_lossy && is_switch && *last != now);
                    if is_lossy {
                        *last = now;
                    }
                }
                if is_switch {
                    running.insert(cpu, event["fields"]["next_pid"].as_i64());
                }
            }
            _ => {}
        }
    }
    Some(gaps)
}

/// True if a CPU lost events.
fn has_losses(env: &TestEnvironment, file: &Path) -> bool {
    env.rtrace(&["report", "--format", "json", &file.to_string_lossy()]).stdout().contains("{\"type\":\"lost\"")
}

/// The project's recordings, and those of the corpus if there is time.
fn recordings() -> Vec<PathBuf> {
    let corpus = corpus().filter(|_| !is_left_out("every recording of the corpus in Perfetto"));
    let mut files = trace_files_below([Some(own()), corpus].into_iter().flatten());
    files.retain(|file| is_small(file, 1 << 19));
    files
}

#[test]
fn the_engine_finds_every_event() {
    let Some(engine) = engine() else { return };
    let mut wrong = String::new();
    for file in recordings() {
        let trace = Trace::of(&engine, std::slice::from_ref(&file), &[]);
        let answers = trace.ask(&[COUNTS, ERRORS, OF_GAP]);
        let found: BTreeMap<String, i64> = answers[0]
            .iter()
            .map(|row| (row["name"].as_str().unwrap_or_default().to_owned(), row["n"].as_i64().unwrap_or(0)))
            .collect();
        let expected = counts(&trace.env, &file);
        if found != expected {
            wrong.push_str(&format!("{}: {found:?}\n  instead of {expected:?}\n", file.display()));
        }
        let named = |row: &&Value| OF_GAPS.iter().any(|gap| row["name"] == *gap);
        let (gaps, errors): (Vec<&Value>, Vec<&Value>) = answers[1].iter().partition(named);
        if !errors.is_empty() {
            wrong.push_str(&format!("{}: {errors:?}\n", file.display()));
        }
        let of_gap = &answers[2][0];
        let found = ["lost", "unrecorded"].map(|kind| of_gap[kind].as_i64().unwrap_or(0));
        if gaps_between_switches(&trace.env, &file).is_some_and(|gaps| gaps != found) || of_gap["open"] == 1 {
            wrong.push_str(&format!("{}: gaps between switches: {of_gap}\n", file.display()));
        }
        let lost = gaps.iter().any(|row| row["name"] == OF_GAPS[0]);
        if lost != has_losses(&trace.env, &file) {
            wrong.push_str(&format!("{}: losses in the trace: {lost}\n", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_engine_builds_what_it_builds() {
    let Some(engine) = engine() else { return };
    let file = own().join("host/small-zlib.dat");
    let trace = Trace::of(&engine, &[file], &[]);
    assert_eq!(
        trace.line.split("; left out: ").nth(1),
        Some("fields that Perfetto's messages lack (group_dead of 1 sched:sched_process_exit)\n")
    );
    let answers = trace.ask(&[
        "select ts, cpu, tid, thread.name as comm, end_state, priority from sched join thread using (utid) order by ts limit 2",
        "select distinct state from thread_state order by state",
        "select name from slice where name in ('TIMER', 'RCU', 'SCHED') group by name order by name",
        "select str_value from metadata where name = 'system_release'",
        "select clock_name, clock_value from clock_snapshot",
        "select idx, value from stats where name = 'ftrace_cpu_entries_end' order by idx",
        // An event that describes itself.
        "select key, display_value as value from ftrace_event join args using (arg_set_id)
         where name = 'writeback_dirty_inode' order by key",
        "select to_ftrace(id) as text from ftrace_event where name = 'sched_waking' order by ts limit 1",
    ]);
    assert_eq!(
        answers[0],
        [
            json!({"ts": 2_128_992_842_812_i64, "cpu": 1, "tid": 21, "comm": "migration/1", "end_state": "S", "priority": 0}),
            json!({"ts": 2_128_992_870_462_i64, "cpu": 1, "tid": 0, "comm": "swapper", "end_state": null, "priority": 120}),
        ]
    );
    assert_eq!(
        answers[1].iter().filter_map(|row| row["state"].as_str()).collect::<Vec<_>>(),
        ["I", "R", "R+", "Running", "S", "Z"]
    );
    assert_eq!(answers[2], [json!({"name": "RCU"}), json!({"name": "SCHED"}), json!({"name": "TIMER"})]);
    assert_eq!(answers[4], [json!({"clock_name": "BOOTTIME", "clock_value": 2_128_992_837_567_i64})]);
    assert_eq!(answers[5], [json!({"idx": 0, "value": 39}), json!({"idx": 1, "value": 17})]);
    let fields: Vec<&str> = answers[6].iter().filter_map(|row| row["key"].as_str()).collect();
    assert_eq!(fields, ["flags", "ino", "name", "state"]);
    let text = answers[7][0]["text"].as_str().expect("a text");
    assert!(text.ends_with("sched_waking: comm=migration/1 pid=21 prio=0 target_cpu=1"), "{text}");
}

#[test]
fn no_handler_reaches_across_lost_events() {
    let Some(engine) = engine() else { return };
    let Some(corpus) = corpus() else { return not_run("handlers of interrupts in Perfetto: there is no corpus") };
    let across = "select count(*) from slice s join track t on s.track_id = t.id
        join slice l join track of on l.track_id = of.id
        where t.type in ('cpu_irq', 'cpu_softirq')
        and of.name = 'Lost events on CPU ' || extract_arg(t.dimension_arg_set_id, 'cpu')
        and s.ts < l.ts and (s.ts + s.dur >= l.ts or s.dur < 0)";
    let made_up = "select count(*) from ftrace_event join thread using (utid) where tid = 4194305
        and ftrace_event.name in ('irq_handler_exit', 'softirq_exit')";
    for (name, ended) in [("arm64", 13), ("i386", 1), ("s390x", 6)] {
        let trace = Trace::of(&engine, &[corpus.join(name).join("lost.dat")], &[]);
        assert_eq!((trace.number(across), trace.number(made_up)), (0, ended), "{name}");
        let said = format!("when {ended} interrupt{} ended after lost events", if ended == 1 { "" } else { "s" });
        assert!(trace.line.contains(&said), "{name}: {}", trace.line);
    }
}

#[test]
fn several_files_are_machines() {
    let Some(engine) = engine() else { return };
    let files = [own().join("host/small-zlib.dat"), own().join("vm-6.1/trig.dat")];
    let trace = Trace::of(&engine, &files, &[]);
    assert_eq!(trace.number("select count(*) from ftrace_event"), 56 + 138);
    assert_eq!(trace.number("select count(distinct coalesce(machine_id, 0)) from cpu"), 2);
    assert_eq!(trace.number("select count(*) from sched"), 6 + 131);
}

#[test]
fn markers_are_slices_or_instants() {
    let Some(engine) = engine() else { return };
    let Some(file) = corpus().map(|corpus| corpus.join("host/marker.dat")) else {
        return not_run("markers in Perfetto: there is no corpus");
    };
    let trace = Trace::of(&engine, &[file], &[]);
    let rows = trace.ask(&["select name, dur from slice where name = 'hello from shared'", ERRORS]);
    assert_eq!(rows[0], [json!({"name": "hello from shared", "dur": 0})]);
    assert!(rows[1].is_empty(), "{rows:?}");
}

#[test]
fn function_graph_is_slices_and_stacks_are_samples() {
    let Some(engine) = engine() else { return };
    let Some(corpus) = corpus() else { return not_run("function_graph in Perfetto: there is no corpus") };
    let file = corpus.join("vm-6.12/graph-depth.dat");
    let trace = Trace::of(&engine, std::slice::from_ref(&file), &[]);
    let entries = counts(&trace.env, &file)["funcgraph_entry"];
    assert_eq!(trace.number("select count(*) from slice"), entries);
    assert!(trace.number("select count(*) from slice where name = 'handle_mm_fault' and dur > 0") > 30);
    assert_eq!(trace.number("select count(*) from slice where name glob '0x*'"), 0);
    let file = corpus.join("vm-6.12/function-fstack.dat");
    let trace = Trace::of(&engine, std::slice::from_ref(&file), &[]);
    assert_eq!(trace.number("select count(*) from perf_sample"), counts(&trace.env, &file)["kernel_stack"]);
    let frames = trace.ask(&["select distinct spf.name as name from stack_profile_frame spf order by name"]).remove(0);
    assert!(frames.iter().any(|row| row["name"] == "do_syscall_64"), "{frames:?}");
    let symbol = "select count(*) from ftrace_event join args using (arg_set_id)
                  where key = 'ip_symbol' and display_value = 'ksys_read'";
    assert!(trace.number(symbol) > 5);
}

/// Each call is a slice, and the values are those of the returns: of this task at this time.
#[test]
fn returned_values_are_arguments_of_slices() {
    let Some(engine) = engine() else { return };
    let Some(corpus) = corpus() else { return not_run("values returned in Perfetto: there is no corpus") };
    for name in ["graph-retval-ev.dat", "graph-retval.dat"] {
        let file = corpus.join("all-tracers").join(name);
        let trace = Trace::of(&engine, std::slice::from_ref(&file), &[]);
        let mut returns = BTreeMap::new();
        for line in trace.env.rtrace(&["report", "--format", "json", &file.to_string_lossy()]).stdout().lines() {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            if event["event"] == "ftrace:funcgraph_exit" {
                let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} in {line}")) as i64;
                let of = [&event["pid"], &event["ts"], &event["fields"]["retval"]].map(number);
                *returns.entry(of).or_insert(0) += 1;
            }
        }
        let rows =
            trace.ask(&["select coalesce(tid, 0) as tid, s.ts + s.dur as at, a.int_value as value, s.name as name
            from slice s left join thread_track t on s.track_id = t.id left join thread using (utid)
            join args a on s.arg_set_id = a.arg_set_id where a.key = 'debug.retval'"]);
        let expected: usize = returns.values().sum();
        for row in &rows[0] {
            let of = ["tid", "at", "value"].map(|column| row[column].as_i64().expect("a number"));
            let left = returns.get_mut(&of).unwrap_or_else(|| panic!("{name}: no return: {row}"));
            *left = left.checked_sub(1).unwrap_or_else(|| panic!("{name}: twice: {row}"));
        }
        let found = rows[0].len();
        assert!(expected > 100 && found * 10 > expected * 9, "{name}: {found} of {expected}");
        let of_functions =
            "select count(*) from slice s join track t on s.track_id = t.id where t.name glob 'function_graph*'";
        assert_eq!(trace.number(of_functions), trace.counts(&file)["funcgraph_entry"], "{name}");
        assert!(trace.line.ends_with("left out: nothing\n"), "{}", trace.line);
        assert!(trace.errors().is_empty(), "{name}: {:?}", trace.errors());
    }
}

/// The numbers of the fields are those that Perfetto publishes.
#[test]
fn the_table_of_known_events_is_perfettos() {
    let Some(engine) = engine() else { return };
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/export/perfetto/known.txt");
    let mut command = Command::new("python3");
    command.arg(here("check.py")).arg(engine).arg(table);
    let done = output(&mut command).expect("python3");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.ends_with(" events\n") && said.starts_with("279"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Slices and counters that are asked for, against the events themselves.
#[test]
fn pairs_and_counters_are_tracks() {
    let Some(engine) = engine() else { return };
    let file = own().join("s390x/inst.dat");
    let pair = "irq:softirq_entry:irq:softirq_exit:common_cpu,vec";
    let options = ["--pair", pair, "--counter", "sched:sched_switch.next_prio"];
    let trace = Trace::of(&engine, std::slice::from_ref(&file), &options);
    let switches = trace.counts(&file)["sched_switch"];
    let counted = "from counter c join track t on c.track_id = t.id where t.name = 'sched:sched_switch.next_prio'";
    assert_eq!(trace.number(&format!("select count(*) {counted}")), switches);
    let env = TestEnvironment::new();
    let events = env.rtrace(&["report", "--format", "json", &file.to_string_lossy()]).exits(0).stdout();
    let (mut sum, mut open, mut pairs, mut time) = (0, BTreeMap::new(), 0, 0);
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let number = |value: &Value| value.as_i64().expect("a number");
        let key = || (number(&event["cpu"]), number(&event["fields"]["vec"]));
        match event["event"].as_str() {
            Some("sched:sched_switch") => sum += number(&event["fields"]["next_prio"]),
            Some("irq:softirq_entry") => _ = open.insert(key(), number(&event["ts"])),
            Some("irq:softirq_exit") => {
                if let Some(begin) = open.remove(&key()) {
                    (pairs, time) = (pairs + 1, time + number(&event["ts"]) - begin);
                }
            }
            _ => {}
        }
    }
    assert_eq!(trace.number(&format!("select cast(sum(value) as int) {counted}")), sum);
    let slices = "from slice s join track t on s.track_id = t.id where t.name like 'latency(irq:softirq_entry%'";
    assert!(pairs > 10);
    assert_eq!(trace.number(&format!("select count(*) {slices}")), pairs);
    assert_eq!(trace.number(&format!("select sum(dur) {slices}")), time);
    assert!(trace.errors().is_empty(), "{:?}", trace.errors());
    for (words, why) in [
        (["--pair", "sched:sched_switch"], "expected START:END:KEY"),
        (["--counter", "sched_switch"], "expected SYSTEM:NAME.FIELD"),
        (["--counter", "sched:sched_switch.none"], "no number called `none`"),
    ] {
        let file = file.to_string_lossy();
        env.rtrace(&[&["convert", &file, "x.pftrace"], &words[..]].concat()).exits(2).complains_with(why);
        assert!(!env.path().join("x.pftrace").exists());
    }
}

/// Each request is a slice, and its parts lie below it without a gap, with the times of `analyze requests`.
#[test]
fn requests_are_slices_of_their_parts() {
    let Some(engine) = engine() else { return };
    let env = TestEnvironment::new();
    let file = env.path().join("storm.dat");
    fork_storm(4, 3_000, 50, 7).write(&file, Version::V7(Codec::Zstd));
    // From one run to the next, so that all states are in them.
    let ends = ["--begin", "sched_switch if prev_pid != 0", "--end", "sched_switch", "--by", "prev_pid=next_pid"];
    let name = file.to_string_lossy().into_owned();
    let answer = env.rtrace(&[&["analyze", "requests", &name, "--json", "--top", "0"], &ends[..]].concat()).stdout();
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let answer = &answer["buffers"][0];
    let trace = Trace::of(&engine, &[file], &ends);
    let of = "from slice s join track t on s.track_id = t.id where t.name = 'requests' and depth =";
    let requests = answer["counts"]["requests"].as_i64().expect("a count");
    assert!(requests > 10 && trace.number(&format!("select count(*) {of} 0")) == requests, "{requests}");
    assert_eq!(Some(trace.number(&format!("select sum(dur) {of} 0"))), answer["spans"][0]["times"]["total"].as_i64());
    for part in answer["parts"].as_array().expect("parts") {
        let (part, time) = (part["part"].as_str().unwrap_or_default(), part["times"]["total"].as_i64());
        let sum = format!("select coalesce(sum(dur), 0) {of} 1 and s.name = '{part}'");
        // Parts that are not told have no time.
        assert_eq!(trace.number(&sum), time.unwrap_or(0), "{part}");
    }
    assert_eq!(trace.errors(), Vec::<Value>::new());
}

/// A trace for each machine, and the manifest that joins them.
#[test]
fn archives_hold_a_trace_for_each_machine() {
    let files = [own().join("host/small-zlib.dat"), own().join("vm-6.1/trig.dat")];
    let env = TestEnvironment::new();
    let names = files.each_ref().map(|file| file.to_string_lossy().into_owned());
    let pair = "sched:sched_switch:sched:sched_switch:next_pid=prev_pid";
    let line = env.rtrace(&["convert", &names[0], &names[1], "both.perfetto.tar", "--pair", pair]).exits(0).stdout();
    assert!(line.starts_with("both.perfetto.tar: 194 events as perfetto"), "{line}");
    env.run("tar", &["xf", "both.perfetto.tar"]).exits(0);
    let manifest = std::fs::read(env.path().join("perfetto_manifest.json")).expect("the manifest");
    assert!(manifest.trim_ascii_start().starts_with(b"{\n  \"perfetto_manifest\""));
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let manifest = &manifest["perfetto_manifest"];
    let (first, second) = (&manifest["files"][0], &manifest["files"][1]);
    assert_eq!((&manifest["version"], &manifest["trace_time"]["file"]), (&json!(1), &first["path"]));
    let sync = json!({"clock": "BOOTTIME", "sync_to": {"file": first["path"], "clock": "BOOTTIME"}});
    assert_eq!((first.get("clocks"), second.get("clocks")), (None, Some(&sync)));
    assert_ne!(first["machine"]["name"], second["machine"]["name"]);
    let Some(engine) = engine() else { return };
    for (member, events) in [(first, 56), (second, 138)] {
        let path = env.path().join(member["path"].as_str().expect("a path"));
        let of_member = Trace { env: TestEnvironment::new(), engine: engine.clone(), line: String::new() };
        std::fs::copy(path, of_member.env.path().join("trace.pftrace")).expect("a copy");
        assert_eq!(of_member.number("select count(*) from ftrace_event"), events);
        assert_eq!(of_member.number("select count(distinct coalesce(machine_id, 0)) from cpu"), 1);
        assert!(
            of_member
                .number("select count(*) from slice s join track t on s.track_id = t.id where t.name like 'latency(%'")
                > 0
        );
    }
    // In one file, several machines have tracks of their own, too.
    let options = ["--pair", pair, "--counter", "sched:sched_switch.next_prio"];
    let trace = Trace::of(&engine, &files, &options);
    let tracks = "select count(distinct coalesce(machine_id, 0)) from track where name";
    assert_eq!(trace.number(&format!("{tracks} = 'sched:sched_switch.next_prio'")), 2);
    assert_eq!(trace.number(&format!("{tracks} like 'latency(%'")), 2);
}

/// The last value of each entry's counter is its hits in the table of `hist -i`.
#[test]
fn tables_are_counters() {
    let Some(engine) = engine() else { return };
    let file = own().join("s390x/inst.dat");
    let trace = Trace::of(&engine, std::slice::from_ref(&file), &["--hist", "sched:sched_switch:keys=next_pid"]);
    let rows = trace.ask(&["select t.name as name, cast(max(c.value) as int) as last, count(*) as n, min(c.value) as first
                            from counter c join track t on c.track_id = t.id where t.name glob 'hist *' group by t.name"]);
    let found: BTreeMap<String, i64> = rows[0]
        .iter()
        .map(|row| {
            assert_eq!(row["first"], 0.0, "{row}");
            let name =
                row["name"].as_str().expect("a name").strip_prefix("hist sched:sched_switch ").expect("the table's");
            (name.to_owned(), row["last"].as_i64().expect("a number"))
        })
        .collect();
    let env = TestEnvironment::new();
    let table = env.rtrace(&[
        "hist",
        "-i",
        &file.to_string_lossy(),
        "--buffer",
        "",
        "sched:sched_switch",
        "--key",
        "next_pid",
        "--json",
    ]);
    let table: Value = serde_json::from_str(&table.exits(0).stdout()).expect("JSON");
    let expected: BTreeMap<String, i64> = table["tables"][0]["entries"]
        .as_array()
        .unwrap_or_else(|| panic!("{table}"))
        .iter()
        .map(|entry| (entry["keys"]["next_pid"].to_string(), entry["hitcount"].as_i64().expect("hits")))
        .collect();
    assert!(found.len() > 3 && found == expected, "{found:?} instead of {expected:?}");
    let file = file.to_string_lossy();
    for (hist, why) in
        [("sched:sched_switch", "expected SYSTEM:NAME:TRIGGER"), ("sched:sched_switch:keys=none", "none")]
    {
        env.rtrace(&["convert", &file, "x.pftrace", "--hist", hist]).exits(2).complains_with(why);
        assert!(!env.path().join("x.pftrace").exists());
    }
}
