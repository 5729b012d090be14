//! The events of all files, merged: arguments to a query.
//! `--count`, `--summary` and `--profile`.

use super::args::{ReportArgs, ReportFormat, ReportLayout, ReportRun};
use super::{kernel, text};
use crate::cli::coverage;
use crate::cli::damage::DamageReport;
use crate::cli::exit::Failure;
use crate::cli::profile::report;
use crate::cli::profile::report::{LayoutArgs, ProfileLayout};
use crate::cli::query::{ClockUnit, QueryEvents, QueryInput, formats};
use crate::cli::terminal::{StandardOutput, table_width};
use rtrace::analysis::{Grouped, Profile};
use rtrace::export::{Count, EventSummary, Style, SummaryBuffer};
use rtrace::filter::Sign;
use rtrace::internal::trace_dat::{LatencyResult, OptionId};
use rtrace::recording::{BufferSource, Notice, OutputDependence};
use rtrace::units::{counted, grouped};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Stdout, Write};
use std::sync::atomic::Ordering;

impl ReportArgs {
    /// The dependence of lines on events that are not shown.
    fn surroundings(&self) -> OutputDependence {
        let ReportLayout { ts_diff, wakeups, boundary, .. } = self.layout;
        match () {
            () if self.format() == ReportFormat::Kernel => OutputDependence::Records,
            () if self.ts_check || ts_diff || wakeups || boundary => OutputDependence::Chunks,
            () => OutputDependence::Needless,
        }
    }
}

/// Prints what is wanted of them.
pub(super) fn print(
    args: &ReportArgs,
    inputs: &[QueryInput],
    damage: &DamageReport,
    out: &mut StandardOutput<Stdout>,
) -> Result<(), Failure> {
    let notice = |notice: Notice<'_>| damage.notice(|recording| &inputs[recording].path, &notice);
    let query = args.events.query(inputs, args.surroundings(), &notice)?;
    let query = query.check_order(args.ts_check).note_pages(args.layout.boundary);
    let events = QueryEvents::new(inputs, query)?.by_wall_clock(args.wall)?.redacted(args.redact);
    let run = ReportRun { args, events };
    write(&run, out)?;
    match run.shown.load(Ordering::Relaxed) {
        _ if args.wording.show_filters => {}
        0 => args.events.tell_of_nothing(inputs)?,
        _ => args.events.tell_of_absent_cpus(inputs),
    }
    Ok(())
}

fn write(run: &ReportRun<'_>, out: &mut StandardOutput<Stdout>) -> Result<(), Failure> {
    let args = run.args;
    if args.wording.show_filters {
        return print_filters(args, out);
    }
    if args.tally.any() {
        return print_tally(run, out);
    }
    if args.profile.profile {
        return print_profile(run, out);
    }
    match args.format() {
        ReportFormat::Text => text::print(run, out),
        ReportFormat::Kernel => kernel::print(run, out),
        ReportFormat::Json if args.syscalls => formats::json_syscalls(run, out).map(drop),
        ReportFormat::Json => formats::json(run, Style::Json, out).map(drop),
        ReportFormat::Raw => formats::json(run, Style::Raw, out).map(drop),
        ReportFormat::Csv => formats::csv(run, &args.fields, out).map(drop),
    }
}

/// `-T`: the filters of `-F` as they were understood, instead of the events.
fn print_filters(args: &ReportArgs, out: &mut impl Write) -> Result<(), Failure> {
    let filters = args.events.report_filters();
    if args.wants_json() {
        let all: Vec<_> = filters
            .iter()
            .map(|(filter, sign)| json!({"filter": filter.text(), "keeps": *sign == Sign::Keep}))
            .collect();
        return Ok(writeln!(out, "{:#}", json!({"schema": "rtrace.filters", "version": 1, "filters": all}))?);
    }
    for (filter, sign) in filters {
        writeln!(out, "{}'{}'", if *sign == Sign::Keep { " " } else { "!" }, filter.text())?;
    }
    Ok(())
}

/// Counts the events and prints the numbers.
fn print_tally(run: &ReportRun<'_>, out: &mut (impl Write + Send)) -> Result<(), Failure> {
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

fn print_profile(run: &ReportRun<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let (args, inputs, sources) = (run.args, run.inputs, run.query.sources());
    let wanted = &args.profile;
    let mut profiles: Vec<Profile> = Vec::new();
    for source in sources {
        let input = &inputs[source.recording];
        let stored: Vec<String> = input.trace.options(OptionId::HOOK).map(|option| option.text()).collect();
        let profile = wanted.account.profile(input.formats(), input.trace.abi, &wanted.hooks, &stored)?;
        let is_text = !args.tally.json && args.format != ReportFormat::Json;
        let as_theirs = is_text && wanted.layout() == ProfileLayout::TraceCmd;
        let profile = if as_theirs { profile.as_trace_cmd() } else { profile };
        profiles.push(profile.covering(run.query.coverage(source)?.0));
    }
    let profiles = run.analyse(Grouped::by_buffer(profiles))?;
    let by_comm = wanted.account.by_comm;
    if args.tally.json || args.format == ReportFormat::Json {
        let one = |(source, profile): (&BufferSource, &Profile)| {
            let input = &inputs[source.recording];
            let name = &input.trace.buffers[source.buffer].name;
            report::json_buffer(Some(&input.path.to_string_lossy()), name, profile, &input.symbols, by_comm)
        };
        let document = report::json_document(sources.iter().zip(&profiles).map(one).collect());
        return Ok(writeln!(out, "{document:#}")?);
    }
    out.write_all(&text::head(inputs))?;
    for (source, profile) in sources.iter().zip(&profiles) {
        let input = &inputs[source.recording];
        if inputs.len() > 1 {
            writeln!(out, "\nFile: {}", input.path.display())?;
        }
        let name = &input.trace.buffers[source.buffer].name;
        if !name.is_empty() {
            writeln!(out, "\nInstance: {name}")?;
        }
        let fit = (table_width(false), "a wider terminal shows all columns");
        let layout = LayoutArgs { layout: Some(wanted.layout()), limit: wanted.limit, wide: true };
        layout.write(profile, &input.symbols, by_comm, ClockUnit::of(source.in_ticks), fit, out)?;
    }
    Ok(())
}
