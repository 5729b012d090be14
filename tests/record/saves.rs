//! `rtrace save`, SIGUSR2 and `--keep-going`: the newest events as a file, while recording goes on.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::{kernel, record, summary};
use crate::state::{PATIENCE, Running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::tracefs::Tracefs;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// No process has such a number: each `kill(2)` is an event that can be told from all others.
pub(crate) const FIRST: i32 = 500_000_000;

/// Calls `kill(2)` with rising numbers, another range for each `task`, until `over`, and not so fast that a ring would overflow.
pub(crate) fn count_up(task: i32, over: &AtomicBool) {
    for number in 0.. {
        let _ = kill(Pid::from_raw((task + 1) * FIRST + number), None);
        if number % 50 == 0 {
            sleep(Duration::from_millis(2));
        }
        if over.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Ends what goes on until then, also where a test fails: its threads are waited for.
pub(crate) struct OverAtEnd<'a>(pub(crate) &'a AtomicBool);

impl Drop for OverAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts a recorder of these calls and returns when it traces.
pub(crate) fn start(env: &TestEnvironment, tracefs: &Tracefs, more: &[&str]) -> Running {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(["record", "--journal-dir", "journal", "-b", "16M", "-e", "syscalls:sys_enter_kill"]);
    command.args(["-f", &format!("sig == 0 && pid >= {FIRST} && pid <= {}", i32::MAX)]).args(more);
    let recorder = Running::start(command);
    let on = tracefs.root().join(format!("instances/rtrace-{}/tracing_on", recorder.pid()));
    let since = Instant::now();
    // A new instance is on until its recorder has set it up: that has happened once there are spools.
    let file = more.iter().skip_while(|word| **word != "-o").nth(1).unwrap_or(&"trace.dat");
    let file = env.path().join(file);
    let spool = file.with_file_name(format!(".{}.cpu0.spool", file.file_name().unwrap().to_string_lossy()));
    while !spool.exists() || fs::read_to_string(&on).unwrap_or_default().trim() != "1" {
        assert!(since.elapsed() < PATIENCE, "no tracing in {}", on.display());
        sleep(Duration::from_millis(5));
    }
    recorder
}

/// The numbers of each task's calls in a recording, in its order. It is whole.
fn numbers(env: &TestEnvironment, file: &str) -> BTreeMap<i32, Vec<i32>> {
    let out = env.rtrace(&["report", file]);
    out.exits(0);
    // What follows the last rotation may be nothing.
    assert!(out.stderr().is_empty() || out.stderr().ends_with(": no events\n"), "{}", out.stderr());
    assert!(!out.stdout().contains("EVENTS DROPPED"), "{file}");
    numbers_in(&out.stdout())
}

/// The same of a report.
pub(crate) fn numbers_in(report: &str) -> BTreeMap<i32, Vec<i32>> {
    let mut of_tasks: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for line in report.lines() {
        let Some((_, rest)) = line.split_once("pid: 0x") else { continue };
        let number = i32::from_str_radix(rest.split(',').next().unwrap().trim(), 16).unwrap();
        of_tasks.entry(number / FIRST).or_default().push(number % FIRST);
    }
    of_tasks
}

/// The saves beside a recording, by name, which is by time.
pub(crate) fn saves_of(env: &TestEnvironment, recording: &str) -> Vec<PathBuf> {
    let start = format!("{}-", recording.strip_suffix(".dat").unwrap());
    let files = fs::read_dir(env.path()).unwrap().flatten().map(|file| file.path());
    let mut saves: Vec<_> =
        files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&start)).collect();
    saves.sort();
    saves
}

/// `RTRACE_SAVES` names another number of saves that are asked for. Those at a signal have all of the ring, and are made before
/// it is full: then each CPU has events of another time.
#[test]
fn saves_are_the_same_events_as_those_of_a_whole_recording_and_leave_no_gap() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let times = std::env::var("RTRACE_SAVES").map_or(4, |times| times.parse().unwrap());
    for how in [&["--ring", "8M"][..], &["--ring", "64M", "--compression", "none"], &["--nosplice"]] {
        let env = TestEnvironment::new();
        let mut whole = start(&env, &tracefs, &["-o", "whole.dat"]);
        let mut flight = start(&env, &tracefs, &[&["-o", "flight.dat"], how].concat());
        let (over, mut saved) = (AtomicBool::new(false), Vec::new());
        scope(|scope| {
            let over = &over;
            let _end = OverAtEnd(over);
            (0..2).for_each(|task| drop(scope.spawn(move || count_up(task, over))));
            for number in 0..times {
                sleep(Duration::from_millis(if number == 0 { 1200 } else { 400 }));
                let file = format!("save{number}.dat");
                let said = env.rtrace(&["save", "flight.dat", "-o", &file, "--last", "900ms", "--json"]);
                let said: serde_json::Value = serde_json::from_str(&said.exits(0).stdout()).unwrap();
                saved.push((file, said));
                if number < 4 {
                    kill(flight.pid(), Signal::SIGUSR2).unwrap();
                }
            }
            sleep(Duration::from_millis(300));
        });
        for recorder in [&mut whole, &mut flight] {
            kill(recorder.pid(), Signal::SIGINT).unwrap();
            assert_eq!(recorder.wait().code(), Some(0));
        }
        let whole = numbers(&env, "whole.dat");
        let by_signal = saves_of(&env, "flight.dat");
        assert_eq!(by_signal.len(), times.min(4), "{by_signal:?}");
        // On a busy machine the next one may be asked for when the window before is over already.
        let touches = |file: &String| {
            let at = saved.iter().position(|(name, _)| name == file).unwrap();
            let time = |number: usize, key: &str| saved[number].1[key].as_u64().unwrap();
            at == 0 || time(at, "from_ns") <= time(at - 1, "until_ns")
        };
        let by_signal = by_signal.iter().map(|path| (path.to_str().unwrap().to_owned(), false));
        let mut ends: BTreeMap<i32, i32> = BTreeMap::new();
        for (file, is_asked) in saved.iter().map(|(file, _)| (file.clone(), true)).chain(by_signal) {
            env.rtrace(&["dump", "--validate", &file]).exits(0);
            let save = numbers(&env, &file);
            assert_eq!(save.len(), 2, "{how:?}: {file} has events of both tasks");
            for (task, numbers) in &save {
                let (first, last) = (numbers[0], *numbers.last().unwrap());
                assert!(numbers.iter().copied().eq(first..=last), "{how:?}: {file} lacks events of task {task}");
                let of_whole = whole[task].iter().filter(|number| (first..=last).contains(number));
                assert!(of_whole.eq(numbers), "{how:?}: {file} and the whole recording differ");
                if is_asked {
                    let end = ends.insert(*task, last).unwrap_or(i32::MAX);
                    let follows = first <= end.saturating_add(1);
                    assert!(follows || !touches(&file), "{how:?}: a gap before {file}: {end} to {first}");
                }
            }
        }
        for (file, said) in &saved {
            let window = said["until_ns"].as_u64().unwrap() - said["from_ns"].as_u64().unwrap();
            let events: usize = numbers(&env, file).values().map(Vec::len).sum();
            assert_eq!((window, said["events"].as_u64().unwrap()), (900_000_000, events as u64), "{how:?}: {said}");
        }
        // What was saved is in the recording all the same, until the ring is full.
        let rest = if times > 4 { BTreeMap::new() } else { numbers(&env, "flight.dat") };
        for (task, numbers) in rest {
            assert!(numbers.iter().copied().eq(numbers[0]..=*whole[&task].last().unwrap()), "{how:?}");
        }
    }
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

/// Waits until the recording `name` has as many saves.
fn wait_for_saves(env: &TestEnvironment, name: &str, least: usize) {
    let until = Instant::now() + PATIENCE;
    while saves_of(env, name).len() < least && Instant::now() < until {
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn files_of_a_rotation_hold_each_event_once_and_the_recording_need_not_keep_them() {
    let Some((tracefs, _guard)) = kernel() else { return };
    for (each, least) in [("1s", 4), ("1M", 3)] {
        let env = TestEnvironment::new();
        let mut whole = start(&env, &tracefs, &["-o", "whole.dat", "--compression", "none"]);
        let mut rotated = start(&env, &tracefs, &["-o", "r.dat", "--rotate", each, "--compression", "none"]);
        let over = AtomicBool::new(false);
        scope(|scope| {
            let over = &over;
            let _end = OverAtEnd(over);
            (0..2).for_each(|task| drop(scope.spawn(move || count_up(task, over))));
            wait_for_saves(&env, "r.dat", least);
        });
        for recorder in [&mut rotated, &mut whole] {
            kill(recorder.pid(), Signal::SIGINT).unwrap();
            assert_eq!(recorder.wait().code(), Some(0));
        }
        let files = saves_of(&env, "r.dat");
        assert!(files.len() > least, "{each}: {files:?}");
        let mut together: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for file in &files {
            let name = file.to_str().unwrap();
            env.rtrace(&["dump", "--validate", name]).exits(0);
            numbers(&env, name).into_iter().for_each(|(task, more)| together.entry(task).or_default().extend(more));
        }
        assert!(together == numbers(&env, "whole.dat"), "{each}: the files are not the whole recording");
        // What is in files went from the recording, the last of it excepted.
        let (rest, all) = (env.path().join("r.dat"), env.path().join("whole.dat"));
        let size = |path: &Path| fs::metadata(path).unwrap().len();
        assert!(size(&rest) < size(&all), "{each}: {} of {} bytes kept", size(&rest), size(&all));
    }
}

#[test]
fn the_last_file_of_a_rotation_ends_with_the_recording() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let mut rotated = start(&env, &tracefs, &["-o", "r.dat", "--rotate", "1s", "--compression", "none"]);
    let over = AtomicBool::new(false);
    scope(|scope| {
        let over = &over;
        let _end = OverAtEnd(over);
        (0..2).for_each(|task| drop(scope.spawn(move || count_up(task, over))));
        wait_for_saves(&env, "r.dat", 1);
        // The tasks go on meanwhile.
        kill(rotated.pid(), Signal::SIGINT).unwrap();
        assert_eq!(rotated.wait().code(), Some(0));
    });
    let files = saves_of(&env, "r.dat");
    let ends = |name: &str| -> BTreeMap<i32, i32> {
        let of = numbers(&env, name).into_iter();
        of.filter_map(|(task, numbers)| Some((task, *numbers.last()?))).collect()
    };
    assert_eq!(ends(files.last().unwrap().to_str().unwrap()), ends("r.dat"));
}

#[test]
fn each_hit_is_saved_and_the_oldest_saves_go() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let condition = "count(syscalls:sys_enter_kill if pid == 1 && sig == 0) >= 1";
    // Two hits that belong together, and three more, each by itself once the save of the one before it is there.
    let load = "saved() { s=$(ls trace-2*.dat 2>/dev/null); while [ \"$s\" = \"$last\" ]; do sleep 0.1; \
        s=$(ls trace-2*.dat 2>/dev/null); done; last=$s; sleep 1; }; kill -0 1; kill -0 1; saved; \
        for i in 1 2 3; do kill -0 1; saved; done";
    let args = ["-F", "--ring", "4M", "-e", "syscalls:sys_enter_kill", "--stop-if", condition, "--keep-going"];
    let args = [&args[..], &["--after", "300ms", "--keep-saves", "2", "--", "bash", "-c", load]].concat();
    // The file that stands there is moved aside, and is not the one that is saved.
    record(&env, &["-e", "sched:sched_process_exit", "--", "true"]).exits(0);
    let out = record(&env, &args);
    out.exits(0).complains_with("; 4 saves").complains_with("rtrace: saved ");
    let saves = summary(&env)["saves"].as_array().unwrap().clone();
    let more: Vec<_> = saves.iter().map(|save| save["more_causes"].as_u64().unwrap()).collect();
    assert_eq!(more, [1, 0, 0, 0], "{saves:?}");
    assert!(saves.iter().all(|save| save["cause"].as_str().unwrap().starts_with(condition)), "{saves:?}");
    assert!(saves.iter().all(|save| save["error"].is_null()), "{saves:?}");
    let there = saves_of(&env, "trace.dat");
    let said: Vec<_> = saves[2..].iter().map(|save| env.path().join(save["file"].as_str().unwrap())).collect();
    assert_eq!(there, said, "the two latest");
    // Each holds its own hit and those before.
    for (save, hits) in there.iter().zip([4, 5]) {
        let text = env.rtrace(&["report", save.to_str().unwrap()]).exits(0).stdout();
        assert_eq!(text.lines().filter(|line| line.contains("pid: 0x00000001")).count(), hits, "{text}");
    }
}

/// A hit whose time after it reaches beyond the recording is saved as that ends, with all that it has.
#[test]
fn a_save_that_is_due_after_the_end_is_made_at_the_end() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let condition = "count(syscalls:sys_enter_kill if pid == 1 && sig == 0) >= 1";
    let load = "kill -0 1; sleep 4; for i in 1 2 3; do kill -0 2; done";
    let args = ["-F", "--ring", "4M", "-e", "syscalls:sys_enter_kill", "--stop-if", condition, "--keep-going"];
    let begun = Instant::now();
    let args = [&args[..], &["--after", "1h", "--", "bash", "-c", load]].concat();
    record(&env, &args).exits(0).complains_with("; 1 save");
    assert!(begun.elapsed() < Duration::from_secs(1800), "nobody waits for what cannot come");
    let saves = saves_of(&env, "trace.dat");
    let [save] = &saves[..] else { panic!("{saves:?}") };
    let events = |file: &str| env.rtrace(&["report", file]).exits(0).stdout();
    let text = events(save.to_str().unwrap());
    assert!(text.contains("pid: 0x00000001") && text.contains("pid: 0x00000002"), "{text}");
    let kills = |text: &str| text.lines().filter(|line| line.contains("sys_enter_kill")).count();
    assert_eq!((kills(&text), kills(&events("trace.dat"))), (4, 4), "{text}");
}

#[test]
fn saves_that_cannot_be_made_are_said_and_recording_goes_on() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    env.rtrace(&["save", "-o", "x.dat"]).exits(1).complains_with("failed to look for the recorder of trace.dat");
    let mut recorder = start(&env, &tracefs, &["-C", "counter"]);
    fs::write(env.path().join("there"), "precious").unwrap();
    env.rtrace(&["save", "-o", "there"]).exits(2).complains_with("there exists already");
    assert_eq!(fs::read_to_string(env.path().join("there")).unwrap(), "precious");
    // A clock that counts no time has no last second: all is saved.
    let _ = kill(Pid::from_raw(FIRST + 7), None);
    env.rtrace(&["save", "-o", "all.dat"]).exits(0);
    assert_eq!(numbers(&env, "all.dat")[&1], [7]);
    let rotated =
        ["record", "-C", "counter", "-e", "sched:sched_process_exit", "--rotate", "1s", "-o", "r.dat", "--", "true"];
    env.rtrace(&rotated).exits(2).complains_with("counts no nanoseconds");
    env.rtrace(&["save", "-o", "last.dat", "--last", "1s"]).exits(1).complains_with("counts no time");
    assert!(!env.path().join("last.dat").exists());
    let _ = kill(Pid::from_raw(FIRST + 8), None);
    kill(recorder.pid(), Signal::SIGINT).unwrap();
    assert_eq!(recorder.wait().code(), Some(0));
    assert_eq!(numbers(&env, "trace.dat")[&1], [7, 8]);
}
