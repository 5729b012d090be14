//! `rtrace analyze timerlat --json`.

use super::contexts::contexts;
use super::parts::TimerlatParts;
use crate::cli::analyze::noise::NoiseView;
use crate::cli::analyze::{distribution, noise, symbol};
use rtrace::analysis::{CpuTimer, Noise, TimerlatReport, TimerlatSample};
use rtrace::units::CpuId;
use serde_json::{Map, Value, json};

/// The answer as an object.
pub(in crate::cli) fn answer(found: &NoiseView<'_, TimerlatReport>, top: usize) -> Value {
    let report = found.report;
    json!({
        "losses": report.losses,
        "cpus": report.cpus.iter().map(|(cpu, of)| row(*cpu, of)).collect::<Vec<_>>(),
        "interferences": noise::sources_json(&report.sources, top),
        "sample": report.sample.as_ref().map(|one| sample(found, one)),
    })
}

fn row(cpu: CpuId, of: &CpuTimer) -> Value {
    let of_context = |(context, times, last): (&str, &rtrace::analysis::Durations, Option<u64>)| {
        (context.to_owned(), json!({"times": distribution::json(&times.distribution()), "last": last}))
    };
    let contexts: Map<String, Value> = contexts(of).map(of_context).collect();
    json!({"cpu": cpu.0, "contexts": contexts, "unfinished": of.unfinished})
}

fn sample(found: &NoiseView<'_, TimerlatReport>, one: &TimerlatSample) -> Value {
    let parts = TimerlatParts::of(one, found.clock);
    let mut known: Map<String, Value> =
        parts.known().into_iter().map(|(name, time)| (name.to_owned(), json!(time))).collect();
    known.entry("irq_delay").or_insert(Value::Null);
    known.insert("rest".to_owned(), json!(parts.rest));
    let name = |cause: &Noise| noise::name(&cause.source);
    let function = |address: &u64| symbol::function(found.kallsyms, *address);
    json!({
        "seq": one.seq,
        "cpu": one.cpu.0,
        "irq_at": one.irq_at,
        "thread_at": one.thread_at,
        "irq_latency": one.irq,
        "thread_latency": one.thread,
        "timer_irq": one.timer_irq().map(name),
        "blocking": one.blocking().map(name),
        "parts": (!found.report.sources.is_empty()).then_some(known),
        "causes": noise::causes_json(&one.causes),
        "stack": one.stack.as_ref().map(|stack| stack.iter().map(function).collect::<Vec<_>>()),
        "partial": one.partial,
    })
}
