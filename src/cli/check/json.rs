//! `rtrace check --json`.

use super::verdicts::{Judged, Verdicts, word};
use rtrace::internal::assertion::{Dimension, Interval};
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
        "window": extent.window.map(|(begin, end)| json!({"begin": begin.0, "end": end.0})),
        "events": extent.events,
        "lost": extent.lost,
        "gaps": extent.gaps,
        "verdict": word(verdicts.all()),
        "assertions": verdicts.results.iter().map(|result| assertion(result, comms)).collect::<Vec<_>>(),
    });
    if verdicts.unfinished {
        document["unfinished"] = true.into();
    }
    document
}

fn assertion(result: &Judged, comms: &Comms) -> Value {
    let checked = &result.checked;
    let [left, right] = checked.values.map(|value| value.map(interval));
    let spot = checked.spot.map(|spot| {
        let comm = spot.pid.and_then(|pid| comms.get(pid)).map(String::from_utf8_lossy);
        let pid = spot.pid.map(|pid| pid.0);
        json!({"begin": spot.begin, "end": spot.at, "cpu": spot.cpu.0, "pid": pid, "comm": comm})
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
