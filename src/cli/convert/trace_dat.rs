//! To a trace.dat file of another version or compression: every section is copied.

use super::progress::tell;
use super::target::ConvertTarget;
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{LimitedPart, QueryArgs, QueryInput, Selected};
use crate::cli::trace_file::{OutputFile, Overwrite, mode_like, open, threads};
use rtrace::filter::CpuList;
use rtrace::internal::trace_dat::write::{
    CopiedPart, Edit, NewFile, PartWriter, Version, convert, facts_left_out, split_edited,
};
use rtrace::internal::trace_dat::{Trace, WriteError};
use rtrace::recording::{Query, Selection, Window};
use rtrace::units::{CpuId, counted};
use std::path::Path;

/// The version and compression of a copy, whether it may overwrite a file, and whether JSON says what was written.
type How = (Version, Overwrite, bool);

/// Writes the events of `input` that `events` asks for to `output`.
pub(super) fn rewrite_selected(
    input: &Path,
    output: &Path,
    (version, overwrite, json): How,
    events: &QueryArgs,
) -> Result<Exit, Failure> {
    let inputs = [QueryInput::open(input, None, false)?];
    overwrite.check(output)?;
    let damage = DamageReport::of(input, &inputs[0].trace);
    let selection = events.selection();
    let query = Query::of([&inputs[0].recording]).select(selection.clone());
    let window = events.window().within(&query, input)?;
    let Window { since, until } = window;
    let end = until.map_or(u64::MAX, |until| until.0.saturating_add(1));
    let slice = CopiedPart::Time(since.map_or(0, |since| since.0)..end);
    let part =
        || LimitedPart::of(&events.all(&inputs).window(window).select(events.selection()), window, events.limit());
    let part = if events.is_limited() { Some(part()?) } else { None };
    let done = Selected::of(&query, &inputs).and_then(|selected| {
        let mut selected = match part {
            Some(part) => selected.limited(part),
            None => selected,
        };
        let before = damage.places();
        let (cpus, selection) = (events.cpus(), Some(&selection));
        let copy = RecordingCopy { version, overwrite, slice, cpus, selection, edit: Some(&mut selected) };
        let (events, size) = write_copy(&inputs[0].trace, (input, output), copy, &damage)?;
        let left_out = left_out(&inputs[0].trace, version, damage.places() - before);
        tell(output, ConvertTarget::TraceDat, (Some(events), &left_out, size), json)
    });
    damage.outcome(done)
}

/// All of a recording's time.
pub(crate) const ALL: CopiedPart = CopiedPart::Time(0..u64::MAX);

/// A copy of a recording, or of a part of it.
pub(crate) struct RecordingCopy<'e> {
    pub(crate) version: Version,
    pub(crate) overwrite: Overwrite,
    pub(crate) slice: CopiedPart,
    /// The CPUs; all without a list.
    pub(crate) cpus: Option<&'e CpuList>,
    /// The events that `edit` keeps, if it keeps some.
    pub(crate) selection: Option<&'e Selection>,
    pub(crate) edit: Option<&'e mut dyn Edit>,
}

impl RecordingCopy<'_> {
    /// The version and compression of `trace`.
    pub(crate) fn version_of(trace: &Trace) -> Version {
        match trace.prefix.version {
            6 => Version::V6,
            _ => Version::V7(trace.prefix.codec),
        }
    }
}

/// Writes `trace`, which lies at the first of these paths, to the second one. Gives the number of the copy's events.
pub(crate) fn write_edited(
    trace: &Trace,
    paths: (&Path, &Path),
    copy: RecordingCopy<'_>,
    damage: &DamageReport,
) -> Result<u64, Failure> {
    write_copy(trace, paths, copy, damage).map(|(events, _)| events)
}

/// The same; gives the copy's size in bytes too.
pub(super) fn write_copy(
    trace: &Trace,
    (input, output): (&Path, &Path),
    copy: RecordingCopy<'_>,
    damage: &DamageReport,
) -> Result<(u64, u64), Failure> {
    let RecordingCopy { version, overwrite, slice, cpus: wanted, selection, edit } = copy;
    let (made, file) = OutputFile::new(output, mode_like(input), overwrite)?;
    let buffers: Vec<_> = trace.buffers.iter().map(|buffer| buffer.name.clone()).enumerate().collect();
    let names: Vec<&str> = buffers.iter().map(|(_, name)| name.as_str()).collect();
    let cpus = trace.buffers.iter().enumerate();
    let streams =
        cpus.flat_map(|(at, buffer)| buffer.cpus.iter().enumerate().map(move |(cpu, data)| (at, cpu, data.cpu)));
    let streams = streams.filter(|(.., cpu)| wanted.is_none_or(|wanted| wanted.contains(cpu.0)));
    let streams: Vec<_> = streams.map(|(at, cpu, _)| (at, cpu)).collect();
    let on = |cpu: CpuId| wanted.is_none_or(|wanted| wanted.contains(cpu.0));
    let of_copy = |selection: &Selection| {
        let buffers = trace.buffers.iter();
        buffers.map(|buffer| selection.coverage_of_copy(trace, buffer, on)).collect::<Vec<_>>()
    };
    let is_whole = wanted.is_none() && selection.is_none_or(Selection::is_everything);
    let coverages = if is_whole { Vec::new() } else { of_copy(selection.unwrap_or(&Selection::default())) };
    let part = NewFile::create_covering(file, trace, version, &names, &coverages);
    let part = part.map(|file| PartWriter::new(slice, file));
    let mut parts = [part.map_err(|error| failed(error, output))?];
    let reading: (_, &mut dyn FnMut(_)) = (threads(), &mut |found| damage.note(input, &found));
    split_edited(trace, &buffers, &streams, &mut parts, edit, reading).map_err(|error| failed(error, output))?;
    let [PartWriter { file, records, .. }] = parts;
    let size = file.finish().map_err(|error| failed(error, output))?;
    made.keep()?;
    Ok((records, size))
}

/// Losses of a copy of `trace`: facts without room, and `places` that are damaged.
fn left_out(trace: &Trace, version: Version, places: u64) -> Vec<String> {
    let damaged = (places > 0).then(|| format!("what is damaged in {} (noted in the copy)", counted(places, "place")));
    let facts = facts_left_out(trace, version).into_iter().map(str::to_owned);
    damaged.into_iter().chain(facts).collect()
}

fn failed(error: WriteError, output: &Path) -> Failure {
    let lacks = matches!(error, WriteError::Version6(_));
    let failure = Failure::from(anyhow::Error::new(error).context(format!("failed to write {}", output.display())));
    if lacks { failure.hint("`--file-version 7` has room for it.") } else { failure }
}

/// Writes `input` to `output`, which may be the same file.
pub(super) fn rewrite(input: &Path, output: &Path, how: How) -> Result<Exit, Failure> {
    let trace = open(input)?;
    how.1.check(output)?;
    let damage = DamageReport::of(input, &trace);
    damage.outcome(write(&trace, input, output, how, &damage))
}

fn write(
    trace: &Trace,
    input: &Path,
    output: &Path,
    (version, overwrite, json): How,
    damage: &DamageReport,
) -> Result<(), Failure> {
    let (made, file) = OutputFile::new(output, mode_like(input), overwrite)?;
    let before = damage.places();
    let converted = convert(trace, file, version, threads(), &mut |found| damage.note(input, &found));
    let size = converted.map_err(|error| failed(error, output))?;
    made.keep()?;
    let left_out = left_out(trace, version, damage.places() - before);
    tell(output, ConvertTarget::TraceDat, (None, &left_out, size), json)
}
