//! Time windows found by seeking hold the same records as a scan of the whole file.

use rtrace::merge::Merge;
use rtrace::trace_dat::{TimeOptions, Trace};
use rtrace::units::Timestamp;
use std::fs::File;
use std::path::{Path, PathBuf};

fn trace_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for dir in [root.join("tests/data/traces"), root.join("../shared/corpus")] {
        let Ok(kernels) = std::fs::read_dir(&dir) else { continue };
        for kernel in kernels.flatten() {
            let Ok(files) = std::fs::read_dir(kernel.path()) else { continue };
            found.extend(files.flatten().map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "dat")));
        }
    }
    found.sort();
    found
}

type Key = (u64, u32, usize, Vec<u8>);

/// The records from `since` to `until`, and how many records were read for them.
fn window(trace: &Trace, since: Option<u64>, until: Option<u64>, seek: bool) -> (Vec<Key>, usize) {
    let time = TimeOptions::default();
    let (from, to) = (since.map(Timestamp), until.map(Timestamp));
    let mut merge = Merge::default();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            let range = if seek { trace.seek(buffer, cpu, &time).unwrap().range(from, to) } else { 0..u64::MAX };
            merge.add(trace.stream_of_chunks(buffer, cpu, &time, range).unwrap(), number);
        }
    }
    let (mut records, mut read) = (Vec::new(), 0);
    while merge.advance().unwrap() {
        let record = merge.record();
        read += 1;
        if since.is_none_or(|s| record.timestamp.0 >= s) && until.is_none_or(|u| record.timestamp.0 <= u) {
            records.push((record.timestamp.0, record.cpu.0, record.buffer, record.data.to_vec()));
        }
    }
    (records, read)
}

#[test]
fn windows_of_every_file_are_complete() {
    let files = trace_files();
    assert!(!files.is_empty(), "no trace files to test with");
    let (mut needed, mut spared) = (0, 0);
    for path in files {
        let trace = Trace::open(File::open(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (all, _) = window(&trace, None, None, false);
        if all.is_empty() {
            continue;
        }
        for (since, until) in [(0, 1), (40, 60), (50, 50), (90, 100), (0, 100), (99, 100)] {
            let at = |percent: usize| all[((all.len() - 1) * percent) / 100].0;
            let (since, until) = (at(since), at(until));
            let expected: Vec<&Key> = all.iter().filter(|k| (since..=until).contains(&k.0)).collect();
            let (found, read) = window(&trace, Some(since), Some(until), true);
            assert!(found.iter().eq(expected.iter().copied()), "{}: {since} to {until}", path.display());
            needed += read;
            spared += all.len() - read;
        }
        for (number, buffer) in trace.buffers.iter().enumerate() {
            for (index, cpu) in buffer.cpus.iter().enumerate() {
                let times: Vec<u64> = all.iter().filter(|k| k.1 == cpu.cpu.0 && k.2 == number).map(|k| k.0).collect();
                let span = trace.span(buffer, index, &TimeOptions::default()).unwrap();
                let expected = times.first().map(|&first| (Timestamp(first), Timestamp(times[times.len() - 1])));
                assert_eq!(span, expected, "{}: cpu {}", path.display(), cpu.cpu);
            }
        }
        println!("{}: {} events", path.display(), all.len());
    }
    println!("{needed} records read for the windows, {spared} spared");
    assert!(spared > needed / 10, "seeking spares nothing: {spared} of {needed}");
}
