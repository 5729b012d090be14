//! `rtrace stat`.

use super::args::{InstancesArgs, TracefsArgs};
use super::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use rtrace::tracefs::{BufferSize, MachineKnob, Status};
use rtrace::units::ByteSize;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Show tracing settings that differ from the boot defaults
///
/// Tracer, events, filters, triggers, function and pid lists, sizes, clock, probes, what the kernel last refused.
/// Works on the top level by default.
#[derive(clap::Args)]
#[command(
    after_help = "EXAMPLES:\n  rtrace stat            the top level\n  rtrace stat -a -t      all there is\n  rtrace stat --json     for a program"
)]
pub(crate) struct StatArgs {
    #[command(flatten)]
    instances: InstancesArgs,
    /// All options, not only those that differ
    #[arg(short, long)]
    options: bool,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

pub(crate) fn run(args: &StatArgs) -> Result<Exit, Failure> {
    let tracefs = args.tracefs.open()?;
    let mut all = Vec::new();
    for instance in args.instances.open(&tracefs)? {
        let read = || {
            let mut status = Status::read(&instance)?;
            if args.options {
                status.options = instance.options()?;
            }
            Ok::<_, Failure>(status)
        };
        match read() {
            // Somebody has removed it meanwhile.
            Err(_) if instance.name().is_some() && !instance.path("trace").exists() => {}
            status => all.push(status?),
        }
    }
    let instances = tracefs.instances()?;
    let mut out = io::BufWriter::new(stdout().lock());
    if args.json {
        let document = json!({
            "schema": "rtrace.stat",
            "version": 1,
            "buffers": all.iter().map(to_json).collect::<Vec<_>>(),
            "instances": instances,
        });
        serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        for status in &all {
            print(status, &mut out)?;
        }
        if all.iter().any(|status| status.instance.is_none()) && !instances.is_empty() {
            section(&mut out, "Instances", instances.iter())?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn print(status: &Status, out: &mut impl Write) -> io::Result<()> {
    if let Some(name) = &status.instance {
        writeln!(out, "\nInstance: {name}")?;
    }
    if let Some(tracer) = &status.tracer {
        writeln!(out, "\nTracer: {tracer}")?;
    }
    writeln!(out, "\nEvents:")?;
    match (status.all_events, status.systems.is_empty() && status.events.is_empty()) {
        (true, _) => writeln!(out, "  all enabled")?,
        (_, true) => writeln!(out, "  all disabled")?,
        _ => {
            status.systems.iter().try_for_each(|system| writeln!(out, "  {system}"))?;
            status.events.iter().try_for_each(|event| writeln!(out, "  {event}"))?;
        }
    }
    let settings = |(event, text): &(_, String)| format!("{event} \"{}\"", text.replace('\n', "\n  "));
    section(out, "Filters", status.filters.iter().map(settings))?;
    section(out, "Triggers", status.triggers.iter().map(settings))?;
    for (file, lines) in &status.lists {
        section(out, file, lines.iter())?;
    }
    let mut sizes = match status.buffer {
        BufferSize::Kib(kib) => vec![format!("{} per CPU", size(kib))],
        BufferSize::Unexpanded { now, expanded } => {
            vec![format!("{} per CPU, {} once it is used", size(now), size(expanded))]
        }
        BufferSize::PerCpu => {
            status.cpu_buffers.iter().map(|(cpu, kib)| format!("CPU {cpu}: {}", size(*kib))).collect()
        }
    };
    sizes.extend(status.buffer_total_kib.map(|kib| format!("{} in total", size(kib))));
    sizes.extend(status.sub_buffer_kib.map(|kib| format!("sub-buffers of {}", size(kib))));
    section(out, "Ring buffer", sizes)?;
    if let Some(clock) = &status.clock {
        writeln!(out, "\nClock: {clock}")?;
    }
    if let Some(bytes) = status.syscall_bytes {
        writeln!(out, "\nSystem calls' texts: {bytes} bytes each")?;
    }
    if let Some(mask) = &status.cpumask {
        writeln!(out, "\nCPU mask: {mask}")?;
    }
    if let Some(us) = status.max_latency_us {
        writeln!(out, "\nMax latency: {us} us")?;
    }
    let machine = |knob: &MachineKnob| format!("{}: {} ({} after boot)", knob.name(), knob.says, knob.after_boot);
    section(out, "Whole machine", status.machine.iter().map(machine))?;
    section(out, "Dynamic events", status.dynamic_events.iter())?;
    section(out, "Options", status.options.iter().map(|(name, on)| format!("{}{name}", if *on { "" } else { "no" })))?;
    writeln!(out, "\nTracing is {}", if status.on { "on" } else { "off" })?;
    if !status.error_log.is_empty() {
        writeln!(out, "\nThe kernel refused:")?;
        for entry in &status.error_log {
            writeln!(out, "  {}\n{entry}", entry.location)?;
        }
    }
    Ok(())
}

fn section<T: std::fmt::Display>(
    out: &mut impl Write,
    title: &str,
    lines: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    lines.try_for_each(|line| writeln!(out, "  {line}"))
}

fn to_json(status: &Status) -> Value {
    let settings = |list: &[(rtrace::tracefs::EventName, String)]| -> Value {
        list.iter().map(|(event, text)| json!({"event": event.to_string(), "text": text})).collect()
    };
    let errors = status
        .error_log
        .iter()
        .map(|e| json!({"location": e.location, "error": e.text, "command": e.command, "caret": e.caret}));
    json!({
        "instance": status.instance,
        "on": status.on,
        "tracer": status.tracer,
        "all_events": status.all_events,
        "systems": status.systems,
        "events": status.events.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "filters": settings(&status.filters),
        "triggers": settings(&status.triggers),
        "lists": status.lists,
        "buffer_kib_per_cpu": status.buffer.kib(),
        "buffer_kib_of_cpus": status.cpu_buffers.iter().map(|(cpu, kib)| (cpu.to_string(), json!(kib))).collect::<serde_json::Map<_, _>>(),
        "buffer_total_kib": status.buffer_total_kib,
        "sub_buffer_kib": status.sub_buffer_kib,
        "syscall_bytes": status.syscall_bytes,
        "clock": status.clock,
        "cpumask": status.cpumask,
        "max_latency_us": status.max_latency_us,
        "machine": status.machine.iter().map(|knob| (knob.name(), json!(knob.says))).collect::<serde_json::Map<_, _>>(),
        "dynamic_events": status.dynamic_events,
        "options": status.options.iter().map(|(name, on)| (name.clone(), json!(on))).collect::<serde_json::Map<_, _>>(),
        "errors": errors.collect::<Vec<_>>(),
    })
}

/// A size in KiB.
fn size(kib: u64) -> ByteSize {
    ByteSize(kib.saturating_mul(1024))
}
