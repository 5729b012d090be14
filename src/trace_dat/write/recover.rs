//! What a killed recorder left behind, turned into a trace file.

use super::assemble::{finish_move, move_into};
use super::sections::FileLock;
use super::segments::join_segments_in;
use super::{FinishedSpool, WriteError, Writer, Written};
use crate::trace_dat::file::prefix::MAGIC;
use crate::trace_dat::file::siblings::COUNT;
use crate::trace_dat::{ChunkIndex, Codec, DataLayout, FileError, OptionId, Siblings, SpoolEntry, SpoolTable, Trace};
use std::fs::File;
use std::io;
use std::path::Path;

/// What [`recover`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// Nothing: the recording was finished.
    WasComplete,
    /// Its recorder was killed before the first event: the empty spools were removed, and a file without content too.
    NeverBegan,
    /// Its spools, up to the last whole chunk of each, are now in the file.
    Finished {
        /// The file.
        written: Written,
        /// Bytes of torn chunks that were dropped.
        dropped: u64,
        /// Names of spools that were not there.
        missing: Vec<String>,
    },
}

/// An unfinished recording, for a caller that has more to add.
pub struct Unfinished<'a> {
    /// The trace file, open for reading and writing.
    pub file: &'a File,
    /// What it says.
    pub trace: &'a Trace,
    /// The spools that are there, each cut to its sound prefix.
    pub spools: Vec<SoundSpool>,
}

/// A spool that holds whole chunks or sub-buffers only.
#[derive(Debug)]
pub struct SoundSpool {
    /// What it holds.
    pub entry: SpoolEntry,
    /// The spool, open for writing; what is appended to it goes into the recording.
    pub file: File,
    /// Its bytes, the count word included.
    pub size: u64,
}

/// Finishes the unfinished recording at `path`, whose spools lie beside it: regular files of the same owner, named after
/// the recording's present name.
///
/// # Errors
/// [`WriteError::Busy`] if its recorder lives; [`WriteError::Renamed`] if spools are missing because the recording has
/// another name now. After any [`WriteError`] it can be called again.
pub fn recover(path: &Path) -> Result<Recovered, WriteError> {
    recover_with(path, |_| Vec::new())
}

/// [`recover`], after `add` has appended to the spools what is not in them yet. `add` returns lines of saved_cmdlines for
/// pids that the recording has no name for.
///
/// # Errors
/// As [`recover`].
pub fn recover_with(path: &Path, add: impl FnOnce(Unfinished<'_>) -> Vec<u8>) -> Result<Recovered, WriteError> {
    let opened = |source| WriteError::Write { what: "the recording", source };
    let file = File::options().read(true).write(true).open(path).map_err(WriteError::Open)?;
    let held = FileLock::take(&file)?;
    let beside = Siblings::of(path, &file).map_err(opened)?;
    let mut trace = match Trace::open(file.try_clone().map_err(opened)?) {
        Err(_) if never_began(&file, &beside).map_err(opened)? => {
            beside.remove_leftovers();
            // A longer one may be a damaged recording.
            if file.metadata().map_err(opened)?.len() <= LONGEST_HEADER {
                beside.remove(&file).map_err(opened)?;
            }
            return Ok(Recovered::NeverBegan);
        }
        trace => trace?,
    };
    let Some(table) = trace.spools.clone() else {
        if let Some(option) = trace.option(OptionId::RTRACE_SPOOLS) {
            SpoolTable::read(option, trace.abi)?;
        }
        beside.remove_leftovers();
        return Ok(Recovered::WasComplete);
    };
    let recording = file.try_clone().map_err(opened)?;
    let writer = Writer::resume(file, held, &trace)?;
    if table.finishing {
        let finished = resume_finishing(&writer, &table, &beside)?;
        beside.remove_leftovers();
        return Ok(finished);
    }
    let count = if trace.prefix.codec == Codec::None { 0 } else { COUNT };
    for entry in &table.entries {
        let joined = join_segments_in(&beside.dir, &beside.spool_name(&entry.buffer, entry.cpu), count);
        joined.map_err(|source| spool_error(&beside, entry, source))?;
    }
    let missing = missing(&beside, &table)?;
    trace.attach_spools(&beside);
    let (sound, dropped) = cut_to_sound_prefix(&mut trace, &table, &beside)?;
    let mut names = add(Unfinished { file: &recording, trace: &trace, spools: sound });
    names.extend_from_slice(&trace.saved_cmdlines);
    let spools = finished_spools(&mut trace, &table, &beside)?;
    // What a finish may have begun without getting to the point where it counts.
    writer.file.set_len(writer.pos).map_err(opened)?;
    let mut buffers: Vec<(String, String, u32)> = Vec::new();
    for entry in &table.entries {
        if !buffers.iter().any(|b| b.0 == entry.buffer) {
            buffers.push((entry.buffer.clone(), entry.clock.clone(), entry.page_size));
        }
    }
    if !buffers.iter().any(|b| b.0.is_empty()) {
        buffers.push((String::new(), String::new(), trace.prefix.page_size));
    }
    buffers.sort_by_key(|b| !b.0.is_empty());
    let mut writer = writer;
    writer.saved_cmdlines(&names)?;
    let written = writer.finish_in(&beside.dir, &buffers, &spools)?;
    beside.remove_comms();
    Ok(Recovered::Finished { written, dropped, missing })
}

/// Cuts each spool off after its last whole chunk; returns the spools and how many bytes were cut off.
fn cut_to_sound_prefix(
    trace: &mut Trace,
    table: &SpoolTable,
    beside: &Siblings,
) -> Result<(Vec<SoundSpool>, u64), WriteError> {
    let (mut spools, mut dropped) = (Vec::new(), 0);
    for entry in &table.entries {
        let failed = |source| spool_error(beside, entry, source);
        let Some((buffer, cpu)) = place_of(trace, entry) else { continue };
        let (size, _) = trace.sound_prefix(&trace.buffers[buffer], cpu)?;
        let Some(file) = beside.open_spool(&entry.buffer, entry.cpu, true).map_err(failed)? else { continue };
        let there = file.metadata().map_err(failed)?.len();
        if size < there {
            file.set_len(size).map_err(failed)?;
            dropped += there - size;
        }
        let size = size.min(there);
        trace.buffers[buffer].cpus[cpu].size = size;
        spools.push(SoundSpool { entry: entry.clone(), file, size });
    }
    Ok((spools, dropped))
}

/// The spools as they are now, with the number of their chunks.
fn finished_spools(trace: &mut Trace, table: &SpoolTable, beside: &Siblings) -> Result<Vec<FinishedSpool>, WriteError> {
    let mut spools = Vec::new();
    for entry in &table.entries {
        let failed = |source| spool_error(beside, entry, source);
        let Some((buffer, cpu)) = place_of(trace, entry) else { continue };
        let Some(file) = beside.open_spool(&entry.buffer, entry.cpu, false).map_err(failed)? else { continue };
        trace.buffers[buffer].cpus[cpu].size = file.metadata().map_err(failed)?.len();
        let (size, chunks) = trace.sound_prefix(&trace.buffers[buffer], cpu)?;
        let path = beside.spool_path(&entry.buffer, entry.cpu);
        spools.push(FinishedSpool { entry: entry.clone(), path, size, chunks, index: ChunkIndex::default() });
    }
    Ok(spools)
}

/// Where the data of a spool is in `trace`, as buffer and CPU.
fn place_of(trace: &Trace, entry: &SpoolEntry) -> Option<(usize, usize)> {
    let buffer = trace.buffers.iter().position(|buffer| buffer.name == entry.buffer)?;
    let cpu = trace.buffers.get(buffer)?.cpus.iter().position(|cpu| cpu.cpu == entry.cpu)?;
    Some((buffer, cpu))
}

/// More bytes than a file has that ends with its header.
const LONGEST_HEADER: u64 = 64;

/// Whether `file`, which cannot be read, is what a recorder leaves that was killed before it had written what describes the
/// events: nothing, or the start of a header, with spools beside it that hold no data.
fn never_began(file: &File, beside: &Siblings) -> io::Result<bool> {
    let mut start = Vec::new();
    let mut file = file;
    io::Seek::rewind(&mut file)?;
    io::Read::read_to_end(&mut io::Read::take(file, MAGIC.len() as u64), &mut start)?;
    Ok(MAGIC.starts_with(&start) && beside.spools_are_empty()?)
}

/// The names of spools that are not there. One that must not be used is an error.
fn missing(beside: &Siblings, table: &SpoolTable) -> Result<Vec<String>, WriteError> {
    let mut missing = Vec::new();
    for entry in &table.entries {
        match beside.open_spool(&entry.buffer, entry.cpu, false) {
            Ok(Some(_)) => {}
            Ok(None) => missing.push(beside.spool_name(&entry.buffer, entry.cpu)),
            Err(source) => return Err(spool_error(beside, entry, source)),
        }
    }
    match table.recorded_as().filter(|old| !missing.is_empty() && *old != beside.name()) {
        Some(old) => Err(WriteError::Renamed { recorded_as: old.to_owned(), missing }),
        None => Ok(missing),
    }
}

fn spool_error(beside: &Siblings, entry: &SpoolEntry, source: io::Error) -> WriteError {
    WriteError::Spool { path: beside.spool_path(&entry.buffer, entry.cpu), source }
}

/// The second half of [`Writer::finish`], from wherever it was when its process was killed.
fn resume_finishing(writer: &Writer, table: &SpoolTable, beside: &Siblings) -> Result<Recovered, WriteError> {
    let missing = missing(beside, table)?;
    let len = writer.file.metadata().map_err(|source| WriteError::Write { what: "the recording", source })?.len();
    let mut end = writer.pos.max(len);
    let mut data_size = 0;
    for entry in &table.entries {
        let failed = |source| spool_error(beside, entry, source);
        let (start, size) = entry.target;
        let place = start.checked_add(size).filter(|&end| start >= writer.pos && i64::try_from(end).is_ok());
        let wrong = || failed(io::Error::other("its place in the trace file is damaged"));
        end = end.max(place.ok_or_else(wrong)?);
        data_size = size.saturating_add(data_size);
        if let Some(spool) = beside.open_spool(&entry.buffer, entry.cpu, true).map_err(failed)? {
            move_into(&writer.file, entry.target, &spool).map_err(failed)?;
        }
    }
    finish_move(writer, table, end)?;
    for entry in &table.entries {
        let name = beside.spool_name(&entry.buffer, entry.cpu);
        if let Ok(Some(spool)) = beside.open_spool(&entry.buffer, entry.cpu, false) {
            let _ = beside.dir.remove(&name, &spool); // empty by now
        }
    }
    Ok(Recovered::Finished { written: Written { file_size: end, data_size }, dropped: 0, missing })
}

impl Writer {
    /// Goes on with an unfinished file: new sections go behind the table of spools, which is the last thing that counts.
    fn resume(file: File, lock: FileLock, trace: &Trace) -> Result<Writer, WriteError> {
        const TABLE_TO_END: u64 = 6 + 6 + 8; // its header, and the DONE option that ends the section
        let table = trace.option(OptionId::RTRACE_SPOOLS);
        let pos = table.map_or(0, |o| o.offset + o.data.len() as u64 + TABLE_TO_END);
        let keep = |id: OptionId| !matches!(id, OptionId::BUFFER | OptionId::RTRACE_SPOOLS);
        let options = trace.options.iter().filter(|o| keep(o.id)).map(|o| (o.id, o.data.clone())).collect();
        let first_options = trace.prefix.options.map(|o| o.0).ok_or(FileError::Version("6".to_owned()))?;
        Ok(Writer { file, abi: trace.prefix.abi, codec: trace.prefix.codec, pos, first_options, options, _lock: lock })
    }
}

impl Trace {
    /// How many bytes of a CPU's data are whole chunks (with the count word) or sub-buffers, and how many chunks.
    fn sound_prefix(&self, buffer: &crate::trace_dat::Buffer, cpu: usize) -> Result<(u64, u32), FileError> {
        let data = &buffer.cpus[cpu];
        if data.layout == DataLayout::Pages || self.prefix.codec == Codec::None {
            let page = buffer.page_size as u64;
            return Ok((data.size / page * page, 0));
        }
        let mut chunks = self.chunks(buffer, cpu)?;
        // All bytes of the last one may be allocated, but not written.
        while let Some(last) = chunks.last() {
            if self.unpacks(buffer, cpu, last) {
                break;
            }
            chunks.pop();
        }
        let end = chunks.last().map_or(4, |c| c.offset + 8 + u64::from(c.stored));
        Ok((end, chunks.len() as u32))
    }
}
