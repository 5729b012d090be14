//! `hist -i` and `latency -i`, against a count of what `report` prints.

use crate::common::bounded;
use crate::common::corpus::corpus;
use crate::common::environment::TestEnvironment;
use crate::common::installed_trace_cmd::installed;
use crate::common::not_run::not_run;
use rtrace::units::grouped;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

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

/// A recording among the events, after the options or after a statement is the one that is asked.
#[test]
fn a_recording_needs_no_option_before_it() {
    let env = TestEnvironment::new();
    let seen = |line: &str| {
        let words: Vec<String> = line.split(' ').map(|word| word.replace("FILE", &file()).replace('~', " ")).collect();
        env.rtrace(&words.iter().map(String::as_str).collect::<Vec<_>>()).exits(0).stdout()
    };
    let of_hist = seen("hist -i FILE sched:sched_switch -k next_comm");
    assert_eq!(seen("hist sched:sched_switch -k next_comm FILE"), of_hist);
    assert_eq!(seen("hist sched:sched_switch FILE -k next_comm"), of_hist);
    let of_latency = seen("latency -i FILE sched:sched_switch sched:sched_switch --by prev_pid=next_pid");
    assert_eq!(seen("latency --by prev_pid=next_pid FILE sched:sched_switch sched:sched_switch"), of_latency);
    assert_eq!(seen("latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid FILE"), of_latency);
    let rows = seen("synth sql -i FILE select~next_pid~from~sched_switch");
    assert_eq!(seen("synth sql select~next_pid~from~sched_switch FILE"), rows);
    assert_eq!(seen("analyze --json FILE"), seen("analyze all --json FILE"));
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

/// Losses stand before any event, often before one that was not asked for.
/// A frame at the first byte of a function returns from a call that ends the function before it (the kernel's `%pB`). Which
/// that is, the recording's symbols say, sorted by address.
#[test]
fn return_addresses_are_in_the_function_that_called() {
    let Some(corpus) = corpus() else { return not_run("stacks of the corpus: there is none") };
    let env = TestEnvironment::new();
    let mut renamed = 0;
    for kernel in ["vm-6.1", "vm-6.12"] {
        let file = corpus.join(kernel).join("stack.dat");
        let file = file.to_str().expect("a path in UTF-8");
        let symbols = env.rtrace(&["dump", "--kallsyms", file]).exits(0).stdout();
        let mut symbols: Vec<(u64, &str)> = symbols
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                Some((address, words.nth(1)?))
            })
            .collect();
        symbols.sort();
        let frames = |more: &[&str]| -> Vec<String> {
            let words = ["hist", "-i", file, "sched:sched_waking", "--key", "common_stacktrace"];
            let words: Vec<&str> = words.iter().chain(more).copied().collect();
            let text = env.rtrace(&words).exits(0).stdout();
            let frames = text.lines().map(str::trim).filter(|line| line.contains("+0x") && !line.contains(' '));
            frames.map(str::to_owned).collect()
        };
        let (kernels, ours) = (frames(&["--raw"]), frames(&[]));
        for frame in kernels.iter().filter(|frame| frame.contains("+0x0/")) {
            let name = frame.split('+').next().expect("a name");
            let of_name: Vec<_> = symbols.iter().filter(|symbol| symbol.1 == name).collect();
            let [(address, _)] = of_name[..] else { continue };
            let before = symbols.iter().rev().find(|symbol| symbol.0 < *address).expect("a function before");
            let size = address - before.0;
            // Of several names of one place either is right.
            let names = symbols.iter().filter(|symbol| symbol.0 == before.0);
            let wanted: Vec<String> = names.map(|(_, name)| format!("{name}+0x{size:x}/0x{size:x}")).collect();
            assert!(wanted.iter().any(|wanted| ours.contains(wanted)), "{frame}: none of {wanted:?} in {ours:?}");
            assert!(!ours.contains(frame), "{frame}");
            renamed += 1;
        }
    }
    assert!(renamed > 5, "{renamed}");
}

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
            strict.exits(4).complains_with(&format!("{} events were lost", grouped(lost)));
        }
    }
}

/// An event made of its parts is the one that a statement makes.
#[test]
fn parts_of_an_event_are_answered_by_a_recording() {
    let env = TestEnvironment::new();
    let path = file();
    let create = |end: &'static str, more: &[&'static str]| {
        let words = ["synth", "create", "slept", "-i", &path, "--start", "sched:sched_switch", "--end", end];
        let fields = ["--match", "prev_pid=next_pid", "--field", "end.next_comm=comm", "--delta", "ns:lat"];
        env.rtrace(&[&words[..], &fields, more].concat())
    };
    let statement = "select end.next_comm as comm, TIMESTAMP_DELTA as lat from sched_switch as start \
                     join sched_switch as end on start.prev_pid = end.next_pid where start.prev_pid > 0";
    let sql = env.rtrace(&["synth", "sql", "-i", &path, "-n", "slept", "--json", statement]).exits(0).stdout();
    assert!(sql.lines().count() > 10, "{sql}");
    for threads in ["1", "3"] {
        create("sched:sched_switch", &["--if-start", "prev_pid > 0", "--json", "--threads", threads])
            .exits(0)
            .prints(&sql);
    }
    let made = format!("{} of them", sql.lines().count());
    create("sched_switch", &["--if-start", "prev_pid > 0", "-o", "both.dat"]).exits(0).prints_with(&made);
    env.rtrace(&["dump", "--validate", "both.dat"]).exits(0).prints_with("no defects");
    create("sched:nosuch", &[]).exits(2).complains_with("no event `sched:nosuch`");
    create("sched:sched_switch", &["--dry-run"]).exits(2).complains_with("--dry-run is for the kernel");
    create("sched:sched_switch", &["--size", "65"]).exits(2).complains_with("--kernel-map");
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

/// The lines of `report` about events.
fn lines(env: &TestEnvironment, words: &[&str]) -> Vec<String> {
    let text = env.rtrace(&[&["report"], words].concat()).exits(0).stdout();
    text.lines().filter(|line| !line.starts_with("cpus=")).map(str::to_owned).collect()
}

/// Filters of both commands that write recordings select what `report` selects.
#[test]
fn a_copy_holds_the_selected_events() {
    let env = TestEnvironment::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/");
    for (name, filter) in [
        ("vm-6.1/trig.dat", "sched_switch: next_pid == 0 || prev_comm ~ \"*sh*\""),
        ("s390x/inst.dat", "sched:*"),
        ("i386/events-v6.dat", "*: common_pid > 0"),
        ("host/small-zlib.dat", "*: common_pid > 0"),
    ] {
        let file = format!("{data}{name}");
        let wanted = lines(&env, &[&file, "--filter", filter]);
        assert!(!wanted.is_empty() && wanted.len() < lines(&env, &[&file]).len(), "{name}: {}", wanted.len());
        env.rtrace(&["split", "--force", "-i", &file, "--filter", filter, "-o", "part.dat"]).exits(0);
        for version in ["6", "7"] {
            let words = ["convert", "--force", "--file-version", version, &file, "copy.dat", "--filter", filter];
            env.rtrace(&words).exits(0);
            assert_eq!(lines(&env, &["copy.dat"]), wanted, "{name}, version {version}");
            env.rtrace(&["dump", "--validate", "copy.dat"]).exits(0).prints_with("no defects");
        }
        assert_eq!(lines(&env, &["part.dat"]), wanted, "{name}");
        env.rtrace(&["dump", "--validate", "part.dat"]).exits(0).prints_with("no defects");
    }
    env.rtrace(&["split", "-i", &file(), "--filter", "sched_swich", "-o", "none.dat"]).exits(2);
    env.rtrace(&["split", "-i", &file(), "--filter", "sched_switch: next_pid == 77777", "-o", "none.dat"]).exits(1);
    env.rtrace(&["convert", &file(), "none.dat", "--since", "+1s"]).exits(1);
}

#[test]
fn a_simulated_trigger_keeps_out_what_the_kernel_would() {
    let env = TestEnvironment::new();
    let path = file();
    let all = lines(&env, &[&file()]);
    let switch = |line: &&String| line.contains(" sched_switch:");
    let to_idle = |line: &&String| switch(line) && line.contains("==> swapper/");
    // With a filter the record is reserved first: the event that stops the trace is its last one; and the count goes down only
    // where the trigger does something.
    let simulate = |words: &[&str]| {
        let all = [&["trigger", "simulate", "--force", "-i", &path, "-o", "held.dat", "--json"], words].concat();
        let stdout = env.rtrace(&all).exits(0).stdout();
        let document: Value = serde_json::from_str(&stdout).expect("JSON");
        let held: u64 =
            document["events"].as_array().expect("events").iter().map(|e| e["held"].as_u64().expect("a number")).sum();
        let lines = lines(&env, &["held.dat"]);
        assert_eq!(lines.len() as u64, held, "{document:#}");
        (document, lines)
    };
    let idle = all.iter().filter(to_idle).count() as u64;
    let stop = all.iter().position(|line| to_idle(&line)).expect("an idle CPU");
    let (document, held) = simulate(&["sched_switch", "traceoff if next_pid == 0"]);
    assert_eq!(held, all[..=stop]);
    assert_eq!(
        (document["triggers"][0]["matched"].as_u64(), document["triggers"][0]["acted"].as_u64()),
        (Some(idle), Some(1))
    );
    // So it is without one: traceoff acts after its event.
    let first = all.iter().position(|line| switch(&line)).expect("a switch");
    let (_, held) = simulate(&["sched_switch", "traceoff"]);
    assert_eq!(held, all[..=first]);
    // An event that is turned on was off before; the one that turns it on is no other.
    let exec = all.iter().position(|line| line.contains(" sched_process_exec:")).expect("an exec");
    let (document, held) = simulate(&["sched_process_exec", "enable_event:sched:sched_switch:1"]);
    let wanted: Vec<String> = all
        .iter()
        .enumerate()
        .filter(|(at, line)| *at >= exec || !switch(line))
        .map(|(_, line)| line.clone())
        .collect();
    assert_eq!(held, wanted);
    assert_eq!(document["triggers"][0]["acted"], 1);
    // Off and on again.
    let (document, held) =
        simulate(&["sched_switch", "traceoff if next_pid == 0", "--with", "sched_process_exec traceon"]);
    let mut on = true;
    let mut wanted = Vec::new();
    for line in &all {
        on |= line.contains(" sched_process_exec:");
        if on {
            wanted.push(line.clone());
        }
        on &= !to_idle(&line);
    }
    assert_eq!(held, wanted);
    assert!(document["on"].as_array().is_some_and(|spans| spans.len() > 1), "{document:#}");
    // Histograms count on while tracing is off, unless they are not to.
    let hits = |words: &[&str]| {
        let words = [&["hist", "-i", &path, "sched_switch", "--key", "next_comm", "--json"], words].concat();
        json(&env, &words)["tables"][0]["hits"].as_u64()
    };
    let switches = all.iter().filter(switch).count() as u64;
    let off = ["--with", "sched_switch traceoff if next_pid == 0"];
    assert_eq!(hits(&off), Some(switches));
    assert_eq!(hits(&[&off[..], &["--only-held"]].concat()), Some(all[..=stop].iter().filter(switch).count() as u64));
    let paused = ["--with", "sched_process_exec disable_hist:sched:sched_switch"];
    assert_eq!(hits(&paused), Some(all[..exec].iter().filter(switch).count() as u64));
    for wrong in ["hist:keys=next_pid", "traceof", "enable_event:sched:none", "traceoff if nextpid == 1"] {
        env.rtrace(&["trigger", "simulate", "-i", &file(), "sched_switch", wrong]).exits(2).prints("");
    }
}

/// Events made of a recording's stand beside them in a copy, each after the one that ends it.
#[test]
fn made_events_are_written_beside_the_recorded_ones() {
    let env = TestEnvironment::new();
    let join = "select end.next_comm as comm, end.next_pid as pid, TIMESTAMP_DELTA as lat from sched_switch as start \
                join sched_switch as end on start.prev_pid = end.next_pid";
    let path = file();
    let sql = ["synth", "sql", "-i", &path, "-n", "slept", join];
    let made = env.rtrace(&[&sql[..], &["--json"]].concat()).exits(0).stdout();
    let made: Vec<Value> = made.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    env.rtrace(&[&sql[..], &["-o", "both.dat"]].concat()).exits(0).prints_with(&format!("{} of them", made.len()));
    env.rtrace(&["dump", "--validate", "both.dat"]).exits(0).prints_with("no defects");
    let both = env.rtrace(&["report", "--format", "json", "both.dat"]).exits(0).stdout();
    let both: Vec<Value> = both.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (new, old): (Vec<Value>, Vec<Value>) = both.into_iter().partition(|event| event["event"] == "synthetic:slept");
    assert_eq!(old, events(&env));
    assert_eq!(new.len(), made.len());
    if let Some(trace_cmd) = installed() {
        let mut command = Command::new(trace_cmd);
        let output =
            bounded::output(command.args(["report", "both.dat"]).current_dir(env.path())).expect("trace-cmd runs");
        let (text, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains("FAILED TO PARSE") && complaints.is_empty(), "{complaints}{text}");
        let shown: Vec<String> =
            text.lines().filter_map(|line| Some(line.split_once(" slept: ")?.1.trim().to_owned())).collect();
        let wanted = made.iter().map(|made| {
            let fields = &made["fields"];
            format!("comm={}, pid={}, lat={}", fields["comm"].as_str().expect("a text"), fields["pid"], fields["lat"])
        });
        assert_eq!(shown, wanted.collect::<Vec<_>>());
    }
    for (new, made) in new.iter().zip(&made) {
        for name in ["ts", "cpu", "pid", "fields"] {
            assert_eq!(new[name], made[name], "{new} {made}");
        }
    }
    env.rtrace(&[&sql[..], &["-o", "both.dat"]].concat()).exits(2).complains_with("exists already");
    let table = ["synth", "sql", "-i", &path, "select next_comm from sched_switch", "-o", "none.dat"];
    env.rtrace(&table).exits(2).complains_with("JOIN");
}

#[test]
fn a_snapshot_is_the_recording_up_to_its_moment() {
    let env = TestEnvironment::new();
    let largest = events(&env).into_iter().filter(|event| event["event"] == "sched:sched_switch").fold(
        (0, 0),
        |(most, at), event| {
            let pid = event["fields"]["next_pid"].as_u64().expect("a number");
            if pid > most { (pid, event["ts"].as_u64().expect("a time")) } else { (most, at) }
        },
    );
    let trigger = "hist:keys=common_type:pid=next_pid:onmax($pid).snapshot()";
    env.rtrace(&["hist", "-i", &file(), "sched_switch", trigger, "--snapshot-to", "dir"]).exits(0);
    let found = env.rtrace(&["report", "--format", "json", "dir/1-sched_switch.dat"]).exits(0).stdout();
    let found: Vec<Value> = found.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let wanted: Vec<Value> =
        events(&env).into_iter().filter(|event| event["ts"].as_u64().expect("a time") <= largest.1).collect();
    assert!(wanted.len() > 10);
    assert_eq!(found, wanted);
    let none = "hist:keys=common_type:pid=next_pid:onmax($pid).snapshot() if next_pid == 77777";
    env.rtrace(&["hist", "-i", &file(), "sched_switch", none, "--snapshot-to", "dir"])
        .exits(0)
        .prints_with("no snapshot");
}

#[test]
fn a_heat_map_is_the_table_cut_into_intervals() {
    let env = TestEnvironment::new();
    let mut wanted: BTreeMap<(String, u64), u64> = BTreeMap::new();
    for event in events(&env).iter().filter(|event| event["event"] == "sched:sched_switch") {
        let comm = event["fields"]["next_comm"].as_str().expect("a text").to_owned();
        *wanted.entry((comm, event["ts"].as_u64().expect("a time") / 10_000_000)).or_default() += 1;
    }
    let path = file();
    let words = ["hist", "-i", &path, "sched_switch", "--key", "next_comm", "--every", "10ms"];
    let document = json(&env, &[&words[..], &["--json"]].concat());
    let begin = document["begin"].as_u64().expect("a time") / 10_000_000;
    let mut found = BTreeMap::new();
    for entry in document["entries"].as_array().expect("entries") {
        for cell in entry["hits"].as_array().expect("hits") {
            let (at, hits) = (cell[0].as_u64().expect("a number"), cell[1].as_u64().expect("a number"));
            found.insert((entry["keys"]["next_comm"].as_str().expect("a text").to_owned(), begin + at), hits);
        }
    }
    assert_eq!(found, wanted);
    for threads in ["1", "2", "3", "8"] {
        assert_eq!(
            json(&env, &[&words[..], &["--json", "--threads", threads]].concat()),
            document,
            "{threads} threads"
        );
    }
    let text = env.rtrace(&words).exits(0).stdout();
    assert_eq!(text.lines().count(), document["entries"].as_array().expect("entries").len() + 2, "{text}");
    env.rtrace(&[&words[..6], &["--every", "0s"]].concat()).exits(2);
}

#[test]
fn the_heaviest_keys_are_kept_within_the_stated_error() {
    let env = TestEnvironment::new();
    let path = file();
    let words = ["hist", "-i", &path, "sched_switch", "--key", "prev_pid,next_pid", "--json"];
    let counts = |document: &Value| -> BTreeMap<String, u64> {
        let entries = document["tables"][0]["entries"].as_array().expect("entries").iter();
        entries.map(|entry| (entry["keys"].to_string(), entry["hitcount"].as_u64().expect("a number"))).collect()
    };
    let all = counts(&json(&env, &words));
    assert!(all.len() > 20, "{}", all.len());
    for most in ["1", "3", "8"] {
        let some = [&words[..], &["--heaviest", most]].concat();
        let document = json(&env, &some);
        let low = document["too_low_by"].as_u64().expect("a number");
        let found = counts(&document);
        assert!(
            low > 0 && found.len() <= 2 * most.parse::<usize>().expect("a number"),
            "{most}: {low} {}",
            found.len()
        );
        for (key, hits) in &all {
            let kept = found.get(key).copied().unwrap_or(0);
            assert!(kept <= *hits && kept + low >= *hits, "{most}: {key} has {hits}, here {kept}, error {low}");
        }
        for threads in ["1", "3"] {
            assert_eq!(json(&env, &[&some[..], &["--threads", threads]].concat()), document, "{threads} threads");
        }
    }
    env.rtrace(&[&words[..6], &["--val", "next_prio", "--heaviest", "3"]].concat()).exits(2);
}
