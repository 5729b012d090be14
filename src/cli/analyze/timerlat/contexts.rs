//! The contexts of timerlat's samples.

use rtrace::analysis::{CpuTimer, Durations};

/// The columns of a context by their names in JSON.
pub(super) const NUMBERS: &[&str] = &[
    "",
    "",
    "cpus.contexts.times.count",
    "cpus.contexts.last",
    "cpus.contexts.times.min",
    "cpus.contexts.times.mean",
    "cpus.contexts.times.p50",
    "cpus.contexts.times.p90",
    "cpus.contexts.times.p99",
    "cpus.contexts.times.p99.9",
    "cpus.contexts.times.max",
];

/// The contexts of timerlat's samples.
const CONTEXTS: [&str; 3] = ["irq", "thread", "user"];

/// The latencies of a CPU with their contexts and the last of each; without those that did not occur.
pub(super) fn contexts(cpu: &CpuTimer) -> impl Iterator<Item = (&'static str, &Durations, Option<u64>)> {
    let all = CONTEXTS.into_iter().zip([&cpu.irq, &cpu.thread, &cpu.user]).zip(cpu.last);
    all.map(|((context, times), last)| (context, times, last)).filter(|(_, times, _)| times.count() > 0)
}
