//! The likely reason of a recording without events.

use rtrace::record::{BufferPlan, Plan, RecordSummary, TargetBuffer};

/// A line for a recording that holds no event and lost none; `None` for any other.
pub(super) fn why(plan: &Plan, summary: &RecordSummary) -> Option<String> {
    let totals = summary.totals();
    if !plan.buffers.iter().any(BufferPlan::traces) {
        return None; // a guest records alone
    }
    if summary.latencies().next().is_some() {
        return None; // it says itself what it found
    }
    if totals.events + totals.events_discarded + totals.lost > 0 || summary.error.is_some() {
        return None;
    }
    let filtered = plan.buffers.iter().flat_map(|b| &b.events).any(|event| event.enable && !event.filters.is_empty());
    let tasks = &plan.tasks;
    let whose = match (tasks.command, tasks.named().next().is_none()) {
        (true, _) if !tasks.children => " in CMD itself (`-c` follows its children, too)",
        (true, _) => " in CMD and its children",
        (false, false) => " in the tasks of `-P` and `--thread`",
        (false, true) => "",
    };
    let why = match filtered {
        true => {
            format!("no selected event passed its filter{whose}; `rtrace filter check EVENT FILTER` explains a filter")
        }
        false => format!("none of the selected events happened{whose} while it recorded"),
    };
    // kernel/trace/trace_events_synth.c, `synth_event_trace()`, with the event's file of the top level
    let synthetic = |buffer: &&BufferPlan| {
        buffer.place != TargetBuffer::Top
            && buffer.events.iter().any(|event| event.selection.text().contains("synthetic"))
    };
    let top = match plan.buffers.iter().find(synthetic) {
        Some(_) => "; synthetic events that a kernel module fires reach the top level alone, which `--top` records",
        None => "",
    };
    Some(format!("rtrace: 0 events: {why}{top}\n"))
}
