//! `rtrace check --json`.

use super::verdicts::{Judged, Verdicts, word};
use crate::cli::query::window_json;
use rtrace::internal::assertion::{Dimension, Interval};
use rtrace::internal::trace_dat::WallClock;
use rtrace::symbols::Comms;
use serde_json::{Value, json};

/// The document: quantities in nanoseconds, places in the unit of the clock.
pub(super) fn document(verdicts: &Verdicts<'_>, comms: &Comms) -> Value {
    let extent = &verdicts.extent;
    let mut document = json!({
        "schema": "rtrace.check",
        "version": 1,
        "file": verdicts.path.to_string_lossy(),
        "buffer": verdicts.buffer,
        "clock": verdicts.clock,
        "unit": verdicts.unit.name(),
        "window": extent.window.map(|(begin, end)| window_json(begin.0, end.0, verdicts.wall)),
        "events": extent.events,
        "lost": extent.lost,
        "gaps": extent.gaps,
        "verdict": word(verdicts.all()),
        "assertions": verdicts.results.iter().map(|result| assertion(result, comms, verdicts.wall)).collect::<Vec<_>>(),
    });
    if verdicts.unfinished {
        document["unfinished"] = true.into();
    }
    document
}

fn assertion(result: &Judged, comms: &Comms, clock: Option<WallClock>) -> Value {
    let checked = &result.checked;
    let [left, right] = checked.values.map(|value| value.map(interval));
    let spot = checked.spot.map(|spot| {
        let comm = spot.pid.and_then(|pid| comms.get(pid)).map(String::from_utf8_lossy);
        let pid = spot.pid.map(|pid| pid.0);
        let mut place = window_json(spot.begin, spot.at, clock);
        place["cpu"] = json!(spot.cpu.0);
        place["pid"] = json!(pid);
        place["comm"] = json!(comm);
        place
    });
    json!({
        "name": result.name,
        "assertion": checked.text,
        "verdict": word(checked.verdict),
        "left": left,
        "right": right,
        "samples": checked.samples,
        "reasons": checked.reasons,
        "spot": spot,
        "context": result.context,
    })
}

fn interval(value: Interval) -> Value {
    let unit = match value.dimension {
        Dimension::Number => Value::Null,
        Dimension::Time => json!("ns"),
        Dimension::Rate => json!("/s"),
    };
    // An unbounded end is null.
    json!({"observed": value.observed, "least": value.least, "most": value.most, "unit": unit})
}
