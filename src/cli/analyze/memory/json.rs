//! `rtrace analyze memory --json`.

use super::{Found, notes};
use crate::cli::analyze::{distribution, symbol};
use rtrace::analysis::{MemorySite, PageCount};
use serde_json::{Value, json};
use std::path::Path;

/// The document, each answer with the sites to show.
pub(super) fn document<'f>(path: &Path, found: impl Iterator<Item = (&'f Found<'f>, Vec<&'f MemorySite>)>) -> Value {
    json!({
        "schema": "rtrace.analyze.memory",
        "version": 1,
        "file": path.to_string_lossy(),
        "buffers": found.map(|(found, sites)| buffer(found, &sites)).collect::<Vec<_>>(),
    })
}

fn buffer(found: &Found<'_>, sites: &[&MemorySite]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
        "buffer": found.place.buffer,
        "clock": found.place.clock,
        "unit": found.place.unit.name(),
        "window": report.window.map(|(begin, end)| json!({"begin": begin, "end": end})),
        "notes": notes(report),
        "counts": {
            "frees": counts.frees,
            "page_frees": counts.page_frees,
            "replaced": counts.replaced,
            "failed": counts.failed,
            "losses": counts.losses,
        },
        "sites": sites.iter().map(|one| site(found, one)).collect::<Vec<_>>(),
        "orders": report.orders.iter().map(|(order, count)| pages(json!({"order": order}), *count)).collect::<Vec<_>>(),
        "tasks": report.tasks.iter().map(|(pid, count)| {
            pages(json!({"pid": pid.0, "comm": found.place.comm(*pid)}), *count)
        }).collect::<Vec<_>>(),
    })
}

fn site(found: &Found<'_>, of: &MemorySite) -> Value {
    json!({
        "site": symbol::place(found.kallsyms, of.site),
        "address": format!("{:#x}", of.site),
        "allocations": of.allocations,
        "asked": of.asked,
        "taken": of.taken,
        "freed": of.freed,
        "live": of.live,
        "live_taken": of.live_taken,
        "most": of.most,
        "lives": distribution::json(&of.lives.distribution()),
    })
}

fn pages(mut name: Value, of: PageCount) -> Value {
    for (key, value) in [("allocations", of.allocations), ("pages", of.pages), ("freed", of.freed), ("live", of.live)] {
        name[key] = json!(value);
    }
    name
}
