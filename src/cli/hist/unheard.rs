//! Events that no instance hears of: kernel code fires them into the ring buffer of the top level alone.

use super::chain::{definitions, instances};
use super::place::{events_with_hists, hist_triggers};
use crate::cli::args::called;
use rtrace::hist::spec::Do;
use rtrace::hist::table::HistTable;
use rtrace::tracefs::{EventName, Instance, Tracefs};

/// Synthetic events that `wanted` accepts and no trigger of any instance fires. Kernel code that fires one names a file
/// of the event, which is that of the top level in all but a few modules (`synth_event_trace` in
/// `kernel/trace/trace_events_synth.c`).
pub(crate) fn unfired(tracefs: &Tracefs, wanted: impl Fn(&EventName) -> bool) -> Vec<EventName> {
    let named = definitions(tracefs).unwrap_or_default().into_iter().map(|def| EventName::new("synthetic", def.name));
    let mut unfired: Vec<EventName> = named.filter(wanted).collect();
    if unfired.is_empty() {
        return unfired;
    }
    for instance in instances(tracefs).unwrap_or_default() {
        for event in events_with_hists(&instance).unwrap_or_default() {
            for echo in hist_triggers(&instance, &event).unwrap_or_default() {
                unfired.retain(|synthetic| {
                    !echo.spec.actions.iter().any(
                        |action| matches!(&action.value.what, Do::Trace { event, .. } if event.value == synthetic.name),
                    )
                });
            }
        }
    }
    unfired
}

/// A line for tables of an instance that counted nothing of an event which the top level alone may hear of.
pub(super) fn unheard(instance: &Instance, event: &EventName, tables: &[HistTable]) -> Option<String> {
    if instance.name().is_none() || tables.iter().any(|table| table.hits > 0) {
        return None;
    }
    let place = called(instance);
    match (event.system.as_str(), event.name.as_str()) {
        ("synthetic", _) => {
            let [_] = unfired(instance.tracefs(), |name| name == event).as_slice() else { return None };
            Some(format!(
                "rtrace: no trigger fires {event}, and what kernel code fires reaches the top level alone, not {place}; \
                 `--top` counts it"
            ))
        }
        // `trace_marker` of the top level, and trace_printk() (`tracing_mark_write` in `kernel/trace/trace.c`).
        ("ftrace", "print") => Some(format!(
            "rtrace: what is written to trace_marker reaches the top level alone, not {place}; `--top` counts it"
        )),
        _ => None,
    }
}
