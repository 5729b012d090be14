//! Version 6: everything in a fixed order.

use super::extents::misfit;
use super::options::chosen_clock;
use super::scan::Scan;
use super::{options, private_options};
use crate::base::units::CpuId;
use crate::file::trace_dat::{Buffer, CpuData, DataLayout, FileError, FilePart, OptionId, RawOption, Trace};
use std::ops::Range;

const MOST_CPUS: u32 = 65536;

/// Reads all that follows the prefix.
pub(in crate::file::trace_dat) fn read(trace: &mut Trace, scan: &mut Scan<'_>) -> Result<(), FileError> {
    part(scan, "header_page");
    let (page, event) = options::header_info(scan, &mut trace.damage)?;
    trace.set_header_page(scan.place(), page, event);
    part(scan, "ftrace formats");
    options::formats(scan, "ftrace", &mut trace.ftrace_formats, &mut trace.damage)?;
    part(scan, "event formats");
    options::systems(scan, &mut trace.event_formats, &mut trace.damage)?;
    part(scan, "kallsyms");
    trace.kallsyms = options::sized32(scan, &mut trace.damage)?.into();
    part(scan, "printk formats");
    trace.printk_formats = options::sized32(scan, &mut trace.damage)?;
    part(scan, "saved cmdlines");
    trace.saved_cmdlines = options::sized64(scan, &mut trace.damage)?;
    part(scan, "cpu count");
    let at = scan.pos();
    let cpus = scan.u32()?;
    if cpus > MOST_CPUS {
        return Err(FileError::TooLong { place: scan.place(), offset: at, len: cpus.into(), limit: MOST_CPUS.into() });
    }
    trace.cpu_count = cpus;
    let mut kind = scan.bytes(10)?;
    if kind == b"options  \0" {
        part(scan, "options");
        while let Ok(option) = RawOption::read(scan, 6)? {
            private_options::take(option, trace.prefix.abi, &mut trace.options, &mut trace.damage);
        }
        trace.apply_options();
        kind = scan.bytes(10)?;
    }
    part(scan, "data");
    let kind_at = scan.pos().saturating_sub(kind.len() as u64);
    let top = match &kind[..] {
        b"latency  \0" => {
            let len = scan.remain();
            Buffer { text: Some(scan.bytes(len)?), ..empty(trace, String::new()) }
        }
        b"flyrecord\0" => flyrecord(trace, scan, cpus, String::new())?,
        _ => return Err(FileError::Magic { place: scan.place(), offset: kind_at, expected: "flyrecord\0" }),
    };
    let is_text = top.text.is_some();
    trace.buffers.push(top);
    let start = scan.pos();
    let mut tables: Vec<Range<u64>> = Vec::new();
    for option in trace.options.clone().iter().filter(|option| option.id == OptionId::BUFFER) {
        // All tables lie in the file, each at a place of its own.
        let read = tables.iter().map(|table| table.end.saturating_sub(table.start)).sum::<u64>();
        let table = if read > trace.size {
            Err(option.error("there are more buffers than the file has room for"))
        } else {
            instance(trace, scan, cpus, option)
        };
        match table {
            Ok(table) => tables.push(table),
            Err(e) => {
                trace.damage.push(e);
                if read > trace.size {
                    break;
                }
            }
        }
    }
    if !is_text {
        part(scan, "data");
        let cpus = trace.buffers.iter().flat_map(|buffer| &buffer.cpus);
        tables.extend(cpus.map(|data| data.offset..data.offset.saturating_add(data.size)));
        let (place, whole, align) = (scan.place(), start..trace.size, trace.prefix.page_size.into());
        let misfit = misfit(scan, tables, &whole, align, false);
        trace.damage.extend(misfit.map(|Range { start, end }| FileError::Misfit { place, start, end }));
    }
    Ok(())
}

fn part(scan: &mut Scan<'_>, name: &'static str) {
    scan.set_place(FilePart::Part(name));
}

fn empty(trace: &Trace, name: String) -> Buffer {
    let clock = trace.option(OptionId::TRACECLOCK).map(|o| chosen_clock(&o.text())).unwrap_or_default();
    Buffer { name, clock, page_size: trace.prefix.page_size as usize, cpus: Vec::new(), text: None }
}

/// Per CPU offset and size of its data, and, where there is a TRACECLOCK option, the buffer's clock.
fn flyrecord(trace: &mut Trace, scan: &mut Scan<'_>, cpus: u32, name: String) -> Result<Buffer, FileError> {
    let mut buffer = empty(trace, name);
    for cpu in 0..cpus {
        let (offset, size) = (scan.u64()?, scan.u64()?);
        if size > 0 {
            buffer.cpus.push(CpuData { cpu: CpuId(cpu), source: 0, offset, size, layout: DataLayout::Pages });
        }
    }
    if trace.option(OptionId::TRACECLOCK).is_some() {
        buffer.clock = chosen_clock(&String::from_utf8_lossy(&options::sized64(scan, &mut trace.damage)?));
    }
    Ok(buffer)
}

/// An instance: a `flyrecord` block of its own, at an offset. Gives where the block lies.
fn instance(trace: &mut Trace, scan: &mut Scan<'_>, cpus: u32, option: &RawOption) -> Result<Range<u64>, FileError> {
    let mut from = option.scan(trace.abi);
    let cut = |_| option.error("it ends too early");
    let (offset, name) = (from.u64().map_err(cut)?, from.cstr().map_err(cut)?);
    part(scan, "instance data");
    scan.seek(offset);
    scan.expect("flyrecord\0")?;
    let buffer = flyrecord(trace, scan, cpus, name)?;
    trace.buffers.push(buffer);
    Ok(offset..scan.pos())
}
