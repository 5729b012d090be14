//! `rtrace dump`.

mod validate;

use super::damage::Damage;
use super::exit::{Exit, Failure};
use super::trace_file::open;
use crate::cli::terminal::stdout;
use rtrace::trace_dat::{FileError, LazyBytes, OptionId, Trace};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Inspect or validate a trace.dat file
///
/// Without an option: version, byte order, compression, buffers and how much of each part there is. With --validate every
/// byte is read; each defect is named with its place, and the exit code is 4 if there is one.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace dump                          what is in trace.dat
  rtrace dump --options run.dat        every option with its place and content
  rtrace dump --validate run.dat       is it sound?")]
pub(crate) struct Args {
    /// File to look at [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// File to look at
    #[arg(short, long, value_name = "FILE", conflicts_with = "file", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Read everything and name each defect
    #[arg(short = 'v', long)]
    validate: bool,
    /// The summary (what is shown without any option)
    #[arg(long)]
    summary: bool,
    /// All parts
    #[arg(long)]
    all: bool,
    /// The sections (version 7): place, size, compression
    #[arg(long)]
    sections: bool,
    /// The options: place, size, content
    #[arg(long)]
    options: bool,
    /// The buffers: CPUs, places, sizes
    #[arg(long, visible_alias = "flyrecord")]
    buffers: bool,
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
    /// The summary as JSON
    #[arg(long, conflicts_with_all = ["validate", "all"])]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let path = args.input.as_deref().or(args.file.as_deref()).unwrap_or(Path::new("trace.dat"));
    let trace = open(path)?;
    let damage = Damage::of(path, &trace);
    let mut out = io::BufWriter::new(stdout().lock());
    let done = write(args, path, &trace, &damage, &mut out).and_then(|()| Ok(out.flush()?));
    damage.outcome(done)
}

fn write(args: &Args, path: &Path, trace: &Trace, damage: &Damage, out: &mut impl Write) -> Result<(), Failure> {
    if args.json {
        let mut damaged: Vec<String> = trace.damage.iter().map(ToString::to_string).collect();
        check_sizes(trace, &mut |found| {
            damaged.push(found.to_string());
            damage.note(path, found);
        });
        serde_json::to_writer_pretty(&mut *out, &to_json(trace, &damaged)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if args.validate {
        let told = validate::validate(trace, path, damage)?;
        writeln!(out, "{}: {told}", path.display())?;
    } else {
        check_sizes(trace, &mut |found| damage.note(path, found));
        print(args, path, trace, damage, out)?;
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

fn print(args: &Args, path: &Path, trace: &Trace, damage: &Damage, out: &mut impl Write) -> io::Result<()> {
    let parts = [
        args.sections,
        args.options,
        args.buffers,
        args.head_page,
        args.head_event,
        args.ftrace_events,
        args.systems,
        args.events,
        args.kallsyms,
        args.printk,
        args.cmd_lines,
        args.modules,
        args.clock,
        args.strings,
    ];
    let all = args.all;
    if args.summary || all || !parts.contains(&true) {
        summary(trace, out)?;
    }
    if args.sections || all {
        for section in trace.sections() {
            let packed = if section.compressed { ", compressed" } else { "" };
            writeln!(out, "{:#10x}  section {}, {} bytes{packed}", section.offset, section.id, section.size)?;
        }
    }
    if args.options || all {
        for option in &trace.options {
            writeln!(
                out,
                "{:#10x}  option {}, {} bytes  {}",
                option.offset,
                option.id,
                option.data.len(),
                content(&option.data)
            )?;
        }
    }
    if args.buffers || all {
        buffers(trace, out)?;
    }
    let mut text = |wanted: bool, text: &[u8]| if wanted || all { out.write_all(text) } else { Ok(()) };
    text(args.head_page, &trace.header_texts.0)?;
    text(args.head_event, &trace.header_texts.1)?;
    for format in &trace.ftrace_formats {
        text(args.ftrace_events, format!("{format}\n").as_bytes())?;
    }
    for system in systems(trace) {
        text(args.systems, format!("{system}\n").as_bytes())?;
    }
    for format in &trace.event_formats {
        text(args.events, format!("{format}\n").as_bytes())?;
    }
    text(args.kallsyms, bytes(&trace.kallsyms))?;
    text(args.printk, &trace.printk_formats)?;
    text(args.cmd_lines, &trace.saved_cmdlines)?;
    text(args.modules, &trace.modules)?;
    if let Some(clock) = trace.option(OptionId::TRACECLOCK) {
        text(args.clock, format!("{}\n", clock.text()).as_bytes())?;
    }
    if args.strings || all {
        match trace.strings() {
            Ok(strings) => strings.iter().try_for_each(|(offset, string)| writeln!(out, "{offset:#10x}  {string}"))?,
            Err(error) => damage.note(path, &error),
        }
    }
    Ok(())
}

/// Text as it is, other bytes in hexadecimal, at most a line of either.
fn content(data: &[u8]) -> String {
    const MOST: usize = 100;
    let bare = data.strip_suffix(b"\0").unwrap_or(data);
    let is_text = !bare.is_empty() && bare.iter().all(|b| b.is_ascii_graphic() || matches!(b, b' ' | b'\n' | b'\t'));
    let (mut text, cut) = if is_text {
        let text = String::from_utf8_lossy(&bare[..bare.len().min(MOST)]).replace('\n', "\\n");
        (format!("\"{text}\""), bare.len() > MOST)
    } else {
        let bytes: Vec<String> = data.iter().take(MOST / 3).map(|b| format!("{b:02x}")).collect();
        (bytes.join(" "), data.len() > MOST / 3)
    };
    if cut {
        text.push_str(" ...");
    }
    text
}

/// Lazily loaded bytes; damaged ones are reported at the end.
fn bytes(lazy: &LazyBytes<FileError>) -> &[u8] {
    lazy.get().unwrap_or_default()
}

fn systems(trace: &Trace) -> Vec<&str> {
    let mut systems: Vec<&str> = trace.event_formats.iter().map(|format| format.system.as_str()).collect();
    systems.dedup();
    systems
}

fn summary(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let prefix = &trace.prefix;
    writeln!(out, "version        {}", prefix.version)?;
    writeln!(out, "byte order     {:?}", trace.abi.endian)?;
    writeln!(
        out,
        "long           {} bytes in the kernel, {} in the recorder",
        trace.abi.long_size, prefix.abi.long_size
    )?;
    writeln!(out, "sub-buffer     {} bytes", prefix.page_size)?;
    writeln!(out, "compression    {} {}", prefix.codec.name(), prefix.codec_version)?;
    writeln!(out, "CPUs           {}", trace.cpu_count)?;
    writeln!(out, "header_page    {} bytes", trace.header_texts.0.len())?;
    writeln!(
        out,
        "formats        {} of ftrace, {} of {} systems",
        trace.ftrace_formats.len(),
        trace.event_formats.len(),
        systems(trace).len()
    )?;
    writeln!(out, "kallsyms       {} bytes", bytes(&trace.kallsyms).len())?;
    writeln!(out, "printk formats {} bytes", trace.printk_formats.len())?;
    writeln!(out, "comms          {} bytes", trace.saved_cmdlines.len())?;
    writeln!(out, "modules        {} bytes", trace.modules.len())?;
    writeln!(out, "BTF            {} bytes", bytes(&trace.btf).len())?;
    writeln!(out, "options        {}", trace.options.len())?;
    buffers(trace, out)
}

fn buffers(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    for buffer in &trace.buffers {
        let name = if buffer.name.is_empty() { "the top buffer".to_owned() } else { format!("buffer {}", buffer.name) };
        write!(out, "{name}: clock {}, sub-buffers of {} bytes", buffer.clock, buffer.page_size)?;
        match &buffer.text {
            Some(text) => writeln!(out, ", {} bytes of a latency tracer's text", text.len())?,
            None => writeln!(out)?,
        }
        for data in &buffer.cpus {
            writeln!(out, "  CPU {:3}  {:#10x}  {} bytes", data.cpu, data.offset, data.size)?;
        }
    }
    Ok(())
}

fn to_json(trace: &Trace, damaged: &[String]) -> Value {
    let cpu = |data: &rtrace::trace_dat::CpuData| json!({"cpu": data.cpu.0, "offset": data.offset, "bytes": data.size});
    let buffer = |buffer: &rtrace::trace_dat::Buffer| {
        json!({
            "name": buffer.name, "clock": buffer.clock, "sub_buffer_bytes": buffer.page_size,
            "cpus": buffer.cpus.iter().map(cpu).collect::<Vec<_>>(), "text_bytes": buffer.text.as_ref().map(Vec::len),
        })
    };
    let option = |option: &rtrace::trace_dat::RawOption| json!({"id": option.id.0, "name": option.id.name(), "offset": option.offset, "bytes": option.data.len()});
    let section = |section: &rtrace::trace_dat::Section| {
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
    })
}
