//! The books balance: what is in the file, what was discarded and what was lost make up what was produced.

use crate::common::environment::TestEnvironment;
use crate::host::{SmallDisk, clear_top, kernel, kills, record, report, summary};
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
        let env = TestEnvironment::new();
        if how == ["--top"] {
            clear_top(&env);
        }
        let [events, discarded, lost] = counted(&env, how);
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

/// Rounds of system calls in [`up_to_the_moment_of`], and calls in each.
const ROUNDS: u64 = 4000;
const CALLS: u64 = 50;

/// Records system calls until tracing is switched off before their end; they are all in one of the counts.
fn up_to_the_moment_of(
    tracefs: &Tracefs,
    cause: &str,
    limits: &str,
    how: &[&str],
    output: &str,
    env: &TestEnvironment,
) {
    let case = format!("{cause}, {how:?}");
    let on = format!("{}/instances/rtrace-$PPID/tracing_on", tracefs.root().display());
    let load = format!(
        "r=0; while [ $r -lt {ROUNDS} ] && read -r on < {on} && [ $on = 1 ]; do {}; r=$((r+1)); done; \
         echo $r > rounds; sleep 0.1",
        kills(CALLS as u32)
    );
    let record = format!(
        "{limits} exec '{}' record --journal-dir journal --summary-json s.json -o {output} -F \
         -e syscalls:sys_enter_kill -f 'sig == 0' {} -- bash -c \"$LOAD\"",
        env!("CARGO_BIN_EXE_rtrace"),
        how.join(" ")
    );
    let out = env.run("env", &[&format!("LOAD={load}"), "bash", "-c", &record]);
    out.exits(4).complains_with(cause).complains_with("; nothing traced after ").complains_with(" s before CMD ended");
    let rounds: u64 = fs::read_to_string(env.path().join("rounds")).unwrap().trim().parse().unwrap();
    assert!(rounds < ROUNDS, "{case}: tracing was not switched off");
    let summary = summary(env);
    let counts = ["events", "events_discarded", "lost"].map(|key| number(&summary["totals"], key));
    let sum: u64 = counts.iter().sum();
    // Tracing went off in the last round.
    assert!((rounds - 1) * CALLS <= sum && sum <= rounds * CALLS, "{case}: {rounds} rounds, {sum} of {counts:?}");
    assert!(counts[0] > 0 && counts[1] > 0, "{case}: {counts:?}");
    let untraced = summary["untraced_ns"].as_u64().unwrap();
    assert!(untraced > 100_000_000, "{case}: {untraced} ns without tracing");
    let reported = env.rtrace(&["report", output]);
    let found = reported.stdout().lines().filter(|line| line.contains("sys_enter_kill")).count() as u64;
    assert_eq!(found, counts[0], "{case}: events in the file, {counts:?}");
}

/// Bytes of a file with hardly an event: formats and symbols, of which each machine has as many as it likes.
fn without_events() -> u64 {
    let env = TestEnvironment::new();
    record(&env, &["-F", "-e", "syscalls:sys_enter_kill", "--compression", "none", "--", "true"]).exits(0);
    fs::metadata(env.path().join("trace.dat")).unwrap().len()
}

/// Room for events on a disk that is to become full of them.
const ROOM: u64 = 512 << 10;

#[test]
fn the_books_balance_up_to_the_moment_when_nothing_more_can_be_written() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let size = without_events() + ROOM;
    for how in [
        &["--compression", "none"][..],
        &["--compression", "none", "-b", "64"],
        &["--nosplice", "--compression", "none"],
    ] {
        let env = TestEnvironment::new();
        let disk = env.path().join("disk");
        let _disk = SmallDisk::mount(&disk, &size.to_string());
        up_to_the_moment_of(&tracefs, "No space left", "", how, "disk/trace.dat", &env);
        let env = TestEnvironment::new();
        up_to_the_moment_of(&tracefs, "File too large", "ulimit -f 512;", how, "trace.dat", &env);
    }
    const FREE: u64 = 8 << 20;
    let env = TestEnvironment::new();
    let disk = env.path().join("disk");
    let _disk = SmallDisk::mount(&disk, &(size + FREE).to_string());
    let how = ["--min-free", &FREE.to_string(), "--compression", "none"];
    up_to_the_moment_of(&tracefs, "than --min-free leaves to others", "", &how, "disk/trace.dat", &env);
}

#[test]
fn of_a_chunk_that_the_disk_has_no_room_for_the_part_that_fits_is_stored() {
    let Some((_tracefs, _guard)) = kernel() else { return };
    const PRODUCED: u64 = 40_000;
    let size = without_events() + (16 << 20);
    // Several sub-buffers fit, and less than a chunk of 1 MiB becomes.
    for (compression, left) in [("none", 256 << 10), ("zstd", 16 << 10)] {
        let env = TestEnvironment::new();
        let disk = env.path().join("disk");
        let _disk = SmallDisk::mount(&disk, &size.to_string());
        // The recorder has written what it knows by then, and sleeps while the disk fills up and the ring with it.
        let fill = format!("head -c $(($(stat -f -c '%a * %S' disk) - {left})) /dev/urandom > disk/other");
        let load = format!("sleep 1; kill -STOP $PPID; {fill}; {}; kill -CONT $PPID", kills(PRODUCED as u32));
        let args = ["-F", "-b", "8M", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "--compression", compression];
        let out = record(&env, &[&args[..], &["-o", "disk/trace.dat", "--", "bash", "-c", &load]].concat());
        out.exits(4).complains_with("No space left");
        let totals = &summary(&env)["totals"];
        let counts = ["events", "events_discarded", "lost"].map(|key| number(totals, key));
        assert!(counts[0] > 0 && counts[1] > 0, "{compression}: {counts:?}");
        assert_eq!(counts.iter().sum::<u64>(), PRODUCED, "{compression}: {counts:?}");
        let reported = env.rtrace(&["report", "disk/trace.dat"]);
        let found = reported.stdout().lines().filter(|line| line.contains("sys_enter_kill")).count() as u64;
        assert_eq!(found, counts[0], "{compression}: events in the file, {counts:?}");
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
        let shown = env.rtrace(&["report"]).exits(4).stdout();
        assert_eq!(shown.lines().filter(|line| line.contains("sys_enter_kill")).count() as u64, events, "{what}");
        assert!(all["interference"].as_str().unwrap().contains(cause), "{what}");
        // Whoever has the file only is told as well.
        let said = env.rtrace(&["dump", "--validate"]).exits(4).complains_with("another process").stderr();
        let of_cpu = |line: &str| {
            let before = line.split(" events").next()?.rsplit(' ').next()?;
            before.replace(',', "").parse::<u64>().ok()
        };
        assert_eq!(said.lines().filter_map(of_cpu).sum::<u64>(), lost, "{said}");
        env.rtrace(&["check", "--assert", "lost == 0"]).exits(4).prints_with("indeterminate");
        // A read may be allowed; the size of a cleared ring is unknown.
        let status = if what == "read" { 0 } else { 4 };
        record(&env, &[&["--max-lost", "1000"], &args[..]].concat()).exits(status);
    }
}
