//! `rtrace analyze functions --json`.

use super::answer::FunctionsAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::CalledFunction;
use serde_json::{Value, json};

/// The answer as an object.
pub(super) fn answer(found: &FunctionsAnswer<'_>, rows: &[&CalledFunction]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
        "counts": {
            "unfinished": counts.unfinished,
            "without_entry": counts.without_entry,
            "losses": counts.losses,
        },
        "functions": rows.iter().map(|row| function(found, row)).collect::<Vec<_>>(),
    })
}

fn function(found: &FunctionsAnswer<'_>, of: &CalledFunction) -> Value {
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
