//! Traces in the Common Trace Format, read by babeltrace2, and those of CTF 2 by their metadata.

mod decode;

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
fn version_2_decodes_by_its_metadata() {
    for recording in recordings() {
        let (env, name) = (TestEnvironment::new(), recording.to_string_lossy().into_owned());
        let line = env.rtrace(&["convert", &name, "run.ctf2"]).exits(0).stdout();
        assert!(line.contains(" as ctf2, ") && line.ends_with("left out: nothing\n"), "{line}");
        let count = decode::hold(&env, &env.path().join("run.ctf2"), &name);
        assert_eq!(line.replace(',', "").split_whitespace().nth(1), Some(&*count.to_string()), "{line}");
        // But for the metadata it is CTF 1.8.
        env.rtrace(&["convert", &name, "--to", "ctf", "-o", "old"]).exits(0);
        let streams = |of: &str| {
            let mut found = files(&env.path().join(of));
            found.retain(|(name, _)| name != "metadata");
            found
        };
        assert!(streams("old") == streams("run.ctf2"), "{name}: streams of the two versions differ");
    }
}

#[test]
fn version_2_has_losses_and_the_date() {
    let Some(corpus) = corpus() else { return };
    let env = TestEnvironment::new();
    let name = corpus.join("host/lost.dat").to_string_lossy().into_owned();
    env.rtrace(&["convert", &name, "run.ctf2"]);
    let json = env.rtrace(&["report", "--format", "json", &name]).stdout();
    let lines = json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let lost: u64 = lines.filter(|line| line["type"] == "lost").map(|line| line["count"].as_u64().unwrap_or(1)).sum();
    let (_, discarded) = decode::read(&env.path().join("run.ctf2"));
    assert!(discarded > 0 && discarded == lost.into(), "{discarded} discarded, and JSON has {lost} lost");
    // The offset of the clock is the recording's, which says so of itself.
    let dated = own().join("host/small-zlib.dat").to_string_lossy().into_owned();
    env.rtrace(&["convert", &dated, "dated.ctf2"]).exits(0);
    let metadata = std::fs::read(env.path().join("dated.ctf2/metadata")).expect("metadata");
    let fragments = decode::fragments(&metadata);
    let clock = fragments.iter().find(|fragment| fragment["type"] == "clock-class").expect("a clock");
    assert!(clock["offset-from-origin"]["seconds"].is_i64(), "{clock}");
}

/// A babeltrace2 that reads CTF 2: that of `fetch-babeltrace`, or the installed one.
fn babeltrace_of_version_2() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    let reads = |program: &PathBuf| {
        let said = Command::new(program).arg("--version").output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let mut numbers =
            said.strip_prefix("Babeltrace ")?.split([' ', '.']).map_while(|part| part.parse::<u32>().ok());
        Some((numbers.next()?, numbers.next()?) >= (2, 1))
    };
    let found = [target.join("babeltrace/babeltrace2"), "babeltrace2".into()];
    let found = found.into_iter().find(|program| reads(program) == Some(true));
    if found.is_none() {
        not_run("babeltrace2 2.1, which reads CTF 2: tests/cli/ctf/fetch-babeltrace has not fetched it");
    }
    found
}

#[test]
fn babeltrace_prints_the_same_of_both_versions() {
    let Some(program) = babeltrace_of_version_2() else { return };
    let lossy = corpus().map(|corpus| corpus.join("host/lost.dat"));
    for recording in recordings().into_iter().chain(lossy) {
        let (env, name) = (TestEnvironment::new(), recording.to_string_lossy().into_owned());
        env.rtrace(&["convert", &name, "run.ctf"]);
        env.rtrace(&["convert", &name, "run.ctf2"]);
        let print = |directory: &str| {
            let mut command = Command::new(&program);
            command.arg(directory).current_dir(env.path());
            let done = output(&mut command).expect("babeltrace2");
            assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
            // The place of a stream in a warning names its directory.
            (done.stdout, String::from_utf8_lossy(&done.stderr).replace(directory, "run"))
        };
        let (one, two) = (print("run.ctf"), print("run.ctf2"));
        assert!(!one.0.is_empty() && one.0 == two.0, "{name}: the events differ");
        assert_eq!(one.1, two.1, "{name}: the losses differ");
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
