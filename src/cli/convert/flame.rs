//! `--to folded`, `--to speedscope` and `--to chrome`.

use super::written::Written;
use crate::cli::exit::Failure;
use crate::cli::query::{Input, QueryEvents};
use rtrace::export::{Chrome, FlameBuffer, Folded, Speedscope, Unfolded};
use std::io::Write;

/// Why most events are in no call stack.
const OTHERS: &str = "that say nothing of call stacks";

/// Writes the call stacks as folded lines.
pub(super) fn folded(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<Written, Failure> {
    let (state, outcome) = events.export(&Folded::new(buffers(events)), out)?;
    Ok(Written { events: outcome.events, left_out: list(&state.unfolded(), OTHERS) })
}

/// Writes the call stacks as a profile of speedscope.
pub(super) fn speedscope(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<Written, Failure> {
    let name: Vec<String> = events.inputs.iter().map(Input::label).collect();
    let (state, outcome) = events.export(&Speedscope::new(buffers(events), &name.join(", ")), out)?;
    Ok(Written { events: outcome.events, left_out: list(&state.unfolded(), OTHERS) })
}

/// Writes the events as Chrome's trace events.
pub(super) fn chrome(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<Written, Failure> {
    let (state, outcome) = events.export(&Chrome::new(buffers(events)), out)?;
    Ok(Written { events: outcome.events, left_out: list(&state.unfolded(), "that no format describes") })
}

fn list(unfolded: &Unfolded, others: &str) -> Vec<String> {
    let left_out = [
        (unfolded.others, &*format!("events {others}")),
        (unfolded.stacks, "stack traces: with function_graph there are times"),
        (unfolded.returns, "returns from functions that were entered before"),
    ];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    left_out.map(|(count, what)| format!("{count} {what}")).collect()
}

/// The buffers, each with a label where there are several files or instances.
fn buffers<'a>(events: &QueryEvents<'a>) -> Vec<FlameBuffer<'a>> {
    let inputs: &'a [Input] = events.inputs;
    let buffer = |source: &rtrace::recording::BufferSource| {
        let input = &inputs[source.recording];
        let instance = &input.trace.buffers[source.buffer].name;
        let parts = [if inputs.len() > 1 { input.label() } else { String::new() }, instance.clone()];
        let label: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        FlameBuffer {
            formats: input.formats().collect(),
            abi: input.trace.abi,
            symbols: &input.symbols,
            file: source.recording,
            processes: input.processes(),
            label: (!label.is_empty()).then(|| label.join(" ")),
        }
    };
    events.query.sources().iter().map(buffer).collect()
}
