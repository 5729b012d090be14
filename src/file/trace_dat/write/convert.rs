//! A whole file in another version or compression.
//! An unfinished recording made of what another file says of it, for events that come from elsewhere.
//! A file from what `trace-cmd record` leaves beside it when it is killed: the sub-buffers of each CPU in a file of their own.

use super::from_file::{facts, loaded, systems};
use super::parts::{left_out, note_gap, whole_pages};
use super::sections::FileLock;
use super::{NewFile, SectionWriter, Version, WriteError};
use crate::base::units::CpuId;
use crate::file::trace_dat::file::option_checks::is_thread_groups;
use crate::file::trace_dat::file::options::chosen_clock;
use crate::file::trace_dat::file::page_size::SAMPLE;
use crate::file::trace_dat::{Codec, FileError, OptionId, SectionId, Trace};
use std::fs::File;
use std::io::{self, Read};

/// Writes what `from` holds to `file`, which is empty. Chunks that are compressed as the new file is are copied as they
/// are, after they were unpacked and checked on `threads` threads; zstd frames without a checksum get one. Damaged places go to `damaged` and are left out.
/// Gives the new file's size in bytes.
///
/// # Errors
/// [`WriteError::Write`]; [`WriteError::Version6`].
pub fn convert(
    from: &Trace,
    file: File,
    version: Version,
    threads: usize,
    damaged: &mut dyn FnMut(FileError),
) -> Result<u64, WriteError> {
    let names: Vec<&str> = from.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    let mut new = NewFile::create(file, from, version, &names)?;
    let mut chunk = Vec::new();
    for buffer in &from.buffers {
        if let Some(text) = &buffer.text {
            new.text(&buffer.name, &buffer.clock, text)?;
            continue;
        }
        new.begin_buffer(&buffer.name, &buffer.clock, buffer.page_size)?;
        for (index, data) in buffer.cpus.iter().enumerate() {
            new.begin_cpu(data.cpu)?;
            let mut pages = from.raw_pages(buffer, index).on_threads(threads);
            let (layout, mut skipped) = (from.page_layout(buffer), false);
            loop {
                match pages.next_stored(&mut chunk) {
                    Ok(Some(Some(packed))) if pages.codec() == new.codec() && !skipped => {
                        new.packed(packed.bytes(), packed.size, Some(&chunk))?;
                    }
                    Ok(Some(_)) => {
                        chunk.truncate(whole_pages(chunk.len(), buffer.page_size));
                        if std::mem::take(&mut skipped) {
                            note_gap(&layout, &mut chunk);
                        }
                        new.pages(&chunk)?;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        // A damaged sub-buffer is copied as it is.
                        if matches!(error, FileError::Chunk { .. }) {
                            skipped = true;
                            new.lose(left_out(buffer, data.cpu));
                        }
                        damaged(error);
                    }
                }
            }
            new.end_cpu()?;
        }
        new.end_buffer()?;
    }
    new.finish()
}

/// Facts of `from` that a copy in `version` has no room for, whichever events it has, each as part of a sentence.
pub fn facts_left_out(from: &Trace, version: Version) -> Vec<&'static str> {
    let has_types = !(from.btf.get().is_ok_and(<[u8]>::is_empty) && from.modules.is_empty());
    let is_6 = version == Version::V6;
    let facts = [
        (is_6 && has_types, "the kernel's BTF and its list of modules (version 6 has no room for them)"),
        (
            is_6 && from.option(OptionId::LAST_BOOT_INFO).is_some(),
            "the text of last_boot_info (version 6 has no room for it)",
        ),
        (from.options.iter().any(is_thread_groups), "the list of thread groups (others read it as a number of CPUs)"),
    ];
    facts.into_iter().filter(|fact| fact.0).map(|fact| fact.1).collect()
}

impl SectionWriter {
    /// Starts `file`, which is empty, with all that `from` says about its recording, but for its buffers.
    ///
    /// # Errors
    /// [`WriteError::Write`]; [`WriteError::Busy`] if another writer has the file.
    pub fn copy_facts(file: File, from: &Trace, codec: Codec) -> Result<SectionWriter, WriteError> {
        // The rest is in the byte order of the recording, for others cannot read two in one file.
        let lock = FileLock::take(&file)?;
        let mut writer = SectionWriter::create_locked(file, lock, from.prefix.abi, from.prefix.page_size, codec)?;
        writer.header_info(&from.header_texts.0, &from.header_texts.1)?;
        let ftrace: Vec<String> = from.ftrace_formats.iter().map(ToString::to_string).collect();
        writer.ftrace_formats(&ftrace)?;
        writer.event_formats(&systems(from))?;
        writer.kallsyms(loaded("kallsyms", &from.kallsyms)?)?;
        writer.printk_formats(&from.printk_formats)?;
        let btf = loaded("BTF", &from.btf)?;
        if !btf.is_empty() {
            writer.btf(btf)?;
        }
        if !from.modules.is_empty() {
            writer.section(SectionId::MODULES_FILE, &from.modules)?;
        }
        writer.saved_cmdlines(&from.saved_cmdlines)?;
        facts(from).for_each(|(id, data)| writer.option(id, data));
        if from.option(OptionId::CPUCOUNT).is_none_or(is_thread_groups) {
            writer.option_u32(OptionId::CPUCOUNT, from.cpu_count);
        }
        Ok(writer)
    }
}

impl Trace {
    /// The clock of the top buffer; empty if the file does not say.
    pub fn clock(&self) -> String {
        match self.buffers.first() {
            Some(buffer) if !buffer.clock.is_empty() => buffer.clock.clone(),
            _ => self.option(OptionId::TRACECLOCK).map(|o| chosen_clock(&o.text())).unwrap_or_default(),
        }
    }
}

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
