//! `rtrace why`.

use crate::common::account::agree;
use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::{Synthetic, fork_storm};
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::Value;

fn small() -> String {
    own().join("host/small-zlib.dat").to_string_lossy().into_owned()
}

/// Recordings of several machines: each part is looked up in the events by another program.
#[test]
fn parts_are_what_the_events_say() {
    let env = TestEnvironment::new();
    let mut compared = 0;
    for path in trace_files().iter().filter(|path| path.metadata().is_ok_and(|file| file.len() < 400_000)) {
        let file = path.to_string_lossy().into_owned();
        if env.rtrace(&["analyze", "sched", "--json", &file]).status() == Some(0) {
            let Some(events) = agree(&env, "why", &file, &[]) else { return };
            compared += usize::from(events > 0);
        }
        if compared == 12 {
            break;
        }
    }
    assert!(compared >= 2, "{compared} files");
}

/// Tasks that run on two CPUs at once, wakeups out of nowhere, pids that are used again.
#[test]
fn what_contradicts_itself_adds_up_as_well() {
    let env = TestEnvironment::new();
    fork_storm(3, 3_000, 40, 3).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let Some(events) = agree(&env, "why", "trace.dat", &[]) else { return };
    assert!(events > 500, "{events}");
}

#[test]
fn the_longest_time_preempted_is_that_of_the_tasks_account() {
    let env = TestEnvironment::new();
    let account = env.rtrace(&["analyze", "sched", "--json", "--top", "0", &small()]).exits(0).stdout();
    let account: Value = serde_json::from_str(&account).expect("JSON");
    let tasks = account["buffers"][0]["tasks"].as_array().expect("tasks");
    let longest = tasks.iter().filter_map(|task| task["preemptions"]["max"].as_u64()).max().expect("one was preempted");
    let why = env.rtrace(&["why", "*", "--worst", "preempted", "--json", &small()]).exits(0).stdout();
    let why: Value = serde_json::from_str(&why).expect("JSON");
    let time = why["interval"]["end"].as_u64().zip(why["interval"]["begin"].as_u64()).map(|(end, begin)| end - begin);
    assert_eq!((time, &why["interval"]["kind"]), (Some(longest), &"preempted".into()), "{why:#}");
    assert!(longest > 0);
}

#[test]
fn the_longest_wait_is_taken_apart() {
    let env = TestEnvironment::new();
    let outcome = env.rtrace(&["why", "*", "--worst", "wakeup", &small()]);
    outcome.exits(0).complains("").prints_with(
        "\
rcu_preempt [15] waited for a CPU after its wakeup: 9.153 us, from 2128.995307877 to 2128.995317030
Cause of 79.9 %: interrupts on CPU 0, mostly timer __pfx_hrtimers_prepare_cpu, in 4 parts, while find [1525] ran on CPU 0

 at us     us     %
+0.000  3.792  41.4  rcu_preempt [15] was being woken on CPU 0
+0.000  3.792  41.4  └─ find [1525] ran on CPU 0
",
    );
    outcome.prints_with(
        "   ...  0.124   1.4     ├─ the task itself, 2 times\n+4.494  1.678  18.3     ├─ softirq SCHED on CPU 0\n",
    );
    let all = env.rtrace(&["why", "*", "--worst", "wakeup", "--top", "0", &small()]).exits(0).stdout();
    assert!(all.contains("─ the task itself\n") && !all.contains("─ the task itself, "), "{all}");
    outcome.prints_with(&format!(
        "\nThe events\n  rtrace report {} --since 2128.995307877 --until 2128.995317030\n",
        small()
    ));
}

/// The answers are those of the analyses: the longest wait, the longest call, the longest pair.
#[test]
fn intervals_are_those_of_the_analyses() {
    let env = TestEnvironment::new();
    fork_storm(4, 8_000, 50, 7).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let json = |args: &[&str]| -> Value {
        let outcome = env.rtrace(args);
        serde_json::from_str(&outcome.stdout()).unwrap_or_else(|_| panic!("{args:?}: {}", outcome.stderr()))
    };
    let sched = json(&["analyze", "sched", "--json", "--top", "0", "--sort", "max-wait"]);
    let tasks = sched["buffers"][0]["tasks"].as_array().expect("tasks");
    let worst = tasks.iter().filter_map(|task| task["longest_wait"]["time"].as_u64()).max();
    let found = json(&["why", "*", "--worst", "wakeup", "--json"]);
    assert_eq!((&found["schema"], &found["version"]), (&"rtrace.why".into(), &1.into()));
    assert!(worst.is_some() && found["interval"]["time"].as_u64() == worst, "{worst:?}: {}", found["interval"]);
    let pair = "latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)";
    let check = json(&["check", "--json", "--assert", &format!("max({pair}) < 0ns")]);
    let longest = check["results"][0]["left"]["value"].as_f64();
    let found = json(&["why", "*", "--worst", "pair", "--pair", pair, "--json"]);
    assert!(longest.is_none() || found["interval"]["time"].as_f64() == longest, "{longest:?}: {}", found["interval"]);
    for threads in ["2", "8"] {
        let many = json(&["why", "*", "--worst", "pair", "--pair", pair, "--json", "--threads", threads]);
        assert_eq!(found, many, "{threads} threads");
    }
}

/// The longest times of each kind, as many as asked for: the first is that of one alone, and switches alone tell those off the CPU.
#[test]
fn several_intervals_are_the_longest_in_order() {
    let env = TestEnvironment::new();
    fork_storm(4, 8_000, 50, 7).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let documents = |args: &[&str]| -> Vec<Value> {
        let text = env.rtrace(&[&["why", "*", "--json"], args].concat()).stdout();
        serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().expect("JSON")
    };
    let pair = "latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)";
    let kinds: [&[&str]; 4] = [
        &["--worst", "wakeup"],
        &["--worst", "preempted"],
        &["--worst", "off-cpu"],
        &["--worst", "pair", "--pair", pair],
    ];
    for kind in kinds {
        let (one, five) = (documents(kind), documents(&[kind, &["--intervals", "5"]].concat()));
        let times: Vec<u64> = five.iter().filter_map(|one| one["interval"]["time"].as_u64()).collect();
        assert!(times.len() == 5 && times.is_sorted_by(|a, b| a >= b), "{kind:?}: {times:?}");
        assert_eq!((one.len(), one.first()), (1, five.first()), "{kind:?}");
    }
    // Of a recording without losses: from each switch from a task to the next one to it, unless the events contradict themselves.
    let events = env.rtrace(&["report", "--json", "-F", "sched_switch", &small()]).exits(0).stdout();
    let (mut left, mut times) = (std::collections::HashMap::new(), Vec::new());
    for event in events.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        let Some(at) = event["ts"].as_u64() else { continue };
        let [prev, next] = ["prev_pid", "next_pid"].map(|name| event["fields"][name].as_u64().expect("a pid"));
        times.extend(left.remove(&next).map(|since: u64| at - since).filter(|_| next != 0));
        left.insert(prev, at);
    }
    times.sort_unstable_by(|a, b| b.cmp(a));
    let text =
        env.rtrace(&["why", "*", "--worst", "off-cpu", "--intervals", "99", "--json", &small()]).exits(0).stdout();
    let found: Vec<Value> =
        serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().expect("JSON");
    let found: Vec<u64> = found.iter().filter_map(|one| one["interval"]["time"].as_u64()).collect();
    assert!(!times.is_empty() && found == times, "{found:?}, and {times:?}");
}

/// A document of a long interval is small, and what it leaves out adds up with what it shows; `--top` has as much as it says.
#[test]
fn documents_of_long_intervals_are_small() {
    let env = TestEnvironment::new();
    fork_storm(4, 30_000, 3_000, 5).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let pair = "latency(sched:sched_wakeup_new, sched:sched_switch, pid=next_pid)";
    let text = |more: &[&str]| {
        let outcome = env.rtrace(&[&["why", "*", "--worst", "pair", "--pair", pair, "--json"], more].concat());
        outcome.exits(0).stdout()
    };
    fn walk(parts: &Value, see: &mut dyn FnMut(&[Value])) -> u64 {
        let parts = parts.as_array().expect("parts");
        see(parts);
        let time = |part: &Value| {
            let (time, within) = (part["time"].as_u64().expect("a time"), &part["parts"]);
            if within.as_array().is_some_and(|within| !within.is_empty()) {
                assert_eq!(walk(within, see), time, "{part:#}");
            }
            time
        };
        parts.iter().map(time).collect::<Vec<_>>().into_iter().sum()
    }
    let look = |text: &str| {
        let document: Value = serde_json::from_str(text).expect("a document");
        let (mut most, mut left_out) = (0, 0);
        let sum = walk(&document["parts"], &mut |parts| {
            let of = |part: &&Value| part["kind"] == "left_out";
            left_out += parts.iter().filter(of).map(|part| part["count"].as_u64().expect("a count")).sum::<u64>();
            most = most.max(parts.iter().filter(|part| !of(part)).count());
        });
        assert_eq!(document["interval"]["time"].as_u64(), Some(sum), "{text}");
        (document, most, left_out)
    };
    let small = text(&[]);
    let (document, _, left_out) = look(&small);
    assert!(small.len() < 24_000 && small.len() > 2_000 && left_out > 100, "{} {left_out}", small.len());
    assert_eq!((&document["truncated"], &document["more"]), (&true.into(), &"--top 0".into()));
    let whole = text(&["--top", "0"]);
    let (all, most, left_out) = look(&whole);
    assert!(whole.len() > 24_000 && most > 100 && left_out == 0, "{} {most} {left_out}", whole.len());
    assert_eq!((&all["truncated"], all.get("total")), (&false.into(), None));
    assert_eq!(document["total"]["parts"].as_u64(), all["parts"].as_array().map(|parts| parts.len() as u64));
    let (_, most, left_out) = look(&text(&["--top", "3"]));
    assert!(most == 3 && left_out > 100, "{most} {left_out}");
}

#[test]
fn what_is_not_there_is_an_error() {
    let env = TestEnvironment::new();
    let small = small();
    env.rtrace(&["why", "find", &small, "--worst", "pair"]).exits(2);
    let outcome = env.rtrace(&["why", "*", &small, "--worst", "pair", "--pair", "latency(sched:sched_waking, x)"]);
    outcome.exits(2);
    assert!(outcome.stderr().contains("a key is expected here"), "{}", outcome.stderr());
    env.rtrace(&["why", "nosuch", &small, "--worst", "wakeup"]).exits(1);
    env.rtrace(&["why", "99999", &small, "--worst", "wakeup"]).exits(1);
    env.rtrace(&["why", "find", &small, "--worst", "syscall"]).exits(1);
    env.rtrace(&["why", "find", &small, "--at", "5"])
        .exits(1)
        .complains_with(": 5.000000 is outside of it, its events lie");
    let kprobe = own().join("i386/kprobe.dat").to_string_lossy().into_owned();
    let outcome = env.rtrace(&["why", "*", &kprobe, "--worst", "wakeup"]);
    outcome.exits(1);
    assert!(outcome.stderr().contains("`rtrace record --for sched,irq`"), "{}", outcome.stderr());
}

/// Arguments that are left out are put in: all tasks, and the longest wait.
#[test]
fn a_recording_alone_asks_for_the_longest_wait_of_all() {
    let env = TestEnvironment::new();
    let small = small();
    let all = env.rtrace(&["why", "*", &small, "--worst", "wakeup"]).exits(0).stdout();
    for words in [&[&small[..]][..], &[&small, "--worst", "wakeup"], &["*", &small]] {
        assert_eq!(env.rtrace(&[&["why"], words].concat()).exits(0).stdout(), all, "{words:?}");
    }
}

/// A task that sleeps for 8 ms until another one wakes it; `lost` is a CPU of which events are lost meanwhile.
fn slept(lost: Option<usize>) -> Synthetic {
    let mut made = Synthetic::new(2, "7 victim\n8 hog\n9 other\n");
    let number = |pid: i32| pid.to_le_bytes();
    let switch = |made: &mut Synthetic, cpu, time, (prev, state): (i32, i64), next: i32| {
        let (prev_pid, next_pid, state) = (number(prev), number(next), state.to_le_bytes());
        let fields: [(&str, &[u8]); 3] = [("prev_pid", &prev_pid), ("prev_state", &state), ("next_pid", &next_pid)];
        made.event(cpu, time, "sched_switch", prev, &fields);
    };
    for (cpu, time) in [(1, 1_000_000), (1, 1_350_000), (1, 8_500_000), (1, 9_500_000)] {
        made.event(cpu, time, "sched_process_wait", 9, &[]);
    }
    switch(&mut made, 0, 1_000_000, (9, 1), 7);
    switch(&mut made, 0, 1_200_000, (7, 1), 8);
    made.event(0, 1_300_000, "sched_process_wait", 8, &[]);
    let (victim, cpu) = (number(7), number(0));
    made.event(0, 9_000_000, "sched_wakeup", 8, &[("pid", &victim), ("target_cpu", &cpu)]);
    switch(&mut made, 0, 9_050_000, (8, 0), 7);
    switch(&mut made, 0, 9_200_000, (7, 1), 0);
    if let Some(cpu) = lost {
        made.lose(cpu, if cpu == 0 { 3 } else { 2 }, 3);
    }
    made
}

/// What the task did while events were lost is not known, on whichever CPU: it may have been woken and have slept again.
#[test]
fn a_cause_across_lost_events_is_not_known() {
    let env = TestEnvironment::new();
    let mut causes = Vec::new();
    for (lost, until) in [(None, 9_000_000), (Some(0), 1_300_000), (Some(1), 1_350_000)] {
        slept(lost).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
        let Some(events) = agree(&env, "why", "trace.dat", &[]) else { return };
        assert!(events > 4, "{events}");
        let status = if lost.is_some() { 4 } else { 0 };
        let why = env.rtrace(&["why", "victim", "--at", "0.005", "--json"]).exits(status).stdout();
        let why: Value = serde_json::from_str(&why).expect("JSON");
        let interval = &why["interval"];
        assert_eq!((&interval["begin"], &interval["end"]), (&1_200_000.into(), &9_050_000.into()), "{why:#}");
        let first = &why["parts"][0];
        // Events of other kinds than those read may tell of a shorter loss: unknown from the last one that was read.
        let (kind, end) = (first["kind"].as_str(), first["end"].as_u64());
        assert!(kind == Some("sleep") && end == Some(until) || kind == Some("unknown") && lost.is_some(), "{why:#}");
        causes.push((why["cause"]["known"].clone(), why["cause"]["kind"].clone()));
        let text = env.rtrace(&["why", "victim", "--at", "0.005"]).exits(status).stdout();
        assert_eq!(text.contains("\nCause of 9"), lost.is_none(), "{text}");
        assert_eq!(text.contains("\nCause: not known; 9"), lost.is_some(), "{text}");
    }
    let unknown: (Value, Value) = (false.into(), "unknown".into());
    assert_eq!(causes[0].0, true, "{causes:?}");
    assert_eq!(causes[1..], [unknown.clone(), unknown], "{causes:?}");
}
