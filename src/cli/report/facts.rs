//! What a file says besides its events: `--stat`, `--uname` and the like.

use super::Args;
use super::input::Input;
use crate::cli::exit::Failure;
use rtrace::trace_dat::{Buffer, DataLayout, OptionId, Trace};
use std::io::Write;

/// What to print instead of the events.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Wanted {
    /// The buffers' statistics when recording ended, and where the data lies
    #[arg(long)]
    stat: bool,
    /// The recorded machine and kernel, and the recorder's version
    #[arg(long)]
    uname: bool,
    /// The version of the program that recorded
    #[arg(long)]
    version: bool,
    /// The CPUs that have data
    #[arg(long)]
    cpus: bool,
    /// The names of the events whose formats the file holds
    #[arg(short = 'E', long)]
    event_names: bool,
    /// The formats of the events
    #[arg(long)]
    events: bool,
}

impl Wanted {
    pub(super) fn any(self) -> bool {
        self.stat || self.uname || self.version || self.cpus || self.event_names || self.events
    }
}

/// Prints all that is wanted, file by file.
pub(super) fn print(args: &Args, inputs: &[Input], out: &mut impl Write) -> Result<(), Failure> {
    let wanted = args.facts;
    for input in inputs {
        let trace = &input.trace;
        if wanted.cpus {
            writeln!(out, "List of CPUs in {} with data:", input.path.display())?;
            let mut cpus: Vec<u32> = trace.buffers.iter().flat_map(|b| &b.cpus).map(|c| c.cpu.0).collect();
            cpus.sort_unstable();
            cpus.dedup();
            for cpu in cpus {
                writeln!(out, "  {cpu}")?;
            }
            continue;
        }
        if inputs.len() > 1 {
            write!(out, "{}: ", input.label())?;
        }
        writeln!(out, "cpus={}", trace.cpu_count)?;
        if wanted.uname {
            text(trace, OptionId::UNAME, out)?;
        }
        if wanted.uname || wanted.version {
            text(trace, OptionId::VERSION, out)?;
        }
        let formats = || trace.ftrace_formats.iter().chain(&trace.event_formats);
        if wanted.event_names {
            for format in formats() {
                writeln!(out, "{}:{}", format.system, format.name)?;
            }
        }
        if wanted.events {
            for format in formats() {
                writeln!(out, "system: {}\n{format}", format.system)?;
            }
        }
        if wanted.stat {
            stat(trace, out)?;
        }
    }
    Ok(())
}

fn text(trace: &Trace, id: OptionId, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(option) = trace.option(id) {
        writeln!(out, "{}", option.text())?;
    }
    Ok(())
}

/// As trace-cmd prints it; offsets and sizes of compressed data are those of the file that it would unpack to.
fn stat(trace: &Trace, out: &mut impl Write) -> Result<(), Failure> {
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
    let Some(top) = trace.buffers.first().filter(|b| !b.cpus.is_empty()) else { return Ok(()) };
    let mut unpacked_at = top.page_size as u64;
    for cpu in 0..trace.cpu_count {
        let Some(number) = top.cpus.iter().position(|c| c.cpu.0 == cpu) else {
            writeln!(out, "CPU{cpu} data recorded at offset=0x0\n    0 bytes in size")?;
            continue;
        };
        let (offset, size) = place(trace, top, number, &mut unpacked_at)?;
        writeln!(out, "CPU{cpu} data recorded at offset={offset:#x}\n    {size} bytes in size")?;
    }
    Ok(())
}

fn place(trace: &Trace, top: &Buffer, cpu: usize, unpacked_at: &mut u64) -> Result<(u64, u64), Failure> {
    let data = top.cpus[cpu];
    if data.layout == DataLayout::Pages {
        return Ok((data.offset, data.size));
    }
    let size: u64 = trace.chunks(top, cpu)?.iter().map(|c| u64::from(c.size)).sum();
    let offset = *unpacked_at;
    *unpacked_at = (offset + size).next_multiple_of(top.page_size.max(1) as u64);
    Ok((offset, size))
}
