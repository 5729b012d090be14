//! Profiles, of recordings and live.

use crate::common::bounded::output;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::common::profiles::alike;
use crate::host::kernel;

#[test]
fn a_recordings_profile_is_trace_cmds() {
    let Some((_, _alone)) = kernel() else { return };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let Some(trace_cmd) = std::env::split_paths(&folders).map(|dir| dir.join("trace-cmd")).find(|path| path.exists())
    else {
        not_run("no trace-cmd is installed");
        return;
    };
    let trace_cmd = trace_cmd.display().to_string();
    let env = TestEnvironment::new();
    // trace-cmd makes times of the switches of threads that were left out, too.
    let record = ["record", "-q", "--self", "--journal-dir", "journal", "--profile", "-p", "nop", "-e", "timer"];
    env.rtrace(&[&record[..], &["-o", "ours.dat", "--"], &["sh", "-c", "ls -lR /etc/apt; sleep 0.1"]].concat())
        .exits(0);
    for options in
        [&["report", "--profile"][..], &["report", "--profile", "-G"], &["report", "--profile", "--cpu", "0"]]
    {
        let line: Vec<&str> = options.iter().copied().chain(["-i", "ours.dat"]).collect();
        let theirs = output(env.command(&trace_cmd).args(&line)).expect("trace-cmd");
        if !theirs.status.success() {
            not_run("this trace-cmd ends in a crash where a profile has stack traces, as 3.4 does");
            return;
        }
        let ours = env.rtrace(&line);
        ours.exits(0).complains("");
        assert!(ours.stdout().contains("% ("), "no stack traces: {}", ours.stdout());
        alike(&String::from_utf8_lossy(&theirs.stdout), &ours.stdout());
    }
}

/// A live profile's account of a command that sleeps.
#[test]
fn a_live_profile_tells_how_long_a_task_slept() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let profile =
        ["profile", "-q", "--journal-dir", "journal", "-p", "nop", "--json", "-o", "profile.json", "-F", "--"];
    env.rtrace(&[&profile[..], &["sh", "-c", "exec sleep 0.1"]].concat()).exits(0);
    let json = std::fs::read_to_string(env.path().join("profile.json")).expect("the profile");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let tasks = json["buffers"][0]["tasks"].as_array().expect("tasks");
    let task = tasks.iter().find(|task| task["comm"] == "sleep").expect("the task");
    let events = task["events"].as_array().expect("events");
    let slept = events.iter().find(|event| event["label"] == "sched_switch:S").expect("a sleep");
    assert!(slept["times"]["max"].as_u64().expect("a time") > 50_000_000, "{slept}");
    assert!(!slept["stacks"].as_array().expect("stack traces").is_empty(), "{slept}");

    let profile = [
        "profile",
        "-q",
        "--journal-dir",
        "journal",
        "-p",
        "nop",
        "-S",
        "-e",
        "sched:sched_switch",
        "--stderr",
        "-F",
        "--",
    ];
    let printed = env.rtrace(
        &[&profile[..], &["sh", "-c", "echo hello; for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done; exit 3"]].concat(),
    );
    printed.exits(3);
    assert_eq!(printed.stdout(), "hello\n");
    assert!(
        printed.stderr().contains("sched_switch:S asleep") && !printed.stderr().contains("sys_enter"),
        "{}",
        printed.stderr()
    );
}

/// A hook is recorded, stored, and found again for a profile of the file.
#[test]
fn hooks_go_with_the_recording() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let hook = "sched_waking,pid/sched_switch,next_pid,gs";
    env.rtrace(&["record", "-q", "--journal-dir", "journal", "-H", hook, "-o", "ours.dat", "--", "sleep", "0.1"])
        .exits(0);
    let report = env.rtrace(&["report", "--profile", "ours.dat"]);
    report.exits(0).complains("");
    let printed = report.stdout();
    assert!(printed.contains("\nGlobal Events\n  Event: sched_waking:0x") && printed.contains("% ("), "{printed}");
    let profile = env.rtrace(&["profile", "--input", "ours.dat", "--layout", "trace-cmd"]).exits(0).stdout();
    let table = env.rtrace(&["profile", "--input", "ours.dat", "--limit", "5"]).exits(0).stdout();
    assert!(table.starts_with("TASK ") && table.contains("TOTAL ms") && table.lines().count() <= 7, "{table}");
    assert_eq!(printed.split_once('\n').expect("a first line").1, profile);
}
