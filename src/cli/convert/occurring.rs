//! The event types that occur.

use crate::cli::exit::Failure;
use crate::cli::query::QueryEvents;
use rtrace::export::{EventSummary, SummaryBuffer};
use rtrace::recording::BufferSource;
use std::collections::BTreeSet;
use std::io::sink;

/// The ids of the events that come, by source.
pub(super) fn occurring(events: &QueryEvents<'_>) -> Result<Vec<BTreeSet<u16>>, Failure> {
    let buffer = |source: &BufferSource| SummaryBuffer {
        recording: source.recording,
        abi: events.inputs[source.recording].trace.abi,
        formats: events.inputs[source.recording].formats().collect(),
        comms: &events.inputs[source.recording].symbols.comms,
        source: None,
        buffer: None,
        in_ticks: source.in_ticks,
        wall: None,
        offline: None,
    };
    let summary = EventSummary::new(events.query.sources().iter().map(buffer).collect(), 0, false);
    let (counts, _) = events.export(&summary, &mut sink())?;
    Ok(counts.iter().map(|counts| counts.ids().collect()).collect())
}
