//! A file from what `trace-cmd record` leaves beside it when it is killed: the sub-buffers of each CPU in a file of their own.

use super::parts::whole_pages;
use super::{NewFile, Version, WriteError};
use crate::base::units::CpuId;
use crate::file::trace_dat::file::page_size::SAMPLE;
use crate::file::trace_dat::{OptionId, Trace};
use std::fs::File;
use std::io::{self, Read};

/// About this many bytes make a chunk.
const CHUNK: usize = 1 << 20;

/// The written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Size of the new file, in bytes.
    pub size: u64,
    /// Bytes of sub-buffers in it, unpacked.
    pub data: u64,
    /// Bytes after the last whole sub-buffers, which were left out.
    pub dropped: u64,
}

/// A buffer's name (empty: the top one), and the bare sub-buffers of its CPUs.
pub type BareBuffer<R> = (String, Vec<(CpuId, R)>);

/// Writes to `file`, which is empty, what `header` says about its recording and the bare sub-buffers of `buffers`, the top
/// one first. Buffers of `header` itself are left out; the number of CPUs that it declares is raised to that of the data.
/// Sub-buffers have the size that `header` declares, unless another one fits the start of a buffer's data better.
///
/// # Errors
/// [`WriteError::Write`], also for what cannot be read from `cpus`; [`WriteError::Version6`].
pub fn restore<R: Read>(
    header: &mut Trace,
    buffers: Vec<BareBuffer<R>>,
    file: File,
    version: Version,
) -> Result<Restored, WriteError> {
    count_cpus(header, &buffers);
    let clock = header.clock();
    let names: Vec<&str> = buffers.iter().map(|(name, _)| name.as_str()).collect();
    let mut new = NewFile::create(file, header, version, &names)?;
    let (mut data, mut dropped) = (0u64, 0u64);
    let mut chunk = Vec::new();
    let failed = |source: io::Error| WriteError::Write { what: "a CPU's sub-buffers", source };
    for (name, cpus) in buffers {
        let mut sampled = Vec::new();
        for (cpu, mut source) in cpus {
            let mut start = Vec::new();
            (&mut source).take(SAMPLE as u64).read_to_end(&mut start).map_err(failed)?;
            sampled.push((cpu, start, source));
        }
        let largest = sampled.iter().max_by_key(|(_, start, _)| start.len());
        let page = largest.map_or(4096, |(_, start, _)| header.bare_page_size(start));
        new.begin_buffer(&name, &clock, page)?;
        for (cpu, start, rest) in sampled {
            new.begin_cpu(cpu)?;
            let mut source = io::Cursor::new(start).chain(rest);
            loop {
                chunk.clear();
                let most = whole_pages(CHUNK, page).max(page);
                let len = (&mut source).take(most as u64).read_to_end(&mut chunk).map_err(failed)?;
                let whole = whole_pages(len, page);
                chunk.truncate(whole);
                new.pages(&chunk)?;
                data = data.saturating_add(whole as u64);
                dropped = dropped.saturating_add(len.saturating_sub(whole) as u64);
                if len < most {
                    break;
                }
            }
            new.end_cpu()?;
        }
        new.end_buffer()?;
    }
    Ok(Restored { size: new.finish()?, data, dropped })
}

/// Raises the number of CPUs to what the data of `buffers` needs, and to 1.
fn count_cpus<R>(header: &mut Trace, buffers: &[BareBuffer<R>]) {
    let cpus = buffers.iter().flat_map(|(_, cpus)| cpus).map(|(cpu, _)| cpu.0.saturating_add(1));
    let needed = cpus.max().unwrap_or(1);
    if header.option(OptionId::CPUCOUNT).is_none() || header.cpu_count < needed {
        header.cpu_count = header.cpu_count.max(needed);
        header.options.retain(|option| option.id != OptionId::CPUCOUNT);
    }
}
