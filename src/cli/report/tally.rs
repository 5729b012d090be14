//! `--count` and `--summary`.

use super::args::{ReportFormat, ReportRun};
use crate::cli::coverage;
use crate::cli::exit::Failure;
use crate::cli::query::QueryInput;
use crate::cli::terminal::table_width;
use rtrace::export::{Count, EventSummary, SummaryBuffer};
use rtrace::internal::trace_dat::{LatencyResult, OptionId};
use rtrace::recording::BufferSource;
use rtrace::units::{counted, grouped};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

/// Counts the events and prints the numbers.
pub(super) fn print(run: &ReportRun<'_>, out: &mut (impl Write + Send)) -> Result<(), Failure> {
    let (args, inputs) = (run.args.tally, run.inputs);
    let as_json = args.json || run.args.format == ReportFormat::Json;
    let labels: Vec<String> = inputs.iter().map(QueryInput::label).collect();
    let buffer = |source: &BufferSource| {
        let input = &inputs[source.recording];
        let name = input.trace.buffers[source.buffer].name.as_str();
        SummaryBuffer {
            recording: source.recording,
            abi: input.trace.abi,
            formats: input.formats().collect(),
            comms: &input.symbols.comms,
            source: (inputs.len() > 1).then_some(labels[source.recording].as_str()),
            buffer: (!name.is_empty()).then_some(name),
            in_ticks: source.in_ticks,
            wall: source.wall_clock(run.query.recordings()),
            offline: input.trace.offline_cpus(),
        }
    };
    let latencies: Vec<LatencyResult> = inputs.iter().flat_map(|input| input.trace.latencies()).collect();
    let buffers = run.query.sources().iter().map(buffer).collect();
    match args.count {
        true => run.export(&Count::new(buffers, as_json), out).map(drop),
        false if !as_json => {
            let summary = EventSummary::new(buffers, args.top_tasks.unwrap_or(20), false);
            let summary = summary.with_latencies(latencies).with_width(table_width(false));
            run.export(&summary, out)?;
            run.inputs.iter().try_for_each(|input| {
                counted_by_recorder(input, out)?;
                let of = if inputs.len() > 1 { format!("{}\n", input.path.display()) } else { String::new() };
                Ok(write!(out, "\n{of}{}", coverage::text(&input.trace, true))?)
            })
        }
        false => {
            let of_input = |input: &QueryInput| {
                let source = (inputs.len() > 1).then(|| input.label());
                let command = coverage::command_line(&input.trace);
                json!({"source": source, "buffers": coverage::json(&input.trace, true), "command": command})
            };
            let coverages = inputs.iter().map(of_input).collect();
            let summary = EventSummary::new(buffers, args.top_tasks.unwrap_or(20), as_json);
            let summary = summary.with_latencies(latencies).with_coverages(coverages);
            run.export(&summary, out).map(drop)
        }
    }
}

/// The losses that the recorder found in the kernel's counters, which know of all of them.
fn counted_by_recorder(input: &QueryInput, out: &mut impl Write) -> Result<(), Failure> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    let texts: Vec<String> = input.trace.options(OptionId::CPUSTAT).map(|option| option.text()).collect();
    let mut cpu = "";
    for (name, value) in texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(": ")) {
        match name {
            "CPU" => cpu = value.trim(),
            "overrun" | "commit overrun" | "dropped events" => {
                *all.entry(cpu).or_default() += value.trim().parse::<u64>().unwrap_or(0);
            }
            _ => {}
        }
    }
    all.retain(|_, lost| *lost > 0);
    if !all.is_empty() {
        let sum = all.values().fold(0, |sum: u64, lost| sum.saturating_add(*lost));
        let each: Vec<String> = all.iter().map(|(cpu, lost)| format!("cpu {cpu}: {}", grouped(*lost))).collect();
        let counted = counted(sum, "lost event");
        writeln!(out, "\nThe recorder counted {counted} by the kernel's counters ({}).", each.join(", "))?;
    }
    Ok(())
}
