//! Options about the events and tracers that need another one.

use super::in_order::TracedOptions;
use super::tracers::OF_TRACERS;
use crate::cli::given::{Given, Moot};
use rtrace::record::{BufferPlan, TargetBuffer};

/// Tracers that look at the threshold, besides those of latencies.
const WITH_THRESHOLD: [&str; 4] = ["function_graph", "hwlat", "osnoise", "timerlat"];

/// The first option about events that nothing on the command line is for.
pub(super) fn of_events(given: &Given, in_order: &TracedOptions) -> Option<Moot<'static>> {
    let moot = |option, reason, hint| Some(Moot { option, reason, hint });
    if in_order.inverts_nothing() {
        return moot(
            "invert",
            "without a `-e` after it",
            "as in `-e sched -v -e sched:sched_switch`, all but sched_switch.",
        );
    }
    let names_events = given.first_of(&["event", "for", "hook"]).is_some();
    if given.has("ignore_unknown") && !names_events && in_order.profiled().is_empty() {
        return moot("ignore_unknown", "without events", "`-e EVENT` names some.");
    }
    None
}

/// The same, of events and tracers, for a command that leaves nothing set that a later one could use: record, stream,
/// profile.
pub(super) fn of(given: &Given, in_order: &TracedOptions) -> Option<Moot<'static>> {
    let moot = |option, reason, hint| Some(Moot { option, reason, hint });
    if let Some(moot) = of_events(given, in_order) {
        return Some(moot);
    }
    let buffers = in_order.settings(TargetBuffer::Top).unwrap_or_default(); // an error there is reported before
    let runs =
        |names: &[&str]| buffers.iter().filter_map(|buffer| buffer.tracer.as_deref()).any(|t| names.contains(&t));
    let runs_latency_tracer = buffers.iter().any(BufferPlan::is_of_latency_tracer);
    // A profile brings its events and its tracer along.
    let profiled = !in_order.profiled().is_empty();
    if given.has("threshold") && !profiled && !runs_latency_tracer && !runs(&WITH_THRESHOLD) {
        return moot(
            "threshold",
            "on events: it is the least duration that some tracers take",
            "`-p function_graph`, `-p irqsoff`, ... run one; `--assert` and `--stop-if` judge times between events.",
        );
    }
    if let Some((option, _)) = OF_TRACERS.iter().find(|(option, tracers)| given.has(option) && !runs(tracers)) {
        return moot(option, "without the tracer that it is about", "`-p hwlat`, `-p osnoise`, `-p timerlat` run one.");
    }
    if given.has("max_graph_depth") && !profiled && !runs(&["function_graph"]) {
        return moot("max_graph_depth", "without the tracer whose calls it limits", "`-p function_graph` runs it.");
    }
    if given.has("max_latency") && !runs_latency_tracer {
        return moot(
            "max_latency",
            "without a latency tracer, whose longest latency it is",
            "`-p irqsoff`, `-p wakeup`, ... run one; `--threshold` is for function_graph, hwlat, osnoise and timerlat.",
        );
    }
    if given.has("no_functions") && !runs_latency_tracer {
        return moot(
            "no_functions",
            "without a latency tracer, whose functions it leaves out",
            "`-p irqsoff`, `-p wakeup`, ... run one; `rtrace list -t` shows those of this kernel. `--duration TIME` is how long to record.",
        );
    }
    None
}
