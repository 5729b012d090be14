//! Events that the file says it lacks, beside those that the records tell of.

use rtrace::internal::trace_dat::{OptionId, Trace, UnsavedEvents};

/// The events that the counters of a buffer's rings (`per_cpu/cpuN/stats`, in the file as recording ended) say were
/// overwritten or refused, and those of marks with a number. A ring that was there before has what it dropped before, too.
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
    let marks = trace.options(OptionId::RTRACE_UNSAVED).filter_map(|mark| UnsavedEvents::read(mark, trace.abi).ok());
    marks.filter(|mark| mark.buffer == buffer).filter_map(|mark| mark.events).fold(sum, u64::saturating_add)
}
