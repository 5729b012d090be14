//! The events of all files, merged and printed.

use super::input::{Functions, Input};
use super::{Args, Damage};
use crate::cli::exit::Failure;
use anyhow::anyhow;
use rtrace::event::{DecodeOptions, EventTypes, Record, State};
use rtrace::export::{Text, TextOptions, TimeColumn};
use rtrace::filter::{ReportFilters, Subject};
use rtrace::merge::Merge;
use rtrace::trace_dat::{Buffer, OptionId, TimeOptions};
use rtrace::units::EventId;
use std::io::Write;

/// How much text is gathered before it is written, in bytes.
const GATHER: usize = 256 << 10;

/// What the events of one buffer of one file are printed with.
struct Source<'a> {
    file: usize,
    text: Text<'a>,
}

/// What is kept per file.
struct FileState<'a> {
    input: &'a Input,
    filters: Option<ReportFilters>,
    stack_events: [Option<EventId>; 2],
    state: State,
}

/// Prints all of them.
pub(super) fn print(args: &Args, inputs: &[Input], damage: &mut Damage, out: &mut impl Write) -> Result<(), Failure> {
    let decode = DecodeOptions { plugins: !args.layout.no_plugins, ..DecodeOptions::default() };
    let types: Vec<EventTypes> = inputs.iter().map(|input| input.types(&decode)).collect();
    let mut files = Vec::new();
    for input in inputs {
        files.push(FileState {
            input,
            filters: filters(args, input)?,
            stack_events: ["kernel_stack", "user_stack"]
                .map(|name| input.trace.ftrace_formats.iter().find(|f| f.name == name).map(|f| f.id)),
            state: State::new(input.symbols.comms.clone()),
        });
    }
    let mut text = Vec::with_capacity(GATHER + (64 << 10));
    let mut merge = Merge::default();
    let order = order(inputs);
    let labels = labels(inputs, &order);
    head(inputs, &mut text);
    let mut sources = Vec::new();
    for &(file, number) in &order {
        let input = &inputs[file];
        let buffer = &input.trace.buffers[number];
        add_streams(args, input, buffer, sources.len(), &mut merge)?;
        let options = TextOptions {
            time: time_column(args, input, buffer),
            latency: args.layout.latency,
            raw: args.layout.raw,
            time_diff: args.layout.ts_diff,
            labels: labels.clone(),
        };
        sources.push(Source { file, text: Text::new(&types[file], &input.symbols, options) });
    }
    let mut shown = vec![Vec::new(); sources.len()];
    loop {
        match merge.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                damage.note(&inputs[sources[error.buffer].file].path, &error.error);
                continue;
            }
        }
        let record = merge.record();
        let source = &sources[record.buffer];
        let file = &mut files[source.file];
        if file.filters.is_some() && !is_shown(file, &types[source.file], &record, &mut shown[record.buffer]) {
            continue;
        }
        let next = if source.text.needs_next(&record) { merge.peek() } else { None };
        if source.text.event(&record, next.as_ref(), &mut file.state, &mut text) {
            merge.skip_peeked();
        }
        if text.len() >= GATHER {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)?;
    Ok(())
}

/// (file, buffer) in the order that decides between equal time stamps: the top buffers of all files, then the rest.
fn order(inputs: &[Input]) -> Vec<(usize, usize)> {
    let mut order: Vec<_> = inputs
        .iter()
        .enumerate()
        .flat_map(|(file, input)| (0..input.trace.buffers.len()).map(move |buffer| (file, buffer)))
        .collect();
    order.sort_by_key(|&(file, buffer)| (!inputs[file].trace.buffers[buffer].name.is_empty(), file));
    order
}

/// What stands in front of the lines of each buffer; nothing if there is only one.
fn labels(inputs: &[Input], order: &[(usize, usize)]) -> Vec<Vec<u8>> {
    if inputs.len() == 1 && inputs[0].trace.buffers.iter().all(|b| b.name.is_empty()) {
        return Vec::new();
    }
    let name = |&(file, buffer): &(usize, usize)| match &inputs[file].trace.buffers[buffer].name {
        top if top.is_empty() && inputs.len() > 1 => inputs[file].label(),
        name => name.clone(),
    };
    let names: Vec<String> = order.iter().map(name).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let label = |name: &String| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    names.iter().map(label).collect()
}

/// `cpus=N` of each file, and what latency tracers left as text.
fn head(inputs: &[Input], text: &mut Vec<u8>) {
    let width = inputs.iter().map(|i| i.label().len()).max().unwrap_or(0);
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
}

fn add_streams(args: &Args, input: &Input, buffer: &Buffer, source: usize, merge: &mut Merge) -> Result<(), Failure> {
    let time = TimeOptions { raw: args.raw_ts, date: !args.nodate, offset: args.ts_offset };
    for (number, cpu) in buffer.cpus.iter().enumerate() {
        if args.cpu.as_ref().is_none_or(|wanted| wanted.contains(cpu.cpu.0)) {
            let stream = input.trace.stream(buffer, number, &time).map_err(|e| anyhow!(e))?;
            merge.add(stream, source);
        }
    }
    Ok(())
}

fn time_column(args: &Args, input: &Input, buffer: &Buffer) -> TimeColumn {
    let in_nanoseconds =
        matches!(buffer.clock.as_str(), "" | "local" | "global" | "uptime" | "perf" | "tai" | "tsc2nsec")
            || buffer.clock.starts_with("mono")
            || buffer.clock == "boot"
            || input.trace.option(OptionId::TSC2NSEC).is_some();
    match () {
        () if args.raw_ts || !in_nanoseconds => TimeColumn::Ticks,
        () if args.layout.nanoseconds => TimeColumn::Nanos,
        () => TimeColumn::Micros,
    }
}

fn filters(args: &Args, input: &Input) -> Result<Option<ReportFilters>, Failure> {
    if args.filters.list.is_empty() {
        return Ok(None);
    }
    let formats = input.trace.ftrace_formats.iter().chain(&input.trace.event_formats);
    let compiled = ReportFilters::compile(&args.filters.list, formats, input.trace.abi);
    Ok(Some(
        compiled.map_err(|e| Failure::new(crate::cli::exit::Exit::Usage, anyhow!("{}: {e}", input.path.display())))?,
    ))
}

/// Whether the filters let it through. A stack belongs to the event before it on its CPU.
fn is_shown(file: &FileState<'_>, types: &EventTypes, record: &Record<'_>, shown: &mut Vec<bool>) -> bool {
    let Some(filters) = &file.filters else { return true };
    let common = types.common();
    let id = EventId(common.event_id(types.abi(), record.data));
    let cpu = record.cpu.0 as usize & 0xffff;
    if shown.len() <= cpu {
        shown.resize(cpu + 1, false);
    }
    if shown[cpu] && file.stack_events.contains(&Some(id)) {
        return true;
    }
    let comm = match filters.needs_comm() {
        true => file.state.comms.name(common.pid(types.abi(), record.data)),
        false => &[],
    };
    let names = Functions(&file.input.symbols.kallsyms);
    let subject = Subject { data: record.data, cpu: record.cpu, comm, names: &names };
    shown[cpu] = filters.matches(id, &subject);
    shown[cpu]
}
