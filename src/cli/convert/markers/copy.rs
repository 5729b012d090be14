//! A copy of a recording in which lines of markers are events.

use super::event::{LONGEST, MarkerEvent, SYSTEM};
use super::line::MarkerLine;
use crate::cli::convert::target::ConvertTarget;
use crate::cli::convert::trace_dat::{ALL, RecordingCopy, write_copy};
use crate::cli::convert::written::tell;
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use crate::cli::trace_file::{Overwrite, open};
use anyhow::anyhow;
use rtrace::event::{DecodeOptions, PrintState, Record};
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord, Version};
use rtrace::recording::Decoder;
use rtrace::units::{EventId, counted, grouped};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Limit of the events that lines name: further names stay text.
const MOST_EVENTS: usize = 1000;
/// The events whose texts are lines.
const TEXTS: [&str; 3] = ["print", "bprint", "bputs"];

/// Writes `input` to `output`; lines of events whose name matches one of the globs `names` become events of the system
/// `marker`.
pub(in crate::cli::convert) fn rewrite(
    input: &Path,
    output: &Path,
    (version, overwrite, json): (Version, Overwrite, bool),
    names: &[String],
) -> Result<Exit, Failure> {
    let read = QueryInput::open(input, None, false)?;
    overwrite.check(output)?;
    let mut trace = open(input)?;
    let damage = DamageReport::of(input, &trace);
    let texts: Vec<&EventFormat> = trace.ftrace_formats.iter().filter(|one| TEXTS.contains(&&*one.name)).collect();
    let Some(like) = texts.first().copied().cloned() else {
        return Err(
            anyhow!("{} has no format of ftrace:print or bprint, so no lines of markers", input.display()).into()
        );
    };
    let ids: Vec<EventId> = texts.iter().map(|format| format.id).collect();
    let mut events = learn(&read, &ids, names)?;
    let last = trace.formats().map(|format| format.id.0).max().unwrap_or(0);
    for ((name, event), more) in events.iter_mut().zip(1u16..) {
        let id = last.checked_add(more).ok_or_else(|| anyhow!("no number is left for the event {SYSTEM}:{name}"))?;
        event.settle(id);
        let format = event.format(name, &like)?;
        trace.event_formats.push(format);
    }
    let decoder = Decoder::new(&read.recording, &DecodeOptions::default());
    let state = RefCell::new(read.recording.state());
    let mut edit = MarkerEdit { decoder, state, ids, like, events, bytes: Vec::new(), made: BTreeMap::new() };
    let copy = RecordingCopy { version, overwrite, slice: ALL, cpus: None, selection: None, edit: Some(&mut edit) };
    let done = write_copy(&trace, (input, output), copy, &damage)
        .and_then(|(count, size)| tell(output, ConvertTarget::TraceDat, (Some(count), &[], size), json));
    let of_each: Vec<String> =
        edit.made.iter().map(|(name, count)| format!("{SYSTEM}:{name} ({})", grouped(*count))).collect();
    match of_each.is_empty() {
        true => note!("rtrace: {}: no marker has the form `NAME: KEY=VALUE ...`", input.display()),
        false => {
            note!("rtrace: {} of markers as events: {}", counted(edit.made.values().sum(), "line"), of_each.join(", "))
        }
    }
    damage.outcome(done)
}

/// The text of a marker without the function that wrote it.
fn without_function(text: &str) -> Option<&str> {
    text.split_once(": ").map(|(_, line)| line)
}

/// The events that the lines name, with the kinds of all values.
fn learn(input: &QueryInput, ids: &[EventId], names: &[String]) -> Result<BTreeMap<String, MarkerEvent>, Failure> {
    let mut events: BTreeMap<String, MarkerEvent> = BTreeMap::new();
    let seen = input.recording.query().for_each(|event| {
        if !ids.contains(&event.id()) {
            return;
        }
        let text = event.text();
        let Some(line) = without_function(&text).and_then(MarkerLine::parse) else { return };
        let is_known = events.contains_key(line.name);
        if is_known || (events.len() < MOST_EVENTS && names.iter().any(|glob| glob_matches(glob, line.name))) {
            events.entry(line.name.to_owned()).or_default().learn(&line);
        }
    });
    seen.map_err(anyhow::Error::from)?; // damage is told while the copy is made
    Ok(events)
}

/// Lines as events.
struct MarkerEdit<'r> {
    decoder: Decoder<'r>,
    state: RefCell<PrintState>,
    /// The events whose texts are lines.
    ids: Vec<EventId>,
    /// One of them: the common fields of all.
    like: EventFormat,
    events: BTreeMap<String, MarkerEvent>,
    /// The record that was made last.
    bytes: Vec<u8>,
    /// Number of lines by event.
    made: BTreeMap<String, u64>,
}

impl Edit for MarkerEdit<'_> {
    fn keeps(&mut self, _: &StoredRecord<'_>) -> bool {
        true
    }

    fn replaced<'d>(&'d mut self, record: &StoredRecord<'d>) -> &'d [u8] {
        let StoredRecord { stream, cpu, timestamp, lost, data } = *record;
        let event = self.decoder.event(Record { timestamp, cpu, buffer: stream.0, lost, data }, &self.state);
        if !self.ids.contains(&event.id()) {
            return data;
        }
        let (text, abi) = (event.text(), self.decoder.types().abi());
        let line = without_function(&text).and_then(MarkerLine::parse);
        let Some((line, event)) = line.and_then(|line| self.events.get(line.name).map(|event| (line, event))) else {
            return data;
        };
        event.encode(&line, data, &self.like, abi, &mut self.bytes);
        if self.bytes.len() > LONGEST.max(data.len()) {
            return data;
        }
        *self.made.entry(line.name.to_owned()).or_default() += 1;
        &self.bytes
    }
}
