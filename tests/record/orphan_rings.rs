//! What a killed recorder leaves in its ring buffers: `recover` moves it into the file.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::{kernel, kills, report};
use crate::state::{PATIENCE, Running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::tracefs::Tracefs;
use serde_json::Value;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts a recording of `load`, which writes the file `done` at its end, and returns when it has begun.
fn start(env: &TestEnvironment, how: &[&str], load: &str) -> (Running, Pid) {
    let load = format!("echo $$ > pid; mv pid runs; {load}; echo > done; exec sleep 100");
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(["record", "-q", "--journal-dir", "journal", "-F"]).args(how);
    command.args(["-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "--", "bash", "-c", &load]);
    let recorder = Running::start(command);
    wait_for(env, "runs");
    let pid = fs::read_to_string(env.path().join("runs")).unwrap().trim().parse().unwrap();
    (recorder, Pid::from_raw(pid))
}

fn wait_for(env: &TestEnvironment, file: &str) {
    let since = Instant::now();
    while !env.path().join(file).exists() {
        assert!(since.elapsed() < PATIENCE, "no file {file}");
        sleep(Duration::from_millis(2));
    }
}

/// Recovers; what its JSON says of the rings.
fn recover(env: &TestEnvironment, tracefs: &Tracefs, before: &Knobs) -> Value {
    let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal"]);
    out.exits(0).complains("");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
    assert_eq!(fs::read_dir(env.path().join("journal")).unwrap().count(), 0, "the journal is done with");
    let said: Value = serde_json::from_str(&out.stdout()).unwrap();
    assert_eq!((&said["done"], &said["rings"]["put_back"]), (&"recovered".into(), &true.into()), "{said}");
    env.rtrace(&["recover", "--journal-dir", "journal"])
        .exits(0)
        .prints_with("a complete recording, nothing to recover");
    said["rings"].clone()
}

#[test]
fn a_slow_recording_that_is_killed_keeps_its_events() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let own: [&[&str]; 4] =
        [&[], &["--compression", "none"], &["--compression", "zlib"], &["-B", "rtrace-test-orphan"]];
    for how in own {
        let env = TestEnvironment::new();
        // The first calls are in the spools after a second and a half without any; the last are in the rings.
        let (mut recorder, command) = start(&env, how, &format!("{}; sleep 2.5; {}", kills(2000), kills(300)));
        wait_for(&env, "done");
        kill(recorder.pid(), Signal::SIGKILL).unwrap();
        recorder.wait();
        let _ = kill(command, Signal::SIGKILL);
        let rings = recover(&env, &tracefs, &before);
        let found = report(&env).len() as u64;
        assert!(rings["events"].as_u64().unwrap() > 0, "{how:?}: {rings}");
        assert_eq!(found + rings["missing"].as_u64().unwrap(), 2300, "{how:?}: {rings}");
        assert!(found >= 2000, "{how:?}: {found} found, {rings}");
    }
}

#[test]
fn killed_at_any_moment_what_is_missing_is_known() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    for moment in [1, 50, 150, 400] {
        let env = TestEnvironment::new();
        let (mut recorder, command) = start(&env, &[], &kills(20_000));
        sleep(Duration::from_millis(moment));
        kill(recorder.pid(), Signal::SIGKILL).unwrap();
        recorder.wait();
        // Nobody has switched its instance off.
        wait_for(&env, "done");
        let _ = kill(command, Signal::SIGKILL);
        let rings = recover(&env, &tracefs, &before);
        let found = report(&env).len() as u64;
        assert!(rings["events"].as_u64().unwrap() > 0, "{rings}");
        assert_eq!(found + rings["missing"].as_u64().unwrap(), 20_000, "killed after {moment} ms: {rings}");
    }
}

#[test]
fn an_instance_that_was_there_is_drained_and_stays() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let (mut recorder, command) = start(&env, &["--top"], &kills(300));
    wait_for(&env, "done");
    kill(recorder.pid(), Signal::SIGKILL).unwrap();
    recorder.wait();
    let _ = kill(command, Signal::SIGKILL);
    // Of a copy no journal knows.
    fs::copy(env.path().join("trace.dat"), env.path().join("copy.dat")).unwrap();
    let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal", "copy.dat"]);
    assert!(out.stdout().contains("\"rings\": null") || out.status() != Some(0), "{}", out.stdout());
    // Who changes tracing is told.
    let told = env.rtrace(&["clear", "--journal-dir", "journal", "-B", "rtrace-test-no-such"]);
    told.complains_with("trace.dat` finishes its recording and puts it back");
    let rings = recover(&env, &tracefs, &before);
    assert_eq!((rings["events"].as_u64(), &rings["missing"]), (Some(300), &Value::Null), "{rings}");
    assert_eq!(report(&env).len(), 300);
}

#[test]
fn what_is_put_back_first_is_dropped_and_said() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let (mut recorder, command) = start(&env, &[], &kills(300));
    wait_for(&env, "done");
    kill(recorder.pid(), Signal::SIGKILL).unwrap();
    recorder.wait();
    let _ = kill(command, Signal::SIGKILL);
    let reset = env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]);
    reset.exits(0).complains_with("what its ring buffers held is dropped").complains_with("trace.dat` instead");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
    let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal"]);
    out.exits(0).complains("").prints_with("\"rings\": null");
}
