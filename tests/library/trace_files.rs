//! Real trace files, of the corpus where it is available: everything in them is found, in order, without damage.

use crate::common::trace_files::trace_files;
use rtrace::internal::merge::Merge;
use rtrace::internal::trace_dat::{TimeOptions, Trace};
use std::fs::File;

fn merged(trace: &Trace) -> Merge {
    let mut merge = Merge::default();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            merge.add(trace.stream(buffer, cpu, &TimeOptions::default()).unwrap(), number);
        }
    }
    merge
}

#[test]
fn every_file_is_read_whole_and_in_order() {
    let files = trace_files();
    assert!(!files.is_empty(), "no trace files to test with");
    for path in files {
        let trace = Trace::open(File::open(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let damage: Vec<String> = trace.damage.iter().map(ToString::to_string).collect();
        assert!(damage.is_empty(), "{}: {damage:?}", path.display());
        assert!(!trace.ftrace_formats.is_empty(), "{}", path.display());
        let mut merge = merged(&trace);
        let (mut events, mut last) = (0, 0);
        while merge.advance().unwrap_or_else(|e| panic!("{}: {e}", path.display())) {
            let record = merge.record();
            assert!(record.timestamp.0 >= last, "{}: event {events} goes back in time", path.display());
            last = record.timestamp.0;
            events += 1;
        }
        let mut alone = 0;
        let mut spare = Vec::new();
        for buffer in &trace.buffers {
            for cpu in 0..buffer.cpus.len() {
                let mut stream = trace.stream(buffer, cpu, &TimeOptions::default()).unwrap();
                while stream.next(&mut spare).unwrap().is_some() {
                    alone += 1;
                }
            }
        }
        assert_eq!(events, alone, "{}: merging loses nothing", path.display());
        println!("{}: {events} events", path.display());
    }
}
