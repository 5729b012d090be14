//! The output of trace-cmd 3.4 for the corpus is ours, byte for byte, but for the kinds of line named below.
//!
//! The corpus is found through `RTRACE_CORPUS` or beside the repository (`../shared/corpus`); without it only the small
//! cases in `tests/data/traces` are compared.

use crate::common::corpus::corpus;
use crate::common::not_run::not_run;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// The layouts that are compared: the option, and what the expected output's name ends with.
const KINDS: [(&[&str], &str); 6] =
    [(&[], "report"), (&["-R"], "R"), (&["-l"], "l"), (&["-t"], "t"), (&["-N"], "N"), (&["--stat"], "stat")];

/// The output of `rtrace report` for the file.
fn render(path: &Path, options: &[&str]) -> Vec<u8> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_rtrace")).arg("report").args(options).arg("-i").arg(path).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !printed.contains("shown as raw fields"), "{}: {printed}", path.display());
    output.stdout
}

fn gunzip(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(File::open(path).ok()?).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Expected lines of one golden output: all of them, or only the first and the last ones.
enum Golden {
    Whole(Vec<u8>),
    Ends(Vec<u8>, Vec<u8>),
}

fn golden(dir: &Path, name: &str, kind: &str) -> Option<Golden> {
    let file = |part: &str| gunzip(&dir.join("golden").join(format!("{name}.{kind}{part}.gz")));
    if let Some(whole) = file("") {
        return Some(Golden::Whole(whole));
    }
    Some(Golden::Ends(file(".head1000")?, file(".tail1000")?))
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).split(|b| *b == b'\n').collect()
}

/// Lines that differ: number of line, expected, ours.
fn differences(golden: &Golden, ours: &[u8]) -> Vec<(usize, String, String)> {
    let ours = lines(ours);
    let mut found = Vec::new();
    let mut compare = |start: usize, expected: &[&[u8]], ours: &[&[u8]]| {
        for i in 0..expected.len().max(ours.len()) {
            let (e, o) = (expected.get(i), ours.get(i));
            if e != o {
                let text =
                    |l: Option<&&[u8]>| l.map_or("<no line>".into(), |l| String::from_utf8_lossy(l).into_owned());
                found.push((start + i + 1, text(e), text(o)));
            }
        }
    };
    match golden {
        Golden::Whole(whole) => compare(0, &lines(whole), &ours),
        Golden::Ends(head, tail) => {
            let (head, tail) = (lines(head), lines(tail));
            compare(0, &head, &ours[..head.len().min(ours.len())]);
            let start = ours.len().saturating_sub(tail.len());
            compare(start, &tail, &ours[start..]);
        }
    }
    found
}

/// Compares every file of a folder in every layout; gives a line per output that differs.
fn folder(dir: &Path) -> Vec<String> {
    let mut compared = 0;
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.strip_suffix(".dat").map(str::to_owned))
        .collect();
    names.sort();
    let mut report = Vec::new();
    for name in names {
        for (options, suffix) in KINDS {
            let Some(golden) = golden(dir, &name, suffix) else { continue };
            compared += 1;
            let ours = render(&dir.join(format!("{name}.dat")), options);
            let different = differences(&golden, &ours);
            let unexpected: Vec<_> = different.into_iter().filter(|(_, e, o)| !on_purpose(e, o)).collect();
            if let (Ok(dir), false) = (std::env::var("GOLDEN_DIFF"), unexpected.is_empty()) {
                let all: String = unexpected.iter().map(|(n, e, o)| format!("{n}\n-{e}\n+{o}\n")).collect();
                std::fs::write(Path::new(&dir).join(format!("{name}.{suffix}.diff")), all).unwrap();
            }
            if let Some((line, expected, ours)) = unexpected.first() {
                report.push(format!(
                    "{}/{name}.{suffix}: {} lines differ, first {line}:\n  expected {expected}\n  ours     {ours}",
                    dir.file_name().unwrap_or_default().display(),
                    unexpected.len()
                ));
            }
        }
    }
    println!("{}: {compared} outputs compared, {} differ", dir.display(), report.len());
    assert!(compared > 0, "{} holds no expected output", dir.display());
    report
}

/// The kinds of line that differ on purpose; `docs/trace-cmd.md` gives the reasons. Each rule compares all of the line
/// that the kind does not concern.
fn on_purpose(expected: &str, ours: &str) -> bool {
    let cut = |line: &str, from: &str, to: &str| -> Option<String> {
        let start = line.find(from)? + from.len();
        let len = if to.is_empty() { line.len() - start } else { line[start..].find(to)? };
        Some(format!("{}{}", &line[..start], &line[start + len..]))
    };
    let but = |from: &str, to: &str| cut(expected, from, to).is_some_and(|e| Some(e) == cut(ours, from, to));
    let is = |event: &str| expected.contains(event);
    // `flags & (A | B)` is read as `(flags & A) | B`
    (is(": timer_start:") && but(" flags=", ""))
        // elements of `u64 arr[]` have size 0
        || (is(": types:") && but(" arr={", "}"))
        // raw layout: what lies after a text without NUL, or after the record, is shown too
        || (is(": write:") && but(" arr=", " n="))
        || (is(": raw_data:") && is(" buf=") && expected.starts_with(ours))
        || (is(": kernel_stack:") && is(" caller=ARRAY[") && ours.ends_with(']') && expected.starts_with(&ours[..ours.len() - 1]))
        // the addresses of constant strings are not turned around in files of the other byte order
        || (is(": ma_") && (but(": ma_", "\tNode") || but(" fn=", " ")))
        || (is(": rcu_utilization:") && cut(expected, "utilization:", "") == cut(ours, "utilization:", "") && !ours.contains("0000"))
        // an event whose print format trace-cmd cannot parse
        || (is("[FAILED TO PARSE]") && expected.split("[FAILED").next().is_some_and(|e| ours.starts_with(e)))
        // a table's entry for a negative number
        || (expected.contains("(0xfffffffffffffffa)") && ours.contains("(TREE_LOG)") && but("root=18446744073709551610", ")"))
        // unknown names count as 0: `1 << BTRFS_ORDERED_NOCOW`, and `jiffies`; as -1 where they stand alone
        || (is(": btrfs_ordered_extent_") && but(" flags=", " "))
        || expected.replacen("I_DIRTY_SYNC", "", 1) == ours
        || (ours.contains(" age=? ") && but(" age=", " "))
        // the block tracer's text, of which trace-cmd shows the first field
        || (is(": blktrace:") && expected.rsplit_once(' ').is_some_and(|(event, pid)| {
            pid.bytes().all(|b| b.is_ascii_digit()) && ours.strip_prefix(event).is_some_and(|text| text.contains(','))
        }))
        // `a < (b ? c : d)` is read as `(a < b) ? c : d`
        || (is(": mm_page_alloc_extfrag:") && but(" fragmenting=", " "))
}

fn check(name: &str) {
    let Some(corpus) = corpus() else {
        not_run(format_args!("no corpus here: {name} not compared"));
        return;
    };
    let report = folder(&corpus.join(name));
    assert!(report.is_empty(), "{} outputs differ\n{}", report.len(), report.join("\n"));
}

#[test]
fn small_cases() {
    let dir = crate::common::corpus::own();
    let mut report = Vec::new();
    for kernel in ["host", "i386", "s390x", "vm-6.1"] {
        report.extend(folder(&dir.join(kernel)));
    }
    assert!(report.is_empty(), "{} outputs differ\n{}", report.len(), report.join("\n"));
}

#[test]
fn host() {
    check("host");
}

#[test]
fn vm_6_1() {
    check("vm-6.1");
}

#[test]
fn vm_6_12() {
    check("vm-6.12");
}

#[test]
fn all_tracers() {
    check("all-tracers");
}

#[test]
fn s390x() {
    check("s390x");
}

#[test]
fn arm64() {
    check("arm64");
}

#[test]
fn i386() {
    check("i386");
}
