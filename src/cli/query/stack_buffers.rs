//! The buffers of a query, as call stacks are read of them.

use super::{QueryEvents, QueryInput};
use rtrace::export::FlameBuffer;
use rtrace::recording::BufferSource;

/// The buffers, each with a label where there are several files or instances.
pub(crate) fn stack_buffers<'a>(events: &QueryEvents<'a>) -> Vec<FlameBuffer<'a>> {
    let inputs: &'a [QueryInput] = events.inputs;
    let buffer = |source: &BufferSource| {
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
