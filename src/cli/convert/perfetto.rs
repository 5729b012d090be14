//! `--to perfetto`.
//! `--to perfetto` with an OUT that ends in .tar: a trace for each machine, and the manifest that says how Perfetto joins them.
//! <https://perfetto.dev/docs/reference/perfetto-manifest>

use super::origin::{occurring, uname};
use super::progress::ConvertOutcome;
use crate::cli::exit::Failure;
use crate::cli::piped;
use crate::cli::query::{QueryEvents, QueryInput, ShownNames};
use anyhow::Context;
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::export::{LeftOut, Perfetto, PerfettoBuffer, PerfettoFile};
use rtrace::recording::BufferSource;
use rtrace::units::{Timestamp, counted};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::ops::ControlFlow;
use std::path::Path;
use tar::{Builder, Header};

/// Writes the events as a trace of Perfetto: those of the recordings with these numbers, each a machine.
pub(super) fn write_trace(
    events: &QueryEvents<'_>,
    machines: &[usize],
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    let sources = events.query.sources();
    let types: Vec<EventTypes<'_>> = events.inputs.iter().map(|input| input.types(&DecodeOptions::default())).collect();
    let names = ShownNames::of(events);
    let symbols: Vec<_> = events.inputs.iter().map(|input| names.symbols(input)).collect();
    let cgroups: Vec<_> = events.inputs.iter().map(|input| names.cgroups(input)).collect();
    let unames: Vec<String> = events.inputs.iter().map(|input| names.uname(uname(input))).collect();
    let start = start(events)?;
    let file = |number: usize| {
        let source = sources.iter().find(|source| source.recording == number);
        let wall = source.and_then(|source| source.wall_clock(events.query.recordings()));
        PerfettoFile {
            trace: &events.inputs[number].trace,
            uname: &unames[number],
            cgroups: cgroups[number].as_ref(),
            symbols: &symbols[number],
            types: &types[number],
            processes: events.inputs[number].processes(),
            start,
            real: wall.map(|clock| clock.wall(start.0)),
            clock: source.map_or("", |source| &events.inputs[number].trace.buffers[source.buffer].clock),
            in_ticks: source.is_some_and(|source| source.in_ticks),
        }
    };
    let files: Vec<PerfettoFile<'_>> = machines.iter().copied().map(file).collect();
    let in_ticks = files.iter().any(|file| file.in_ticks);
    let doubles = doubles(events)?;
    let buffer = |(source, doubles): (&BufferSource, BTreeSet<u16>)| {
        let name = events.inputs[source.recording].trace.buffers[source.buffer].name.as_str();
        let file = machines.iter().position(|number| *number == source.recording).unwrap_or_default();
        PerfettoBuffer { file, instance: (!name.is_empty()).then_some(name), doubles }
    };
    let buffers = sources.iter().zip(doubles).map(buffer).collect();
    let exporter = names.shown(events, Perfetto::new(files, buffers));
    let (state, outcome) = events.export(&exporter, out)?;
    let mut left_out = list(state.inner().left_out());
    if in_ticks {
        left_out.push("the unit of time: ticks stand as nanoseconds".to_owned());
    }
    Ok(ConvertOutcome { events: outcome.events, left_out })
}

/// The time of the first event.
fn start(events: &QueryEvents<'_>) -> Result<Timestamp, Failure> {
    let (first, mut start) = (events.query.clone().first(1), Timestamp(0));
    first.resolve()?.walk(|current| {
        start = current.record().timestamp;
        Ok::<_, Failure>(ControlFlow::Break(()))
    })?;
    Ok(start)
}

/// By source, the events that an earlier source of the same file has too.
fn doubles(events: &QueryEvents<'_>) -> Result<Vec<BTreeSet<u16>>, Failure> {
    let sources = events.query.sources();
    let mut doubles = vec![BTreeSet::new(); sources.len()];
    let with_data = |source: &&BufferSource| !source.cpus.is_empty();
    let several = |file| sources.iter().filter(with_data).filter(|source| source.recording == file).count() > 1;
    if !(0..events.inputs.len()).any(several) {
        return Ok(doubles);
    }
    let found = occurring(events)?;
    let mut seen = vec![BTreeSet::new(); events.inputs.len()];
    for ((source, ids), doubles) in sources.iter().zip(found).zip(&mut doubles) {
        *doubles = ids.intersection(&seen[source.recording]).copied().collect();
        seen[source.recording].extend(ids);
    }
    Ok(doubles)
}

/// Limit of the fields in the list.
const MOST_FIELDS: usize = 10;

fn list(left_out: &LeftOut) -> Vec<String> {
    let mut list = Vec::new();
    if !left_out.fields.is_empty() {
        let fields = left_out.fields.iter().take(MOST_FIELDS);
        let fields: Vec<String> = fields.map(|((event, field), count)| format!("{field} of {count} {event}")).collect();
        let more = if left_out.fields.len() > MOST_FIELDS { ", ..." } else { "" };
        list.push(format!("fields that Perfetto's messages lack ({}{more})", fields.join(", ")));
    }
    if left_out.gaps > 0 {
        let gaps = counted(left_out.gaps, "gap");
        list.push(format!("the tasks in {gaps} between switches, shown as [not recorded]"));
    }
    if left_out.handlers > 0 {
        list.push(format!("when {} ended after lost events", counted(left_out.handlers, "interrupt")));
    }
    if left_out.high_cpus > 0 {
        list.push(format!(
            "{} of CPUs above 1023, with which Perfetto opens no trace",
            counted(left_out.high_cpus, "event")
        ));
    }
    list
}

/// True if `output` is an archive's name.
pub(super) fn is_archive(output: &Path) -> bool {
    output.extension().is_some_and(|ending| ending == "tar")
}

/// Writes the archive; `more` appends the tracks of a machine with this number, and gives what is left out of them.
pub(super) fn write_archive<W: Write + Send>(
    events: &QueryEvents<'_>,
    more: impl Fn(&QueryEvents<'_>, &[usize], &mut File) -> Result<Vec<String>, Failure>,
    out: &mut W,
) -> Result<ConvertOutcome, Failure> {
    let members = members(events.inputs, &ShownNames::of(events));
    let manifest = manifest(&members);
    let mut archive = Builder::new(out);
    append(&mut archive, "perfetto_manifest.json", manifest.len() as u64, &mut manifest.as_bytes())?;
    let mut written = ConvertOutcome { events: 0, left_out: Vec::new() };
    for (number, of) in members.iter().enumerate() {
        let sources = events.query.sources().iter().filter(|source| source.recording == number).cloned().collect();
        let own = QueryEvents { query: events.query.clone().of_sources(sources), ..events.clone() };
        // A member's size stands before it.
        let failed = "failed to write a temporary file";
        let mut spool = piped::temporary().context(failed)?;
        let one = write_trace(&own, &[number], &mut spool)?;
        let mut left_out = one.left_out;
        left_out.extend(more(&own, &[number], &mut spool)?);
        let size = spool.stream_position().context(failed)?;
        spool.rewind().context(failed)?;
        append(&mut archive, &of.path, size, &mut spool)?;
        written.events += one.events;
        written.left_out.extend(left_out.into_iter().map(|what| format!("{what} of {}", of.machine)));
    }
    archive.finish()?;
    Ok(written)
}

/// A trace in the archive.
struct Member {
    path: String,
    machine: String,
}

/// The names: each machine's is its own, or the file's.
fn members(inputs: &[QueryInput], names: &ShownNames<'_>) -> Vec<Member> {
    let mut taken = BTreeSet::new();
    let member = |(number, input): (usize, &QueryInput)| {
        let uname = super::origin::uname(input);
        let host = uname.split_whitespace().nth(1).filter(|host| *host != "(none)").map(|host| names.host(host));
        let name = host.unwrap_or_else(|| names.path(&input.label()));
        let mut machine = name.clone();
        let mut again = 1;
        while !taken.insert(machine.clone()) {
            again += 1;
            machine = format!("{name} {again}");
        }
        let plain: String =
            machine.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
        let plain: String = plain.chars().take(64).collect();
        Member { path: format!("{number}-{plain}.pftrace"), machine }
    };
    inputs.iter().enumerate().map(member).collect()
}

/// Times of all files are those of one clock here: each one's BOOTTIME is that of the first.
fn manifest(members: &[Member]) -> String {
    let clock = "BOOTTIME";
    let first = members.first().map_or("", |member| member.path.as_str());
    let file = |(number, member): (usize, &Member)| {
        let mut file = json!({"path": member.path, "machine": {"name": member.machine}});
        if number > 0 {
            file["clocks"] = json!({"clock": clock, "sync_to": {"file": first, "clock": clock}});
        }
        file
    };
    let files: Vec<Value> = members.iter().enumerate().map(file).collect();
    format!(
        "{:#}\n",
        json!({"perfetto_manifest": {"version": 1, "trace_time": {"clock": clock, "file": first}, "files": files}})
    )
}

/// Appends a file of `size` bytes.
fn append(archive: &mut Builder<impl Write>, name: &str, size: u64, from: &mut impl Read) -> Result<(), Failure> {
    let mut header = Header::new_ustar();
    header.set_size(size);
    header.set_mode(0o644);
    Ok(archive.append_data(&mut header, name, from.take(size))?)
}
