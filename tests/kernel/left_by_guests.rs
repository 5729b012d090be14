//! A guest's recordings are read here, by us and by trace-cmd: a guest is slow at it.

use crate::common::bounded::output;
use crate::common::trace_cmd::{different_lines, events, fetched, installed};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The output of `program ARGS FILE`; it must end well and complain of nothing.
fn printed(program: &str, args: &[&str], file: &Path) -> Result<String, String> {
    let output = output(Command::new(program).args(args).arg(file).env("LC_ALL", "C")).expect("it starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !complaint.is_empty() && !complaint.ends_with(": no events\n") {
        return Err(format!("{program} {args:?}: {}: {complaint}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Events whose print formats trace-cmd reads wrongly (docs/trace-cmd.md).
const MISREAD: [&str; 2] = [" timer_start: ", " mm_page_alloc_extfrag: "];

/// The lines without the names of tasks: of one that took another while it was traced, each program says what it likes.
fn nameless(report: &str) -> String {
    let lines = report.lines().filter(|line| !MISREAD.iter().any(|event| line.contains(event)));
    lines.map(|line| line.find(" [0").map_or(line, |at| &line[at..]).to_owned() + "\n").collect()
}

/// Both reports without the lines that trace-cmd says it cannot read: pages of arm64, counted from a variable.
fn readable(theirs: &str, ours: &str) -> (String, String) {
    let is_read = |line: &&str| !line.contains("[FAILED TO PARSE]");
    if theirs.lines().count() != ours.lines().count() {
        return (theirs.to_owned(), ours.to_owned());
    }
    theirs
        .lines()
        .zip(ours.lines())
        .filter(|(theirs, _)| is_read(theirs))
        .map(|(a, b)| (format!("{a}\n"), format!("{b}\n")))
        .unzip()
}

/// The lines without those of function_graph: trace-cmd 3.1 makes one line of a function's entry and its return
/// also where the task went to another CPU between them.
fn without_graphs(report: &str) -> String {
    report.lines().filter(|line| !line.contains(": funcgraph_")).map(|line| line.to_owned() + "\n").collect()
}

/// Every recording in `dir`, by its name, and how many lines our report of it has: trace-cmd 3.4's has the same lines but for the tasks' names,
/// the machine's own the same events.
#[track_caller]
pub(crate) fn all_read_the_same(dir: &Path) -> BTreeMap<String, usize> {
    let (newer, older) = (fetched(), installed());
    let mut counts = BTreeMap::new();
    let mut wrong = String::new();
    for entry in std::fs::read_dir(dir).expect("what the guest left") {
        let path = entry.expect("an entry").path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".dat")) else { continue };
        // Debian's 3.1 is built without zlib.
        let older = older.as_deref().filter(|_| name != "zlib");
        // trace-cmd's text of the blk tracer, which is the pid alone, is that of -N.
        let layout: &[&str] = if name == "blk" { &["report", "-N"] } else { &["report"] };
        let seen = printed(env!("CARGO_BIN_EXE_rtrace"), layout, &path).and_then(|ours| {
            if let Some(program) = &newer {
                let (theirs, ours) = readable(&printed(program, &["report", "-i"], &path)?, &ours);
                let differ = different_lines(&nameless(&theirs), &nameless(&ours));
                if !differ.is_empty() {
                    return Err(format!("{program}: {differ}"));
                }
            }
            if let Some(program) = older {
                let differ = different_lines(
                    &events(&without_graphs(&printed(program, &["report", "-i"], &path)?)),
                    &events(&without_graphs(&ours)),
                );
                if !differ.is_empty() {
                    return Err(format!("{program}: {differ}"));
                }
            }
            // The first line counts the CPUs.
            Ok(ours.lines().count().saturating_sub(1))
        });
        match seen {
            Ok(lines) => _ = counts.insert(name.to_owned(), lines),
            Err(e) => wrong.push_str(&format!("{name}: {e}\n")),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    counts
}
