//! `rtrace analyze osnoise --json`.

use super::cpus::available;
use crate::cli::analyze::noise::{self, KINDS, NoiseView};
use rtrace::analysis::{CpuNoise, NoiseSample, OsnoiseReport};
use rtrace::units::CpuId;
use serde_json::{Map, Value, json};

/// The answer as an object.
pub(in crate::cli) fn answer(found: &NoiseView<'_, OsnoiseReport>, top: usize) -> Value {
    let report = found.report;
    json!({
        "losses": report.losses,
        "cpus": report.cpus.iter().map(|(cpu, of)| row(*cpu, of)).collect::<Vec<_>>(),
        "interferences": noise::sources_json(&report.sources, top),
        "sample": report.sample.as_ref().map(sample),
    })
}

fn row(cpu: CpuId, of: &CpuNoise) -> Value {
    json!({
        "cpu": cpu.0,
        "periods": of.periods,
        "runtime_us": of.runtime,
        "noise_us": of.noise,
        "available_percent": available(of),
        "max_noise_us": of.max_noise,
        "max_single_us": of.max_single,
        "hw": of.hw,
        "nmi": of.nmi,
        "irq": of.irq,
        "softirq": of.softirq,
        "thread": of.thread,
    })
}

fn sample(one: &NoiseSample) -> Value {
    let sums = KINDS.map(|kind| (kind.to_owned(), json!(noise::sum(&one.causes, kind))));
    let mut parts: Map<String, Value> = sums.into_iter().collect();
    parts.insert("rest".to_owned(), json!(rest(one)));
    json!({
        "at": one.at,
        "cpu": one.cpu.0,
        "start": one.start,
        "duration": one.duration,
        "interferences": one.interferences,
        "parts": parts,
        "causes": noise::causes_json(&one.causes),
        "partial": one.partial,
    })
}

/// Nanoseconds that no cause explains.
pub(super) fn rest(one: &NoiseSample) -> i64 {
    let known = one.causes.iter().map(|cause| cause.duration).fold(0, u64::saturating_add);
    i64::try_from(i128::from(one.duration) - i128::from(known)).unwrap_or(i64::MIN)
}
