//! Files that we write: we and trace-cmd read the same events from them as from the ones they were made of, and what
//! is left of a killed recording becomes such a file.

use crate::common::bounded::output;
use crate::common::not_run::not_run;
use crate::common::recording::{Stopped, data, events, events_and_damage, open, record};
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{Codec, LossCause, OptionId, Recovered, Trace, UnsavedEvents, WriteError, recover};
use rtrace::recording::Recording;
use rtrace::units::CpuId;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// All that trace-cmd says about a file: report and dump.
fn trace_cmd(path: &Path) -> Option<[String; 2]> {
    let run = |args: &[&str]| -> Option<String> {
        let out = output(Command::new("trace-cmd").args(args).arg(path).env("LC_ALL", "C")).ok()?;
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!((stderr.as_ref(), out.status.code()), ("", Some(0)), "{args:?} {}", path.display());
        Some(String::from_utf8_lossy(&out.stdout).into_owned())
    };
    Some([run(&["report", "-i"])?, run(&["dump", "--validate", "-i"])?])
}

fn files_beside(path: &Path) -> usize {
    std::fs::read_dir(path.parent().unwrap()).unwrap().count()
}

#[test]
fn an_error_names_the_file() {
    let error = |path: &Path| Recording::open_path(path).err().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    let named = format!("failed to read {}: ", path.display());
    assert_eq!(error(&path), format!("{named}No such file or directory (os error 2)"));
    std::fs::write(&path, "").unwrap();
    assert_eq!(error(&path), format!("{named}not a trace.dat file: it is empty"));
}

#[test]
fn a_finished_file_holds_the_same() {
    for name in ["vm-6.1/trig.dat", "s390x/inst.dat", "i386/kprobe.dat", "i386/events-v6.dat"] {
        let from = open(&data(name));
        let expected = events(&from);
        let theirs = trace_cmd(&data(name));
        for codec in [Codec::Zstd, Codec::Zlib, Codec::None] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("trace.dat");
            let Stopped { mut writer, buffers, spools } = record(&from, &path, codec, usize::MAX);
            let unfinished = Trace::open_path(&path).unwrap();
            assert_eq!(unfinished.spools.as_ref().map(|s| s.entries.len()), Some(spools.len()));
            assert!(events(&unfinished) == expected, "{name}: an unfinished recording is read as a whole one");
            writer.saved_cmdlines(&from.saved_cmdlines).unwrap();
            let written = writer.finish(&buffers, &spools).unwrap();
            assert_eq!(written.file_size, std::fs::metadata(&path).unwrap().len());
            assert_eq!(files_beside(&path), 1, "the spools are gone");
            let to = open(&path);
            assert!(to.spools.is_none());
            assert_eq!(to.saved_cmdlines, from.saved_cmdlines);
            assert!(to.event_formats == from.event_formats);
            assert!(events(&to) == expected, "{name} with {codec:?}");
            // Debian 12's trace-cmd knows no zlib.
            if codec == Codec::Zlib {
                continue;
            }
            match (trace_cmd(&path), &theirs) {
                (Some([report, _]), Some([expected, _])) => assert_eq!(&report, expected, "{name} with {codec:?}"),
                _ => not_run(format_args!("no trace-cmd is installed: {name} with {codec:?} was not given to it")),
            }
        }
    }
}

/// The options of a file of version 7 as they stand in it, one after the other.
fn ids_in(path: &Path) -> Vec<u16> {
    let (bytes, trace) = (std::fs::read(path).unwrap(), open(path));
    let number = |at: u64, size: usize| trace.abi.uint(&bytes, at as usize, size).unwrap();
    let mut section = trace.prefix.options.unwrap().1;
    let mut ids = Vec::new();
    while section != 0 {
        let mut at = section + 16;
        loop {
            let (id, len) = (number(at, 2), number(at + 2, 4));
            if id == 0 {
                section = number(at + 6, 8);
                break;
            }
            ids.push(id as u16);
            at += 6 + len;
        }
    }
    ids
}

#[test]
fn other_readers_meet_no_option_that_they_do_not_know() {
    // BUFFER_TEXT is the last that trace-cmd 3.1's library knows. It warns of others, and with it KernelShark.
    let known = 1..=OptionId::BUFFER_TEXT.0;
    let from = open(&data("s390x/inst.dat"));
    for codec in [Codec::Zstd, Codec::None] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.dat");
        let Stopped { mut writer, buffers, spools } = record(&from, &path, codec, usize::MAX);
        let ours = [(OptionId::RTRACE_VIEW, b"buffer name\n".to_vec()), (OptionId::RTRACE_INDEX, vec![7; 100])];
        for (id, data) in ours.clone() {
            writer.option(id, data);
        }
        if codec == Codec::None {
            writer.btf(b"BTF").unwrap();
        }
        writer.finish(&buffers, &spools).unwrap();
        let ids = ids_in(&path);
        assert!(ids.contains(&OptionId::VERSION.0) && ids.iter().all(|id| known.contains(id)), "{ids:?}");
        let to = open(&path);
        for (id, data) in &ours {
            assert_eq!(to.option(*id).map(|option| &option.data), Some(data));
        }
        assert_eq!(to.btf.get().unwrap()[..], *if codec == Codec::None { &b"BTF"[..] } else { b"" });
        if trace_cmd(&path).is_none() {
            not_run(format_args!("no trace-cmd is installed: the file with {codec:?} was not given to it"));
        }
    }
}

#[test]
fn a_killed_recording_is_recovered() {
    let from = open(&data("s390x/inst.dat"));
    let expected = events(&from);
    for codec in [Codec::Zstd, Codec::None] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.dat");
        let Stopped { spools, writer, .. } = record(&from, &path, codec, usize::MAX);
        assert!(matches!(recover(&path), Err(WriteError::Busy)), "its recorder lives");
        drop(writer);
        // A torn last chunk.
        let mut torn = File::options().append(true).open(&spools[0].path).unwrap();
        torn.write_all(&[0, 0, 1, 0, 0, 0, 0x10, 0, 0x28, 0xb5]).unwrap();
        match recover(&path).unwrap() {
            Recovered::Finished { dropped, unsaved, .. } => {
                assert_eq!((dropped, unsaved.len(), unsaved[0].events), (10, 1, None));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(files_beside(&path), 1);
        let (recovered, damage) = events_and_damage(&Trace::open(File::open(&path).unwrap()).unwrap());
        assert!(recovered == expected && damage.len() == 1, "{damage:?}");
        assert!(damage[0].ends_with("events that the recorder had taken when it was killed are not in the file"));
        assert_eq!(recover(&path).unwrap(), Recovered::WasComplete);
    }
}

/// Copies and recovered files have an index, as recordings do; those of another machine's byte order have none.
#[test]
fn what_is_written_anew_has_an_index() {
    let dir = tempfile::tempdir().unwrap();
    let of = |path: &Path| {
        let trace = open(path);
        let places = trace.buffers.iter().flat_map(|buffer| (0..buffer.cpus.len()).map(move |cpu| (buffer, cpu)));
        let entries = places.filter_map(|(buffer, cpu)| trace.index(buffer, cpu)).map(|index| index.entries().len());
        (trace.indexed_events(), entries.sum::<usize>())
    };
    for (name, is_ours) in [("vm-6.1/trig.dat", true), ("i386/kprobe.dat", true), ("s390x/inst.dat", false)] {
        let from = open(&data(name));
        let number = events(&from).len() as u64;
        let packed = dir.path().join("packed.dat");
        let copy = |from: &Trace, name: &str, codec| {
            let path = dir.path().join(name);
            let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
            convert(from, file, Version::V7(codec), 2, &mut |damage| panic!("{damage}")).unwrap();
            of(&path)
        };
        let first = copy(&from, "packed.dat", Codec::Zstd);
        assert_eq!(first.0, is_ours.then_some(number), "{name}");
        assert_eq!(copy(&open(&packed), "again.dat", Codec::Zstd), first, "{name}: chunks copied as they are");
        assert_eq!(copy(&from, "plain.dat", Codec::None).1, 0, "{name}: no chunks");
        let killed = dir.path().join("killed.dat");
        let Stopped { writer, .. } = record(&from, &killed, Codec::Zstd, usize::MAX);
        drop(writer);
        recover(&killed).unwrap();
        let trace = Trace::open(File::open(&killed).unwrap()).unwrap();
        assert_eq!(trace.indexed_events(), is_ours.then_some(number), "{name}: recovered");
        std::fs::remove_file(&killed).unwrap();
    }
}

/// The state that a kill leaves behind when it comes after `keep` bytes of the first spool are still to be moved.
#[test]
fn a_killed_finish_is_recovered() {
    let from = open(&data("s390x/inst.dat"));
    let expected = events(&from);
    for keep in [0, 1, 3000] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.dat");
        let Stopped { mut writer, buffers, spools } = record(&from, &path, Codec::Zstd, usize::MAX);
        // Of a first `recover`, which was killed as well.
        let mark =
            UnsavedEvents { buffer: String::new(), cpu: CpuId(0), events: Some(keep as u64), cause: LossCause::KILLED };
        writer.option(OptionId::RTRACE_UNSAVED, mark.write(from.abi));
        let saved: Vec<Vec<u8>> = spools.iter().map(|s| std::fs::read(&s.path).unwrap()).collect();
        writer.finish(&buffers, &spools).unwrap();
        let finished = std::fs::read(&path).unwrap();
        // Back to before the last step: the options' last link leads to the table, which lies before the BUFFER sections.
        let spools_option = OptionId::RTRACE_SPOOLS.0.to_be_bytes();
        let at = finished.windows(6).rposition(|w| w[..2] == spools_option && w[2..4] == [0, 0]).unwrap() - 16;
        let link_at = at - 8;
        let mut interrupted = finished.clone();
        interrupted[link_at..at].copy_from_slice(&(at as u64).to_be_bytes());
        let trace = Trace::open(interrupted.clone()).unwrap();
        let targets = trace.spools.unwrap();
        assert!(targets.finishing && targets.link == link_at as u64);
        for (n, (spool, entry)) in spools.iter().zip(&targets.entries).enumerate() {
            let left = if n == 0 { keep } else { spool.size as usize };
            let mut whole = saved[n].clone();
            whole[..4].copy_from_slice(&spool.chunks.to_be_bytes());
            std::fs::write(&spool.path, &whole[..left]).unwrap();
            interrupted[entry.target.0 as usize..][..left].fill(0xee);
        }
        std::fs::write(&path, &interrupted).unwrap();
        match recover(&path).unwrap() {
            Recovered::Finished { dropped: 0, unsaved, .. } => assert_eq!(unsaved, [mark]),
            other => panic!("{other:?}"),
        }
        assert!(std::fs::read(&path).unwrap() == finished);
        assert_eq!(files_beside(&path), 1);
        let (recovered, damage) = events_and_damage(&Trace::open(File::open(&path).unwrap()).unwrap());
        assert!(recovered == expected && damage.len() == 1, "{damage:?}");
    }
}
