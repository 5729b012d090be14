//! Any bytes as a trace.dat file, all the way: every record of every CPU in order, whatever is damaged on the way.

use rtrace::internal::merge::Merge;
use rtrace::internal::trace_dat::{PidBloom, TimeOptions, Trace};

pub(crate) fn run(data: &[u8]) {
    let Ok(trace) = Trace::open(data.to_vec()) else { return };
    let _ = trace.process_maps();
    let mut merge = Merge::default();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            if let Ok(stream) = trace.stream(buffer, cpu, &TimeOptions::default()) {
                merge.add(stream, number);
            }
            // by its index, which may say anything
            if let Ok(mut stream) = trace.stream(buffer, cpu, &TimeOptions::default()) {
                stream.skip_over(trace.without_tasks(buffer, cpu, &PidBloom::default()));
                merge.add(stream, number);
            }
        }
    }
    loop {
        match merge.advance() {
            Ok(true) => assert!(merge.record().data.len() < 1 << 28),
            Ok(false) => break,
            Err(_damage) => {}
        }
    }
}
