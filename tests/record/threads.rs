//! A process is its threads: those that exist when it is recorded, and those that come.

use super::host::{kernel, record, report};
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use std::collections::BTreeMap;
use std::process::Stdio;

/// Calls of each thread of `threads.py`.
const CALLS: usize = 200;
/// Least number of a thread's that is listed late: what it did in its first 0.4 s of 0.6 may be missing.
const OF_LATE: usize = 60;
const EVENT: [&str; 4] = ["-e", "syscalls:sys_enter_kill", "-f", "sig == 0"];

fn program() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/threads.py").to_owned()
}

/// Records `threads.py`, which runs already, by `options` with `PID` and `TID` (of its second thread) in place of its own;
/// gives the events of each of its threads, the late one last.
fn of_running(env: &TestEnvironment, options: &[&str]) -> Vec<usize> {
    for fifo in ["go", "done"] {
        let _ = std::fs::remove_file(env.path().join(fifo));
        nix::unistd::mkfifo(&env.path().join(fifo), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let mut python = env.command("python3");
    let mut python = python.args(["-B", &program(), "go", "done"]).stdout(Stdio::piped()).spawn().unwrap();
    let pid = python.id();
    let threads = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        tasks.map(|task| task.file_name().into_string().unwrap()).filter(|tid| *tid != pid.to_string()).max()
    };
    let count = || std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    while count() < 3 {}
    let (pid, tid) = (pid.to_string(), threads().unwrap());
    let words = |word: &&str| match *word {
        "PID" => pid.clone(),
        "TID" => tid.clone(),
        word => word.to_owned(),
    };
    let options: Vec<String> = options.iter().map(words).collect();
    let mut args: Vec<&str> = options.iter().map(String::as_str).collect();
    args.extend(["--", "sh", "-c", "echo > go; cat done"]);
    let recorded = record(env, &args);
    if recorded.status() != Some(0) {
        python.kill().unwrap(); // it waits to be told to begin
    }
    let out = python.wait_with_output().unwrap();
    recorded.exits(0);
    counts(env, std::str::from_utf8(&out.stdout).unwrap())
}

/// The events of each of `threads`, and 0 of all others.
fn counts(env: &TestEnvironment, threads: &str) -> Vec<usize> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for line in report(env) {
        let task = line.split(" [").next().unwrap().trim();
        *found.entry(task.rsplit('-').next().unwrap().to_owned()).or_default() += 1;
    }
    let counts = threads.split_whitespace().map(|tid| found.remove(tid).unwrap_or(0)).collect();
    assert!(found.is_empty(), "of others: {found:?}");
    counts
}

fn is_installed(env: &TestEnvironment) -> bool {
    let there = env.command("python3").arg("--version").output().is_ok();
    if !there {
        not_run("no python3 is installed");
    }
    there
}

#[test]
fn a_process_is_recorded_with_all_its_threads() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    if !is_installed(&env) {
        return;
    }
    let of = |options: &[&str]| of_running(&env, &[options, &EVENT].concat());
    let found = of(&["-P", "PID"]);
    assert_eq!(found[..3], [CALLS; 3]);
    assert!((OF_LATE..=CALLS).contains(&found[3]), "{found:?}");
    // The kernel lists the new thread itself.
    assert_eq!(of(&["-P", "PID", "-c"]), [CALLS; 4]);
    // A thread stands for its process, but for the option that says it does not.
    assert_eq!(of(&["-P", "TID"])[..3], [CALLS; 3]);
    let alone = of(&["--thread", "TID"]);
    assert_eq!((alone.iter().sum::<usize>(), alone[0]), (CALLS, 0), "{alone:?}");
}

#[test]
fn a_command_is_recorded_with_all_its_threads() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    if !is_installed(&env) {
        return;
    }
    for (children, least) in [(&["-F"][..], OF_LATE), (&["-F", "-c"], CALLS)] {
        let out = record(&env, &[children, &EVENT, &["--", "python3", "-B", &program()]].concat());
        out.exits(0);
        let said = out.stderr().contains("3 threads that came meanwhile");
        let found = counts(&env, &out.stdout());
        assert_eq!((found.len(), found[0], said), (4, CALLS, least < CALLS), "{found:?} {}", out.stderr());
        assert!(found.iter().all(|count| (least..=CALLS).contains(count)), "{found:?}");
    }
}

#[test]
fn functions_of_a_process_are_those_of_its_threads() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    if !is_installed(&env) {
        return;
    }
    let functions = tracefs.top().read("available_filter_functions").unwrap_or_default();
    let Some(kill) = functions.lines().find(|name| name.ends_with("_sys_kill")) else {
        return not_run("the kernel traces no functions");
    };
    let found = of_running(&env, &["-P", "PID", "-p", "function", "-l", kill]);
    assert_eq!(found[..3], [CALLS; 3]);
    assert!((OF_LATE..=CALLS).contains(&found[3]), "{found:?}");
}
