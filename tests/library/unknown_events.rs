//! An event with an id that no format describes is damage: its text is lost, and a filter may have wanted it.

use crate::common::recording::{data, events, open};
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{Codec, Trace};
use std::fs::File;
use std::process::Command;

const UNKNOWN: u16 = 65_000;

#[test]
fn exit_with_4_and_name_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    let from = open(&data("host/small-zlib.dat"));
    convert(&from, file, Version::V7(Codec::None), 1, &mut |damage| panic!("{damage}")).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let all = events(&Trace::open(bytes.clone()).unwrap());
    let [first, second] = [all.len() / 3, all.len() / 2].map(|n| &all[n]);
    for (_, _, _, data) in [first, second] {
        let mut found = memchr::memmem::find_iter(&bytes, data);
        let at = found.next().expect("the record");
        assert_eq!(found.next(), None, "the record is there once");
        bytes[at..at + 2].copy_from_slice(&UNKNOWN.to_le_bytes());
    }
    std::fs::write(&path, &bytes).unwrap();
    let place = format!("which no format describes: the first at {} on cpu {}", first.0, first.1);
    let expected = format!("2 events with the id {UNKNOWN}, {place}");
    for threads in ["1", "2"] {
        for line in [
            "report",
            "report -R",
            "report -l",
            "report --format json",
            "report --format csv",
            "report --format raw",
            "report --format kernel",
            "report --summary",
            "report --count",
            "report -F sched_switch",
            "report --pid 1",
            "report --profile",
            "profile --input",
            "dump --validate",
        ] {
            let threads = line.starts_with("report").then_some(["--threads", threads]).into_iter().flatten();
            let words = line.split(' ').chain(threads);
            let mut command = Command::new(env!("CARGO_BIN_EXE_rtrace"));
            let done = command.args(words).arg(&path).output().unwrap();
            let stderr = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(4), "{line}: {stderr}");
            assert_eq!(stderr.matches("no format describes").count(), 1, "{line}: {stderr}");
            assert!(stderr.contains(&expected), "{line}: {stderr}");
        }
    }
}
