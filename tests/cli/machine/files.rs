//! Recordings to test with, and reports of them.

use crate::common::corpus::{corpus, own};
use crate::common::environment::{Outcome, TestEnvironment};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Small recordings of the project's own, and of the corpus where it is available: several CPUs, instances, losses, other
/// machines, all layouts of the file.
pub(crate) fn recordings() -> Vec<PathBuf> {
    let names = ["host/small-zlib", "i386/events-v6", "i386/kprobe", "s390x/inst", "vm-6.1/trig"];
    let mut files: Vec<PathBuf> = names.iter().map(|f| own().join(format!("{f}.dat"))).collect();
    if let Some(corpus) = corpus() {
        let more = ["host/lost2", "host/marker", "host/small-none", "host/uprobe", "host/clock-x86-tsc", "arm64/lost"];
        files.extend(more.iter().map(|f| corpus.join(format!("{f}.dat"))).filter(|f| f.exists()));
    }
    files
}

pub(crate) fn run(file: &Path, options: &[&str]) -> Outcome {
    let mut args = vec!["report", "-i", file.to_str().expect("the test's own path is UTF-8")];
    args.extend(options);
    TestEnvironment::new().rtrace(&args)
}

/// The output of `report`; it must succeed, and say no more on stderr than which events it shows as raw fields only.
pub(crate) fn report(file: &Path, options: &[&str]) -> String {
    let outcome = run(file, options);
    outcome.exits(0);
    let printed = outcome.stderr();
    if !printed.contains("shown as raw fields: ") && !printed.contains("holds them as JSON") {
        outcome.complains("");
    }
    outcome.stdout()
}

/// The JSON lines.
pub(crate) fn json(file: &Path, options: &[&str]) -> Vec<Value> {
    let options = [&["--format", "json"], options].concat();
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}: {line}", file.display()));
    report(file, &options).lines().map(parse).collect()
}

/// The events among JSON lines.
pub(crate) fn events(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|l| l["type"] == "event").collect()
}
