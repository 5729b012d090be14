//! Events as text, in trace-cmd's layout.

use super::run::ReportRun;
use super::wakeups::Extras;
use super::{color, header, undecoded};
use crate::cli::exit::Failure;
use crate::cli::query::QueryInput;
use crate::cli::syscalls::decoders;
use crate::cli::terminal::{self, StandardOutput, Styled};
use rtrace::event::EventTypes;
use rtrace::export::{Exporter, SyscallLines, Text, TextLines, TextOptions, TimeColumn};
use rtrace::recording::BufferSource;
use rtrace::syntax::widest;
use std::io::{Stdout, Write};
use std::ops::ControlFlow;

/// Output gathered before it is written, in bytes.
const GATHER: usize = 256 << 10;

pub(super) fn print(run: &ReportRun<'_>, out: &mut StandardOutput<Stdout>) -> Result<(), Failure> {
    let (args, inputs, sources) = (run.args, run.inputs, run.query.sources());
    let decode = args.wording.decode(!args.layout.no_plugins);
    let types: Vec<EventTypes<'_>> =
        inputs.iter().map(|input| args.wording.except(input.types(&decode), input, &decode)).collect();
    let labels = labels(inputs, sources);
    let text = |source: &BufferSource| {
        let options = TextOptions {
            time: match run.wall_clock(source) {
                Some(clock) => TimeColumn::Wall { clock, nanoseconds: args.layout.nanoseconds },
                None if source.shown_in_ticks => TimeColumn::Ticks,
                None if args.layout.nanoseconds => TimeColumn::Nanos,
                None => TimeColumn::Micros,
            },
            latency: args.layout.latency,
            raw: args.layout.raw,
            time_diff: args.layout.ts_diff,
            labels: labels.clone(),
        };
        let file = source.recording;
        (file, Text::new(&types[file], &inputs[file].symbols, options))
    };
    let mut heading = head(inputs);
    if terminal::stdout_is_terminal() {
        let label = labels.first().map_or(0, Vec::len);
        heading.extend_from_slice(header::header(widest([label]), args.layout.latency, sources).as_bytes());
    }
    let comms = inputs.iter().map(|input| &input.symbols.comms).collect();
    let lines = TextLines::new(heading, sources.iter().map(text).collect(), comms);
    let colored = args.color.is_wanted();
    let extras = || Extras::new(run, &labels);
    let plain = !(args.layout.wakeups || args.layout.boundary || colored);
    let states = match (args.syscalls, plain) {
        (false, true) => run.export(&lines, out)?.0,
        (false, false) => one_by_one(run, &lines, &types, extras(), colored, out)?,
        (true, plain) => {
            let lines = SyscallLines::new(lines, decoders(inputs.iter().map(|input| &input.trace))?);
            match plain {
                true => run.export(&lines, out)?.0.lines,
                false => one_by_one(run, &lines, &types, extras(), colored, out)?.lines,
            }
        }
    };
    for ((input, types), state) in inputs.iter().zip(&types).zip(&states) {
        undecoded::tell(input, types, state);
    }
    Ok(())
}

/// Prints events with what is added to their lines.
fn one_by_one<E: Exporter>(
    run: &ReportRun<'_>,
    lines: &E,
    types: &[EventTypes<'_>],
    mut extras: Extras<'_>,
    colored: bool,
    out: &mut StandardOutput<Stdout>,
) -> Result<E::State, Failure> {
    let (mut states, mut plain, mut shown) = (lines.state(), Vec::new(), Styled::default());
    lines.begin(&mut states, &mut plain);
    if colored {
        shown.text(&plain);
        plain.clear();
    }
    let mut resolved = run.query.resolve()?;
    resolved.walk(|current| {
        let record = current.record();
        let types = &types[run.query.sources()[record.buffer].recording];
        let event = types.get(types.common().event_id(types.abi(), record.data));
        let start = plain.len();
        run.count(1);
        extras.see(current);
        current.export(lines, &mut states, &mut plain);
        extras.add(start, &mut plain);
        if colored {
            color::lines(&plain, event.map_or("", |e| &e.format.name), &mut shown);
            plain.clear();
        }
        if plain.len() >= GATHER {
            out.write_all(&plain)?;
            plain.clear();
        }
        if shown.len() >= GATHER {
            out.styled(&shown)?;
            shown.clear();
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    lines.end(&mut states, &mut plain);
    if colored {
        shown.text(&plain);
        plain.clear();
    }
    out.write_all(&plain)?;
    out.styled(&shown)?;
    out.write_all(extras.text().as_bytes())?;
    Ok(states)
}

/// The labels of the buffers' lines; none if there is only one buffer.
fn labels(inputs: &[QueryInput], sources: &[BufferSource]) -> Vec<Vec<u8>> {
    if inputs.len() == 1 && inputs[0].trace.buffers.iter().all(|b| b.name.is_empty()) {
        return Vec::new();
    }
    let name = |source: &BufferSource| match &inputs[source.recording].trace.buffers[source.buffer].name {
        top if top.is_empty() && inputs.len() > 1 => inputs[source.recording].label(),
        name => name.clone(),
    };
    let names: Vec<String> = sources.iter().map(name).collect();
    let width = widest(names.iter().map(String::len));
    let label = |name: &String| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    names.iter().map(label).collect()
}

/// `cpus=N` of each file, and what latency tracers left as text.
pub(super) fn head(inputs: &[QueryInput]) -> Vec<u8> {
    let mut text = Vec::new();
    let width = widest(inputs.iter().map(|i| i.label().len()));
    for input in inputs {
        if inputs.len() > 1 {
            text.extend_from_slice(format!("{:>width$}: ", input.label()).as_bytes());
        }
        text.extend_from_slice(format!("cpus={}\n", input.trace.cpu_count).as_bytes());
    }
    for latency in inputs.iter().flat_map(|i| &i.trace.buffers).filter_map(|b| b.text.as_ref()) {
        text.extend_from_slice(latency);
        text.push(b'\n');
    }
    text
}
