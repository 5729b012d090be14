//! The ring buffers of a killed recorder: `recover` moves them into the file.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::{clear_top, kernel, kills, report};
use crate::state::{PATIENCE, Running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::internal::trace_dat::OptionId;
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

/// The message about events that the recorder had taken and not written.
const UNSAVED: &str = "events that the recorder had taken when it was killed are not in the file";

/// Recovers; what its JSON says of the rings.
fn recover(env: &TestEnvironment, tracefs: &Tracefs, before: &Knobs) -> Value {
    let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal"]);
    match out.status() {
        Some(0) => out.complains(""),
        _ => out.exits(4).complains_with(UNSAVED),
    };
    before.assert_unchanged(&Knobs::read(tracefs.root()));
    assert_eq!(fs::read_dir(env.path().join("journal")).unwrap().count(), 0, "the journal is done with");
    let said: Value = serde_json::from_str(&out.stdout()).unwrap();
    assert_eq!((&said["done"], &said["rings"]["put_back"]), (&"recovered".into(), &true.into()), "{said}");
    // Once more there is nothing to do, and what the file lacks is said again.
    let again = env.rtrace(&["recover", "--journal-dir", "journal"]);
    again.exits(out.status().unwrap()).prints_with("nothing to recover");
    assert_eq!(again.stdout().contains("a complete recording"), out.status() == Some(0), "{}", again.stdout());
    assert_eq!(said["rings"]["missing"] != 0, out.status() == Some(4), "{said}");
    said["rings"].clone()
}

/// Number of events in a report of the recovered file. It ends with 4 and names those that are missing, if some are,
/// and where the rings gave events after them there is a line in their place.
fn found(env: &TestEnvironment, rings: &Value) -> u64 {
    let out = env.rtrace(&["report"]);
    let missing = rings["missing"].as_u64().unwrap();
    match missing {
        0 => out.exits(0).complains(""),
        _ => out.exits(4).complains_with(UNSAVED),
    };
    let (text, stderr) = (out.stdout(), out.stderr());
    let number = |word: Option<&str>| word?.replace(',', "").parse::<u64>().ok();
    let said = stderr.lines().filter_map(|line| number(line.split_once(UNSAVED)?.0.rsplit(' ').nth(1)));
    assert_eq!(said.sum::<u64>(), missing, "{stderr}");
    let gaps = text.lines().filter_map(|line| number(line.split_once(" EVENTS DROPPED]")?.0.rsplit('[').next()));
    let gaps: u64 = gaps.sum();
    // The recording has one busy CPU at a time; one that gave nothing more has no line.
    assert!(gaps <= missing && (gaps > 0 || missing == 0 || rings["events"] == 0), "{gaps} of {missing} in lines");
    text.lines().filter(|line| line.contains("sys_enter_kill")).count() as u64
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
        let found = found(&env, &rings);
        assert!(rings["events"].as_u64().unwrap() > 0, "{how:?}: {rings}");
        assert_eq!(found + rings["missing"].as_u64().unwrap(), 2300, "{how:?}: {rings}");
        assert!(found >= 2000, "{how:?}: {found} found, {rings}");
    }
}

#[test]
fn killed_at_any_moment_what_is_missing_is_known() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let mut all_missing = 0;
    for moment in [1, 50, 150, 400] {
        let env = TestEnvironment::new();
        let (mut recorder, command) = start(&env, &[], &kills(20_000));
        sleep(Duration::from_millis(moment));
        kill(recorder.pid(), Signal::SIGKILL).unwrap();
        recorder.wait();
        // Its instance is still on.
        wait_for(&env, "done");
        let _ = kill(command, Signal::SIGKILL);
        let rings = recover(&env, &tracefs, &before);
        let found = found(&env, &rings);
        assert!(rings["events"].as_u64().unwrap() > 0, "{rings}");
        let missing = rings["missing"].as_u64().unwrap();
        assert_eq!(found + missing, 20_000, "killed after {moment} ms: {rings}");
        all_missing += missing;
    }
    assert!(all_missing > 0, "no kill met a chunk that was being filled");
}

#[test]
fn an_instance_that_was_there_is_drained_and_stays() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    clear_top(&env);
    let (mut recorder, command) = start(&env, &["--top"], &kills(300));
    wait_for(&env, "done");
    kill(recorder.pid(), Signal::SIGKILL).unwrap();
    recorder.wait();
    let _ = kill(command, Signal::SIGKILL);
    // Of a copy no journal knows.
    fs::copy(env.path().join("trace.dat"), env.path().join("copy.dat")).unwrap();
    let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal", "copy.dat"]);
    assert!(out.stdout().contains("\"rings\": null") || out.status() != Some(0), "{}", out.stdout());
    // A command that changes tracing is warned about it.
    let printed = env.rtrace(&["clear", "--journal-dir", "journal", "-B", "rtrace-test-no-such"]);
    printed.complains_with("trace.dat` finishes its recording and puts it back");
    let rings = recover(&env, &tracefs, &before);
    assert_eq!((rings["events"].as_u64(), rings["missing"].as_u64()), (Some(300), Some(0)), "{rings}");
    assert_eq!(report(&env).len(), 300);
}

#[test]
fn rings_that_another_process_reads_are_left_to_it() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    clear_top(&env);
    let (mut recorder, command) = start(&env, &["--top"], &kills(300));
    wait_for(&env, "done");
    kill(recorder.pid(), Signal::SIGKILL).unwrap();
    recorder.wait();
    let _ = kill(command, Signal::SIGKILL);
    fs::remove_file(env.path().join("runs")).unwrap();
    // A second recorder at the same ring: it takes what the first left there, and goes on.
    let load = format!("echo $$ > runs; while [ ! -e more ]; do sleep 0.02; done; {}; exit 3", kills(200));
    let mut second = env.command(env!("CARGO_BIN_EXE_rtrace"));
    second.args(["record", "-q", "--journal-dir", "journal", "-o", "second.dat", "--top", "-F"]);
    second.args(["-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "--", "bash", "-c", &load]);
    let mut second = Running::start(second);
    wait_for(&env, "runs");
    let out = env.rtrace(&["recover", "--journal-dir", "journal"]);
    let named = format!("process {} (rtrace) reads the rings of the top level", second.pid());
    out.exits(4).complains_with(&named).complains_with("`rtrace reset --stale` puts it back");
    fs::write(env.path().join("more"), "").unwrap();
    assert_eq!(second.wait().code(), Some(3));
    let of_the_second = env.rtrace(&["report", "second.dat"]).exits(0).stdout();
    assert_eq!(of_the_second.lines().filter(|line| line.contains("sys_enter_kill")).count(), 500);
    // The first file says that it lacks something, for any later reader.
    env.rtrace(&["report"]).exits(4).complains_with(UNSAVED);
    env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]).exits(0);
    before.assert_unchanged(&Knobs::read(tracefs.root()));
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
    // A damaged table of spools costs nothing: the file and the spools stay as they are.
    let path = env.path().join("trace.dat");
    let whole = fs::read(&path).unwrap();
    let table = whole.windows(2).rposition(|bytes| bytes == OptionId::RTRACE_SPOOLS.0.to_ne_bytes()).unwrap();
    let mut damaged = whole.clone();
    damaged[table + 6] ^= 0x40;
    fs::write(&path, damaged).unwrap();
    let out = env.rtrace(&["recover", "--journal-dir", "journal"]);
    out.exits(4).complains_with("its table of spools is damaged; the spools stay as they are");
    fs::write(&path, whole).unwrap();
    // Until it is recovered nothing that is judged by its end is known.
    let checked = env.rtrace(&["check", "--json", "--assert", "lost == 0", "--assert", "duration > 1ns"]);
    checked.exits(4).prints_with("\"unfinished\": true").prints_with("the recording is unfinished");
    env.rtrace(&["dump", "--validate"]).exits(4).complains_with("its recorder is gone").prints_with("1 defect");
    let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal"]);
    out.exits(4).complains_with("its ring buffer and its recorder still held").prints_with("\"rings\": null");
    env.rtrace(&["check", "--assert", "lost == 0"]).exits(4).prints_with("indeterminate");
}

/// Other commands look at journals as they start.
#[test]
fn a_command_that_looks_at_the_journal_is_waited_for() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let (mut recorder, command) = start(&env, &[], &kills(300));
    wait_for(&env, "done");
    kill(recorder.pid(), Signal::SIGKILL).unwrap();
    recorder.wait();
    let _ = kill(command, Signal::SIGKILL);
    let journal = fs::read_dir(env.path().join("journal")).unwrap().next().unwrap().unwrap().path();
    let looked_at = fs::File::open(journal).unwrap();
    looked_at.lock().unwrap();
    let rings = std::thread::scope(|scope| {
        scope.spawn(|| {
            sleep(Duration::from_millis(200));
            looked_at.unlock().unwrap();
        });
        recover(&env, &tracefs, &before)
    });
    assert_eq!(rings["events"].as_u64().unwrap() + rings["missing"].as_u64().unwrap(), 300, "{rings}");
}
