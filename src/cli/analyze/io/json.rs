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
    json!({
        "device": device.device.to_string(),
        "busy": device.busy(),
        "depth": {"mean": device.mean_depth(), "max": device.greatest_depth(), "time": device.depth},
    })
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
