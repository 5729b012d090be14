//! Output of Linux 7 that older kernels do not have (arguments of functions, what system calls were given, the rules of
//! Landlock, the blk tracer's new records), as a 7.3 printed it once: stored in `tests/data/newest` beside the ring
//! buffers.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use crate::whole::{Tally, cases};
use crate::whole_file::{report, reported};
use std::path::Path;

/// Arguments of each kind, as that kernel showed them.
const KINDS: &[&str] = &[
    "path=0x",                    // a pointer
    "fd=0xffffffff, ",            // an unsigned number
    "pages=-",                    // a signed one
    "what=27 [LOCKDOWN_TRACEFS]", // an enumeration
    "(STRUCT)[0x",                // a structure
    ":0x",                        // one in two registers
    ", ...)",                     // more than there are registers for
    "dput.part.0()",              // a function that no type is known of
    "\"/proc/version\", flags: O_RDONLY",
    "mode: 0666)",
    " (68:65:6c:6c:6f:0a) \"hello.\", count: 6)",
    "__buf_val=hello. (68:65:6c:6c:6f:0a)",
    "grants={read_file,read_file,read_file|truncate}", // a table within a statement
    "grants={bind_tcp,bind_tcp,}",
    "req=ZONE_FINISH     zone_no=0 zone_cond=FULL      ",
];

#[test]
fn is_what_it_printed() {
    let folders = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/newest"));
    let mut tally = Tally::of(false);
    let mut text = String::new();
    for folder in &folders {
        text.push_str(&String::from_utf8_lossy(&std::fs::read(folder.join("trace")).expect("the kernel's text")));
        tally.case(folder);
    }
    for kind in KINDS {
        assert!(text.contains(kind), "{kind} is not in the capture");
    }
    tally.judge("stored, 7.3", 4, 400);
}

/// In the default layout the same reads as in trace-cmd 3.4, which printed `report` of the same file.
#[test]
fn is_what_trace_cmd_printed_of_it() {
    let folders = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/newest"));
    // Of Landlock's events it can read hardly any, and of the blk tracer's it prints a word of the older layout.
    let is_blk = |folder: &Path| folder.file_name().is_some_and(|name| name.to_string_lossy().contains("blk"));
    let (compared, others): (Vec<_>, Vec<_>) =
        folders.into_iter().partition(|folder| folder.join("report").exists() && !is_blk(folder));
    assert_eq!((compared.len(), others.len()), (5, 3), "{compared:?} {others:?}");
    for folder in compared {
        let theirs = std::fs::read(folder.join("report")).expect("trace-cmd's text");
        let ours = reported(&folder, &[]);
        let (theirs, ours) = (String::from_utf8_lossy(&theirs), String::from_utf8_lossy(&ours));
        for (line, (theirs, ours)) in theirs.lines().zip(ours.lines()).enumerate() {
            assert_eq!(ours, theirs, "{}, line {}", folder.display(), line + 1);
        }
        assert_eq!(ours.lines().count(), theirs.lines().count(), "{}", folder.display());
    }
}

/// The blk tracer's events in the default layout have the kernel's text, and with -N the task alone.
#[test]
fn the_blk_tracer_is_decoded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/newest/noblk_classic");
    let theirs = std::fs::read_to_string(folder.join("trace")).expect("the kernel's text");
    let (ours, plain) = (reported(&folder, &[]), reported(&folder, &["-N"]));
    let (ours, plain) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&plain));
    let ours: Vec<&str> = ours.lines().skip(1).collect();
    let theirs: Vec<&str> = theirs.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(theirs.len() > 5 && ours.len() == theirs.len(), "{} of {}", ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        let text = |line: &str, after: &str| line.split_once(after).expect("a text").1.trim_start().to_owned();
        assert_eq!(text(ours, "blktrace:"), text(theirs.trim_start().split_once('[').expect("a CPU").1, ": "));
    }
    assert!(plain.lines().skip(1).all(|line| line.rsplit(' ').next().is_some_and(|pid| pid.parse::<u32>().is_ok())));
}

/// Types that cannot be read are reported, and the functions are shown with what their registers held.
#[test]
fn damaged_types_are_reported() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/newest");
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let case = scratch.path().join("function");
    std::fs::create_dir(&case).expect("a folder");
    for (from, to) in [(stored.clone(), scratch.path()), (stored.join("function"), &case)] {
        for entry in std::fs::read_dir(&from).expect("the capture").map(|entry| entry.expect("a file").path()) {
            if entry.is_file() {
                std::fs::copy(&entry, to.join(entry.file_name().expect("a name"))).expect("a copy");
            }
        }
    }
    let mut btf = std::fs::read(stored.join("btf")).expect("types");
    btf.truncate(btf.len() / 2);
    std::fs::write(scratch.path().join("btf"), btf).expect("half of the types");
    let damaged = report(&case, &["--format", "kernel"]);
    let seen = String::from_utf8_lossy(&damaged.stderr);
    assert_eq!(damaged.status.code(), Some(4), "{seen}");
    assert!(seen.contains("of BTF"), "{seen}");
    let whole = report(&stored.join("function"), &["--format", "kernel"]);
    let lines = |output: &[u8]| output.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(&damaged.stdout), lines(&whole.stdout));
}

on_kernels!(what_it_brought_is_used: V7 => |kernel| {
    // An interrupt for several CPUs needs more than two.
    let Some(guest) = Guest::run_with(&["-q", "-smp", "-q", "4"], kernel, include_str!("newest.sh"), &[]) else { return };
    let said = guest.text("stdout");
    let parts: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("ok: ")).collect();
    let wanted = ["bytes of texts", "names of files", "settings of all events", "stacks of tables", "masks as lists", "casts of probes"];
    assert_eq!(parts, wanted, "{said}");
});
