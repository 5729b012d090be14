//! `--to perfetto`.

use super::occurring::occurring;
use super::origin::uname;
use super::written::ConvertOutcome;
use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, ShownNames};
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::export::{LeftOut, Perfetto, PerfettoBuffer, PerfettoFile};
use rtrace::recording::BufferSource;
use rtrace::units::{Timestamp, counted};
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;

/// Writes the events as a trace of Perfetto: those of the recordings with these numbers, each a machine.
pub(super) fn write(
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
