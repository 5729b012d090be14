//! `record --stop-if`: a recording that ends itself, and holds what ended it.

use crate::common::environment::TestEnvironment;
use crate::host::{kernel, record, report, summary};
use rtrace::tracefs::Tracefs;
use serde_json::Value;

/// Sleeps that are short, one that is longer than 300 ms, and more that are not seen any more.
const SLEEPS: &str = "for i in 1 2 3 4 5; do sleep 0.02; done; sleep 0.6; sleep 2; touch done";
const SLEPT: &str = "latency(syscalls:sys_enter_clock_nanosleep, syscalls:sys_exit_clock_nanosleep, common_pid)";
const EVENTS: [&str; 4] = ["-e", "syscalls:sys_enter_clock_nanosleep", "-e", "syscalls:sys_exit_clock_nanosleep"];

/// Number of instances that are left of such recordings; others may have theirs.
fn left(tracefs: &Tracefs) -> usize {
    let instances = std::fs::read_dir(tracefs.root().join("instances")).unwrap().flatten();
    instances.filter(|one| one.file_name().to_string_lossy().ends_with("-stop-if")).count()
}

#[test]
fn a_recording_ends_with_the_interval_that_is_too_long() {
    let Some((tracefs, _guard)) = kernel() else { return };
    for ring in [&[][..], &["--ring-time", "1s"], &["--ring", "4M"]] {
        let env = TestEnvironment::new();
        let condition = format!("{SLEPT} > 300ms");
        let args = [&["-F", "-c", "--stop-if", &condition], ring, &EVENTS, &["--", "bash", "-c", SLEEPS]].concat();
        record(&env, &args).exits(3).complains_with(&format!("; stopped: {condition}: "));
        assert!(env.path().join("done").exists(), "the command goes on");
        let why = summary(&env)["stopped"].as_str().unwrap().to_owned();
        // Of -F the events of these tasks are whole, so that a latency between two of one task may fail; that all are short is not
        // known. The spot is that of the interval.
        // The recording holds the interval, however long it was on a busy machine, and nothing of the two seconds after it.
        let out = env.rtrace(&["check", "--json", "--assert", &format!("max({SLEPT}) <= 300ms")]).exits(3).stdout();
        let checked: Value = serde_json::from_str(&out).unwrap();
        let end = checked["assertions"][0]["spot"]["end"].as_u64().unwrap() as f64 / 1e9;
        let said = why.split(" to ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|at| at.parse().ok());
        // Two rings: each has stamped the event.
        assert!(said.is_some_and(|said: f64| (said - end).abs() < 0.005), "{why}: {end}");
        env.rtrace(&["check", "--assert", &format!("max({SLEPT}) < 1900ms")]).exits(4);
        assert!(report(&env).iter().filter(|line| line.contains("sys_exit_clock_nanosleep")).count() >= 6);
        assert_eq!(left(&tracefs), 0);
    }
}

#[test]
fn a_recording_ends_with_an_event_and_its_commands_failure_counts_more() {
    let Some(_kernel) = kernel() else { return };
    for (load, code) in [("kill -0 1; sleep 2; kill -0 1; exit 0", 3), ("kill -0 1; exit 7", 7), ("exit 0", 0)] {
        let env = TestEnvironment::new();
        let condition = "count(syscalls:sys_enter_kill if pid == 1 && sig == 0) >= 1";
        let args = ["-F", "-e", "syscalls:sys_enter_kill", "--stop-if", condition, "--", "bash", "-c", load];
        record(&env, &args).exits(code);
        let stopped = summary(&env)["stopped"].as_str().map(str::to_owned);
        assert_eq!(stopped.is_some(), code != 0, "{stopped:?}");
        if code != 0 {
            assert!(stopped.unwrap().starts_with(&format!("{condition}: event 1 at ")));
            assert_eq!(report(&env).iter().filter(|line| line.contains("pid: 0x00000001")).count(), 1, "{load}");
        }
    }
}

#[test]
fn conditions_that_cannot_be_held_are_refused_before_anything_runs() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let refused = |condition: &str, more: &[&str], code: i32, text: &str| {
        let args = [&["-e", "sched:sched_switch", "--stop-if", condition], more, &["--", "touch", "ran"]].concat();
        record(&env, &args).exits(code).complains_with(text);
        assert!(!env.path().join("ran").exists() && !env.path().join("trace.dat").exists());
    };
    refused("lost > 0", &[], 2, "only a whole recording has this quantity");
    refused("count(sched:sched_wakin) > 0", &[], 2, "sched_wakin");
    refused("count(sched:sched_waking) > 0", &[], 2, "sched:sched_waking is not recorded: add `-e sched:sched_waking`");
    refused("count(sched:sched_switch if comm == \"ls\") > 0", &[], 2, "tasks have no names while they are recorded");
    refused("latency(sched:sched_switch, sched:sched_switch, nxt_pid) > 1s", &[], 2, "next_pid");
    let switches = "latency(sched:sched_switch, sched:sched_switch, common_cpu) > 100s";
    refused(switches, &["-C", "counter"], 2, "counts no time");
    if !tracefs.root().join("snapshot").exists() {
        refused(switches, &["--snapshot"], 125, "CONFIG_TRACER_SNAPSHOT");
    }
    assert_eq!(left(&tracefs), 0);
}
