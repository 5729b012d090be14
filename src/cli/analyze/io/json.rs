//! `rtrace analyze io --json`.

use super::answer::IoAnswer;
use crate::cli::analyze::{distribution, errno};
use rtrace::analysis::{DeviceIo, Durations, IoRequests};
use serde_json::{Value, json};

/// The answer as an object.
pub(super) fn answer(found: &IoAnswer<'_>, rows: &[&IoRequests]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
        "counts": {
            "unfinished": counts.unfinished,
            "without_issue": counts.without_issue,
            "requeued": counts.requeued,
            "censored": counts.censored,
            "losses": counts.losses,
        },
        "devices": report.devices.iter().map(device).collect::<Vec<_>>(),
        "requests": rows.iter().copied().map(requests).collect::<Vec<_>>(),
    })
}

fn device(device: &DeviceIo) -> Value {
    let DeviceIo { ended, all, .. } = device;
    let times = if ended == all { json!(all.times()) } else { Value::Null };
    json!({
        "device": device.device.to_string(),
        "busy": between(json!(ended.busy()), json!(all.busy())),
        "depth": {
            "mean": between(json!(ended.mean()), json!(all.mean())),
            "max": between(json!(ended.greatest()), json!(all.greatest())),
            "time": times,
        },
    })
}

/// A number, or the least and the most that it can be.
fn between(least: Value, most: Value) -> Value {
    if least == most { most } else { json!({"least": least, "most": most}) }
}

fn requests(of: &IoRequests) -> Value {
    let distributed = |durations: &Durations| distribution::json(&durations.distribution());
    let longest = of
        .longest
        .map(|longest| json!({"time": longest.time, "at": longest.at, "sector": longest.sector, "cpu": longest.cpu.0}));
    json!({
        "device": of.device.to_string(),
        "operation": of.operation.name(),
        "bytes": of.bytes,
        "total": distributed(&of.total),
        "queue": distributed(&of.queued),
        "device_time": distributed(&of.device_time),
        "errors": errno::json(&of.errors),
        "longest": longest,
    })
}
