//! `--stat`: where the data of each CPU is, and what the kernel said of its buffers.

use crate::cli::damage::DamageReport;
use crate::cli::exit::Failure;
use crate::cli::query::QueryInput;
use crate::cli::trace_file::threads;
use rtrace::internal::trace_dat::{Buffer, DataLayout, FileError, OptionId, Trace};
use std::collections::BTreeMap;
use std::io::Write;

/// The CPUs that have data, and where it is, as buffer and number there: in the top buffer if that has any.
pub(super) fn cpus_with_data(trace: &Trace) -> BTreeMap<u32, (usize, usize)> {
    let mut cpus = BTreeMap::new();
    for (buffer, of) in trace.buffers.iter().enumerate() {
        for (number, data) in of.cpus.iter().enumerate() {
            cpus.entry(data.cpu.0).or_insert((buffer, number));
        }
    }
    cpus
}

/// As trace-cmd prints it; offsets and sizes of compressed data are those of the file that it would unpack to.
pub(super) fn stat(input: &QueryInput, damage: &DamageReport, out: &mut impl Write) -> Result<(), Failure> {
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
