//! Facts of a file besides its events: `--stat`, `--uname` and the like.
//! Facts of a file as JSON: schema `rtrace.facts`, version 1.

use super::args::ReportArgs;
use crate::cli::damage::DamageReport;
use crate::cli::exit::Failure;
use crate::cli::helper_programs;
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use crate::cli::trace_file::threads;
use anyhow::anyhow;
use rtrace::abi::{Abi, Endian};
use rtrace::internal::trace_dat::{Buffer, DataLayout, FileError, OptionId, Trace};
use rtrace::units::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// Prints all that is wanted, file by file.
pub(super) fn print(
    args: &ReportArgs,
    inputs: &[QueryInput],
    damage: &DamageReport,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let wanted = &args.facts;
    if args.wants_json() {
        let all = inputs.iter().map(|input| of(args, input, damage)).collect::<Result<Vec<_>, _>>()?;
        return Ok(writeln!(out, "{:#}", json!({"schema": "rtrace.facts", "version": 1, "files": all}))?);
    }
    for input in inputs {
        let trace = &input.trace;
        if wanted.cpus || wanted.first_event || wanted.last_event {
            cpus(args, input, damage, out)?;
        }
        if wanted.endian {
            let name = |endian: Endian| if endian == Endian::Little { "little" } else { "big" };
            let (file, host) = (name(trace.abi.endian), name(Abi::HOST.endian));
            writeln!(out, "file is {file} endian and host is {host} endian")?;
        }
        if wanted.page_size {
            let host = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)?.unwrap_or(0);
            writeln!(out, "file page size is {}, and host page size is {host}", trace.prefix.page_size)?;
        }
        if wanted.functions {
            for symbol in input.symbols.kallsyms.iter() {
                write!(out, "{:016x} ", symbol.address)?;
                out.write_all(symbol.name)?;
                if !symbol.module.is_empty() {
                    write!(out, " [{}]", String::from_utf8_lossy(symbol.module))?;
                }
                writeln!(out)?;
            }
        }
        if wanted.printk {
            for (address, text) in input.symbols.printk.iter() {
                write!(out, "{address:016x} ")?;
                for (nth, line) in text.split(|byte| *byte == b'\n').enumerate() {
                    out.write_all(if nth > 0 { b"\\n" } else { b"" })?;
                    out.write_all(line)?;
                }
                writeln!(out)?;
            }
        }
        let named = wanted.uname || wanted.version || wanted.stat || wanted.of_formats();
        if named && inputs.len() > 1 {
            write!(out, "{}: ", input.label())?;
        }
        // Names and formats alone are for programs to read.
        if wanted.uname || wanted.version || wanted.stat {
            writeln!(out, "cpus={}", trace.cpu_count)?;
        }
        if wanted.uname {
            text(trace, OptionId::UNAME, out)?;
        }
        if wanted.uname || wanted.version {
            text(trace, OptionId::VERSION, out)?;
        }
        let formats = || trace.formats();
        if wanted.event_names {
            for format in formats() {
                writeln!(out, "{}:{}", format.system, format.name)?;
            }
        }
        for format in formats().filter(|format| wanted.wants_format(format)) {
            writeln!(out, "system: {}\n{format}", format.system)?;
        }
        if wanted.event.is_some() && helper_programs::name() != "trace-cmd" {
            note!("rtrace: `--event` prints formats; `-F EVENT` selects the events to print.");
        }
        if wanted.stat {
            stat(input, damage, out)?;
        }
    }
    Ok(())
}

/// The CPUs that have data, with their first and last events' times if wanted.
fn cpus(args: &ReportArgs, input: &QueryInput, damage: &DamageReport, out: &mut impl Write) -> Result<(), Failure> {
    let trace = &input.trace;
    writeln!(out, "List of CPUs in {} with data:", input.path.display())?;
    let query = args.events.all(std::slice::from_ref(input));
    let time = args.events.time();
    for (cpu, (buffer, number)) in cpus_with_data(trace) {
        write!(out, "  {cpu}")?;
        let note = &mut |found| damage.note(&input.path, &found);
        let ends = trace.span(&trace.buffers[buffer], number, &time, note)?;
        let in_ticks = query.sources().iter().any(|source| source.buffer == buffer && source.shown_in_ticks);
        let shown = |at: Timestamp| match () {
            () if in_ticks => format!("{:>12}", at.0),
            () if args.layout.nanoseconds => format!("{:>5}.{:09}", at.0 / SECOND, at.0 % SECOND),
            () => {
                let rounded = at.0.saturating_add(500);
                format!("{:>5}.{:06}", rounded / SECOND, rounded % SECOND / 1000)
            }
        };
        if let Some((first, last)) = ends {
            if args.facts.first_event {
                write!(out, "\tFirst event:{}", shown(first))?;
            }
            if args.facts.last_event {
                write!(out, "\tLast event:{}", shown(last))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

const SECOND: u64 = 1_000_000_000;

/// Names the events whose print formats are not understood.
pub(super) fn check_events(args: &ReportArgs, inputs: &[QueryInput], out: &mut impl Write) -> Result<(), Failure> {
    let decode = args.wording.decode(!args.layout.no_plugins);
    let (mut checked, mut bad, mut errors) = (0, 0, Map::new());
    for input in inputs {
        let types = input.types(&decode);
        checked += types.iter().count();
        for (kind, error) in types.failed() {
            bad += 1;
            let (event, error) =
                (format!("{}:{}", kind.format.system, kind.format.name), format!("print format: {error}"));
            if !args.wants_json() {
                writeln!(out, "{event}: {error}")?;
            }
            errors.insert(event, error.into());
        }
    }
    if args.wants_json() {
        let document =
            json!({"schema": "rtrace.check-events", "version": 1, "checked": checked, "not_understood": errors});
        writeln!(out, "{document:#}")?;
    }
    match bad {
        0 => Ok(()),
        bad => Err(anyhow!("{bad} of {checked} events are not understood").into()),
    }
}

fn text(trace: &Trace, id: OptionId, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(option) = trace.option(id) {
        writeln!(out, "{}", option.text())?;
    }
    Ok(())
}

/// The facts of one file that are asked for.
fn of(args: &ReportArgs, input: &QueryInput, damage: &DamageReport) -> Result<Value, Failure> {
    let (wanted, trace) = (&args.facts, &input.trace);
    let mut facts = Map::new();
    facts.insert("file".to_owned(), input.path.to_string_lossy().into());
    let mut add = |wanted: bool, name: &str, fact: &mut dyn FnMut() -> Result<Value, Failure>| {
        if wanted {
            facts.insert(name.to_owned(), fact()?);
        }
        Ok::<(), Failure>(())
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let option = |id| trace.option(id).map(|option| option.text());
    add(wanted.cpus || wanted.first_event || wanted.last_event, "cpus", &mut || json_cpus(args, input, damage))?;
    let name = |endian: Endian| if endian == Endian::Little { "little" } else { "big" };
    add(wanted.endian, "endian", &mut || Ok(json!({"file": name(trace.abi.endian), "host": name(Abi::HOST.endian)})))?;
    add(wanted.page_size, "page_size", &mut || {
        let host = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)?;
        Ok(json!({"file": trace.prefix.page_size, "host": host}))
    })?;
    add(wanted.functions, "functions", &mut || {
        let functions = input.symbols.kallsyms.iter().map(|symbol| {
            json!({
                "address": format!("{:#x}", symbol.address), "name": text(symbol.name),
                "module": (!symbol.module.is_empty()).then(|| text(symbol.module)),
            })
        });
        Ok(functions.collect::<Vec<_>>().into())
    })?;
    add(wanted.printk, "printk", &mut || {
        let strings = input.symbols.printk.iter();
        let strings = strings.map(|(at, bytes)| json!({"address": format!("{at:#x}"), "text": text(bytes)}));
        Ok(strings.collect::<Vec<_>>().into())
    })?;
    add(wanted.uname, "uname", &mut || Ok(option(OptionId::UNAME).into()))?;
    add(wanted.uname || wanted.version, "version", &mut || Ok(option(OptionId::VERSION).into()))?;
    add(wanted.event_names, "event_names", &mut || {
        let names = trace.formats().map(|format| format!("{}:{}", format.system, format.name));
        Ok(names.collect::<Vec<_>>().into())
    })?;
    add(wanted.of_formats() && (wanted.events || wanted.event.is_some()), "formats", &mut || {
        let formats = trace.formats().filter(|format| wanted.wants_format(format));
        let one = |format: &rtrace::format::EventFormat| json!({"system": format.system, "name": format.name, "format": format.to_string()});
        Ok(formats.map(one).collect::<Vec<_>>().into())
    })?;
    add(wanted.stat, "stat", &mut || {
        let mut lines = Vec::new();
        stat(input, damage, &mut lines)?;
        Ok(text(&lines).into())
    })?;
    Ok(facts.into())
}

/// The CPUs that have data, with the times of their first and last events if wanted, in the clock's unit.
fn json_cpus(args: &ReportArgs, input: &QueryInput, damage: &DamageReport) -> Result<Value, Failure> {
    let time = args.events.time();
    let mut all = Vec::new();
    for (cpu, (buffer, number)) in cpus_with_data(&input.trace) {
        let note = &mut |found| damage.note(&input.path, &found);
        let ends = input.trace.span(&input.trace.buffers[buffer], number, &time, note)?;
        let mut one = json!({"cpu": cpu});
        if args.facts.first_event {
            one["first"] = ends.map(|(first, _)| first.0).into();
        }
        if args.facts.last_event {
            one["last"] = ends.map(|(_, last)| last.0).into();
        }
        all.push(one);
    }
    Ok(all.into())
}

// `--stat`: where the data of each CPU is, and what the kernel said of its buffers.

/// The CPUs that have data, and where it is, as buffer and number there: in the top buffer if that has any.
fn cpus_with_data(trace: &Trace) -> BTreeMap<u32, (usize, usize)> {
    let mut cpus = BTreeMap::new();
    for (buffer, of) in trace.buffers.iter().enumerate() {
        for (number, data) in of.cpus.iter().enumerate() {
            cpus.entry(data.cpu.0).or_insert((buffer, number));
        }
    }
    cpus
}

/// As trace-cmd prints it; offsets and sizes of compressed data are those of the file that it would unpack to.
fn stat(input: &QueryInput, damage: &DamageReport, out: &mut impl Write) -> Result<(), Failure> {
    let trace = &input.trace;
    if let Some(text) = trace.buffers.iter().find_map(|b| b.text.as_ref()) {
        out.write_all(text)?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    let stats: Vec<_> = trace.options(OptionId::CPUSTAT).collect();
    out.write_all(
        b"\nKernel buffer statistics:\n  \
              Note: \"entries\" are the entries left in the kernel ring buffer and are not\n        \
              recorded in the trace data. They should all be zero.\n\n",
    )?;
    if stats.is_empty() {
        out.write_all(b" No stats in this file\n")?;
    } else {
        for option in stats {
            out.write_all(option.data.strip_suffix(&[0]).unwrap_or(&option.data))?;
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")?;
    }
    if let Some(comparison) = trace.clock_comparison() {
        writeln!(out, "Times {comparison}\n")?;
    }
    let Some(top) = trace.buffers.first().filter(|b| !b.cpus.is_empty()) else { return Ok(()) };
    let mut unpacked_at = top.page_size as u64;
    for cpu in 0..trace.cpu_count {
        let Some(number) = top.cpus.iter().position(|c| c.cpu.0 == cpu) else {
            writeln!(out, "CPU{cpu} data recorded at offset=0x0\n    0 bytes in size")?;
            continue;
        };
        let note = &mut |found| damage.note(&input.path, &found);
        let (offset, size) = place(trace, top, number, &mut unpacked_at, note);
        writeln!(out, "CPU{cpu} data recorded at offset={offset:#x}\n    {size} bytes in size")?;
    }
    Ok(())
}

fn place(
    trace: &Trace,
    top: &Buffer,
    cpu: usize,
    unpacked_at: &mut u64,
    damaged: &mut dyn FnMut(FileError),
) -> (u64, u64) {
    let data = top.cpus[cpu];
    if data.layout == DataLayout::Pages {
        return (data.offset, data.size);
    }
    // Nothing vouches for the sizes in the chunks' headers.
    let mut pages = trace.raw_pages(top, cpu).on_threads(threads());
    let (mut size, mut chunk) = (0, Vec::new());
    loop {
        match pages.next(&mut chunk) {
            Ok(true) => size += chunk.len() as u64,
            Ok(false) => break,
            Err(error) => damaged(error),
        }
    }
    let offset = *unpacked_at;
    *unpacked_at = (offset + size).next_multiple_of(top.page_size.max(1) as u64);
    (offset, size)
}
