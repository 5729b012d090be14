//! trace-cmd reads what we write, and we read what it writes.
//!
//! The trace-cmd of this machine is used and, where `tests/kernel/peers/fetch-trace-cmd` has fetched it, trace-cmd 3.4, whose
//! lines ours must equal.

mod attach;
mod guests;
mod last_boot;
mod made;
mod restored;
mod tsc;

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::common::trace_cmd::{different_lines, events, fetched, installed};
use crate::load::alone_on_this_machine;
use std::path::Path;
use std::sync::MutexGuard;

/// The right to trace this machine, alone; `None`, said on a line of its own, where this user cannot record.
fn recording_here() -> Option<MutexGuard<'static, ()>> {
    if Path::new("/sys/kernel/tracing/instances").read_dir().is_err() {
        not_run("tracefs cannot be read here (not root, or not mounted)");
        return None;
    }
    Some(alone_on_this_machine())
}

/// Holds our report of `file` to those of both trace-cmds.
#[track_caller]
fn all_read_the_same(env: &TestEnvironment, file: &str) {
    let ours = env.rtrace(&["report", file]);
    ours.exits(0).complains("");
    assert!(ours.stdout().lines().count() > 10, "{file}: nothing was recorded");
    if let Some(trace_cmd) = fetched() {
        let theirs = env.run(&trace_cmd, &["report", "-i", file]);
        theirs.exits(0).complains("");
        same_lines(&theirs.stdout(), &ours.stdout());
    }
    if let Some(trace_cmd) = installed() {
        let theirs = env.run(&trace_cmd, &["report", "-i", file]);
        theirs.exits(0).complains("");
        same_lines(&events(&theirs.stdout()), &events(&ours.stdout()));
    }
}

/// Shows the first lines that differ, not the thousands that do not.
#[track_caller]
fn same_lines(theirs: &str, ours: &str) {
    let differ = different_lines(theirs, ours);
    assert!(differ.is_empty(), "{differ}");
}

#[test]
fn trace_cmd_reads_what_we_record() {
    let Some(_alone) = recording_here() else { return };
    for extra in
        [&["--compression", "zstd"][..], &["--compression", "none"], &["-B", "rtrace-peer", "-e", "raw_syscalls"]]
    {
        let env = TestEnvironment::new();
        let mut args = vec!["record", "-q", "--journal-dir", "journal", "-e", "sched", "-e", "irq"];
        args.extend(extra);
        args.extend(["-o", "ours.dat", "--", "ls", "-lR", "/etc/apt"]);
        env.rtrace(&args).exits(0).complains("");
        all_read_the_same(&env, "ours.dat");
    }
}

#[test]
fn we_read_what_trace_cmd_records() {
    let Some(_alone) = recording_here() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/peers/trace-cmd-here").display().to_string();
    for recorder in installed().into_iter().chain(fetched()) {
        for version in ["6", "7"] {
            let env = TestEnvironment::new();
            let record = ["record", "-q", "--file-version", version, "-o", "theirs.dat"];
            let mut args = vec![recorder.as_str()];
            args.extend(record);
            args.extend(["-e", "sched", "-e", "irq", "ls", "-lR", "/etc/apt"]);
            // trace-cmd reads the kernel's list of names twice, first for its size. Where names come and go in between it
            // gives up after them, with status 0 and a file that it cannot read itself, or leaves the wrong size.
            for _ in 0..50 {
                env.run(&here, &args).exits(0);
                let own = env.run(&recorder, &["report", "-i", "theirs.dat"]);
                let printed = env.rtrace(&["report", "theirs.dat"]).stderr();
                if own.stdout().lines().count() > 10 && own.stderr().is_empty() && !printed.contains("(cmdlines)") {
                    break;
                }
            }
            all_read_the_same(&env, "theirs.dat");
        }
    }
}

/// The options of report and hist that are about the whole file, on files that come from trace-cmd.
#[test]
fn files_are_reported_alike() {
    let Some(trace_cmd) = fetched() else { return };
    let env = TestEnvironment::new();
    for name in ["vm-6.1/trig.dat", "i386/kprobe.dat"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(name).display().to_string();
        for options in [
            &["report", "-w"][..],
            &["report", "--boundary"],
            &["report", "-I"],
            &["report", "-S"],
            &["report", "--first-event"],
            &["report", "--last-event", "-t"],
            &["report", "--cpus"],
            &["report", "-r", "sched.*"],
            &["report", "-n", "sched_switch"],
            &["report", "-O", "ftrace:parent=1"],
            &["report", "--align-ts"],
            &["report", "--ts-diff"],
            &["report", "-e"],
            &["report", "-p"],
            &["report", "-f"],
            &["report", "-P"],
            &["hist", "-P"],
        ] {
            let line: Vec<&str> = options.iter().copied().chain(["-i", &file]).collect();
            let (ours, theirs) = (env.rtrace(&line), env.run(&trace_cmd, &line));
            ours.exits(0);
            // Of a name that no event of the file has, trace-cmd says nothing.
            if !ours.stderr().contains("no event or system is called") {
                ours.complains("");
            }
            same_lines(&theirs.stdout(), &ours.stdout());
        }
    }
}
