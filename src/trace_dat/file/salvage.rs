//! BUFFER sections that no option speaks of any more: trace-cmd writes a buffer's option behind its data, so a file
//! that was cut has lost it.
//!
//! The data itself tells most: each CPU's starts at a multiple of the sub-buffer size. Compressed, it begins with the
//! number of its chunks, so its end is known too; bare sub-buffers are of the next CPU where time goes back. Which CPUs
//! they are is not told: they are numbered in order, which is right where every CPU had something to say.

use super::options::SectionHeader;
use super::scan::Scan;
use crate::ring_buffer::PageLayout;
use crate::trace_dat::{Buffer, CpuData, DataLayout, FileError, MAX_CHUNK, Place, Trace};
use crate::units::CpuId;

/// What can be told of the section's data.
pub(in crate::trace_dat) fn buffer(
    trace: &Trace,
    scan: &mut Scan<'_>,
    header: SectionHeader,
) -> Result<Buffer, FileError> {
    let page_size = u64::from(trace.prefix.page_size);
    let start = header.offset + SectionHeader::LEN;
    let end = start.saturating_add(header.size).min(trace.size);
    let layout = if header.is_compressed() { DataLayout::Chunks } else { DataLayout::Pages };
    let mut buffer = Buffer {
        name: String::new(),
        clock: String::new(),
        page_size: page_size as usize,
        cpus: Vec::new(),
        text: None,
    };
    let mut at = start.next_multiple_of(page_size);
    scan.set_place(Place::Section(header.id, header.offset));
    while at < end {
        let data_end = match layout {
            DataLayout::Pages => run_of_pages(trace, scan, at, end)?,
            _ => run_of_chunks(scan, at, end)?,
        };
        let cpu = CpuId(buffer.cpus.len() as u32);
        if cpu.0 >= trace.cpu_count.max(1) {
            break;
        }
        buffer.cpus.push(CpuData { cpu, source: 0, offset: at, size: data_end - at, layout });
        at = data_end.next_multiple_of(page_size);
    }
    Ok(buffer)
}

/// Where the chunks end whose number stands at `at`; where the data ends if there are not as many.
fn run_of_chunks(scan: &mut Scan<'_>, at: u64, end: u64) -> Result<u64, FileError> {
    scan.seek(at);
    if end - at < 4 {
        return Ok(end);
    }
    for _ in 0..scan.u32()? {
        if end - scan.pos() < 8 {
            return Ok(end);
        }
        let (stored, size) = (scan.u32()?, scan.u32()?);
        let next = scan.pos() + u64::from(stored);
        if next > end || size as usize > MAX_CHUNK {
            return Ok(end);
        }
        scan.seek(next);
    }
    Ok(scan.pos())
}

/// Where the first sub-buffer behind `at` starts that is older than the one before it.
fn run_of_pages(trace: &Trace, scan: &mut Scan<'_>, mut at: u64, end: u64) -> Result<u64, FileError> {
    let size = trace.prefix.page_size as usize;
    let layout = PageLayout::new(&trace.header_page, trace.abi, size);
    let mut before = 0;
    while end - at >= size as u64 {
        scan.seek(at);
        let bytes = scan.bytes(size as u64)?;
        // A damaged header says nothing of time.
        let now = layout.page(&bytes).map_or(before, |page| page.timestamp);
        if now < before {
            return Ok(at);
        }
        before = now;
        at += size as u64;
    }
    Ok(end)
}
