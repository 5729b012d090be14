//! Damaged files: what can be read is read, what cannot is named, and nothing else happens.
//!
//! Of a file that was cut, what is left is a clean prefix of each CPU's events. Of a file with a flipped byte that we
//! wrote, every event is either there or its loss is reported: all we write carries checksums, also the frames that we
//! copy from trace-cmd's files. There they and bare sub-buffers carry none, so a flipped byte may change an event unseen;
//! then only sanity is asked for.

use crate::common::recording::{Event, data, events, events_and_damage, open, record};
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{BufferOption, Codec, OptionId, SectionId, Trace};
use rtrace::units::CpuId;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A finished recording of ours with the events of `name` and few formats, so that it is small.
fn ours(name: &str, codec: Codec) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    let stopped = record(&open(&data(name)), &path, codec, 3);
    stopped.writer.finish(&stopped.buffers, &stopped.spools).unwrap();
    std::fs::read(&path).unwrap()
}

/// Offset of the first CPU's data: the headers are before it.
fn headers(file: &[u8]) -> usize {
    let trace = Trace::open(file.to_vec()).unwrap();
    trace.buffers.iter().flat_map(|b| &b.cpus).map(|c| c.offset as usize).min().unwrap()
}

/// The file's events, and what is said to be damaged.
fn read(file: Vec<u8>) -> (Vec<Event>, Vec<String>) {
    match Trace::open(file) {
        Ok(trace) => events_and_damage(&trace),
        Err(e) => (Vec::new(), vec![e.to_string()]),
    }
}

/// Numbers that look random, the same in each run.
fn places(below: usize, count: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    })
    .take(count)
}

/// Each CPU's events are the first ones of what there were.
fn assert_clean_prefix(found: &[Event], whole: &[Event], what: &str) {
    let mut of_cpu: HashMap<(u32, usize), Vec<&Event>> = HashMap::new();
    for event in whole {
        of_cpu.entry((event.1, event.2)).or_default().push(event);
    }
    let mut next: HashMap<(u32, usize), usize> = HashMap::new();
    for event in found {
        let cpu = (event.1, event.2);
        let at = next.entry(cpu).or_default();
        let expected = of_cpu.get(&cpu).and_then(|events| events.get(*at));
        assert!(expected == Some(&event), "{what}: event {at} of cpu {} is not the recorded one", cpu.0);
        *at += 1;
    }
}

fn cut(file: &[u8], at: usize, whole: &[Event]) {
    let (found, damage) = read(file[..at].to_vec());
    let what = format!("cut at {at} of {}", file.len());
    assert_clean_prefix(&found, whole, &what);
    assert!(found.len() == whole.len() || !damage.is_empty(), "{what}: {} events, not a word", found.len());
}

#[test]
fn cut_anywhere_a_file_of_ours_gives_a_clean_prefix() {
    for (name, codec) in
        [("s390x/inst.dat", Codec::Zstd), ("i386/kprobe.dat", Codec::Zlib), ("vm-6.1/trig.dat", Codec::None)]
    {
        let file = ours(name, codec);
        let whole = events(&Trace::open(file.clone()).unwrap());
        assert!(whole.len() > 100);
        let headers = headers(&file);
        (0..headers).for_each(|at| cut(&file, at, &whole));
        places(file.len() - headers, 1000).for_each(|at| cut(&file, headers + at, &whole));
        println!("{name} {codec:?}: {} bytes, {headers} of headers", file.len());
    }
}

#[test]
fn cut_anywhere_a_file_of_trace_cmd_gives_a_clean_prefix() {
    for name in ["s390x/inst.dat", "i386/events-v6.dat", "host/small-zlib.dat"] {
        let file = std::fs::read(data(name)).unwrap();
        let whole = events(&Trace::open(file.clone()).unwrap());
        (0..400).chain(places(file.len(), 600)).for_each(|at| cut(&file, at, &whole));
    }
}

#[test]
fn a_flipped_byte_in_a_file_of_ours_loses_nothing_unseen() {
    let file = ours("s390x/inst.dat", Codec::Zstd);
    let whole = events(&Trace::open(file.clone()).unwrap());
    let headers = headers(&file);
    for at in (0..headers).chain(places(file.len(), 1000)) {
        let bit = 1 << (at % 8);
        let mut damaged = file.clone();
        damaged[at] ^= bit;
        let (found, damage) = read(damaged);
        assert!(
            found.len() == whole.len() || !damage.is_empty(),
            "byte {at} ^ {bit:#x}: {} of {} events, not a word",
            found.len(),
            whole.len()
        );
    }
}

/// trace-cmd's frames carry no checksum, those that are copied from it do.
#[test]
fn a_flipped_byte_in_a_converted_file_changes_nothing_unseen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    for name in ["s390x/inst.dat", "i386/kprobe.dat", "vm-6.1/trig.dat"] {
        let to = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        convert(&open(&data(name)), to, Version::V7(Codec::Zstd), 2, &mut |damage| panic!("{damage}")).unwrap();
        let file = std::fs::read(&path).unwrap();
        let whole = events(&Trace::open(file.clone()).unwrap());
        let headers = headers(&file);
        for at in places(file.len() - headers, 1500).map(|at| headers + at) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let (found, damage) = read(damaged);
            assert!(found == whole || !damage.is_empty(), "{name}: bit {} of byte {at:#x} changed unseen", at % 8);
        }
    }
}

#[test]
fn a_flipped_byte_in_a_foreign_file_is_survived() {
    for name in ["s390x/inst.dat", "i386/events-v6.dat", "host/small-zlib.dat", "vm-6.1/trig.dat"] {
        let file = std::fs::read(data(name)).unwrap();
        let most = events(&Trace::open(file.clone()).unwrap()).len() * 20;
        for at in (0..200).chain(places(file.len(), 800)) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x40 >> (at % 7);
            let (found, _) = read(damaged);
            assert!(found.len() <= most, "{name}, byte {at}: {} events", found.len());
        }
    }
}

/// `rtrace report` of a file with 256 MiB of address space and ten seconds.
fn report(path: &Path) -> (String, String, Option<i32>) {
    let script = "ulimit -v 262144 && exec timeout 10 \"$0\" report \"$1\"";
    let out = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_rtrace")])
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out.stdout), text(&out.stderr), out.status.code())
}

#[test]
fn report_says_where_and_exits_with_4_within_256_mib() {
    let file = std::fs::read(data("vm-6.1/trig.dat")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    let write = |bytes: &[u8]| {
        let mut to = std::fs::File::create(&path).unwrap();
        to.write_all(bytes).unwrap();
    };
    write(&file);
    let (whole, stderr, status) = report(&path);
    assert_eq!((stderr.as_str(), status), ("", Some(0)));
    for at in places(file.len(), 60) {
        write(&file[..at]);
        let (text, stderr, status) = report(&path);
        match status {
            Some(0) => assert_eq!(text, whole, "cut at {at}"),
            Some(4) => assert!(stderr.contains(" at 0x") || stderr.contains("cpu "), "cut at {at}: {stderr}"),
            Some(1) => assert!(at < 12 && stderr.contains("not a trace.dat"), "cut at {at}: {stderr}"),
            other => panic!("cut at {at}: {other:?} {stderr}"),
        }
        let mut flipped = file.clone();
        flipped[at] ^= 0x20;
        write(&flipped);
        let (_, stderr, status) = report(&path);
        assert!(matches!(status, Some(0 | 1 | 4)), "byte {at}: {status:?} {stderr}");
        assert_eq!(status == Some(0), stderr.is_empty(), "byte {at}: {stderr}");
    }
}

/// Symbols are unpacked when the first one is asked for: who asks for none has nothing to tell, and lacks nothing.
#[test]
fn damaged_symbols_are_reported_by_who_needs_them() {
    let mut file = std::fs::read(data("host/small-zlib.dat")).unwrap();
    let sections = open(&data("host/small-zlib.dat")).sections();
    let symbols = sections.iter().find(|section| section.id == SectionId::KALLSYMS).unwrap();
    assert!(symbols.compressed);
    let middle = (symbols.offset + symbols.size / 2) as usize;
    file[middle..middle + 16].iter_mut().for_each(|byte| *byte ^= 0x5a);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    std::fs::write(&path, file).unwrap();
    let run = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(words).arg(&path).output().unwrap();
        (String::from_utf8_lossy(&done.stderr).matches("(kallsyms) at 0x").count(), done.status.code())
    };
    for words in [&["report"][..], &["report", "--threads", "2"], &["dump"]] {
        assert_eq!(run(words), (1, Some(4)), "{words:?}");
    }
    assert_eq!(run(&["report", "--count"]), (0, Some(0)));
}

/// The offset of the first options in the file header, and what it is.
fn options_at(file: &[u8]) -> (usize, usize) {
    let at = Trace::open(file.to_vec()).unwrap().prefix.options.unwrap();
    (at.0 as usize, at.1 as usize)
}

/// Puts `number` in, in the file's byte order.
fn put(file: &mut [u8], at: usize, big: bool, number: u64, len: usize) {
    let bytes = if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let from = if big { 8 - len } else { 0 };
    file[at..at + len].copy_from_slice(&bytes[from..from + len]);
}

fn assert_reported(file: Vec<u8>, whole: &[Event], what: &str) -> usize {
    let (found, damage) = read(file);
    assert!(!damage.is_empty(), "{what}: {} of {} events, not a word", found.len(), whole.len());
    found.len()
}

#[test]
fn lost_options_are_reported_and_the_buffers_found_again() {
    for name in ["s390x/inst.dat", "vm-6.1/trig.dat"] {
        let file = std::fs::read(data(name)).unwrap();
        let big = file[12] == 1;
        let whole = events(&Trace::open(file.clone()).unwrap());
        let (link, options) = options_at(&file);
        for offset in [0, u64::MAX, u64::MAX - 15, file.len() as u64 - 1] {
            let mut damaged = file.clone();
            put(&mut damaged, link, big, offset, 8);
            let found = assert_reported(damaged, &whole, &format!("{name}: options at {offset:#x}"));
            assert_eq!(found, whole.len(), "{name}: options at {offset:#x}");
        }
        let mut zeroed = file.clone();
        zeroed[options..].fill(0);
        assert_reported(zeroed, &whole, &format!("{name}: zeros from the options on"));
        let mut zeroed = file.clone();
        zeroed[options..options + 16].fill(0);
        let found = assert_reported(zeroed, &whole, &format!("{name}: no header of the options"));
        assert_eq!(found, whole.len(), "{name}: the buffers follow");
    }
}

/// The numbers of a buffer's option contradict each other, its section and its data as soon as one of them is wrong.
#[test]
fn wrong_numbers_of_a_buffer_are_reported() {
    for name in ["s390x/inst.dat", "vm-6.1/trig.dat", "host/small-zlib.dat"] {
        let file = std::fs::read(data(name)).unwrap();
        let big = file[12] == 1;
        let trace = Trace::open(file.clone()).unwrap();
        let whole = events(&trace);
        for option in trace.options.iter().filter(|option| option.id == OptionId::BUFFER) {
            let text = |from: usize| from + option.data[from..].iter().position(|byte| *byte == 0).unwrap() + 1;
            let numbers = option.offset as usize + 6 + text(text(8));
            let cpus = (option.offset as usize + 6 + option.data.len() - numbers - 8) / 20;
            for count in (0..cpus + 2).filter(|count| *count != cpus).chain([u32::MAX as usize]) {
                let mut damaged = file.clone();
                put(&mut damaged, numbers + 4, big, count as u64, 4);
                let found = assert_reported(damaged, &whole, &format!("{name}: {count} CPUs"));
                assert_eq!(found, whole.len(), "{name}: {count} CPUs: the data tells where it lies");
            }
            for (cpu, field) in (0..cpus).flat_map(|cpu| [(cpu, 4), (cpu, 12)]) {
                for number in [0, 1, 4096, u64::MAX, file.len() as u64] {
                    let mut damaged = file.clone();
                    put(&mut damaged, numbers + 8 + 20 * cpu + field, big, number, 8);
                    assert_reported(damaged, &whole, &format!("{name}: cpu {cpu}, field {field}: {number:#x}"));
                }
            }
        }
    }
}

/// A command's exit code and messages about a file.
fn said(words: &[&str], file: &[u8]) -> (Option<i32>, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.dat");
    std::fs::write(&path, file).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(words).arg(&path).output().unwrap();
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// Also of sections that no event needs: of texts that headers refer to, and of the table of spools that a finished
/// recording keeps.
#[test]
fn a_wrong_size_of_any_section_is_reported_when_the_file_is_opened() {
    let foreign = std::fs::read(data("host/small-zlib.dat")).unwrap();
    let mut seen = Vec::new();
    for file in [foreign, ours("vm-6.1/trig.dat", Codec::None), ours("s390x/inst.dat", Codec::Zstd)] {
        let big = file[12] == 1;
        for section in Trace::open(file.clone()).unwrap().sections() {
            seen.push(section.id);
            for size in [section.size + 1, 2 * section.size, u64::MAX >> 1] {
                let mut damaged = file.clone();
                put(&mut damaged, section.offset as usize + 8, big, size, 8);
                let printed = Trace::open(damaged).map_or(true, |trace| !trace.damage.is_empty());
                assert!(printed, "section {:?} at {:#x} made {size} bytes", section.id, section.offset);
            }
        }
    }
    assert!(seen.contains(&SectionId::STRINGS) && seen.iter().filter(|id| **id == SectionId::OPTIONS).count() > 6);
}

#[test]
fn sizes_that_are_printed_are_those_of_the_data() {
    for (file, at, words) in [
        // what the first chunk unpacks to
        (ours("s390x/inst.dat", Codec::Zstd), None, &["report", "--stat"][..]),
        (ours("i386/kprobe.dat", Codec::Zlib), None, &["report", "--stat"]),
        // what the option says of the first CPU's data
        (ours("s390x/inst.dat", Codec::Zstd), Some(1), &["dump"]),
        (ours("i386/kprobe.dat", Codec::Zlib), Some(1), &["dump", "--json"]),
    ] {
        assert_eq!(said(words, &file).0, Some(0));
        let big = file[12] == 1;
        let trace = Trace::open(file.clone()).unwrap();
        let cpu = trace.buffers[0].cpus[0];
        let mut damaged = file.clone();
        match at {
            None => {
                let size = cpu.offset as usize + 8;
                let is =
                    if big { u32::from_be_bytes } else { u32::from_le_bytes }(file[size..size + 4].try_into().unwrap());
                put(&mut damaged, size, big, u64::from(is) - 1, 4);
            }
            Some(more) => {
                let mut number = vec![0; 16];
                put(&mut number, 0, big, cpu.offset, 8);
                put(&mut number, 8, big, cpu.size, 8);
                let place = file.windows(16).position(|bytes| bytes == number).unwrap();
                put(&mut damaged, place + 8, big, cpu.size + more, 8);
            }
        }
        let (status, stderr) = said(words, &damaged);
        assert!(status == Some(4) && stderr.contains("0x"), "{words:?}: {status:?}, {stderr}");
    }
}

#[test]
fn an_unknown_compression_is_reported_with_its_place() {
    let mut file = ours("i386/kprobe.dat", Codec::Zlib);
    file[0x14] ^= 0x80;
    let (status, stderr) = said(&["report"], &file);
    assert!(status == Some(4) && stderr.contains("at 0x12 is not known"), "{status:?}, {stderr}");
}

#[test]
fn what_is_claimed_often_is_read_once() {
    let file = std::fs::read(data("vm-6.1/trig.dat")).unwrap();
    let trace = Trace::open(file.clone()).unwrap();
    let whole = events(&trace);
    let buffer = &trace.buffers[0];
    let section = trace.sections().into_iter().find(|section| section.id == SectionId::BUFFER).unwrap();
    let cpus = |count| (0..count).map(|cpu| (CpuId(cpu), buffer.cpus[0].offset, buffer.cpus[0].size)).collect();
    let (clock, page_size) = (buffer.clock.clone(), buffer.page_size as u32);
    let option = BufferOption { section: section.offset, name: String::new(), clock, page_size, cpus: cpus(20_000) };
    let with_options = |options: &[Vec<u8>]| {
        let mut damaged = file.clone();
        let mut link = trace.options.iter().map(|option| option.offset as usize).max().unwrap();
        link += 6 + trace.options.last().unwrap().data.len() + 6;
        for data in options {
            let at = damaged.len() as u64;
            put(&mut damaged, link, false, at, 8);
            damaged.extend([0u16.to_le_bytes(), 0u16.to_le_bytes()].concat());
            damaged.extend(u32::MAX.to_le_bytes());
            damaged.extend((data.len() as u64 + 14).to_le_bytes());
            damaged.extend(data);
            damaged.extend([0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            link = damaged.len() - 8;
        }
        Trace::open(damaged).unwrap()
    };
    let bytes = option.write(trace.abi);
    let bytes = [&3u16.to_le_bytes()[..], &(bytes.len() as u32).to_le_bytes(), &bytes].concat();
    let claimed = with_options(&[bytes]);
    let (found, damage) = events_and_damage(&claimed);
    assert!(found.len() == whole.len() && !damage.is_empty(), "{} events", found.len());
    let chain = with_options(&vec![Vec::new(); 200_000]);
    assert_eq!(events_and_damage(&chain).0.len(), whole.len());
}

/// The tables of a version 6 file have no checksum either; all data after them is some CPU's.
#[test]
fn data_of_no_cpu_is_reported_in_version_6() {
    let file = std::fs::read(data("i386/events-v6.dat")).unwrap();
    let whole = events(&Trace::open(file.clone()).unwrap());
    let table = file.windows(10).position(|bytes| bytes == b"flyrecord\0").unwrap() + 10;
    for (cpu, size) in [(0, 0), (0, 4096), (0, 36864 - 4096), (1, 0), (1, 32768 - 4096)] {
        let mut damaged = file.clone();
        put(&mut damaged, table + 16 * cpu + 8, false, size, 8);
        assert_reported(damaged, &whole, &format!("cpu {cpu} has {size} bytes"));
    }
}

/// An option that corrects time stamps and cannot be read costs the correction, not the recording.
#[test]
fn a_malformed_option_of_time_costs_no_event() {
    let file = std::fs::read(data("i386/events-v6.dat")).unwrap();
    let trace = Trace::open(file.clone()).unwrap();
    let whole = events(&trace);
    let uname = trace.option(OptionId::UNAME).unwrap().offset as usize;
    for id in [OptionId::DATE, OptionId::OFFSET, OptionId::TIME_SHIFT, OptionId::TRACEID, OptionId(0x4005)] {
        let mut damaged = file.clone();
        put(&mut damaged, uname, false, id.0.into(), 2);
        let (found, damage) = read(damaged);
        assert!(found == whole && !damage.is_empty() && damage[0].contains(" at 0x"), "{id}: {damage:?}");
    }
}

#[test]
fn a_cpu_that_the_machine_did_not_have_is_reported() {
    let file = std::fs::read(data("vm-6.1/trig.dat")).unwrap();
    let trace = Trace::open(file.clone()).unwrap();
    let whole = events(&trace);
    let option = trace.options.iter().find(|option| option.id == OptionId::BUFFER).unwrap();
    let cpu = option.offset as usize + 6 + option.data.len() - 20;
    for number in [2, 3, u32::MAX.into()] {
        let mut damaged = file.clone();
        put(&mut damaged, cpu, false, number, 4);
        assert_eq!(assert_reported(damaged, &whole, &format!("cpu {number}")), whole.len());
    }
    let count = trace.option(OptionId::CPUCOUNT).unwrap().offset as usize + 6;
    for number in [0, 1, 3, 4096] {
        let mut damaged = file.clone();
        put(&mut damaged, count, false, number, 4);
        assert_reported(damaged, &whole, &format!("{number} CPUs"));
    }
}

/// Names of sections, the length of a format, and a sub-buffer's commit have no checksum: other parts contradict them.
#[test]
fn what_other_parts_contradict_is_reported() {
    let names = std::fs::read("tests/data/traces/i386/kprobe.dat").unwrap();
    assert_eq!(said(&["dump", "--all"], &names).0, Some(0));
    let headers: Vec<usize> = (0..names.len() - 20).filter(|at| names[*at..].starts_with(&[15, 0, 1, 0])).collect();
    let texts = *headers.last().expect("a section of texts");
    for (at, what) in [(0, "another section"), (2, "not compressed")] {
        let mut file = names.clone();
        file[texts + at] = if at == 0 { 16 } else { 0 };
        let (status, stderr) = said(&["dump", "--all"], &file);
        assert!(status == Some(4) && stderr.contains("it leads to no name"), "{what}: {stderr}");
    }

    let bare = std::fs::read("tests/data/traces/i386/events-v6.dat").unwrap();
    let first = bare.windows(24).position(|bytes| bytes.starts_with(b"irq\0")).expect("a system");
    let mut at = first + 8;
    for _ in 0..bare[first + 4] {
        at += 8 + u64::from_le_bytes(bare[at..at + 8].try_into().unwrap()) as usize;
    }
    let mut last = first + 8;
    while last + 8 + (u64::from_le_bytes(bare[last..last + 8].try_into().unwrap()) as usize) < at {
        last += 8 + u64::from_le_bytes(bare[last..last + 8].try_into().unwrap()) as usize;
    }
    let mut file = bare.clone();
    file[last] -= 1; // the newline becomes part of the next system's name
    let (status, stderr) = said(&["report"], &file);
    assert!(status == Some(4) && stderr.contains("is no name of a system"), "{stderr}");

    let trace = Trace::open(bare.clone()).unwrap();
    let pages = trace.buffers[0].cpus[0].offset as usize;
    let mut file = bare;
    file[pages + 8..pages + 12].fill(0);
    for words in [&["report", "--threads", "1"][..], &["report", "--threads", "2"], &["dump", "--validate"]] {
        let (status, stderr) = said(words, &file);
        assert!(status == Some(4) && stderr.contains("header declares no committed bytes"), "{words:?}: {stderr}");
    }
}
