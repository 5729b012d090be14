//! The books balance: what is in the file, what was discarded and what was lost make up what was produced.

use crate::common::environment::TestEnvironment;
use crate::host::{kernel, kills, record, report, summary};
use rtrace::tracefs::Tracefs;
use serde_json::Value;
use std::fs;

/// System calls that are recorded.
const PRODUCED: u64 = 20_000;

fn number(totals: &Value, key: &str) -> u64 {
    totals[key].as_u64().unwrap_or_else(|| panic!("{key}: {totals}"))
}

/// Records `PRODUCED` system calls; the summary's events, those discarded and those lost.
fn counted(env: &TestEnvironment, how: &[&str]) -> [u64; 3] {
    let load = kills(PRODUCED as u32);
    let args = ["-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "--", "bash", "-c", &load];
    let follows = ["-F"];
    record(env, &[how, &follows, &args[..]].concat()).exits(0);
    let totals = &summary(env)["totals"];
    let printed = report(env).iter().filter(|line| line.contains("sys_enter_kill")).count() as u64;
    let counts = ["events", "events_discarded", "lost"].map(|key| number(totals, key));
    assert_eq!(printed, counts[0], "{how:?}: events in the file, {totals}");
    counts
}

#[test]
fn recorded_discarded_and_lost_are_what_was_produced() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    let has = |how: &&[&str]| how.first() != Some(&"-C") || knows_clock(&tracefs, how[1]);
    // All of it fits the file.
    let all: [&[&str]; 18] = [
        &[],
        &["-b", "64"],
        &["-b", "8"],
        &["-b", "16", "--compression", "none"],
        &["--compression", "zlib"],
        &["--compression", "zstd:3"],
        &["--compression", "none"],
        &["-C", "global"],
        &["-C", "mono"],
        &["-C", "x86-tsc"],
        &["--nosplice"],
        &["--nosplice", "--compression", "none", "-b", "32"],
        &["--poll", "-s", "2000"],
        &["--poll", "--compression", "none", "-b", "64"],
        &["--subbuf-size", "64K"],
        &["--file-version", "6"],
        &["-c", "-B", "rtrace-test-balance"],
        &["--top"],
    ];
    for how in all.into_iter().filter(has) {
        let [events, discarded, lost] = counted(&TestEnvironment::new(), how);
        assert_eq!(discarded, 0, "{how:?}");
        assert_eq!(events + lost, PRODUCED, "{how:?}: {events} recorded, {lost} lost");
    }
    // Of these the file has a part. The whole file of a recording without compression is as much as one may have that is to
    // end early, since room for its end is set apart.
    let env = TestEnvironment::new();
    counted(&env, &["--compression", "none"]);
    let size = fs::metadata(env.path().join("trace.dat")).unwrap().len().to_string();
    let ring = format!("{}K", 256 * cpus);
    let part: [&[&str]; 5] = [
        &["--max-size", &size, "--compression", "none"],
        &["--ring", &ring, "--compression", "none"],
        &["-m", "256", "--compression", "none"],
        &["-m", "256", "--compression", "none", "--nosplice"],
        &["--ring-time", "10ms", "--compression", "none", "--poll"],
    ];
    for how in part {
        let env = TestEnvironment::new();
        let [events, discarded, lost] = counted(&env, how);
        assert!(events > 0 && discarded > 0, "{how:?}: {events} in the file, {discarded} discarded");
        // A limit ends the recording, and what comes after that is not produced.
        let sum = events + discarded + lost;
        assert!(sum == PRODUCED || (how[0] == "--max-size" && sum < PRODUCED), "{how:?}: {events} {discarded} {lost}");
    }
}

fn knows_clock(tracefs: &Tracefs, clock: &str) -> bool {
    tracefs.top().trace_clock().unwrap().available.iter().any(|known| known == clock)
}

#[test]
fn what_others_take_out_of_the_ring_is_noticed() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let instance = format!("{}/instances/rtrace-$PPID", tracefs.root().display());
    // The ring is looked at twice a second when little happens.
    let meddling = [
        ("read", format!("timeout 1 cat {instance}/trace_pipe > taken")),
        ("cleared", format!("sleep 1.2; echo > {instance}/trace")),
    ];
    for (what, meddle) in meddling {
        let env = TestEnvironment::new();
        let load = format!("{}; {meddle}; {}", kills(700), kills(300));
        let args = ["-F", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "--", "bash", "-c", &load];
        let out = record(&env, &args);
        let cause = if what == "read" { "out of the ring buffers" } else { "was cleared while it was recorded" };
        out.exits(4).complains_with(cause).complains_with("by another process");
        let all = summary(&env);
        let totals = &all["totals"];
        let (events, lost) = (number(totals, "events"), number(totals, "lost"));
        assert_eq!((events + lost, lost > 0), (1000, true), "{what}: {totals}");
        assert_eq!(report(&env).len() as u64, events, "{what}");
        assert!(all["interference"].as_str().unwrap().contains(cause), "{what}");
        // What was read may be allowed; of a cleared ring nobody knows how much it was.
        let status = if what == "read" { 0 } else { 4 };
        record(&env, &[&["--max-lost", "1000"], &args[..]].concat()).exits(status);
    }
}
