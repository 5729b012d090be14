//! Recordings that want another file read or removed: `recover` and readers touch nothing but what is their own.

use super::{Recovered, SectionWriter, WriteError, recover};
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::{Codec, FileError, Siblings, SpoolEntry, SpoolTable, Trace, spool_name};
use std::error::Error;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const PAGE: usize = 4096;

fn entry(recorded_as: &str, buffer: &str, cpu: u32) -> SpoolEntry {
    SpoolEntry {
        buffer: buffer.to_owned(),
        clock: "local".to_owned(),
        page_size: PAGE as u32,
        cpu: CpuId(cpu),
        file: spool_name(recorded_as, buffer, CpuId(cpu)),
        target: (0, 0),
    }
}

fn table(entries: Vec<SpoolEntry>) -> SpoolTable {
    SpoolTable { entries, ..SpoolTable::default() }
}

/// An unfinished recording with this table.
fn unfinished(path: &Path, table: &SpoolTable) {
    let mut writer = SectionWriter::create(File::create(path).unwrap(), Abi::HOST, PAGE as u32, Codec::None).unwrap();
    writer.header_info(include_bytes!("../../../../tests/data/forms/6.12/header_page"), b"").unwrap();
    writer.publish(table).unwrap();
}

struct TestDir(tempfile::TempDir);

impl TestDir {
    fn new() -> Self {
        TestDir(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, vec![b'v'; PAGE]).unwrap();
        path
    }

    fn is_whole(&self, name: &str) -> bool {
        fs::read(self.at(name)).is_ok_and(|bytes| bytes == vec![b'v'; PAGE])
    }
}

/// Number of pages that a reader finds beside the recording, and its messages.
fn read(path: &Path) -> (u64, Vec<String>) {
    let mut trace = Trace::open(File::open(path).unwrap()).unwrap();
    trace.attach_spools(&Siblings::of(path, &File::open(path).unwrap()).unwrap());
    let pages = trace.buffers.iter().flat_map(|b| &b.cpus).map(|cpu| cpu.size / PAGE as u64).sum();
    let why = |d: &FileError| format!("{d}: {}", d.source().map(ToString::to_string).unwrap_or_default());
    (pages, trace.damage.iter().map(why).collect())
}

#[test]
fn names_in_the_file_name_nothing() {
    let place = TestDir::new();
    place.put("victim");
    place.put(".other.dat.cpu0.spool");
    place.put(".x.comms.spool");
    let victim = place.at("victim").to_str().unwrap().to_owned();
    let with_file = |file: &str| table(vec![SpoolEntry { file: file.to_owned(), ..entry("x", "", 0) }]);
    let with_comms = |comms: &str| SpoolTable { comms: comms.to_owned(), ..table(vec![entry("x.dat", "", 0)]) };
    let path = place.at("x.dat");
    for wrong in [
        with_file(&victim),
        with_file("victim"),
        with_file(".cpu0.spool"),
        with_file("../y.cpu0.spool"),
        with_file(".x.dat.cpu1.spool"),
        with_comms(&victim),
        with_comms(".x.comms.spool"),
        with_comms("../.x.dat.comms.spool"),
        table(vec![entry("x.dat", "", 0), entry("other.dat", "", 1)]),
    ] {
        unfinished(&path, &wrong);
        let before = fs::read(&path).unwrap();
        assert!(matches!(recover(&path), Err(WriteError::SpoolTable(_))), "{wrong:?}");
        assert_eq!(fs::read(&path).unwrap(), before);
        let (pages, damage) = read(&path);
        assert!(pages == 0 && damage[0].contains("not this recording's"), "{wrong:?} {damage:?}");
    }
    assert!(["victim", ".other.dat.cpu0.spool", ".x.comms.spool"].iter().all(|file| place.is_whole(file)));
}

#[test]
fn what_has_a_spools_name_must_be_the_owners_only_file() {
    let place = TestDir::new();
    place.put("victim");
    let path = place.at("x.dat");
    let spool = place.at(".x.dat.cpu0.spool");
    let comms = SpoolTable { comms: ".x.dat.comms.spool".to_owned(), ..table(vec![entry("x.dat", "", 0)]) };
    type Plant = fn(&TestDir, &Path);
    let plants: [(&str, Plant); 5] = [
        ("not a regular file", |place, at| symlink(place.at("victim"), at).unwrap()),
        ("not a regular file", |_, at| nix::unistd::mkfifo(at, nix::sys::stat::Mode::S_IRWXU).unwrap()),
        ("not a regular file", |_, at| fs::create_dir(at).unwrap()),
        ("hard links", |place, at| fs::hard_link(place.at("victim"), at).unwrap()),
        ("owner", |place, at| {
            place.put(at.file_name().unwrap().to_str().unwrap());
            nix::unistd::chown(at, Some(65534.into()), Some(65534.into())).unwrap();
        }),
    ];
    let is_root = nix::unistd::geteuid().is_root();
    for (why, plant) in plants.iter().take(if is_root { 5 } else { 4 }) {
        for ours in [&table(vec![entry("x.dat", "", 0)]), &comms] {
            let at = if ours.comms.is_empty() { &spool } else { &place.at(".x.dat.comms.spool") };
            unfinished(&path, ours);
            if !ours.comms.is_empty() {
                place.put(".x.dat.cpu0.spool");
            }
            plant(&place, at);
            let (_, damage) = read(&path);
            assert!(damage.len() == 1 && damage[0].contains(why), "{why}: {damage:?}");
            match recover(&path) {
                Err(WriteError::Spool { path, source }) => {
                    assert!(path == spool && source.kind() == ErrorKind::PermissionDenied, "{why}: {source}");
                }
                // Names of tasks are not worth a recording.
                Ok(_) if !ours.comms.is_empty() => {}
                other => panic!("{why}: {other:?}"),
            }
            assert!(at.symlink_metadata().is_ok(), "{why}: it stays");
            let _ = fs::remove_file(at);
            let _ = fs::remove_dir(at);
            let _ = fs::remove_file(&spool);
        }
    }
    assert!(place.is_whole("victim"));
}

#[test]
fn pieces_of_a_flight_recorder_are_held_to_the_same() {
    let place = TestDir::new();
    place.put("victim");
    place.put(".x.dat.cpu0.spool");
    let path = place.at("x.dat");
    symlink(place.at("victim"), place.at(".x.dat.cpu0.spool.1.4096")).unwrap();
    unfinished(&path, &table(vec![entry("x.dat", "", 0)]));
    assert!(matches!(recover(&path), Err(WriteError::Spool { .. })));
    assert!(place.is_whole("victim") && place.is_whole(".x.dat.cpu0.spool"));
}

#[test]
fn another_recordings_spools_are_not_consumed() {
    let place = TestDir::new();
    // An instance `web` of x.dat has spools of the names that recording x.dat.web gives its own.
    let other = place.at("x.dat.web");
    unfinished(&other, &table(vec![entry("x.dat.web", "", 0)]));
    place.put(".x.dat.web.cpu0.spool");
    let path = place.at("x.dat");
    for buffer in ["web", "web.sub"] {
        unfinished(&path, &table(vec![entry("x.dat", buffer, 0)]));
        assert!(matches!(recover(&path), Err(WriteError::Spool { .. })), "{buffer}");
    }
    assert!(place.is_whole(".x.dat.web.cpu0.spool"));
    assert!(matches!(recover(&other).unwrap(), Recovered::Finished { missing, .. } if missing.is_empty()));
}

#[test]
fn leftovers_are_removed_and_nothing_else() {
    let place = TestDir::new();
    let path = place.at("x.dat");
    unfinished(&path, &SpoolTable::default());
    let gone = [".x.dat.cpu0.spool", ".x.dat.web.cpu12.spool", ".x.dat.comms.spool"];
    let stay =
        [".x.dat.y.cpu0.spool", ".x.dat.cpu1.spool.1.4", ".x.dat.cpu.spool", ".x.dat.notes.spool", ".y.cpu0.spool"];
    for name in gone.iter().chain(&stay) {
        fs::write(place.at(name), [0; 4]).unwrap();
    }
    fs::write(place.at("x.dat.y"), "another recording").unwrap();
    place.put(".x.dat.cpu3.spool");
    symlink(place.put("victim"), place.at(".x.dat.cpu4.spool")).unwrap();
    fs::hard_link(place.at(".y.cpu0.spool"), place.at(".x.dat.cpu5.spool")).unwrap();
    let file = File::open(&path).unwrap();
    Siblings::of(&path, &file).unwrap().remove_leftovers();
    assert!(gone.iter().all(|name| !place.at(name).exists()));
    for name in stay.iter().chain(&[".x.dat.cpu3.spool", ".x.dat.cpu4.spool", ".x.dat.cpu5.spool", "victim"]) {
        assert!(place.at(name).symlink_metadata().is_ok(), "{name}");
    }
}

#[test]
fn a_renamed_recording_names_what_it_misses() {
    let place = TestDir::new();
    let path = place.at("x.dat");
    let entries = table(vec![entry("x.dat", "", 0), entry("x.dat", "web", 1)]);
    unfinished(&path, &entries);
    for name in [".x.dat.cpu0.spool", ".x.dat.web.cpu1.spool"] {
        place.put(name);
    }
    assert_eq!(read(&path), (2, vec![]));
    let moved = place.at("y.dat");
    fs::rename(&path, &moved).unwrap();
    let (pages, damage) = read(&moved);
    assert_eq!((pages, damage.len()), (0, 2));
    assert!(damage[0].contains(".y.dat.cpu0.spool") && damage[0].contains("recorded as x.dat"), "{damage:?}");
    match recover(&moved) {
        Err(WriteError::Renamed { recorded_as, missing }) => {
            assert_eq!(recorded_as, "x.dat");
            assert_eq!(missing, [".y.dat.cpu0.spool", ".y.dat.web.cpu1.spool"]);
        }
        other => panic!("{other:?}"),
    }
    assert!(place.is_whole(".x.dat.cpu0.spool") && place.is_whole(".x.dat.web.cpu1.spool"));
    fs::rename(place.at(".x.dat.cpu0.spool"), place.at(".y.dat.cpu0.spool")).unwrap();
    fs::rename(place.at(".x.dat.web.cpu1.spool"), place.at(".y.dat.web.cpu1.spool")).unwrap();
    // Found through a link to the recording, too.
    symlink(&moved, place.at("link.dat")).unwrap();
    match recover(&place.at("link.dat")).unwrap() {
        Recovered::Finished { written, missing, .. } => {
            assert!(written.data_size == 2 * PAGE as u64 && missing.is_empty())
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 2);
}

/// Spools of former recorders have names without a dot in front, in the table and beside the file.
#[test]
fn former_names_are_found_where_there_are_no_hidden_ones() {
    let place = TestDir::new();
    let path = place.at("x.dat");
    let former = |buffer: &str, cpu: u32| {
        let entry = entry("x.dat", buffer, cpu);
        SpoolEntry { file: entry.file[1..].to_owned(), ..entry }
    };
    let entries = SpoolTable { comms: "x.dat.comms.spool".to_owned(), ..table(vec![former("", 0), former("web", 1)]) };
    let put = || {
        unfinished(&path, &entries);
        for name in ["x.dat.cpu0.spool", "x.dat.web.cpu1.spool"] {
            place.put(name);
        }
        fs::write(place.at("x.dat.comms.spool"), "7 sh\n").unwrap();
    };
    put();
    assert_eq!(read(&path), (2, vec![]));
    let whole = |path: &Path| match recover(path).unwrap() {
        Recovered::Finished { written, missing, .. } => assert!(
            written.data_size == 2 * PAGE as u64 && missing.is_empty(),
            "{} bytes, without {missing:?}",
            written.data_size
        ),
        other => panic!("{other:?}"),
    };
    whole(&path);
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1, "the spools are gone");
    // The hidden spools of `x.dat` have the names that a former recorder gave those of `.x.dat`, and are not those.
    let (hidden, other) = (place.at("x.dat"), place.at(".x.dat"));
    unfinished(&hidden, &table(vec![entry("x.dat", "", 0), entry("x.dat", "web", 1)]));
    for name in [".x.dat.cpu0.spool", ".x.dat.web.cpu1.spool"] {
        place.put(name);
    }
    unfinished(&other, &table(vec![entry(".x.dat", "", 0)]));
    let file = File::open(&other).unwrap();
    let beside = Siblings::of(&other, &file).unwrap();
    assert_eq!(beside.any_spool(), None);
    beside.remove_leftovers();
    whole(&hidden);
    // A link where a hidden spool would be makes no former one invisible.
    fs::remove_file(&other).unwrap();
    put();
    symlink(place.at("victim"), place.at(".x.dat.cpu0.spool")).unwrap();
    assert_eq!(read(&path).0, 2);
}

#[test]
fn a_missing_spool_is_said() {
    let place = TestDir::new();
    let path = place.at("x.dat");
    unfinished(&path, &table(vec![entry("x.dat", "", 0), entry("x.dat", "", 1)]));
    place.put(".x.dat.cpu1.spool");
    match recover(&path).unwrap() {
        Recovered::Finished { written, missing, .. } => {
            assert_eq!((written.data_size, missing), (PAGE as u64, vec![".x.dat.cpu0.spool".to_owned()]));
        }
        other => panic!("{other:?}"),
    }
    // Also later, by the file alone.
    let (pages, damage) = read(&path);
    assert!(pages == 1 && damage[0].starts_with("cpu 0: events that the recorder had taken"), "{damage:?}");
}

#[test]
fn a_damaged_table_costs_no_spool() {
    let place = TestDir::new();
    let path = place.at("x.dat");
    unfinished(&path, &table(vec![entry("x.dat", "", 0), entry("x.dat", "", 1)]));
    place.put(".x.dat.cpu0.spool");
    place.put(".x.dat.cpu1.spool");
    let whole = fs::read(&path).unwrap();
    let header = crate::file::trace_dat::OptionId::RTRACE_SPOOLS.0.to_ne_bytes();
    let at = whole.windows(2).rposition(|bytes| bytes == header).unwrap();
    let ways = [
        (at + 6, 9, "its version"),
        (at + 6 + 16, b'/', "the name of task names"),
        (at, 1, "its id"),
        (at + 2, 0xff, "its length"),
    ];
    for (offset, byte, what) in ways {
        let mut damaged = whole.clone();
        damaged[offset] = byte;
        fs::write(&path, &damaged).unwrap();
        let refused = recover(&path);
        let named = matches!(refused, Err(WriteError::SpoolTable(_) | WriteError::NoSpoolTable));
        assert!(named, "{what}: {refused:?}");
        assert!(place.is_whole(".x.dat.cpu0.spool") && place.is_whole(".x.dat.cpu1.spool"), "{what}");
        assert!(fs::read(&path).unwrap() == damaged, "{what}");
    }
    fs::write(&path, &whole).unwrap();
    assert!(matches!(recover(&path), Ok(Recovered::Finished { unsaved, .. }) if unsaved.is_empty()));
}

#[test]
fn a_place_in_the_file_is_checked() {
    let place = TestDir::new();
    let path = place.at("x.dat");
    for target in [(0, 4096), (u64::MAX, 4096), (1 << 20, u64::MAX), (i64::MAX as u64, 1)] {
        let ours = SpoolEntry { target, ..entry("x.dat", "", 0) };
        unfinished(&path, &SpoolTable { finishing: true, ..table(vec![ours]) });
        place.put(".x.dat.cpu0.spool");
        assert!(matches!(recover(&path), Err(WriteError::Spool { .. })), "{target:?}");
        assert!(place.is_whole(".x.dat.cpu0.spool"));
    }
}
