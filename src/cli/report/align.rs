//! `--align`: several recordings whose clocks do not agree.

use super::input::Input;
use super::select::Selection;
use super::source::Source;
use super::streams;
use super::window::{self, Window};
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::event::Common;
use rtrace::merge::Merge;
use rtrace::trace_dat::Sieve;
use std::sync::Arc;

/// What is taken to have happened at the same time in all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// The first event.
    Start,
    /// The last event.
    End,
    /// The first event of that name, with or without its system.
    Event(String),
}

pub(super) fn parse(text: &str) -> Result<Align, String> {
    Ok(match text {
        "" => return Err("start, end, or an event is wanted".to_owned()),
        "start" => Align::Start,
        "end" => Align::End,
        event => Align::Event(event.replace('/', ":")),
    })
}

/// Shifts the time stamps of all files but the first.
pub(super) fn align(at: &Align, inputs: &[Input], sources: &mut [Source]) -> Result<(), Failure> {
    if sources.iter().any(|s| s.in_ticks != sources[0].in_ticks) {
        return Err(anyhow!("the files count time in different units: they cannot be aligned").into());
    }
    let mut first = None;
    for (file, input) in inputs.iter().enumerate() {
        let own: Vec<&Source> = sources.iter().filter(|s| s.file == file).collect();
        let time = match at {
            Align::Start => window::span(inputs, &own)?.0,
            Align::End => window::span(inputs, &own)?.1,
            Align::Event(name) => first_of(name, inputs, input, &own)?,
        };
        let shift = first.get_or_insert(time).wrapping_sub(time) as i64;
        for source in sources.iter_mut().filter(|s| s.file == file) {
            source.time.offset = source.time.offset.wrapping_add(shift);
        }
    }
    Ok(())
}

/// The time of the first event of that name.
fn first_of(name: &str, inputs: &[Input], input: &Input, sources: &[&Source]) -> Result<u64, Failure> {
    let formats = || input.trace.formats();
    let named = |system: &str, event: &str| match name.split_once(':') {
        Some(both) => both == (system, event),
        None => name == event,
    };
    let ids: Vec<u16> = formats().filter(|f| named(&f.system, &f.name)).map(|f| f.id.0).collect();
    let none = || Failure::new(Exit::Usage, anyhow!("{} has no event {name} to be aligned by", input.path.display()));
    let (Some(format), false) = (formats().next(), ids.is_empty()) else { return Err(none()) };
    let common = Common::of(format);
    let sieve = common.id_is_first().then(|| Arc::new(Sieve::new(input.trace.abi, ids.iter().copied())));
    let mut merge = Merge::default();
    for (mut stream, number) in streams::streams(inputs, sources, &Window::default(), &Selection::none())? {
        stream.sift(sieve.clone());
        merge.add(stream, number);
    }
    loop {
        match merge.advance() {
            Ok(true) => {}
            Ok(false) => return Err(none()),
            Err(_) => continue, // told when the events are read
        }
        let record = merge.record();
        if ids.contains(&common.event_id(input.trace.abi, record.data)) {
            return Ok(record.timestamp.0);
        }
    }
}
