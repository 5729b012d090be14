//! The columns of a CPU, in text and as CSV.

use rtrace::analysis::CpuNoise;

/// Their names in JSON.
pub(super) const NUMBERS: &[&str] = &[
    "",
    "cpus.periods",
    "cpus.runtime_us",
    "cpus.noise_us",
    "cpus.available_percent",
    "cpus.max_noise_us",
    "cpus.max_single_us",
    "cpus.hw",
    "cpus.nmi",
    "cpus.irq",
    "cpus.softirq",
    "cpus.thread",
];

/// All but the CPU's number, as the columns of CSV.
pub(super) fn cells(of: &CpuNoise) -> [String; 11] {
    let available = available(of).map_or_else(|| "-".to_owned(), |share| format!("{share:.5}"));
    let [hw, nmi, irq, softirq, thread] = [of.hw, of.nmi, of.irq, of.softirq, of.thread].map(|count| count.to_string());
    let [periods, runtime, noise] = [of.periods, of.runtime, of.noise].map(|number| number.to_string());
    let (most, single) = (of.max_noise.to_string(), of.max_single.to_string());
    [periods, runtime, noise, available, most, single, hw, nmi, irq, softirq, thread]
}

/// Per cent of the runtime without noise.
pub(super) fn available(of: &CpuNoise) -> Option<f64> {
    (of.runtime > 0).then(|| of.runtime.saturating_sub(of.noise) as f64 * 100.0 / of.runtime as f64)
}
