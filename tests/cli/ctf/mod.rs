//! Traces in the Common Trace Format, read by babeltrace2.

use crate::common::bounded::output;
use crate::common::corpus::{corpus, own};
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use std::path::{Path, PathBuf};
use std::process::Command;

fn has_babeltrace() -> bool {
    let there = Command::new("babeltrace2").arg("--version").output().is_ok_and(|done| done.status.success());
    if !there {
        not_run("babeltrace2: it is not installed");
    }
    there
}

fn recordings() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["vm-6.1/trig.dat", "s390x/inst.dat", "host/small-zlib.dat"].iter().map(|name| own().join(name)).collect();
    if let Some(corpus) = corpus() {
        found.extend(["vm-6.12/stack.dat", "vm-6.12/graph-depth.dat"].map(|name| corpus.join(name)));
    }
    found
}

#[test]
fn babeltrace_reads_every_event_as_json_has_it() {
    let reads = has_babeltrace();
    for recording in recordings() {
        let (env, name) = (TestEnvironment::new(), recording.to_string_lossy().into_owned());
        let line = env.rtrace(&["convert", &name, "run.ctf", "--threads", "1"]).exits(0).stdout();
        assert!(line.contains(" as ctf, ") && line.ends_with("left out: nothing\n"), "{line}");
        for threads in ["2", "8"] {
            env.rtrace(&["convert", &name, "--to", "ctf", "-o", threads, "--threads", threads]).exits(0);
            assert!(
                files(&env.path().join(threads)) == files(&env.path().join("run.ctf")),
                "{name} on {threads} threads"
            );
        }
        if reads {
            env.rtrace(&["convert", &name, "run.json"]).exits(0);
            let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/ctf/check.py");
            let mut command = Command::new("python3");
            command.arg(check).args(["run.ctf", "run.json"]).current_dir(env.path());
            let done = output(&mut command).expect("python3");
            assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
            assert!(done.stdout.ends_with(b" events\n"));
        }
    }
}

#[test]
fn lost_events_are_reported_by_babeltrace() {
    let (Some(corpus), true) = (corpus(), has_babeltrace()) else { return };
    let env = TestEnvironment::new();
    let name = corpus.join("host/lost.dat");
    env.rtrace(&["convert", &name.to_string_lossy(), "run.ctf"]);
    let json = env.rtrace(&["report", "--format", "json", &name.to_string_lossy()]).stdout();
    let lost = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        (line["type"] == "lost").then(|| line["count"].as_u64().unwrap_or(1))
    };
    let lost: Vec<u64> = json.lines().filter_map(lost).collect();
    assert!(!lost.is_empty());
    let mut command = Command::new("babeltrace2");
    command.arg("run.ctf").current_dir(env.path());
    let done = output(&mut command).expect("babeltrace2");
    let said = String::from_utf8_lossy(&done.stderr);
    let mut printed: Vec<u64> = said
        .lines()
        .filter_map(|line| line.split_once("Tracer discarded ")?.1.split(' ').next()?.parse().ok())
        .collect();
    let mut expected = lost;
    printed.sort_unstable();
    expected.sort_unstable();
    // A loss before a stream's first event has no packet before it to be counted against.
    printed.iter().for_each(|count| assert!(expected.contains(count), "{printed:?}, and JSON has {expected:?}"));
    assert!(!printed.is_empty() && printed.len() <= expected.len(), "{printed:?}, and JSON has {expected:?}");
}

/// All files of a directory.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("a directory entry"));
    let file = |entry: std::fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a file"))
    };
    let mut found: Vec<_> = entries.map(file).collect();
    found.sort();
    found
}
