//! `rtrace analyze faults --json`.

use super::{Found, notes};
use rtrace::analysis::FaultCount;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The document; `top` rows of each list, all of them if it is 0.
pub(super) fn document(path: &Path, found: &[Found<'_>], top: usize) -> Value {
    json!({
        "schema": "rtrace.analyze.faults",
        "version": 1,
        "file": path.to_string_lossy(),
        "buffers": found.iter().map(|found| buffer(found, top)).collect::<Vec<_>>(),
    })
}

fn buffer(found: &Found<'_>, top: usize) -> Value {
    let report = &found.report;
    let top = if top == 0 { usize::MAX } else { top };
    let codes = report.codes.iter().map(|(code, count)| (format!("{code:#x}"), counts(*count)));
    let tasks = report.tasks.iter().take(top).map(|(pid, count)| {
        json!({"pid": pid.0, "comm": found.place.comm(*pid), "user": count.user, "kernel": count.kernel})
    });
    let places = report.places.iter().take(top).map(|(ip, count)| {
        let place = found.place_name(*ip, *count);
        json!({"ip": format!("{ip:#x}"), "place": place, "user": count.user, "kernel": count.kernel})
    });
    let pages = report
        .pages
        .iter()
        .take(top)
        .map(|(page, count)| json!({"page": format!("{page:#x}"), "user": count.user, "kernel": count.kernel}));
    json!({
        "buffer": found.place.buffer,
        "clock": found.place.clock,
        "unit": found.place.unit.name(),
        "window": report.window.map(|(begin, end)| json!({"begin": begin, "end": end})),
        "notes": notes(report),
        "losses": report.losses,
        "codes": codes.collect::<Map<_, _>>(),
        "tasks": tasks.collect::<Vec<_>>(),
        "places": places.collect::<Vec<_>>(),
        "pages": pages.collect::<Vec<_>>(),
    })
}

fn counts(of: FaultCount) -> Value {
    json!({"user": of.user, "kernel": of.kernel})
}
