//! BUFFER sections that no option speaks of any more: trace-cmd writes a buffer's option after its data, so a file
//! that was cut has lost it.
//!
//! The data itself says most: each CPU's starts at a multiple of the sub-buffer size. Compressed, it begins with the
//! number of its chunks, so its end is known too; bare sub-buffers are of the next CPU where time goes back. Which CPUs
//! they are is not stored: they are numbered in order, which is right where every CPU had something to say.

use super::options::SectionHeader;
use super::scan::Scan;
use crate::base::units::CpuId;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::{Buffer, BufferOption, Codec, CpuData, DataLayout, FileError, FilePart, MAX_CHUNK, Trace};
use std::ops::Range;

/// Facts that the section's data shows by itself. `like` is the buffer as far as its option can be read: its CPUs are
/// taken if they are as many as there are here.
pub(super) fn buffer(
    trace: &Trace,
    scan: &mut Scan<'_>,
    header: SectionHeader,
    like: Option<&BufferOption>,
    layout: DataLayout,
) -> Result<Buffer, FileError> {
    const MOST_CPUS: u32 = 65536;
    let page_size = u64::from(trace.prefix.page_size);
    let Range { start, end } = header.data();
    let end = end.min(trace.size);
    let most = if trace.cpu_count > 0 { trace.cpu_count } else { MOST_CPUS };
    let mut buffer = Buffer {
        name: like.map(|like| like.name.clone()).unwrap_or_default(),
        clock: like.map(|like| like.clock.clone()).unwrap_or_default(),
        page_size: page_size as usize,
        cpus: Vec::new(),
        text: None,
    };
    let aligned = |at: u64| at.checked_next_multiple_of(page_size).unwrap_or(end);
    let mut at = aligned(start);
    scan.set_place(FilePart::Section(header.id, header.offset));
    for cpu in (0..most).map(CpuId) {
        if at >= end {
            break;
        }
        let data_end = match layout {
            DataLayout::Pages => run_of_pages(trace, scan, at, end)?,
            _ => run_of_chunks(scan, at, end)?,
        };
        buffer.cpus.push(CpuData { cpu, source: 0, offset: at, size: data_end.saturating_sub(at), layout });
        at = aligned(data_end);
    }
    if let Some(like) = like.filter(|like| like.cpus.len() == buffer.cpus.len()) {
        buffer.cpus.iter_mut().zip(&like.cpus).for_each(|(data, (cpu, ..))| data.cpu = *cpu);
    }
    Ok(buffer)
}

/// True if a chunk's frame stands where a CPU's first one would.
pub(super) fn starts_with_frame(scan: &mut Scan<'_>, codec: Codec, first: u64) -> bool {
    const HEADERS: u64 = 4 + 8;
    scan.seek(first.saturating_add(HEADERS));
    scan.bytes(4).is_ok_and(|bytes| codec.is_frame(&bytes))
}

/// End of the chunks whose number stands at `at`; the end of the data if there are not as many.
fn run_of_chunks(scan: &mut Scan<'_>, at: u64, end: u64) -> Result<u64, FileError> {
    scan.seek(at);
    if end.saturating_sub(at) < 4 {
        return Ok(end);
    }
    for _ in 0..scan.u32()? {
        if end.saturating_sub(scan.pos()) < 8 {
            return Ok(end);
        }
        let (stored, size) = (scan.u32()?, scan.u32()?);
        let next = scan.pos().saturating_add(stored.into());
        if next > end || size as usize > MAX_CHUNK {
            return Ok(end);
        }
        scan.seek(next);
    }
    Ok(scan.pos())
}

/// Offset of the first sub-buffer after `at` that is older than the one before it.
fn run_of_pages(trace: &Trace, scan: &mut Scan<'_>, mut at: u64, end: u64) -> Result<u64, FileError> {
    let size = trace.prefix.page_size as usize;
    let layout = PageLayout::new(&trace.header_page, trace.abi, size);
    let mut before = 0;
    while end.saturating_sub(at) >= size as u64 {
        scan.seek(at);
        let bytes = scan.bytes(size as u64)?;
        // A damaged header says nothing of time.
        let now = layout.page(&bytes).map_or(before, |page| page.timestamp);
        if now < before {
            return Ok(at);
        }
        before = now;
        at = at.saturating_add(size as u64);
    }
    Ok(end)
}
