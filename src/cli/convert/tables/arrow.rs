//! `--to arrow`.

use crate::cli::convert::origin::occurring;
use crate::cli::convert::progress::ConvertOutcome;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{QueryEvents, QueryInput};
use anyhow::anyhow;
use rtrace::export::{Arrow, ArrowBuffer};
use std::io::Write;

/// Writes the events as one stream of Arrow's record batches.
pub(in crate::cli::convert) fn write(
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    let labels: Vec<String> = events.inputs.iter().map(QueryInput::label).collect();
    let mut buffers = Vec::new();
    for (source, ids) in events.query.sources().iter().zip(occurring(events)?) {
        let input = &events.inputs[source.recording];
        buffers.push(ArrowBuffer {
            formats: input.formats().filter(|format| ids.contains(&format.id.0)).collect(),
            abi: input.trace.abi,
            comms: &input.symbols.comms,
            instance: Some(input.trace.buffers[source.buffer].name.as_str()).filter(|name| !name.is_empty()),
            source: (labels.len() > 1).then_some(labels[source.recording].as_str()),
        });
    }
    let (state, outcome) = events.export(&Arrow::new(buffers), out)?;
    match state.failed() {
        Some(error) => Err(Failure::new(Exit::Failed, anyhow!("failed to write the stream: {error}"))),
        None => Ok(ConvertOutcome { events: outcome.events, left_out: Vec::new() }),
    }
}
