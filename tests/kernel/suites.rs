//! Other people's suites: the kernel's own tests of ftrace, each write made by a verb of rtrace (`selftests.sh`),
//! and rtrace in the place of trace-cmd (`documented.sh`). Both are fetched or read when the test runs. And what the kernel's
//! documents describe, row by row (`walk.txt`), each with the state that the kernel is to have afterwards.

use crate::common::not_run::not_run;
use crate::guest_machine::{Guest, Kernel, on_kernels};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// True if `suite` is to be passed over, which a line says: with all of them `.ci/run` would take more than its 45 minutes.
pub(crate) fn is_left_out(suite: &str) -> bool {
    let left_out = !std::env::var("RTRACE_LONG_TESTS").is_ok_and(|value| value == "1");
    if left_out {
        not_run(format_args!("{suite}: `.ci/run suites` runs it, or RTRACE_LONG_TESTS=1"));
    }
    left_out
}

/// The kernel's tests of what rtrace has verbs for: all but those of the test runner, and of direct calls, which are a module's.
const SELECTED: &str = "dynevent/*.tc kprobe/*.tc trigger/*.tc trigger/inter-event/*.tc filter/*.tc instances/*.tc event/*.tc \
    00basic/*.tc tracer/*.tc ftrace/*.tc preemptirq/*.tc remotes/*.tc";

on_kernels!(long the_kernels_own_tests_pass: V6_1, AllTracers, All7 => |kernel| {
    if is_left_out("the kernel's own tests") {
        return;
    }
    // The first kernel has fewer tracers, and its tests are fewer.
    let (version, passed, by_rtrace) = match kernel {
        Kernel::V6_1 => ("6.1", 40, 300),
        Kernel::All7 => ("7.2", 100, 900),
        _ => ("6.12", 100, 900),
    };
    let Some(archive) = fetched(version) else { return };
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let selected = dir.path().join("selected");
    std::fs::write(&selected, SELECTED).expect("the list is written");
    let named = dir.path().join("ftrace.tar");
    std::fs::copy(&archive, &named).expect("the archive is copied");
    let programs = ["/usr/bin/chrt", "/usr/bin/nice"].map(Path::new);
    let files: Vec<&Path> =
        [named.as_path(), &selected].into_iter().chain(programs.into_iter().filter(|program| program.exists())).collect();
    let Some(guest) = Guest::run(kernel, include_str!("selftests.sh"), &files) else { return };
    printed(&format!("selftests of {version}"), &guest, passed);
    let writes = guest.text("counted");
    let counted = writes.lines().filter(|line| *line == "rtrace").count();
    assert!(counted > by_rtrace, "only {counted} writes by rtrace");
});

on_kernels!(long what_trace_cmd_documents_works: V6_1, AllTracers => |kernel| {
    if is_left_out("trace-cmd's documented lines") {
        return;
    }
    let Some(lines) = documented() else { return };
    let file = tempfile::TempDir::new().expect("a temporary folder");
    let lines_file = file.path().join("lines");
    std::fs::write(&lines_file, lines).expect("the lines are written");
    let parameter = ["-a", "tsc=unstable"];
    let Some(guest) = Guest::run_with(&parameter, kernel, include_str!("documented.sh"), &[&lines_file]) else { return };
    printed("trace-cmd's documented lines and unit tests", &guest, 30);
});

on_kernels!(long the_rows_of_the_kernels_documents_work: AllTracers => |kernel| {
    if is_left_out("the walk of the kernel's documents") {
        return;
    }
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/walk.txt");
    // busybox has none, and wakeup* see tasks of a higher priority only.
    let chrt = Path::new("/usr/bin/chrt");
    let files: Vec<&Path> = [rows.as_path()].into_iter().chain(chrt.exists().then_some(chrt)).collect();
    let at_boot = ["-a", "trace_event=sched:sched_process_exec"];
    let Some(guest) = Guest::run_with(&at_boot, kernel, include_str!("walk.sh"), &files) else { return };
    let results = guest.text("results");
    let asked = include_str!("walk.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    let count = |letter: &str| results.lines().filter(|line| line.starts_with(letter)).count();
    let text = format!("rows: {asked}; W {}, P {}, M {}\n", count("W\t"), count("P\t"), count("M\t"));
    let _ = std::io::stderr().write_all(text.as_bytes());
    assert_eq!((results.lines().count(), count("W\t")), (asked, asked), "{text}{}", guest.text("said"));
    assert_eq!(guest.text("said"), "");
});

/// Prints how many of a guest's results are of which kind, with those that did not pass; none may have failed, and at least
/// `passed` must have passed.
#[track_caller]
fn printed(what: &str, guest: &Guest, passed: usize) {
    let results = guest.text("results");
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, name) in results.lines().filter_map(|line| line.split_once('\t')) {
        kinds.entry(kind).or_default().push(name);
    }
    let mut text = format!("{what}: {} run\n", results.lines().count());
    for (kind, names) in &kinds {
        text.push_str(&format!("  {kind}: {}\n", names.len()));
        names.iter().filter(|_| *kind != "pass").for_each(|name| text.push_str(&format!("    {name}\n")));
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
    assert!(!kinds.contains_key("FAIL"), "{text}{}", guest.text("stdout"));
    assert!(kinds.get("pass").is_some_and(|all| all.len() >= passed), "{text}");
}

/// The archive of a kernel's own tests; `None`, after a line that says why, where it is unavailable.
fn fetched(version: &str) -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/fetch-selftests");
    let output = Command::new(script).arg(version).output().expect("tests/kernel/fetch-selftests starts");
    if output.status.success() {
        return Some(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    not_run(String::from_utf8_lossy(&output.stderr).trim_end());
    None
}

/// `PAGE<tab>LINE` for each command line in the examples of trace-cmd's manual pages, as Debian's package has them.
fn documented() -> Option<String> {
    let mut lines = Vec::new();
    let pages = std::fs::read_dir("/usr/share/man/man1").into_iter().flatten().flatten();
    for page in pages.map(|page| page.path()) {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("trace-cmd") || !name.ends_with(".1.gz") {
            continue;
        }
        let mut text = String::new();
        let file = std::fs::File::open(&page).expect("the page can be opened");
        GzDecoder::new(file).read_to_string(&mut text).expect("the page can be read");
        lines.extend(examples(&text).map(|line| format!("{}\t{line}\n", name.trim_end_matches(".1.gz"))));
    }
    lines.sort();
    lines.dedup();
    if lines.is_empty() {
        not_run("no manual pages of trace-cmd (Debian package trace-cmd)");
        return None;
    }
    Some(lines.concat())
}

/// The command lines in the section EXAMPLES of a page, without roff's escapes.
fn examples(page: &str) -> impl Iterator<Item = String> {
    let section = page.split(".SH \"EXAMPLES\"").nth(1).unwrap_or_default();
    let section = section.split("\n.SH ").next().unwrap_or_default();
    section.lines().filter_map(|line| {
        let plain = line.replace("\\-", "-").replace("\\&", "").replace("\\*(Aq", "'").replace("\\(aq", "'");
        let words = plain.trim_start().trim_start_matches(['#', '$', '>']).trim_start();
        words.starts_with("trace-cmd ").then(|| words.to_owned())
    })
}

#[test]
fn examples_are_found_in_a_page() {
    let page = ".SH \"NAME\"\n # trace\\-cmd no\n.SH \"EXAMPLES\"\n.nf\n # trace\\-cmd report \\-F \\*(Aqa: b > 1\\*(Aq\n text\n.SH \"BUGS\"\n # trace\\-cmd no\n";
    assert_eq!(examples(page).collect::<Vec<_>>(), ["trace-cmd report -F 'a: b > 1'"]);
}
