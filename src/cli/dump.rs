//! `rtrace dump`.
//! `rtrace dump --validate`: everything is read once, and mismatches are reported.

use super::coverage;
use super::damage::DamageReport;
use super::exit::{Exit, Failure};
use super::given::{Given, Moot, refuse};
use super::trace_file::open;
use crate::cli::terminal::{PagerArgs, note, stdout};
use rtrace::internal::trace_dat::{FileError, TimeOptions, Trace};
use rtrace::recording::{Notice, UnknownEvents};
use rtrace::units::{EventId, Timestamp, counted};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

mod layout;

/// Inspect or validate a trace.dat file
///
/// Prints what trace-cmd dump prints and, of recordings that say so, what they hold of what happened. Without an option: version, byte order, compression, buffers and how much of each part
/// there is. With --validate every byte is read; each defect is named with its place, and the exit code is 4 if there is one.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace dump                          what is in trace.dat
  rtrace dump --options run.dat        every option with its place and content
  rtrace dump --validate run.dat       is it sound?")]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    given: Given,
    /// File to look at [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// File to look at
    #[arg(short, long, value_name = "FILE", conflicts_with = "file", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Read everything and name each defect
    #[arg(short = 'v', long)]
    validate: bool,
    #[command(flatten)]
    parts: DumpParts,
    /// All parts
    #[arg(long)]
    all: bool,
    /// The summary as JSON
    #[arg(long, conflicts_with = "validate")]
    json: bool,
    #[command(flatten)]
    pager: PagerArgs,
}

/// The parts of a file, in trace-cmd's layout.
#[derive(clap::Args, Clone, Copy)]
struct DumpParts {
    /// The summary (what is shown without any option)
    #[arg(long)]
    summary: bool,
    /// The sections (version 7): place, size, compression
    #[arg(long)]
    sections: bool,
    /// The options: place, size, content
    #[arg(long)]
    options: bool,
    /// The buffers: CPUs, places, sizes
    #[arg(long, visible_alias = "buffers")]
    flyrecord: bool,
    /// The text of header_page
    #[arg(long)]
    head_page: bool,
    /// The text of header_event
    #[arg(long)]
    head_event: bool,
    /// The formats of the ftrace system
    #[arg(long)]
    ftrace_events: bool,
    /// The systems
    #[arg(long)]
    systems: bool,
    /// The formats of all other systems
    #[arg(long)]
    events: bool,
    /// The kernel's symbols
    #[arg(long)]
    kallsyms: bool,
    /// The formats of trace_printk()
    #[arg(long)]
    printk: bool,
    /// The names of tasks
    #[arg(long)]
    cmd_lines: bool,
    /// The kernel's modules
    #[arg(long)]
    modules: bool,
    /// The trace clock
    #[arg(long)]
    clock: bool,
    /// The texts that section headers refer to (version 7), with their offsets
    #[arg(long)]
    strings: bool,
}

impl DumpParts {
    /// Parts to print: without any option the summary, with `all` every part.
    fn or_summary(self, all: bool) -> DumpParts {
        let DumpParts { summary, sections, options, flyrecord, head_page, head_event, .. } = self;
        let DumpParts { ftrace_events, systems, events, kallsyms, printk, cmd_lines, modules, clock, strings, .. } =
            self;
        let first = sections || options || flyrecord || head_page || head_event || ftrace_events || systems || events;
        let any = first || kallsyms || printk || cmd_lines || modules || clock || strings;
        DumpParts {
            summary: summary || all || !any,
            sections: sections || all,
            options: options || all,
            flyrecord: flyrecord || all,
            head_page: head_page || all,
            head_event: head_event || all,
            ftrace_events: ftrace_events || all,
            systems: systems || all,
            events: events || all,
            kallsyms: kallsyms || all,
            printk: printk || all,
            cmd_lines: cmd_lines || all,
            modules: modules || all,
            clock: clock || all,
            strings: strings || all,
        }
    }
}

/// Ids of all parts but the summary, which JSON is.
const PARTS: [&str; 15] = [
    "all",
    "sections",
    "options",
    "flyrecord",
    "head_page",
    "head_event",
    "ftrace_events",
    "systems",
    "events",
    "kallsyms",
    "printk",
    "cmd_lines",
    "modules",
    "clock",
    "strings",
];

impl DumpArgs {
    /// The first part that is asked for beside what prints something else.
    fn moot(&self) -> Option<Moot<'static>> {
        let (reason, hint) = match (self.validate, self.json) {
            (true, _) => ("beside `--validate`, which reads all parts and prints defects", "ask for one of them."),
            (_, true) => (
                "beside `--json`, which has sections, options and buffers anyway",
                "leave it out, or `--json` to see the content.",
            ),
            _ => return None,
        };
        let option = self.given.first_of(&PARTS);
        let option = option.or_else(|| self.given.first_of(&["summary"]).filter(|_| self.validate))?;
        Some(Moot { option, reason, hint })
    }
}

pub(crate) fn run(args: &DumpArgs) -> Result<Exit, Failure> {
    refuse::<DumpArgs>(args.moot())?;
    let path = args.input.as_deref().or(args.file.as_deref()).unwrap_or(Path::new("trace.dat"));
    let trace = open(path)?;
    let damage = DamageReport::of(path, &trace);
    let _pager = args.pager.start();
    let mut out = io::BufWriter::new(stdout().lock());
    let done = write(args, path, &trace, &damage, &mut out).and_then(|()| Ok(out.flush()?));
    damage.outcome(done)
}

fn write(
    args: &DumpArgs,
    path: &Path,
    trace: &Trace,
    damage: &DamageReport,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if args.json {
        let mut damaged: Vec<String> = trace.damage.iter().map(ToString::to_string).collect();
        check_sizes(trace, &mut |found| {
            damaged.push(found.to_string());
            damage.note(path, found);
        });
        serde_json::to_writer_pretty(&mut *out, &to_json(trace, &damaged)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if args.validate {
        let verdict = validate(trace, path, damage)?;
        writeln!(out, "{}: {verdict}", path.display())?;
    } else {
        check_sizes(trace, &mut |found| damage.note(path, found));
        let _ = trace.btf.get(); // of no size that is printed, but damage in it is
        let parts = args.parts.or_summary(args.all);
        let unread = layout::print(&parts, path, trace, out)?;
        if parts.summary && coverage::is_stored(trace) {
            write!(out, "{}", coverage::text(trace, false))?;
        }
        unread.iter().for_each(|error| damage.note(path, error));
        [&trace.kallsyms, &trace.btf].iter().filter_map(|lazy| lazy.error()).for_each(|error| damage.note(path, error));
    }
    Ok(())
}

/// Comparison of each CPU's data, by its chunks' headers, with the size that is printed of it.
fn check_sizes(trace: &Trace, damaged: &mut dyn FnMut(&FileError)) {
    for buffer in &trace.buffers {
        for cpu in 0..buffer.cpus.len() {
            let _chunks = trace.chunks(buffer, cpu, &mut |found| damaged(&found));
        }
    }
}

fn to_json(trace: &Trace, damaged: &[String]) -> Value {
    let cpu = |data: &rtrace::internal::trace_dat::CpuData| json!({"cpu": data.cpu.0, "offset": data.offset, "bytes": data.size});
    let buffer = |buffer: &rtrace::internal::trace_dat::Buffer| {
        json!({
            "name": buffer.name, "clock": buffer.clock, "sub_buffer_bytes": buffer.page_size,
            "cpus": buffer.cpus.iter().map(cpu).collect::<Vec<_>>(), "text_bytes": buffer.text.as_ref().map(Vec::len),
        })
    };
    let option = |option: &rtrace::internal::trace_dat::RawOption| json!({"id": option.id.0, "name": option.id.name(), "offset": option.offset, "bytes": option.data.len()});
    let section = |section: &rtrace::internal::trace_dat::Section| {
        json!({
            "id": section.id.0, "name": section.id.name(), "offset": section.offset, "bytes": section.size,
            "compressed": section.compressed,
        })
    };
    json!({
        "schema": "rtrace.dump",
        "version": 1,
        "file_version": trace.prefix.version,
        "big_endian": trace.abi.endian == rtrace::abi::Endian::Big,
        "long_bytes": trace.abi.long_size,
        "compression": trace.prefix.codec.name(),
        "cpus": trace.cpu_count,
        "formats": trace.ftrace_formats.len() + trace.event_formats.len(),
        "sections": trace.sections().iter().map(section).collect::<Vec<_>>(),
        "options": trace.options.iter().map(option).collect::<Vec<_>>(),
        "buffers": trace.buffers.iter().map(buffer).collect::<Vec<_>>(),
        "damage": damaged,
        "coverage": coverage::json(trace, false),
        "command": coverage::command_line(trace),
    })
}

/// The contents of the file at `path`, sound or not, as a sentence; each defect goes to `damage`.
fn validate(trace: &Trace, path: &Path, damage: &DamageReport) -> Result<String, FileError> {
    let known: BTreeSet<u16> = trace.formats().map(|format| format.id.0).collect();
    let mut events = 0u64;
    let mut backwards = 0u64;
    let mut unknown: BTreeMap<u16, UnknownEvents> = BTreeMap::new();
    let tell = |error: &(dyn std::error::Error + 'static)| damage.note(path, error);
    [&trace.kallsyms, &trace.btf].iter().filter_map(|lazy| lazy.get().err()).for_each(|error| tell(error));
    for buffer in &trace.buffers {
        for cpu in 0..buffer.cpus.len() {
            let mut stream = trace.stream(buffer, cpu, &TimeOptions { raw: true, ..TimeOptions::default() })?;
            let mut spare = Vec::new();
            let mut before = 0;
            loop {
                match stream.next(&mut spare) {
                    Ok(None) => break,
                    Err(error) => tell(&error),
                    Ok(Some(head)) => {
                        events += 1;
                        backwards += u64::from(head.item.timestamp < before);
                        before = head.item.timestamp;
                        // common_type comes first in every event of every kernel
                        let id = trace.abi.uint(stream.bytes(&head), 0, 2).unwrap_or(0) as u16;
                        if !known.contains(&id) {
                            let (first, cpu) = (Timestamp(head.item.timestamp), stream.cpu());
                            let none = UnknownEvents { recording: 0, id: EventId(id), count: 0, first, cpu };
                            let events = unknown.entry(id).or_insert(none);
                            events.count += 1;
                            (events.first, events.cpu) = (events.first, events.cpu).min((first, cpu));
                        }
                    }
                }
            }
        }
    }
    for events in unknown.into_values() {
        damage.notice(|_| path, &Notice::Unknown(events));
    }
    damage.unfinished(path, trace);
    if backwards > 0 {
        note!("rtrace: {} older than the one before on the same CPU", counted(backwards, "event"));
    }
    // As many as were named: of a file that was cut off one stands for all beyond.
    let defects = damage.places();
    let sound = if defects == 0 { "no defects".to_owned() } else { counted(defects, "defect") };
    let (events, buffers) = (counted(events, "event"), counted(trace.buffers.len() as u64, "buffer"));
    Ok(format!("{events} in {buffers}, {}: {sound}", counted(trace.options.len() as u64, "option")))
}
