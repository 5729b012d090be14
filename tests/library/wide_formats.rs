//! Events with very many fields, and files with very many event systems: the time they take grows as their number does.

use crate::common::bounded::output;
use crate::common::recording::{data, open};
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{NewFile, Version};
use rtrace::internal::trace_dat::{Codec, Trace};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// CPU time, some ten times what a build without optimisation takes; time in the square of the number would be more.
const LIMIT: &str = "ulimit -t 6; exec \"$@\"";

/// A file with the facts of `facts` and the events of a small recording's first CPU.
fn write(path: &Path, facts: &Trace) {
    let mut file = NewFile::create(File::create(path).unwrap(), facts, Version::V7(Codec::Zstd), &[""]).unwrap();
    let mut pages = facts.raw_pages(&facts.buffers[0], 0);
    let (mut all, mut page) = (Vec::new(), Vec::new());
    while pages.next(&mut page).unwrap() {
        all.extend_from_slice(&page);
    }
    file.begin_buffer("", "local", 4096).unwrap();
    file.begin_cpu(facts.buffers[0].cpus[0].cpu).unwrap();
    file.pages(&all).unwrap();
    file.end_cpu().unwrap();
    file.end_buffer().unwrap();
    file.finish().unwrap();
}

fn succeeds(words: &[&str], dir: &Path) {
    let mut limited = Command::new("sh");
    limited.args(["-c", LIMIT, "sh", env!("CARGO_BIN_EXE_rtrace")]).args(words).current_dir(dir);
    let done = output(&mut limited).unwrap();
    assert!(done.status.success(), "{words:?}: {}, {}", done.status, String::from_utf8_lossy(&done.stderr));
}

/// `declared` and `printed` of each of the fields f0, f1, ...
fn wide(of: &EventFormat, declared: &str, printed: &str) -> EventFormat {
    const FIELDS: usize = 40_000;
    let text = of.to_string();
    let head = text.split("\nprint fmt").next().unwrap().trim_end().to_owned();
    let each = |what: &str| (0..FIELDS).map(|n| what.replace('#', &n.to_string())).collect::<Vec<_>>();
    let (fields, printed) = (each(declared).concat(), each(printed).join(", "));
    EventFormat::parse(&of.system, &format!("{head}\n{fields}\nprint fmt: \"%pS\", {printed}\n")).unwrap()
}

#[test]
fn events_of_40_000_fields_are_converted_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let plain = "\tfield:int f#;\toffset:8;\tsize:4;\tsigned:1;\n";
    let array = "\tfield:__data_loc u8[] f#;\toffset:8;\tsize:4;\tsigned:0;\n";
    for (declared, printed) in
        [(plain, "(void *)REC->f#"), (plain, "__print_symbolic(REC->f#, { 1, \"a\" })"), (array, "__get_str(f#)")]
    {
        let mut facts = open(&data("host/small-zlib.dat"));
        let waking = facts.event_formats.iter_mut().find(|format| format.name == "sched_waking").unwrap();
        *waking = wide(waking, declared, printed);
        write(&dir.path().join("wide.dat"), &facts);
        for target in ["csv", "parquet", "perfetto"] {
            succeeds(&["convert", "wide.dat", "--to", target, "-o", &format!("out.{target}")], dir.path());
            let out = dir.path().join(format!("out.{target}"));
            if out.is_dir() { std::fs::remove_dir_all(out) } else { std::fs::remove_file(out) }.unwrap();
        }
    }
}

#[test]
fn files_of_40_000_systems_are_copied_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut facts = open(&data("host/small-zlib.dat"));
    let waking = facts.event_formats.iter().find(|format| format.name == "sched_waking").unwrap().clone();
    facts.event_formats.extend((0..40_000u16).map(|n| {
        let mut format = waking.clone();
        (format.system, format.id.0) = (format!("system{n}"), 5_000 + n);
        format
    }));
    write(&dir.path().join("systems.dat"), &facts);
    succeeds(&["convert", "systems.dat", "-o", "copy.dat"], dir.path());
    succeeds(&["split", "systems.dat", "-o", "part.dat"], dir.path());
    let names = |name: &str| -> Vec<String> {
        let trace = Trace::open(File::open(dir.path().join(name)).unwrap()).unwrap();
        trace.event_formats.iter().map(|format| format.system.clone()).collect()
    };
    assert_eq!(names("copy.dat"), names("systems.dat"));
    assert_eq!(names("part.dat"), names("systems.dat"));
}
