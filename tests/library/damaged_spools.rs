//! Spools of a killed recorder that are damaged: a torn end is the one chunk that was being written, all else is damage, and
//! costs the damaged chunk only.

use crate::common::recording::{Event, Stopped, data, events, events_and_damage, open, record};
use rtrace::internal::trace_dat::write::recover_with;
use rtrace::internal::trace_dat::{Codec, Recovered, Siblings, Trace, recover};
use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// That no journal says what the ring buffers held.
const OF_RINGS: &str = "that its ring buffer and its recorder still held";

/// A recording whose recorder is dead; its events, and its spool with the most chunks.
struct Killed {
    dir: tempfile::TempDir,
    expected: Vec<Event>,
    spool: PathBuf,
}

impl Killed {
    fn new(codec: Codec) -> Self {
        let from = open(&data("i386/events-v6.dat"));
        let dir = tempfile::tempdir().unwrap();
        let Stopped { spools, .. } = record(&from, &dir.path().join("trace.dat"), codec, 3);
        let spool = spools.into_iter().max_by_key(|spool| spool.chunks).unwrap().path;
        Killed { dir, expected: events(&from), spool }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("trace.dat")
    }

    /// Changes the bytes of the spool.
    fn damage(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(&self.spool).unwrap();
        change(&mut bytes);
        std::fs::write(&self.spool, bytes).unwrap();
    }

    /// Its events as `report` reads them before it is recovered, and what is damaged.
    fn unfinished(&self) -> (Vec<Event>, Vec<String>) {
        let mut trace = open(&self.path());
        trace.attach_spools(&Siblings::of(&self.path(), &File::open(self.path()).unwrap()).unwrap());
        events_and_damage(&trace)
    }

    fn finished(&self) -> (Vec<Event>, Vec<String>) {
        assert_eq!(std::fs::read_dir(self.dir.path()).unwrap().count(), 1);
        let (events, mut damage) = events_and_damage(&Trace::open(File::open(self.path()).unwrap()).unwrap());
        damage.retain(|damage| !damage.contains(OF_RINGS));
        (events, damage)
    }

    /// The status of `rtrace recover` and its messages, but for those about ring buffers, which no journal knows.
    fn rtrace_recover(&self) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_rtrace")).arg("recover").arg(self.path()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text.lines().filter(|line| !line.contains(OF_RINGS)).collect::<Vec<_>>().join("\n"))
    }
}

/// Ranges of a spool's chunks, headers included.
fn chunks(spool: &[u8]) -> Vec<Range<usize>> {
    let mut at = 4;
    let mut found = Vec::new();
    while let Some(stored) = spool.get(at..at + 4) {
        let end = at + 8 + u32::from_le_bytes(stored.try_into().unwrap()) as usize;
        found.push(at..end);
        at = end;
    }
    found
}

/// Number of events of `all` that are not among `found`, whose order is the same.
fn lacking(found: &[Event], all: &[Event]) -> usize {
    let mut found = found.iter().peekable();
    let lacking = all.iter().filter(|event| found.next_if_eq(event).is_none()).count();
    assert!(found.next().is_none(), "events that were not recorded");
    lacking
}

#[test]
fn a_damaged_header_costs_its_chunk() {
    for codec in [Codec::Zstd, Codec::Zlib] {
        // A size that no chunk has; one that ends within the next chunk; one that ends where the last does.
        for change in 0..3 {
            let killed = Killed::new(codec);
            let mut at = 0;
            killed.damage(|spool| {
                let chunks = chunks(spool);
                assert!(chunks.len() == 3, "{} chunks", chunks.len());
                let (damaged, last) = (&chunks[1], chunks.last().unwrap());
                at = damaged.start;
                let stored = match change {
                    0 => u32::MAX,
                    1 => (damaged.len() - 8 + 5) as u32,
                    _ => (last.end - damaged.start - 8) as u32,
                };
                spool[damaged.start..][..4].copy_from_slice(&stored.to_le_bytes());
            });
            let what = format!("{codec:?}, change {change}");
            let (found, damage) = killed.unfinished();
            let cost = lacking(&found, &killed.expected);
            assert!(cost > 0 && cost < killed.expected.len() / 3, "{what}: {cost} of {}", killed.expected.len());
            assert!(damage.len() == 1 && damage[0].contains("chunk 1 at "), "{what}: {damage:?}");
            assert!(damage[0].contains(&format!("{at:#x}")), "{what}: {damage:?} is not at {at:#x}");
            match change {
                0 => match recover(&killed.path()).unwrap() {
                    Recovered::Finished { dropped, unsaved, .. } => assert_eq!((dropped, unsaved), (0, Vec::new())),
                    other => panic!("{other:?}"),
                },
                _ => {
                    let (status, text) = killed.rtrace_recover();
                    assert!(status == Some(4) && text.contains("chunk 1 at 0x"), "{what}: {status:?}, {text}");
                }
            }
            let (recovered, damage) = killed.finished();
            assert!(recovered == found, "{what}: {} events recovered, {} before", recovered.len(), found.len());
            assert!(damage.len() == 1 && damage[0].contains("chunk 1 at "), "{what}: {damage:?}");
        }
    }
}

/// More than a chunk can have is damage and stays; a part of a chunk is a torn end and goes, and the file says so.
#[test]
fn a_torn_end_is_one_chunk() {
    let garbage =
        |len: usize| -> Vec<u8> { (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect() };
    for (len, is_torn) in [(6, true), (300 << 10, true), (2 << 20, false)] {
        let killed = Killed::new(Codec::Zstd);
        killed.damage(|spool| spool.extend(garbage(len)));
        let (found, damage) = killed.unfinished();
        assert!(found == killed.expected && damage.is_empty() == is_torn, "{len}: {damage:?}");
        let (status, text) = killed.rtrace_recover();
        let says = if is_torn { "that the recorder had taken when it was killed" } else { "chunk " };
        assert!(status == Some(4) && text.contains(says), "{len}: {status:?} {text}");
        let (recovered, damage) = killed.finished();
        assert!(recovered == killed.expected && damage.len() == 1 && damage[0].contains(says), "{len}: {damage:?}");
    }
}

/// A spool without a single sound chunk goes into the file as it is.
#[test]
fn a_spool_of_damage_only_is_not_thrown_away() {
    let killed = Killed::new(Codec::Zstd);
    killed.damage(|spool| *spool = vec![0x55; 2 << 20]);
    let (found, _) = killed.unfinished();
    let (status, text) = killed.rtrace_recover();
    assert!(status == Some(4) && text.contains("chunk 0 at "), "{status:?} {text}");
    let (recovered, damage) = killed.finished();
    assert!(recovered == found && damage.len() == 1, "{damage:?}");
    assert!(std::fs::metadata(killed.path()).unwrap().len() > 2 << 20);
}

#[test]
fn a_recover_that_was_killed_after_its_cut_is_remembered() {
    let killed = Killed::new(Codec::Zstd);
    killed.damage(|spool| spool.extend([0, 0, 1, 0, 0, 0, 0x10, 0, 0x28, 0xb5]));
    let torn = std::fs::metadata(&killed.spool).unwrap().len();
    let path: &Path = &killed.path();
    for _ in 0..2 {
        let killed = catch_unwind(AssertUnwindSafe(|| recover_with(path, |_| panic!("killed here"))));
        assert!(killed.is_err());
    }
    assert_eq!(std::fs::metadata(&killed.spool).unwrap().len(), torn - 10);
    let (status, text) = killed.rtrace_recover();
    let says = "events that the recorder had taken when it was killed are not in the file";
    assert!(status == Some(4) && text.matches(says).count() == 1, "{status:?} {text}");
    let (recovered, damage) = killed.finished();
    assert!(recovered == killed.expected && damage.len() == 1 && damage[0].ends_with(says), "{damage:?}");
}

/// A recorder writes four bytes at the beginning of each spool, and numbers the pieces of a flight recorder.
#[test]
fn emptied_spools_and_missing_pieces_are_losses() {
    let says = "what they were written to was removed or emptied";
    for hole in 0..4 {
        let killed = Killed::new(Codec::Zstd);
        let whole = std::fs::read(&killed.spool).unwrap();
        let chunks = chunks(&whole);
        let piece = |number: usize, size: usize| {
            let mut name = killed.spool.clone().into_os_string();
            name.push(format!(".{number}.{size}"));
            PathBuf::from(name)
        };
        if hole > 0 {
            for (number, chunk) in chunks.iter().enumerate() {
                let bytes = [&whole[..4], &whole[chunk.clone()]].concat();
                std::fs::write(piece(number + 7, bytes.len()), bytes).unwrap();
            }
            std::fs::write(&killed.spool, &whole[..4]).unwrap();
            let (found, damage) = killed.unfinished();
            assert!(found == killed.expected && damage.is_empty(), "{damage:?}");
        }
        let second = piece(8, 4 + chunks[1].len());
        match hole {
            0 => std::fs::write(&killed.spool, "").unwrap(),
            1 => std::fs::remove_file(&second).unwrap(),
            2 => std::fs::write(&second, "").unwrap(),
            _ => std::fs::remove_file(&killed.spool).unwrap(),
        }
        let (found, damage) = killed.unfinished();
        assert_eq!(lacking(&found, &killed.expected) == 0, hole == 3, "{hole}");
        assert!(damage.len() == 1 && damage[0].contains(says), "{hole}: {damage:?}");
        if hole == 1 {
            let stopped = catch_unwind(AssertUnwindSafe(|| recover_with(&killed.path(), |_| panic!("killed here"))));
            assert!(stopped.is_err());
        }
        match recover(&killed.path()).unwrap() {
            Recovered::Finished { unsaved, .. } => {
                assert!(unsaved.len() == 1 && unsaved[0].to_string().contains(says), "{hole}: {unsaved:?}");
            }
            other => panic!("{other:?}"),
        }
        let (recovered, damage) = killed.finished();
        assert!(recovered == found && damage.len() == 1 && damage[0].contains(says), "{hole}: {damage:?}");
    }
}
