//! `--align`: several recordings whose clocks do not agree.

use super::QueryInput;
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::internal::trace_dat::TimeOptions;
use rtrace::recording::{BufferSource, Query};
use std::ops::ControlFlow;

/// The moment that is taken as the same in all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// The first event.
    Start,
    /// The last event.
    End,
    /// The first event of that name, with or without its system.
    Event(String),
}

pub(crate) fn parse(text: &str) -> Result<Align, String> {
    Ok(match text {
        "" => return Err("start, end, or an event is wanted".to_owned()),
        "start" => Align::Start,
        "end" => Align::End,
        event => Align::Event(event.replace('/', ":")),
    })
}

/// Shifts the time stamps of all files but the first.
pub(super) fn align<'a>(at: &Align, inputs: &'a [QueryInput], query: Query<'a>) -> Result<Query<'a>, Failure> {
    let sources = query.sources();
    if sources.iter().any(|s| s.in_ticks != sources[0].in_ticks) {
        return Err(anyhow!("the files count time in different units: they cannot be aligned").into());
    }
    let (mut first, mut shifts) = (None, Vec::new());
    for (file, input) in inputs.iter().enumerate() {
        let own = sources.iter().filter(|source| source.recording == file).cloned().collect();
        let own = query.clone().of_sources(own);
        let time = moment(at, input, own)?;
        shifts.push(first.get_or_insert(time).wrapping_sub(time) as i64);
    }
    let sources = sources.iter().map(|source| shifted(source, shifts[source.recording])).collect();
    Ok(query.of_sources(sources))
}

/// The time in one file of the moment that is taken as the same in all.
pub(crate) fn moment(at: &Align, input: &QueryInput, own: Query<'_>) -> Result<u64, Failure> {
    Ok(match at {
        Align::Start => own.span()?.unwrap_or_default().0.0,
        Align::End => own.span()?.unwrap_or_default().1.0,
        Align::Event(name) => first_of(name, input, own)?,
    })
}

/// The time of the first event of that name.
fn first_of(name: &str, input: &QueryInput, query: Query<'_>) -> Result<u64, Failure> {
    let named = |system: &str, event: &str| match name.split_once(':') {
        Some(both) => both == (system, event),
        None => name == event,
    };
    let none = || Failure::new(Exit::Usage, anyhow!("{} has no event {name} to be aligned by", input.path.display()));
    if !input.formats().any(|f| named(&f.system, &f.name)) {
        return Err(none());
    }
    let filter = if name.contains(':') { name.to_owned() } else { format!("*:{name}") };
    let (query, mut time) = (query.filter(&filter)?.first(1), None);
    // Damage is reported when the events are read.
    query.resolve()?.walk(|current| {
        time = Some(current.record().timestamp.0);
        Ok::<_, Failure>(ControlFlow::Break(()))
    })?;
    time.ok_or_else(none)
}

/// The source with its time stamps moved.
pub(crate) fn shifted(source: &BufferSource, by: i64) -> BufferSource {
    let offset = source.time.offset.wrapping_add(by);
    BufferSource { time: TimeOptions { offset, ..source.time }, ..source.clone() }
}
