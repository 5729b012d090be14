//! Any bytes as a trace.dat file: opened, or an error with a place.

use rtrace::internal::trace_dat::Trace;

pub(crate) fn run(data: &[u8]) {
    let _ = Trace::open(data.to_vec());
}
