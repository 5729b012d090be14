//! Any bytes as a trace.dat file: opened, or an error with a place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rtrace::trace_dat::Trace;

fuzz_target!(|data: &[u8]| {
    let _ = Trace::open(data.to_vec());
});
