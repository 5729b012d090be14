//! `rtrace why --json`.

use super::found::{LateInterval, LateKind};
use rtrace::analysis::{IntervalPart, PartKind, WakeContext};
use rtrace::units::Pid;
use serde_json::{Map, Value, json};

/// The document: all times in the buffer's unit.
pub(super) fn document(found: &LateInterval<'_>) -> Value {
    let interval = &found.interval;
    let (kind, of) = match &interval.kind {
        LateKind::Around(at) => ("at", json!(at)),
        LateKind::Wakeup => ("wakeup", Value::Null),
        LateKind::Syscall(name) => ("syscall", json!(name)),
        LateKind::Pair(text) => ("pair", json!(text)),
    };
    let losses = found.history.losses.iter();
    json!({
        "schema": "rtrace.why",
        "version": 1,
        "file": found.input.path.to_string_lossy(),
        "buffer": found.buffer.name,
        "clock": found.buffer.clock,
        "unit": found.unit.name(),
        "task": task(found, interval.pid),
        "interval": {"kind": kind, "of": of, "begin": interval.begin, "end": interval.end, "time": found.time()},
        "depth": found.depth,
        "losses": losses.map(|loss| json!({"cpu": loss.cpu.0, "begin": loss.begin, "end": loss.end})).collect::<Vec<_>>(),
        "unknown": found.unknown(),
        "notes": found.notes(),
        "report": found.report(interval.begin, interval.end),
        "parts": parts(found, &found.parts),
    })
}

fn task(found: &LateInterval<'_>, pid: Pid) -> Value {
    json!({"pid": pid.0, "comm": found.comm(pid)})
}

fn parts(found: &LateInterval<'_>, parts: &[IntervalPart]) -> Vec<Value> {
    parts.iter().map(|one| part(found, one)).collect()
}

fn part(found: &LateInterval<'_>, part: &IntervalPart) -> Value {
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("kind", kind(&part.kind).into());
    add("begin", part.begin.into());
    add("end", part.end.into());
    add("time", part.time().into());
    match &part.kind {
        PartKind::Run { task: pid, cpu } => {
            add("task", task(found, *pid));
            add("cpu", cpu.0.into());
        }
        PartKind::Wait { task: pid, cpu, .. } | PartKind::Preempted { task: pid, cpu } => {
            add("task", task(found, *pid));
            add("cpu", cpu.map(|cpu| cpu.0).into());
        }
        PartKind::Sleep { task: pid, wake, handler, .. } => {
            add("task", task(found, *pid));
            let wake = wake.map(|wake| {
                json!({
                    "at": wake.at,
                    "cpu": wake.by.cpu.0,
                    "task": task(found, wake.by.pid),
                    "context": context(wake.context),
                    "handler": handler.as_ref().map(|one| json!({"kind": one.kind.name(), "name": found.handler(one)})),
                })
            });
            add("wake", wake.unwrap_or_default());
        }
        PartKind::Interrupt { handler, cpu } => {
            add("handler", json!({"kind": handler.kind.name(), "name": found.handler(handler)}));
            add("cpu", cpu.0.into());
        }
        PartKind::Idle { cpu } => {
            add("cpu", cpu.0.into());
        }
        PartKind::Absent { task: pid } => {
            add("task", task(found, *pid));
        }
        _ => {}
    }
    add("parts", parts(found, &part.parts).into());
    Value::Object(object)
}

fn kind(kind: &PartKind) -> &'static str {
    match kind {
        PartKind::Run { .. } => "run",
        PartKind::Wait { waking: true, .. } => "waking",
        PartKind::Wait { .. } => "wait",
        PartKind::Preempted { .. } => "preempted",
        PartKind::Sleep { blocked: true, .. } => "blocked",
        PartKind::Sleep { .. } => "sleep",
        PartKind::Interrupt { .. } => "interrupt",
        PartKind::Idle { .. } => "idle",
        PartKind::Absent { .. } => "absent",
        _ => "unknown",
    }
}

fn context(context: WakeContext) -> &'static str {
    match context {
        WakeContext::Task => "task",
        WakeContext::SoftIrq => "softirq",
        WakeContext::HardIrq => "hardirq",
    }
}
