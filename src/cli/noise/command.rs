//! `rtrace osnoise` and `rtrace timerlat`: set up, watch, say what came of it.

use super::args::{OsnoiseArgs, TimerlatArgs};
use super::tool::{NoiseTool, ThresholdHit};
use super::watch::{NoiseWatch, TimerlatReaders};
use crate::cli::analyze::noise::{self, NoiseView};
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::refuse;
use crate::cli::hist::HistDisplay;
use crate::cli::live::live_merge;
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::{note, stdout};
use crate::cli::traced::add_purpose;
use crate::cli::usage::unknown_option;
use anyhow::anyhow;
use rtrace::analysis::InOrder;
use rtrace::record::{BufferPlan, Compression, LiveStream, MachineSettings, Plan, RecordError, TargetBuffer};
use rtrace::symbols::Kallsyms;
use rtrace::tracefs::Feature;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub(crate) fn osnoise(args: &OsnoiseArgs) -> Result<Exit, Failure> {
    refuse::<OsnoiseArgs>(args.run.reaction.moot(args.stops()))?;
    watch(args)
}

pub(crate) fn timerlat(args: &TimerlatArgs) -> Result<Exit, Failure> {
    refuse::<TimerlatArgs>(args.run.reaction.moot(args.stops()))?;
    watch(args)
}

/// Name of the instance that keeps the newest.
fn flight_name() -> String {
    format!("rtrace-{}-flight", std::process::id())
}

fn plan<T: NoiseTool>(tool: &T) -> Result<Plan, Failure> {
    let run = tool.run();
    let first = run.command.first().and_then(|word| word.to_str());
    if let Some(mode) =
        first.filter(|mode| ["top", "hist"].contains(mode) && !std::env::args().any(|word| word == "--"))
    {
        let name = T::TRACER;
        return Err(Failure::new(Exit::Usage, anyhow!("`{mode}` of rtla is no part of `rtrace {name}`")).hint(
            format!(
                "`rtrace {name}` prints its table without it, a row for each CPU{}; `rtrace {name} -- {mode}` runs a program of that name.",
                if mode == "hist" { ", of buckets there are none" } else { "" }
            ),
        ));
    }
    let buffer = |place| {
        let mut buffer = BufferPlan::new(place);
        buffer.clock = Some("local".to_owned()); // that of the interferences' begins
        add_purpose(&mut buffer, T::TRACER).map(|()| buffer)
    };
    let flight = run.reaction.save.is_some().then(|| TargetBuffer::Instance(flight_name()));
    let places = std::iter::once(TargetBuffer::Private).chain(flight);
    let buffers = places.map(buffer).collect::<Result<_, String>>().map_err(|error| anyhow!(error))?;
    Ok(Plan {
        buffers,
        own_threads: true, // they are noise as any other
        command: (!run.command.is_empty()).then(|| run.command.clone()),
        search_path: std::env::var_os("PATH"),
        duration: run.duration,
        machine: MachineSettings {
            tracers: tool.settings(),
            threshold: tool.threshold(),
            ..MachineSettings::default()
        },
        ..Plan::empty(Path::new(""), Compression::None)
    })
}

fn watch<T: NoiseTool>(tool: &T) -> Result<Exit, Failure> {
    let run = tool.run();
    // An unknown option looks like a command, since a command's own options are left to it.
    if let Some(word) = run.command.first().map(|word| word.to_string_lossy()).filter(|word| word.starts_with('-')) {
        return Err(unknown_option(&word).into());
    }
    let plan = plan(tool)?;
    let own = |exit: Exit| if plan.command.is_some() && exit != Exit::Usage { Exit::Command(125) } else { exit };
    let tracefs = run.tracefs.open().map_err(|failure| failure.with_exit(own))?;
    tracefs.require(&Feature::Tracer(T::TRACER.to_owned())).map_err(|e| Failure::from(e).with_exit(own))?;
    let refused = |error: RecordError| match explain(&tracefs, &error) {
        Some(known) => known.with_exit(own),
        None => failure(error, own),
    };
    let warn = |text: &str| note!("rtrace: warning: {text}");
    let journal = run.tracefs.journal(&tracefs, run.verbose);
    let (stream, facts) = LiveStream::set_up(&plan, journal, warn).map_err(refused)?;
    let readers = tool.in_user().then(|| TimerlatReaders::start(&tracefs, run.cpus.as_ref())).transpose();
    let readers = readers.map_err(|failure| failure.with_exit(own))?;
    let kallsyms = Kallsyms::new(tracefs.kallsyms().unwrap_or_default());
    let mut watch = NoiseWatch {
        tool,
        analysis: tool.analysis(&facts.formats, facts.abi),
        merge: live_merge(&facts),
        kallsyms: &kallsyms,
        flight: run.reaction.save.as_ref().map(|_| tracefs.instance(&flight_name())).transpose()?,
        display: Some(HistDisplay::new(true)).filter(|display| display.is_screen() && !run.quiet && !run.json),
        next: Instant::now() + run.interval,
        pending: None,
        hits: Vec::new(),
        saved: Vec::new(),
        resumes: false,
        failed: None,
    };
    let streamed = stream.run(&mut watch).map_err(refused)?;
    drop(readers);
    if let Some(failure) = watch.failed {
        return Err(failure.with_exit(own));
    }
    let report = watch.analysis.finish();
    let view = NoiseView::live(&report, &kallsyms);
    let mut text = Vec::new();
    if run.json {
        writeln!(text, "{:#}", document(tool, &view, &watch.hits, &watch.saved))?;
    } else {
        summary::<T>(&view, &watch.hits, &watch.saved, &mut text)?;
        noise::write(&tool.answer(&view, run.top), &mut text)?;
    }
    stdout().write_all(&text)?;
    Ok(match streamed.command {
        _ if !watch.hits.is_empty() => Exit::Unmet,
        Some(ended) => Exit::Command(ended.code()),
        None => Exit::Success,
    })
}

/// The lines before the tables.
fn summary<T: NoiseTool>(
    view: &NoiseView<'_, T::Report>,
    hits: &[ThresholdHit],
    saved: &[std::path::PathBuf],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (losses, window) = T::window(view.report);
    let (begin, end) = window.unwrap_or_default();
    let (unit, length) = (view.unit, view.unit.long(end.saturating_sub(begin)));
    writeln!(out, "Window: {} to {}, {length} {}", unit.point(begin), unit.point(end), unit.long_name())?;
    if losses > 0 {
        writeln!(out, "Note: events were lost at {losses} places: there were more samples or interferences")?;
    }
    for hit in hits {
        writeln!(out, "Threshold hit at {} on {}", unit.point(hit.at), hit.text())?;
    }
    saved.iter().try_for_each(|file| writeln!(out, "Saved: {}", file.display()))?;
    Ok(())
}

fn document<T: NoiseTool>(
    tool: &T,
    view: &NoiseView<'_, T::Report>,
    hits: &[ThresholdHit],
    saved: &[std::path::PathBuf],
) -> Value {
    let hit = |hit: &ThresholdHit| json!({"cpu": hit.cpu.0, "at": hit.at, "what": hit.what, "ns": hit.nanoseconds});
    let mut document = json!({
        "schema": format!("rtrace.{}", T::TRACER),
        "version": 1,
        "clock": view.clock,
        "unit": view.unit.name(),
        "window": T::window(view.report).1.map(|(begin, end)| json!({"begin": begin, "end": end})),
        "hits": hits.iter().map(hit).collect::<Vec<_>>(),
        "saved": saved.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
    });
    if let (Value::Object(document), Value::Object(mut answer)) = (&mut document, noise::json(&tool.answer(view, 0))) {
        document.append(&mut answer);
    }
    document
}
