//! `--to parquet`.

use crate::cli::convert::origin::{RecordingOrigin, id_of};
use crate::cli::convert::progress::ConvertOutcome;
use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::RecordingMachine;
use crate::cli::query::{QueryEvents, QueryInput, ShownNames};
use anyhow::anyhow;
use rtrace::export::{TableBuffer, TableFile, Tables};
use rtrace::internal::wall_time::utc_day;
use rtrace::recording::BufferSource;
use std::collections::BTreeMap;
use std::io::Write;

/// Writes the events as tables, each a file among the frames of `out`.
pub(in crate::cli::convert) fn write(
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    are_different(events.inputs)?;
    let names = ShownNames::of(events);
    let calls: Vec<_> = events.inputs.iter().map(names_of_calls).collect();
    let file = |number: usize| -> Result<TableFile<'_>, Failure> {
        let origin = RecordingOrigin::of(events, number)?;
        let input = &events.inputs[number].recording;
        let time = origin.start.zip(origin.real_offset);
        Ok(TableFile {
            formats: input.trace.formats().collect(),
            abi: input.trace.abi,
            comms: names.comms(number),
            kallsyms: &input.symbols.kallsyms,
            recording: id_of(&events.inputs[number])?,
            processes: input.processes(),
            cgroups: names.cgroups(&events.inputs[number]),
            date: time.map(|(start, offset)| utc_day((start.0 as i64).saturating_add(offset))),
            path: names.path(&events.inputs[number].path.to_string_lossy()),
            stem: names.path(&events.inputs[number].path.file_stem().unwrap_or_default().to_string_lossy()),
            host: names.host(&origin.host),
            kernel: origin.kernel,
            machine: origin.machine,
            cpus: input.trace.cpu_count,
            clock: origin.clock,
            unit: if origin.in_ticks { "ticks" } else { "ns" },
            real_offset: origin.real_offset,
            call: &calls[number],
        })
    };
    let files = (0..events.inputs.len()).map(file).collect::<Result<_, _>>()?;
    let buffer = |source: &BufferSource| TableBuffer {
        file: source.recording,
        instance: Some(events.inputs[source.recording].trace.buffers[source.buffer].name.as_str())
            .filter(|name| !name.is_empty()),
    };
    let buffers = events.query.sources().iter().map(buffer).collect();
    let (state, outcome) = events.export(&names.shown(events, Tables::new(files, buffers)), out)?;
    match state.inner().failed() {
        Some(error) => Err(Failure::new(Exit::Failed, anyhow!("failed to write a table: {error}"))),
        None => Ok(ConvertOutcome { events: outcome.events, left_out: Vec::new() }),
    }
}

/// A failure if a recording is given twice: its tables would be two of one name.
fn are_different(inputs: &[QueryInput]) -> Result<(), Failure> {
    let mut known: BTreeMap<u64, &QueryInput> = BTreeMap::new();
    for input in inputs {
        if let Some(other) = known.insert(id_of(input)?, input) {
            let (one, other) = (input.path.display(), other.path.display());
            let error = anyhow!("{other} and {one} are the same recording, whose rows would be there twice");
            return Err(Failure::new(Exit::Usage, error).hint("leave one of them out."));
        }
    }
    Ok(())
}

fn names_of_calls(input: &QueryInput) -> impl Fn(i64) -> Option<&'static str> + Sync + use<> {
    let machine = RecordingMachine::of_recording(&input.trace);
    move |number| machine?.name(number)
}
