//! `rtrace analyze memory --json`.

use super::answer::MemoryAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::{MemorySite, PageCount};
use serde_json::{Value, json};

/// The answer as an object.
pub(super) fn answer(found: &MemoryAnswer<'_>, sites: &[&MemorySite]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
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

fn site(found: &MemoryAnswer<'_>, of: &MemorySite) -> Value {
    json!({
        "site": found.site(of),
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
