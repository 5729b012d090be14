//! Facts of a file besides its events: `--stat`, `--uname` and the like.

use super::stat::{cpus_with_data, stat};
use super::{Args, Input, facts_json};
use crate::cli::damage::DamageReport;
use crate::cli::exit::Failure;
use anyhow::anyhow;
use regex::Regex;
use rtrace::abi::{Abi, Endian};
use rtrace::format::EventFormat;
use rtrace::trace_dat::{OptionId, Trace};
use rtrace::units::Timestamp;
use serde_json::{Map, json};
use std::io::Write;

/// The output instead of the events.
#[derive(clap::Args, Clone)]
pub(crate) struct Wanted {
    /// The buffers' statistics when recording ended, and where the data lies
    #[arg(long)]
    pub(super) stat: bool,
    /// The recorded machine and kernel, and the recorder's version
    #[arg(long)]
    pub(super) uname: bool,
    /// The version of the program that recorded
    #[arg(long)]
    pub(super) version: bool,
    /// The CPUs that have data
    #[arg(long)]
    pub(super) cpus: bool,
    /// The names of the events whose formats the file holds
    #[arg(short = 'E', long)]
    pub(super) event_names: bool,
    /// The formats of the events
    #[arg(long)]
    pub(super) events: bool,
    /// The formats of the events that match this expression, as in sched:.*switch
    #[arg(long, value_name = "EVENTS", value_parser = event_pattern)]
    pub(super) event: Option<Regex>,
    /// Print the time of the first event of each CPU
    #[arg(long)]
    pub(super) first_event: bool,
    /// Print the time of the last event of each CPU
    #[arg(long)]
    pub(super) last_event: bool,
    /// Check that all events' formats are understood; 1 if not
    #[arg(long)]
    pub(super) check_events: bool,
    /// The byte order of the file and of this machine
    #[arg(short = 'e', long)]
    pub(super) endian: bool,
    /// The page size of the file and of this machine
    #[arg(short = 'p', long)]
    pub(super) page_size: bool,
    /// The functions whose addresses the file holds
    #[arg(short = 'f', long)]
    pub(super) functions: bool,
    /// The constant strings of trace_printk() that the file holds
    #[arg(short = 'P', long)]
    pub(super) printk: bool,
}

/// An expression for the whole of `system:event`, or of either.
fn event_pattern(text: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?i)^(?:{text})$")).map_err(|e| e.to_string())
}

impl Wanted {
    pub(super) fn any(&self) -> bool {
        let of_cpus = self.cpus || self.first_event || self.last_event;
        let of_file = self.stat || self.uname || self.version || self.endian || self.page_size;
        of_cpus || self.of_formats() || of_file || self.functions || self.printk
    }

    /// True if this format is to be printed.
    pub(super) fn wants_format(&self, format: &EventFormat) -> bool {
        match &self.event {
            None => self.events,
            Some(event) => {
                event.is_match(&format!("{}:{}", format.system, format.name))
                    || event.is_match(&format.name)
                    || event.is_match(&format.system)
            }
        }
    }

    pub(super) fn of_formats(&self) -> bool {
        self.event_names || self.events || self.event.is_some()
    }
}

/// Prints all that is wanted, file by file.
pub(super) fn print(args: &Args, inputs: &[Input], damage: &DamageReport, out: &mut impl Write) -> Result<(), Failure> {
    let wanted = &args.facts;
    if args.wants_json() {
        let all = inputs.iter().map(|input| facts_json::of(args, input, damage)).collect::<Result<Vec<_>, _>>()?;
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
                out.write_all(text)?;
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
        if wanted.stat {
            stat(input, damage, out)?;
        }
    }
    Ok(())
}

/// The CPUs that have data, with their first and last events' times if wanted.
fn cpus(args: &Args, input: &Input, damage: &DamageReport, out: &mut impl Write) -> Result<(), Failure> {
    let trace = &input.trace;
    writeln!(out, "List of CPUs in {} with data:", input.path.display())?;
    let query = args.events.all(std::slice::from_ref(input));
    let time = args.events.time();
    for (cpu, (buffer, number)) in cpus_with_data(trace) {
        write!(out, "  {cpu}")?;
        let note = &mut |found| damage.note(&input.path, &found);
        let ends = trace.span(&trace.buffers[buffer], number, &time, note)?;
        let in_ticks = query.sources().iter().any(|source| source.buffer == buffer && source.in_ticks);
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
pub(super) fn check_events(args: &Args, inputs: &[Input], out: &mut impl Write) -> Result<(), Failure> {
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
