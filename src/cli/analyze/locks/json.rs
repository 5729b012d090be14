//! `rtrace analyze locks --json`.

use super::answer::LocksAnswer;
use super::args::LockRows;
use crate::cli::analyze::distribution;
use rtrace::analysis::LockWaits;
use serde_json::{Map, Value, json};

/// The answer as an object.
pub(super) fn answer(found: &LocksAnswer<'_>, rows: &LockRows<'_>) -> Value {
    let report = &found.report;
    let counts = report.counts;
    let lock = |(key, of): &&((u64, rtrace::analysis::LockKind), LockWaits)| {
        let (address, kind) = *key;
        let name = json!({"lock": found.lock(address), "address": format!("{address:#x}"), "kind": kind.name()});
        with(name, of)
    };
    json!({
        "counts": {
            "unfinished": counts.unfinished,
            "without_begin": counts.without_begin,
            "censored": counts.censored,
            "losses": counts.losses,
        },
        "kinds": report.kinds.iter().map(|(kind, of)| with(json!({"kind": kind.name(), "flags": kind.0}), of)).collect::<Vec<_>>(),
        "locks": rows.locks.iter().map(lock).collect::<Vec<_>>(),
        "tasks": rows.tasks.iter().map(|(pid, of)| with(json!({"pid": pid.0, "comm": found.place.comm(*pid)}), of)).collect::<Vec<_>>(),
        "stacks": rows.stacks.iter().map(|(stack, of)| with(json!({"stack": found.stack(stack)}), of)).collect::<Vec<_>>(),
    })
}

/// A row's name and its waits in one object.
fn with(name: Value, of: &LockWaits) -> Value {
    let waits = json!({
        "waits": distribution::json(&of.times.distribution()),
        "failed": of.failed,
        "longest": of.longest.map(|longest| {
            json!({"time": longest.time, "at": longest.at, "pid": longest.pid.0, "cpu": longest.cpu.0})
        }),
    });
    let all: Map<String, Value> =
        [name, waits].into_iter().filter_map(|part| part.as_object().cloned()).flatten().collect();
    Value::Object(all)
}
