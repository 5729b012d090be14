//! `--to parquet`.

use super::date::day;
use super::directory::Directory;
use crate::cli::analyze::syscalls::names::Machine;
use crate::cli::convert::written::Written;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{Events, Input};
use anyhow::anyhow;
use rtrace::export::{Frames, TableBuffer, TableFile, Tables};
use rtrace::recording::Source;
use rtrace::trace_dat::OptionId;
use rtrace::units::Timestamp;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Writes the events as a directory of tables at `output`, whose files get `mode`; `shown` wraps the output to show progress.
/// Gives the bytes written too.
pub(in crate::cli::convert) fn write<'w, W: Write + Send>(
    events: &Events<'_>,
    output: &Path,
    mode: u32,
    shown: impl FnOnce(Box<dyn Write + Send + 'w>) -> W,
) -> Result<(Written, u64), Failure> {
    let calls: Vec<_> = events.inputs.iter().map(names_of_calls).collect();
    let files: Vec<TableFile<'_>> = events
        .inputs
        .iter()
        .enumerate()
        .map(|(at, input)| file(events, at, input, &calls[at]))
        .collect::<Result<_, _>>()?;
    let buffer = |source: &Source| TableBuffer {
        file: source.recording,
        instance: Some(events.inputs[source.recording].trace.buffers[source.buffer].name.as_str())
            .filter(|name| !name.is_empty()),
    };
    let buffers = events.query.sources().iter().map(buffer).collect();
    let stem = events.inputs.first().and_then(|input| input.path.file_stem()).unwrap_or_default();
    let directory = std::sync::Arc::new(Directory::new(output, mode)?);
    let size = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let frames = {
        let (directory, size) = (std::sync::Arc::clone(&directory), std::sync::Arc::clone(&size));
        Frames::new(move |name: &str, bytes: &[u8]| {
            size.fetch_add(bytes.len() as u64, std::sync::atomic::Ordering::Relaxed);
            directory.add(name, bytes)
        })
    };
    let mut out = shown(Box::new(frames));
    let (state, outcome) = events.export(&Tables::new(files, buffers, &stem.to_string_lossy()), &mut out)?;
    out.flush()?;
    drop(out);
    if let Some(error) = state.failed() {
        return Err(Failure::new(Exit::Failed, anyhow!("failed to write {}: {error}", output.display())));
    }
    // The last piece has been written, so nobody else holds it.
    if let Some(directory) = std::sync::Arc::into_inner(directory) {
        directory.keep()?;
    }
    let size = size.load(std::sync::atomic::Ordering::Relaxed);
    Ok((Written { events: outcome.events, left_out: Vec::new() }, size))
}

fn names_of_calls(input: &Input) -> impl Fn(i64) -> Option<&'static str> + Sync + use<> {
    let machine = Machine::of_recording(input);
    move |number| machine?.name(number)
}

fn file<'t>(
    events: &Events<'_>,
    number: usize,
    input: &'t Input,
    call: &'t (dyn Fn(i64) -> Option<&'static str> + Sync),
) -> Result<TableFile<'t>, Failure> {
    let source = events.query.sources().iter().find(|source| source.recording == number);
    let start = start(input, source)?;
    let dated = source.is_some_and(|source| source.time.date);
    let real_offset = input.trace.date().map(|date| if dated { 0 } else { date });
    let uname = input.trace.option(OptionId::UNAME).map(|option| option.text()).unwrap_or_default();
    let words: Vec<&str> = uname.trim_end_matches('\0').split_whitespace().collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default().to_owned();
    Ok(TableFile {
        formats: input.formats().collect(),
        abi: input.trace.abi,
        comms: &input.symbols.comms,
        processes: input.processes(),
        host: word(1),
        date: real_offset.zip(start).map(|(offset, start)| day((start.0 as i64).saturating_add(offset))),
        path: input.path.to_string_lossy().into_owned(),
        kernel: word(2),
        machine: words.last().filter(|_| words.len() > 3).copied().unwrap_or_default().to_owned(),
        cpus: input.trace.cpu_count,
        clock: source.map_or_else(String::new, |source| input.trace.buffers[source.buffer].clock.clone()),
        unit: if source.is_some_and(|source| source.in_ticks) { "ticks" } else { "ns" },
        real_offset,
        call,
    })
}

/// The time of a recording's first event.
fn start(input: &Input, source: Option<&Source>) -> Result<Option<Timestamp>, Failure> {
    let Some(source) = source else { return Ok(None) };
    let (query, mut start) = (input.recording.query().time(&source.time).first(1), None);
    query.resolve()?.walk(|current| {
        start = Some(current.record().timestamp);
        Ok::<_, Failure>(ControlFlow::Break(()))
    })?;
    Ok(start)
}
