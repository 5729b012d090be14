//! Events that the rings' counters say were dropped.

use rtrace::trace_dat::{OptionId, Trace};

/// The events that the counters of a buffer's rings (`per_cpu/cpuN/stats`, in the file as recording ended) say were
/// overwritten or refused. A ring that was there before has what it dropped before, too.
pub(in crate::cli) fn dropped(trace: &Trace, buffer: &str) -> u64 {
    // Options of other buffers follow one that names the buffer.
    let (mut of, mut sum) = (String::new(), 0u64);
    for option in trace.options(OptionId::CPUSTAT) {
        for line in option.text().lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.trim() {
                "Buffer" => value.clone_into(&mut of),
                "overrun" | "commit overrun" | "dropped events" if of == buffer => {
                    sum = sum.saturating_add(value.parse().unwrap_or(0));
                }
                _ => {}
            }
        }
    }
    sum
}
