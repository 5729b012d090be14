//! Place and time of a recording's making.

use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, QueryInput};
use rtrace::internal::trace_dat::OptionId;
use rtrace::units::Timestamp;
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
        let dated = source.is_some_and(|source| source.time.date);
        let (uname, clock) = (uname(input), source.map(|source| &input.trace.buffers[source.buffer].clock));
        let words: Vec<&str> = uname.split_whitespace().collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_default().to_owned();
        Ok(RecordingOrigin {
            host: word(1),
            kernel: word(2),
            machine: words.last().filter(|_| words.len() > 3).copied().unwrap_or_default().to_owned(),
            clock: clock.cloned().unwrap_or_default(),
            in_ticks: source.is_some_and(|source| source.in_ticks),
            real_offset: input.trace.date().map(|date| if dated { 0 } else { date }),
            start,
        })
    }
}

/// The option UNAME: `sysname nodename release machine`.
pub(super) fn uname(input: &QueryInput) -> String {
    let text = input.trace.option(OptionId::UNAME).map(|option| option.text()).unwrap_or_default();
    text.trim_end_matches('\0').to_owned()
}
