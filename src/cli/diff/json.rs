//! `--json`: the outcome, and all that repeats it.

use super::numbers::word;
use super::report::Report;
use rtrace::internal::comparison::{SavedRun, SavedRuns};
use serde_json::{Value, json};

pub(super) fn document(report: &Report<'_>) -> Value {
    json!({
        "schema": "rtrace.diff",
        "version": 1,
        "rtrace": env!("CARGO_PKG_VERSION"),
        "verdict": word(report.verdict()),
        "fail_on": report.fail_on.name(),
        "options": report.options,
        "adjust_for": report.adjust_for.map(|metric| metric.text.as_str()),
        "base": side(report.base),
        "new": side(report.new),
        "comparability": report.comparison.comparability,
        "set_aside": report.comparison.set_aside,
        "metrics": report.comparison.metrics,
        "left_out": report.left_out,
    })
}

fn side(summary: &SavedRuns) -> Vec<Value> {
    summary.runs.iter().map(run).collect()
}

/// Facts of a run without its series.
fn run(run: &SavedRun) -> Value {
    json!({
        "file": run.file,
        "sha256": run.sha256,
        "system": run.system,
        "buffer": run.buffer,
        "clock": run.clock,
        "cpus": run.cpus,
        "enabled": run.enabled,
        "options": run.options,
        "duration": run.duration,
        "events": run.events,
        "lost": run.lost,
        "gaps": run.gaps,
        "dropped": run.dropped,
        "damaged": run.damaged,
        "cells": run.cells,
    })
}
