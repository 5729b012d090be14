//! `rtrace analyze irq --json`.

use super::answer::IrqAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::{CpuIrqs, HandlerKind, IrqSource};
use serde_json::{Map, Value, json};

/// The answer as an object.
pub(super) fn answer(found: &IrqAnswer<'_>, sources: &[&IrqSource]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
        "counts": {
            "unfinished": counts.unfinished,
            "without_entry": counts.without_entry,
            "contradictions": counts.contradictions,
            "censored": counts.censored,
            "losses": counts.losses,
        },
        "cpus": report.cpus.iter().map(cpu).collect::<Vec<_>>(),
        "handlers": sources.iter().map(|one| handler(found, one)).collect::<Vec<_>>(),
    })
}

fn cpu(cpu: &CpuIrqs) -> Value {
    let by_kind = |of: &[u64; 7]| -> Map<String, Value> {
        HandlerKind::ALL.iter().zip(of).map(|(one, value)| (one.name().to_owned(), json!(value))).collect()
    };
    json!({"cpu": cpu.cpu.0, "own": by_kind(&cpu.own), "runs": by_kind(&cpu.runs)})
}

fn handler(found: &IrqAnswer<'_>, source: &IrqSource) -> Value {
    let longest = source.longest;
    json!({
        "kind": source.kind.name(),
        "name": found.name(source),
        "id": format!("{:#x}", source.id),
        "times": distribution::json(&source.times.distribution()),
        "own": source.own,
        "delays": distribution::json(&source.delays.distribution()),
        "longest": longest.map(|longest| json!({"time": longest.time, "at": longest.at, "cpu": longest.cpu.0})),
    })
}
