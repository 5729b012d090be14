//! Sub-buffers that are missing, repeated, out of order or of another size than the file says: every command that reads
//! them names the place and exits with 4, on any number of threads, and shows all the rest.

use crate::common::recording::{data, open, record};
use crate::common::synthetic::fork_storm;
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{Codec, OptionId, Trace};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: usize = 4096;

/// The output of `rtrace` with these words and the file after them.
fn rtrace(words: &[&str], path: &Path) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtrace"));
    let done = command.args(words).arg(path).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(done.stdout), text(done.stderr), done.status.code())
}

/// The commands that read all sub-buffers. `convert` and `split` write to `dir`.
fn commands(dir: &Path) -> Vec<Vec<String>> {
    let out = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut all: Vec<Vec<String>> = ["1", "2"]
        .iter()
        .flat_map(|threads| {
            ["report --threads", "report --count --threads", "report --format json --threads"]
                .map(|line| words(&format!("{line} {threads}")))
        })
        .collect();
    all.push(words("dump --validate"));
    all.push([words("convert --force --compression zstd -o"), vec![out("converted.dat"), "-i".to_owned()]].concat());
    all.push([words("split --force -o"), vec![out("part.dat"), "-i".to_owned()]].concat());
    all
}

/// A copy of `name` without compression.
fn bare(name: &str, dir: &Path) -> PathBuf {
    let path = dir.join("bare.dat");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    convert(&open(&data(name)), file, Version::V7(Codec::None), 1, &mut |damage| panic!("{damage}")).unwrap();
    path
}

/// Offset of the first CPU's data, and its sub-buffers.
fn first_cpu(file: &[u8]) -> (usize, usize) {
    let trace = Trace::open(file.to_vec()).unwrap();
    let cpu = trace.buffers[0].cpus[0];
    (cpu.offset as usize, cpu.size as usize / PAGE)
}

/// Damage to the sub-buffers that start at an offset, of which there are this many.
type Damage = fn(&mut [u8], usize, usize);

/// The damage done to the sub-buffers, and its name in the message.
fn damages() -> Vec<(&'static str, Damage, String)> {
    fn zero(file: &mut [u8], at: usize, from: usize, to: usize) {
        file[at + from * PAGE..at + to * PAGE].fill(0);
    }
    fn copy(file: &mut [u8], at: usize, from: usize, to: usize) {
        file.copy_within(at + from * PAGE..at + (from + 1) * PAGE, at + to * PAGE);
    }
    let hole =
        |page: &str, pages: usize| format!("page {page}: {pages} sub-buffers from here on have headers of zeros");
    vec![
        ("a header of zeros", |file, at, _| file[at + 2 * PAGE..][..16].fill(0), hole("2", 1)),
        ("the first one is zeros", |file, at, _| zero(file, at, 0, 1), hole("0", 1)),
        ("two are zeros", |file, at, _| zero(file, at, 1, 3), hole("1", 2)),
        (
            "the last one is zeros",
            |file, at, pages| zero(file, at, pages - 1, pages),
            hole("", 1).replace("page : ", ""),
        ),
        (
            "the last two, and a bit of the one before",
            |file, at, pages| {
                zero(file, at, pages - 2, pages);
                file[at + (pages - 2) * PAGE - 8..at + (pages - 2) * PAGE].fill(0);
            },
            hole("", 2).replace("page : ", ""),
        ),
        ("one repeats", |file, at, _| copy(file, at, 1, 2), "page 2: the same sub-buffer as the one before".to_owned()),
        (
            "two repeat",
            |file, at, _| {
                copy(file, at, 0, 2);
                copy(file, at, 1, 3);
            },
            "page 2: it starts ".to_owned(),
        ),
        (
            "two change places",
            |file, at, _| {
                let pages = &mut file[at + PAGE..at + 3 * PAGE];
                pages.rotate_left(PAGE);
            },
            "page 2: it starts ".to_owned(),
        ),
    ]
}

fn assert_reported(
    whole: &[u8],
    (at, pages): (usize, usize),
    dir: &Path,
    damages: &[(&str, Damage, String)],
    what: &str,
) {
    let path = dir.join("trace.dat");
    for (how, damage, message) in damages {
        let mut damaged = whole.to_vec();
        damage(&mut damaged, at, pages);
        std::fs::write(&path, &damaged).unwrap();
        let mut before: Option<(Vec<String>, String)> = None;
        for command in commands(dir) {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let (text, stderr, status) = rtrace(&words, &path);
            assert_eq!(status, Some(4), "{what}: {how}: {words:?}: {stderr}");
            assert!(stderr.contains(message) && stderr.contains("cpu 0"), "{what}: {how}: {words:?}: {stderr}");
            let lines = stderr.lines().filter(|line| line.contains("page ")).count();
            assert_eq!(lines, 1, "{what}: {how}: {words:?}: {stderr}");
            // One thread and two differ in nothing.
            if let [verb, .., threads] = words.as_slice() {
                let other = (command[..command.len() - 1].to_vec(), text.clone());
                match (*verb, *threads) {
                    ("report", "1") => before = before.or(Some(other)),
                    ("report", "2") if before.as_ref().is_some_and(|before| before.0 == other.0) => {
                        assert!(before.as_ref() == Some(&other), "{what}: {how}: two threads print something else");
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn sub_buffers_that_do_not_follow_each_other_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["i386/events-v6.dat", "s390x/inst.dat"] {
        let path = bare(name, dir.path());
        let whole = std::fs::read(&path).unwrap();
        for command in commands(dir.path()) {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let (_, stderr, status) = rtrace(&words, &path);
            assert_eq!(status, Some(0), "{name}: {words:?}: {stderr}");
        }
        assert_reported(&whole, first_cpu(&whole), dir.path(), &damages(), name);
    }
}

/// Sub-buffers on both sides of where one read ends and the next begins.
#[test]
fn they_are_reported_between_two_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storm.dat");
    fork_storm(2, 60_000, 400, 7).write(&path, Version::V7(Codec::None));
    let whole = std::fs::read(&path).unwrap();
    let (at, pages) = first_cpu(&whole);
    assert!(pages > 100, "{pages} sub-buffers");
    // 128 KiB are read at once.
    let shift = at + 30 * PAGE;
    let named: Vec<(&str, Damage, String)> = damages()
        .into_iter()
        .filter(|(how, ..)| !how.contains("first"))
        .map(|(how, damage, message)| {
            (how, damage, message.replace("page 1:", "page 31:").replace("page 2:", "page 32:"))
        })
        .collect();
    assert_reported(&whole, (shift, pages - 30), dir.path(), &named, "a storm");
}

#[test]
fn a_wrong_size_of_sub_buffers_is_reported_and_put_right() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    for (name, codec) in [
        ("s390x/inst.dat", Codec::Zstd),
        ("s390x/inst.dat", Codec::None),
        ("i386/events-v6.dat", Codec::Zlib),
        ("i386/kprobe.dat", Codec::Zstd),
    ] {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        convert(&open(&data(name)), file, Version::V7(codec), 2, &mut |damage| panic!("{damage}")).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let expected = rtrace(&["report"], &path);
        assert_eq!(expected.2, Some(0), "{}", expected.1);
        let trace = Trace::open(whole.clone()).unwrap();
        let option = trace.options.iter().find(|option| option.id == OptionId::BUFFER).unwrap();
        let text = |from: usize| from + option.data[from..].iter().position(|byte| *byte == 0).unwrap() + 1;
        let at = option.offset as usize + 6 + text(text(8));
        let big = whole[12] == 1;
        for size in [2048u32, 8192, 16384, 1 << 20] {
            let mut damaged = whole.clone();
            let bytes = if big { size.to_be_bytes() } else { size.to_le_bytes() };
            damaged[at..at + 4].copy_from_slice(&bytes);
            std::fs::write(&path, damaged).unwrap();
            for words in [&["report"][..], &["report", "--threads", "1"], &["dump", "--validate"]] {
                let (text, stderr, status) = rtrace(words, &path);
                let what = format!("{name}, {codec:?}: sub-buffers of {size} bytes: {words:?}: {stderr}");
                assert_eq!(status, Some(4), "{what}");
                assert!(
                    stderr.contains(&format!("are said to have {size} bytes, but have 4096, as from 0x")),
                    "{what}"
                );
                assert!(words[0] == "dump" || text == expected.0, "{what}");
            }
        }
    }
}

/// A flipped bit in the middle of a spool: the recording is finished, and the place is named.
#[test]
fn recover_names_damaged_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let (storm, path) = (dir.path().join("storm.dat"), dir.path().join("killed.dat"));
    fork_storm(2, 20_000, 400, 7).write(&storm, Version::V7(Codec::Zstd));
    for damage in [false, true] {
        let stopped = record(&open(&storm), &path, Codec::Zstd, 3);
        let spool = &stopped.spools[0];
        assert!(spool.chunks > 4, "{} chunks", spool.chunks);
        if damage {
            let mut bytes = std::fs::read(&spool.path).unwrap();
            let at = bytes.len() / 2;
            bytes[at] ^= 1;
            std::fs::write(&spool.path, bytes).unwrap();
        }
        drop(stopped);
        let (_, stderr, status) = rtrace(&["recover"], &path);
        // No journal knows what the ring buffers held.
        assert!(status == Some(4) && stderr.contains("its ring buffer and its recorder still held"), "{stderr}");
        assert_eq!(stderr.contains("cpu 0, chunk ") && stderr.contains(" at 0x"), damage, "{stderr}");
        assert_eq!(rtrace(&["report"], &path).2, status);
        std::fs::remove_file(&path).unwrap();
    }
}
