//! What holds for every export and every analysis: a selection throws no loss away, and a copy says what it is a copy of.

use crate::common::bounded::output;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::common::synthetic::Synthetic;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const MS: u64 = 1_000_000;

/// Eight switches of task 7 among 400 events; 5 and 6 events are lost before some that are no switches.
fn lossy(env: &TestEnvironment) {
    let mut made = Synthetic::new(1, "7 worker\n");
    for at in 1..=400 {
        let name = if at % 50 == 0 { "sched_switch" } else { "sched_process_wait" };
        made.event(0, at * MS, name, 7, &[]);
    }
    made.lose(0, 60, 5);
    made.lose(0, 70, 6);
    made.write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
}

/// The bytes of all files at a path.
fn bytes(path: &Path) -> Vec<u8> {
    if path.is_dir() {
        let files = std::fs::read_dir(path).expect("a directory").map(|entry| bytes(&entry.expect("an entry").path()));
        return files.collect::<Vec<_>>().concat();
    }
    std::fs::read(path).expect("a file")
}

fn has(all: &[u8], one: &[u8]) -> bool {
    all.windows(one.len()).any(|window| window == one)
}

#[test]
fn every_export_of_a_selection_has_its_losses() {
    let env = TestEnvironment::new();
    lossy(&env);
    // The text in which a format has them, in the file or in the line about it.
    let formats: [(&str, &[u8]); 7] = [
        ("out.json", b"\"count\":11"),
        ("out.csv", b"\n11\n"),
        ("out.pftrace", b"11 events lost"),
        ("out.chrome.json", b"\"name\":\"lost events\",\"args\":{\"common_cpu\":0,\"lost\":11}"),
        ("out.firefox.json", b"the marks of 11 lost events"),
        ("out.parquet", &[11, 0, 0, 0, 0, 0, 0, 0]),
        ("out.ctf", &[11, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (file, told) in formats {
        for selection in [["--filter", "sched:sched_switch"], ["-F", "sched_switch"]] {
            let fields: &[&str] = if file == "out.csv" { &["--fields", "lost"] } else { &[] };
            let words = [&["convert", "trace.dat", "-o", file, "--force"], &selection[..], fields].concat();
            let line = env.rtrace(&words).stdout();
            let all = [line.as_bytes(), &bytes(&env.path().join(file))].concat();
            assert!(has(&all, told), "{file} {selection:?}: {line}");
        }
    }
    // Of events without call stacks there is no file, and so none that hides a loss.
    for file in ["out.speedscope.json", "out.folded"] {
        env.rtrace(&["convert", "trace.dat", "-o", file]).exits(1).complains_with("hold no call stacks");
        assert!(!env.path().join(file).exists(), "{file}");
    }
    // A page is about all events of its time.
    env.rtrace(&["convert", "trace.dat", "out.html"]).exits(0);
    let page = String::from_utf8(bytes(&env.path().join("out.html"))).expect("text");
    assert!(page.contains("<td class=\"left\">11</td>") && page.contains("Note: events were lost"), "{page}");
    for copied in [&["convert", "trace.dat", "copy.dat", "--force"][..], &["split", "-o", "copy.dat", "--force"]] {
        env.rtrace(&[copied, &["--filter", "sched:sched_switch"]].concat()).exits(0);
        env.rtrace(&["check", "copy.dat", "-a", "lost == 11"]).exits(0);
    }
    let ctf = env.path().join("out.ctf");
    match output(Command::new("babeltrace2").arg(&ctf)) {
        Ok(read) => {
            let said = String::from_utf8_lossy(&read.stderr).into_owned();
            assert!(said.contains("discarded 11 events"), "{said}");
        }
        Err(_) => not_run("babeltrace2 is not installed"),
    }
}

#[test]
fn every_count_of_a_selection_has_its_losses() {
    let env = TestEnvironment::new();
    lossy(&env);
    let document = |words: &[&str]| -> Value {
        serde_json::from_str(&env.rtrace(words).stdout()).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    };
    let summary = document(&["report", "--summary", "--json", "--filter", "sched:sched_switch"]);
    assert_eq!(summary["cpus"][0]["lost"], 11, "{summary:#}");
    for tasks in [&[][..], &["--pid", "7"], &["--comm", "worker"]] {
        let sched = document(&[&["analyze", "sched", "--json", "--top", "0"], tasks].concat());
        assert_eq!(sched["buffers"][0]["counts"]["losses"], 2, "{tasks:?}: {sched:#}");
    }
    let key = ["-k", "next_pid", "--json"];
    let hist = document(&[&["hist", "-i", "trace.dat", "sched:sched_switch"], &key[..]].concat());
    assert!(hist.to_string().contains("\"lost\":11"), "{hist:#}");
    let check = document(&["check", "--json", "-a", "count(sched:sched_switch) == 8", "-a", "lost == 11"]);
    assert_eq!((&check["lost"], &check["assertions"][1]["verdict"]), (&11.into(), &"pass".into()), "{check:#}");
    assert_eq!(check["assertions"][0]["left"]["most"], Value::Null);
    env.rtrace(&[
        "latency",
        "-i",
        "trace.dat",
        "--by",
        "prev_pid=next_pid",
        "sched:sched_switch",
        "sched:sched_switch",
    ])
    .complains_with("11 events were lost");
}

/// A copy of some events, tasks or CPUs is judged as what it is.
#[test]
fn a_copy_says_what_it_is_a_copy_of() {
    let env = TestEnvironment::new();
    let mut made = Synthetic::new(2, "7 worker\n8 other\n");
    for at in 1..=400u64 {
        let pid = 7 + (at / 2 % 2) as i32;
        let name = if at % 2 == 0 { "sched_switch" } else { "sched_process_wait" };
        let bytes = pid.to_le_bytes();
        let fields: &[(&str, &[u8])] = if at % 2 == 0 { &[("prev_pid", &bytes)] } else { &[] };
        made.event((at / 200 % 2) as usize, at * MS, name, pid, fields);
    }
    made.write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let copies: [(&[&str], &str); 5] = [
        (&["--filter", "sched:sched_process_wait"], "this is a copy without events"),
        (&["--filter", "sched:sched_switch: prev_pid == 7"], "this is a copy of some events (prev_pid == 7)"),
        (&["--pid", "7"], "only events of these tasks were recorded: 7"),
        (&["--cpu", "0"], "only events on these CPUs were recorded: 0"),
        (&["--comm", "worker"], "COMM ~ \"worker\""),
    ];
    for (selection, told) in copies {
        for version in ["6", "7"] {
            let how = ["convert", "trace.dat", "copy.dat", "--force", "--file-version", version];
            env.rtrace(&[&how[..], selection].concat()).exits(0);
            // Once more, and all of it.
            env.rtrace(&["convert", "copy.dat", "again.dat", "--force"]).exits(0);
            for file in ["copy.dat", "again.dat"] {
                env.rtrace(&["report", "--summary", file]).exits(0).prints_with(told);
                env.rtrace(&["dump", file]).exits(0).prints_with(told);
                let analyzed = env.rtrace(&["analyze", "sched", file]);
                assert!(
                    (analyzed.stdout() + &analyzed.stderr()).contains(told),
                    "{selection:?}: {}",
                    analyzed.stdout()
                );
                let assertions = ["-a", "run() < 1s", "-a", "max(wait()) < 1h", "-a", "count(sched:sched_switch) == 0"];
                let judged = env.rtrace(&[&["check", file, "--allow-absent"], &assertions[..]].concat());
                assert_ne!(judged.status(), Some(0), "{selection:?}");
                assert!(!judged.stdout().contains("3 pass"), "{selection:?}");
            }
        }
        if selection[0] != "--comm" {
            env.rtrace(&[&["split", "-o", "part.dat", "--force"], selection].concat()).exits(0);
            env.rtrace(&["report", "--summary", "part.dat"]).exits(0).prints_with(told);
        }
    }
    // What a copy has all of is known.
    env.rtrace(&["convert", "trace.dat", "copy.dat", "--force", "--filter", "sched:sched_switch"]).exits(0);
    env.rtrace(&["check", "copy.dat", "-a", "count(sched:sched_switch) == 200"]).exits(0);
    let filtered = ["check", "copy.dat", "-a", "count(sched:sched_switch if prev_pid == 7) < 200"];
    env.rtrace(&["convert", "trace.dat", "copy.dat", "--force", "--filter", "sched:sched_switch: prev_pid == 7"])
        .exits(0);
    env.rtrace(&filtered).exits(0);
}
