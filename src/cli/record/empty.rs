//! The likely reason of a recording without events, or without some that were asked for.

use crate::cli::hist::unfired;
use rtrace::record::{BufferPlan, Plan, RecordSummary, TargetBuffer};
use rtrace::tracefs::Tracefs;
use std::time::Duration;

/// Recordings below this are said to be short.
const SHORT: Duration = Duration::from_millis(10);

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
    Some(reason(plan))
}

/// The system call that C libraries make in the place of an older one whose event is selected.
fn newer_call(selected: &str) -> Option<&'static str> {
    let call =
        ["sys_enter_", "sys_exit_"].iter().find_map(|begin| selected.split(':').next_back()?.strip_prefix(begin))?;
    match call {
        "open" | "creat" => Some("openat"),
        "stat" | "lstat" => Some("newfstatat"),
        "fork" | "vfork" => Some("clone"),
        _ => None,
    }
}

/// The line for `plan`, of which no event came.
pub(crate) fn reason(plan: &Plan) -> String {
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
        false => {
            let time = plan
                .duration
                .filter(|time| *time < SHORT)
                .map(|time| format!(", {} us as `--duration` says", time.as_micros()));
            format!("none of the selected events happened{whose} while it recorded{}", time.unwrap_or_default())
        }
    };
    let calls: Vec<&str> =
        plan.buffers.iter().flat_map(|b| &b.events).filter_map(|e| newer_call(e.selection.text())).collect();
    let newer = calls.first().map(|call| format!("; programs of today call {call}: `-e syscalls:sys_enter_{call}`"));
    format!("rtrace: 0 events: {why}{}\n", newer.unwrap_or_default())
}

/// A line for synthetic events that no trigger fires, in a recording of instances: what kernel code fires reaches the top
/// level alone (`synth_event_trace` in `kernel/trace/trace_events_synth.c`), so that the recording has none of them.
pub(super) fn unheard(plan: &Plan, tracefs: &Tracefs) -> Option<String> {
    let of_instances = plan.buffers.iter().filter(|buffer| buffer.place != TargetBuffer::Top);
    let selections: Vec<_> = of_instances.flat_map(|b| &b.events).filter(|event| event.enable).collect();
    if selections.is_empty() {
        return None;
    }
    let unfired = unfired(tracefs, |event| selections.iter().any(|selected| selected.selection.selects(event)));
    let (first, others) = unfired.split_first()?;
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    Some(format!(
        "rtrace: no trigger fires {first}{more}, and what kernel code fires reaches the top level alone, which `--top` records\n"
    ))
}
