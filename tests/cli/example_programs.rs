//! Every program of `examples/` does what it says, on a recording. The one that traces is run by `tests/record`.

use crate::common::example_programs::example;
use rtrace::event::DecodeOptions;
use rtrace::internal::trace_dat::FileError;
use rtrace::recording::{Decoder, Recording};
use std::cell::RefCell;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/host/small-zlib.dat");

#[test]
fn each_is_run_here_or_by_the_recorders_tests() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["count", "filter", "latency", "live", "payload", "print"]);
}

#[test]
fn those_that_read_recordings_agree_with_report() {
    let report = |args: &[&str]| {
        let rtrace = std::process::Command::new(env!("CARGO_BIN_EXE_rtrace"))
            .arg("report")
            .args(args)
            .args(["-i", RECORDING])
            .output()
            .unwrap();
        String::from_utf8(rtrace.stdout).unwrap()
    };
    let events = report(&[]).lines().count() - 1;
    assert_eq!(example("print", &[RECORDING]).lines().count(), events);
    let switches = report(&["--filter", "sched:sched_switch: next_pid == 0"]).lines().count() - 1;
    let filtered = example("filter", &[RECORDING, "sched:sched_switch: next_pid == 0"]);
    assert!(switches > 0 && filtered.lines().count() == switches, "{filtered}");
    let counted = example("count", &[RECORDING]);
    let all: usize =
        counted.lines().map(|line| line.split_whitespace().next().unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(all, events);
    let latencies = example("latency", &[RECORDING]);
    assert!(latencies.lines().count() > 0 && latencies.lines().all(|line| line.ends_with(" us")), "{latencies}");
}

#[test]
fn a_payload_from_elsewhere_is_decoded() {
    let recording = Recording::open(File::open(RECORDING).unwrap()).unwrap();
    let decoder = Decoder::new(&recording, &DecodeOptions { plugins: false, ..DecodeOptions::default() });
    let (state, mut payload) = (RefCell::new(recording.state()), None);
    let query = recording.query().filter("sched:sched_switch").unwrap().first(1);
    query
        .resolve()
        .unwrap()
        .walk(|current| {
            let event = decoder.event(current.record(), &state);
            let hex: String = event.data().iter().map(|byte| format!("{byte:02x}")).collect();
            let format = decoder.types().get(event.id().0).unwrap().format.to_string();
            payload = Some((format, hex, event.text()));
            Ok::<_, FileError>(ControlFlow::Break(()))
        })
        .unwrap();
    let (format, hex, text) = payload.expect("a switch");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("format");
    std::fs::write(&path, format).unwrap();
    let decoded = example("payload", &[path.to_str().unwrap(), &hex]);
    assert_eq!(decoded.lines().next(), Some(format!("sched_switch: {text}").as_str()));
    assert!(decoded.contains("  next_pid = Some(Signed("), "{decoded}");
}
