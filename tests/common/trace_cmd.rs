//! The trace-cmds that are available, and the compared parts of their reports.

pub(crate) use super::installed_trace_cmd::installed;
use super::not_run::not_run;
use std::path::{Path, PathBuf};

/// trace-cmd 3.4, if it was fetched.
pub(crate) fn fetched() -> Option<String> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    let path = target.join("trace-cmd-3.4/trace-cmd");
    if !path.exists() {
        not_run("trace-cmd 3.4 was not fetched (tests/kernel/peers/fetch-trace-cmd)");
        return None;
    }
    Some(path.display().to_string())
}

/// CPU, time and name of each line: what all versions of trace-cmd print alike.
pub(crate) fn events(report: &str) -> String {
    let line = regex::Regex::new(r"\[(\d{3,})\] (?:\S{5} +| +)?(\d+\.\d{6}): (\w+):").expect("a pattern");
    report.lines().filter_map(|l| line.captures(l)).map(|c| format!("{} {} {}\n", &c[1], &c[2], &c[3])).collect()
}

/// The first lines that differ, not the thousands that do not; empty if none does.
pub(crate) fn different_lines(theirs: &str, ours: &str) -> String {
    let differ: Vec<String> = theirs
        .lines()
        .zip(ours.lines())
        .filter(|(theirs, ours)| theirs != ours)
        .map(|(theirs, ours)| format!("trace-cmd: {theirs}\nrtrace:    {ours}"))
        .collect();
    let (theirs, ours) = (theirs.lines().count(), ours.lines().count());
    match (differ.len(), theirs == ours) {
        (0, true) => String::new(),
        (n, _) => format!("{n} of {theirs} lines, here {ours}, differ:\n{}", differ[..n.min(10)].join("\n")),
    }
}
