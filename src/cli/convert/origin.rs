//! Place and time of a recording's making.
//! The event types that occur.

use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, QueryInput};
use rtrace::export::{EventSummary, SummaryBuffer};
use rtrace::internal::trace_dat::{OptionId, TimeOptions, WallClock};
use rtrace::recording::BufferSource;
use rtrace::units::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::sink;
use std::ops::ControlFlow;

/// A recording's own facts; texts are empty where it has none.
pub(super) struct RecordingOrigin {
    pub(super) host: String,
    /// The kernel's release.
    pub(super) kernel: String,
    /// The machine's architecture.
    pub(super) machine: String,
    /// The trace clock.
    pub(super) clock: String,
    pub(super) in_ticks: bool,
    /// Nanoseconds to add to a time to get one since 1970.
    pub(super) real_offset: Option<i64>,
    /// The time of the first event.
    pub(super) start: Option<Timestamp>,
}

impl RecordingOrigin {
    /// The origin of the input with this number.
    pub(super) fn of(events: &QueryEvents<'_>, number: usize) -> Result<Self, Failure> {
        let input = &events.inputs[number];
        let source = events.query.sources().iter().find(|source| source.recording == number);
        // Events of the recording may have been chosen from other times.
        let mut start = None;
        if let Some(source) = source {
            input.recording.query().time(&source.time).first(1).resolve()?.walk(|current| {
                start = Some(current.record().timestamp);
                Ok::<_, Failure>(ControlFlow::Break(()))
            })?;
        }
        let wall = source.and_then(|source| source.wall_clock(events.query.recordings()));
        let real_offset = |clock: WallClock| {
            let at = start.unwrap_or_default().0;
            clock.wall(at).saturating_sub_unsigned(at)
        };
        let (uname, clock) = (uname(input), source.map(|source| &input.trace.buffers[source.buffer].clock));
        let words: Vec<&str> = uname.split_whitespace().collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_default().to_owned();
        Ok(RecordingOrigin {
            host: word(1),
            kernel: word(2),
            machine: words.last().filter(|_| words.len() > 3).copied().unwrap_or_default().to_owned(),
            clock: clock.cloned().unwrap_or_default(),
            in_ticks: source.is_some_and(|source| source.in_ticks),
            real_offset: wall.map(real_offset),
            start,
        })
    }
}

/// The id of a recording: the same at each conversion, whatever part of it is chosen. TRACEID alone does not tell apart the
/// parts that `split` made of one recording, nor is it in each file, so that the machine and the first event have a part in it.
pub(super) fn id_of(input: &QueryInput) -> Result<u64, Failure> {
    let mut first = None;
    let raw = TimeOptions { raw: true, ..TimeOptions::default() };
    input.recording.query().time(&raw).first(1).resolve()?.walk(|current| {
        let record = current.record();
        first = Some((record.timestamp.0, record.cpu.0));
        Ok::<_, Failure>(ControlFlow::Break(()))
    })?;
    let (time, cpu) = first.unwrap_or_default();
    let mut hash = Sha256::new();
    for number in [input.trace.id().unwrap_or_default(), time, cpu.into()] {
        hash.update(number.to_le_bytes());
    }
    hash.update(uname(input));
    let hash = hash.finalize();
    Ok(hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)))
}

/// The option UNAME: `sysname nodename release machine`.
pub(super) fn uname(input: &QueryInput) -> String {
    let text = input.trace.option(OptionId::UNAME).map(|option| option.text()).unwrap_or_default();
    text.trim_end_matches('\0').to_owned()
}

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
