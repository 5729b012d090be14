//! `rtrace analyze functions --json`.

use super::found::{Found, notes};
use crate::cli::analyze::distribution;
use rtrace::analysis::CalledFunction;
use serde_json::{Value, json};
use std::path::Path;

/// The document: all times in the buffer's unit.
pub(super) fn document<'f>(
    path: &Path,
    found: impl Iterator<Item = (&'f Found<'f>, Vec<&'f CalledFunction>)>,
) -> Value {
    json!({
        "schema": "rtrace.analyze.functions",
        "version": 1,
        "file": path.to_string_lossy(),
        "buffers": found.map(|(found, rows)| buffer(found, &rows)).collect::<Vec<_>>(),
    })
}

fn buffer(found: &Found<'_>, rows: &[&CalledFunction]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
        "buffer": found.place.buffer,
        "clock": found.place.clock,
        "unit": found.place.unit.name(),
        "window": report.window.map(|(begin, end)| json!({"begin": begin, "end": end})),
        "notes": notes(report),
        "counts": {
            "unfinished": counts.unfinished,
            "without_entry": counts.without_entry,
            "losses": counts.losses,
        },
        "functions": rows.iter().map(|row| function(found, row)).collect::<Vec<_>>(),
    })
}

fn function(found: &Found<'_>, of: &CalledFunction) -> Value {
    // Without switches nothing is known of time off the CPU.
    let off_cpu = |time: u64| found.report.has_switches.then_some(time);
    json!({
        "function": found.name(of),
        "address": format!("{:#x}", of.address),
        "own": of.own,
        "asleep": off_cpu(of.asleep),
        "preempted": off_cpu(of.preempted),
        "interrupted": of.interrupted,
        "net": distribution::json(&of.net.distribution()),
        "whole": distribution::json(&of.whole.distribution()),
        "longest": of.longest.map(|longest| {
            json!({"time": longest.time, "at": longest.at, "pid": longest.pid.0, "cpu": longest.cpu.0})
        }),
    })
}
