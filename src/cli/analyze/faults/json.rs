//! `rtrace analyze faults --json`.

use super::answer::FaultsAnswer;
use rtrace::analysis::FaultCount;
use serde_json::{Map, Value, json};

/// The answer as an object.
pub(super) fn answer(found: &FaultsAnswer<'_>, top: usize) -> Value {
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
