//! The remains of a killed recorder, turned into a trace file.

use super::assemble::{finish_move, move_into};
use super::sections::FileLock;
use super::split::join_segments_in;
use super::{FinishedSpool, SectionWriter, WriteError, Written};
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::file::prefix::MAGIC;
use crate::file::trace_dat::file::siblings::COUNT;
use crate::file::trace_dat::{
    Chunk, Codec, Coverage, DataLayout, FileError, LossCause, OptionId, RawOption, Siblings, SpoolEntry, SpoolTable,
    Trace, UnsavedEvents,
};
use std::fs::File;
use std::io;
use std::path::Path;

/// The result of [`recover`].
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
        /// Events that are not in the file although the recorder had them; the file says so too.
        unsaved: Vec<UnsavedEvents>,
    },
}

/// Facts that a caller of [`recover_with`] knows beside the spools.
#[derive(Debug, Default)]
pub struct Added {
    /// Lines of saved_cmdlines for pids that the recording has no name for.
    pub comms: Vec<u8>,
    /// Events that were taken out of the rings and that no spool has.
    pub unsaved: Vec<UnsavedEvents>,
}

/// An unfinished recording, for a caller that has more to add.
pub struct Unfinished<'a> {
    /// The trace file, open for reading and writing.
    pub file: &'a File,
    /// Contents of the unfinished file.
    pub trace: &'a Trace,
    /// The spools that are there, each without its torn end.
    pub spools: Vec<SoundSpool>,
}

impl Unfinished<'_> {
    /// A mark of each CPU whose recorder did not note what its spool lacks: what its ring buffer held is unknown.
    pub fn unaccounted(&self) -> Vec<UnsavedEvents> {
        let noted = marks_of(self.trace);
        let entries = self.trace.spools.iter().flat_map(|table| &table.entries);
        let unknown = entries.filter(|entry| !noted.iter().any(|mark| is_of(mark, entry)));
        let mark = |cause| move |entry: &SpoolEntry| mark_of(entry, None, cause);
        unknown.map(mark(LossCause::UNFINISHED)).collect()
    }
}

/// A spool that ends with a whole chunk or sub-buffer, or with damage.
#[derive(Debug)]
pub struct SoundSpool {
    /// Entry in the table of spools.
    pub entry: SpoolEntry,
    /// The spool, open for writing; what is appended to it goes into the recording.
    pub file: File,
    /// Its bytes, the count word included.
    pub size: u64,
    /// True if its oldest data is not there any more, as with a flight recorder.
    pub lacks_oldest: bool,
}

/// Finishes the unfinished recording at `path`, whose spools lie beside it: regular files of the same owner, named after
/// the recording's present name.
///
/// # Errors
/// [`WriteError::Busy`] if its recorder lives; [`WriteError::Renamed`] if spools are missing because the recording has
/// another name now. After any [`WriteError`] it can be called again.
pub fn recover(path: &Path) -> Result<Recovered, WriteError> {
    recover_with(path, |_| Added::default())
}

/// [`recover`], after `add` has appended to the spools what is not in them yet.
///
/// # Errors
/// As [`recover`].
pub fn recover_with(path: &Path, add: impl FnOnce(Unfinished<'_>) -> Added) -> Result<Recovered, WriteError> {
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
            SpoolTable::read(option, trace.abi).map_err(WriteError::SpoolTable)?;
        }
        if beside.any_data().map_err(opened)? {
            return Err(WriteError::NoSpoolTable);
        }
        beside.remove_leftovers();
        return Ok(Recovered::WasComplete);
    };
    let recording = file.try_clone().map_err(opened)?;
    let mut writer = SectionWriter::resume(file, held, Continuation::of(&trace)?);
    if table.finishing {
        let finished = resume_finishing(&writer, &table, &beside, marks_of(&trace))?;
        beside.remove_leftovers();
        return Ok(finished);
    }
    let count = if trace.prefix.codec == Codec::None { 0 } else { COUNT };
    let emptied = emptied(&table, &beside, count)?;
    if !emptied.is_empty() {
        // First, or the next call after a kill would see whole spools.
        let mut marks = marks_of(&trace);
        add_marks(&mut marks, emptied.clone());
        writer.publish_with(&marks, &table)?;
    }
    let mut lacking_oldest = Vec::new();
    for entry in &table.entries {
        let joined = join_segments_in(&beside.dir, &beside.spool_name(&entry.buffer, entry.cpu), count);
        if joined.map_err(|source| spool_error(&beside, entry, source))? {
            lacking_oldest.push(entry.clone());
        }
    }
    let missing = missing(&beside, &table)?;
    trace.attach_spools(&beside);
    let Ends { spools: mut sound, torn, unsaved } = find_torn_ends(&mut trace, &table, &beside)?;
    let mut marks = marks_of(&trace);
    add_marks(&mut marks, unsaved);
    add_marks(&mut marks, emptied);
    if torn > 0 {
        // First, or the next call after a kill would see neither the ends nor that there were any.
        writer.publish_with(&marks, &table)?;
    }
    for spool in &mut sound {
        let cut = spool.file.set_len(spool.size);
        cut.map_err(|source| spool_error(&beside, &spool.entry, source))?;
        spool.lacks_oldest = lacking_oldest.contains(&spool.entry);
    }
    let added = add(Unfinished { file: &recording, trace: &trace, spools: sound });
    add_marks(&mut marks, added.unsaved);
    let mut names = added.comms;
    names.extend_from_slice(&trace.saved_cmdlines);
    let spools = finished_spools(&mut trace, &table, &beside)?;
    // Cuts off a finish that was begun and does not count.
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
    marks.retain(|mark| mark.events != Some(0));
    writer.put_marks(&marks);
    writer.put_shortened(&trace, &lacking_oldest);
    writer.saved_cmdlines(&names)?;
    if let Some(option) = trace.option(OptionId::RTRACE_CGROUPS) {
        writer.option(option.id, option.data.clone());
    }
    let written = writer.finish_in(&beside.dir, &buffers, &spools)?;
    beside.remove_texts();
    Ok(Recovered::Finished { written, dropped: torn, missing, unsaved: marks })
}

/// Marks of the CPUs of whose spool pieces are missing or cut off, or that has not even the `header` bytes that each begins
/// with.
fn emptied(table: &SpoolTable, beside: &Siblings, header: u64) -> Result<Vec<UnsavedEvents>, WriteError> {
    let mut marks = Vec::new();
    for entry in &table.entries {
        let failed = |source| spool_error(beside, entry, source);
        let Some((spool, lacks_some)) = beside.open_joined(&entry.buffer, entry.cpu, header).map_err(failed)? else {
            continue;
        };
        if lacks_some || spool.size().map_err(failed)? < header {
            marks.push(mark_of(entry, None, LossCause::REMOVED));
        }
    }
    Ok(marks)
}

/// Spools, and where to cut them.
struct Ends {
    spools: Vec<SoundSpool>,
    /// Bytes that are to be cut off.
    torn: u64,
    /// The CPUs whose spool has a torn end, or is not there.
    unsaved: Vec<UnsavedEvents>,
}

/// Finds the torn ends of the spools. Changes no file.
fn find_torn_ends(trace: &mut Trace, table: &SpoolTable, beside: &Siblings) -> Result<Ends, WriteError> {
    let mut ends = Ends { spools: Vec::new(), torn: 0, unsaved: Vec::new() };
    for entry in &table.entries {
        let failed = |source| spool_error(beside, entry, source);
        let torn = mark_of(entry, None, LossCause::KILLED);
        let Some((buffer, cpu)) = place_of(trace, entry) else {
            ends.unsaved.push(torn);
            continue;
        };
        let Some((size, _)) = trace.without_torn_end(buffer, cpu)? else { continue };
        let Some(file) = beside.open_spool(&entry.buffer, entry.cpu, true).map_err(failed)? else { continue };
        let there = file.metadata().map_err(failed)?.len();
        if size < there {
            ends.torn = there.saturating_sub(size).saturating_add(ends.torn);
            ends.unsaved.push(torn);
        }
        let size = size.min(there);
        trace.set_size(buffer, cpu, size);
        ends.spools.push(SoundSpool { entry: entry.clone(), file, size, lacks_oldest: false });
    }
    Ok(ends)
}

/// The marks of lost events that the file has already, those of none included. One that cannot be read is among
/// [`Trace::damage`].
fn marks_of(trace: &Trace) -> Vec<UnsavedEvents> {
    let read = |mark| UnsavedEvents::read(mark, trace.abi).ok();
    let mut marks: Vec<UnsavedEvents> = trace.options(OptionId::RTRACE_UNSAVED).filter_map(read).collect();
    for table in trace.spools.iter().filter(|table| !table.finishing) {
        for entry in &table.entries {
            let noted = entry.account().filter(|_| !marks.iter().any(|mark| is_of(mark, entry)));
            marks.extend(noted);
        }
    }
    marks
}

fn is_of(mark: &UnsavedEvents, entry: &SpoolEntry) -> bool {
    (&mark.buffer, mark.cpu) == (&entry.buffer, entry.cpu)
}

fn mark_of(entry: &SpoolEntry, events: Option<u64>, cause: LossCause) -> UnsavedEvents {
    UnsavedEvents { buffer: entry.buffer.clone(), cpu: entry.cpu, events, cause }
}

/// Adds those of `more` to `marks`, instead of marks of the same CPU: those that say little only where there are none.
fn add_marks(marks: &mut Vec<UnsavedEvents>, mut more: Vec<UnsavedEvents>) {
    let same = |one: &UnsavedEvents, other: &UnsavedEvents| (&one.buffer, one.cpu) == (&other.buffer, other.cpu);
    let says_little = |mark: &UnsavedEvents| mark.events == Some(0) || mark.cause == LossCause::UNFINISHED;
    more.retain(|mark| !says_little(mark) || !marks.iter().any(|known| same(known, mark)));
    marks.retain(|mark| !more.iter().any(|known| same(known, mark)));
    marks.extend(more);
}

/// The spools as they are now, with the number of their chunks.
fn finished_spools(trace: &mut Trace, table: &SpoolTable, beside: &Siblings) -> Result<Vec<FinishedSpool>, WriteError> {
    let mut spools = Vec::new();
    for entry in &table.entries {
        let failed = |source| spool_error(beside, entry, source);
        let Some((buffer, cpu)) = place_of(trace, entry) else { continue };
        let Some(file) = beside.open_spool(&entry.buffer, entry.cpu, false).map_err(failed)? else { continue };
        trace.set_size(buffer, cpu, file.metadata().map_err(failed)?.len());
        let Some((size, chunks)) = trace.without_torn_end(buffer, cpu)? else { continue };
        let path = beside.spool_path(&entry.buffer, entry.cpu);
        trace.set_size(buffer, cpu, size);
        let of = trace.buffers.get(buffer).filter(|_| chunks > 0);
        let index = of.map(|buffer| trace.scanned_index(buffer, cpu)).unwrap_or_default();
        spools.push(FinishedSpool { entry: entry.clone(), path, size, chunks, index });
    }
    Ok(spools)
}

/// Place of a spool's data in `trace`, as buffer and CPU.
fn place_of(trace: &Trace, entry: &SpoolEntry) -> Option<(usize, usize)> {
    let buffer = trace.buffers.iter().position(|buffer| buffer.name == entry.buffer)?;
    let cpu = trace.buffers.get(buffer)?.cpus.iter().position(|cpu| cpu.cpu == entry.cpu)?;
    Some((buffer, cpu))
}

/// More bytes than a file has that ends with its header.
const LONGEST_HEADER: u64 = 64;

/// True if `file`, which cannot be read, is what a recorder leaves that was killed before it had written what describes
/// the events: nothing, or the start of a header, with spools beside it that hold no data.
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
    match table.recorded_as_other_than(beside.name()).filter(|_| !missing.is_empty()) {
        Some(old) => Err(WriteError::Renamed { recorded_as: old.to_owned(), missing }),
        None => Ok(missing),
    }
}

fn spool_error(beside: &Siblings, entry: &SpoolEntry, source: io::Error) -> WriteError {
    WriteError::Spool { path: beside.spool_path(&entry.buffer, entry.cpu), source }
}

/// The second half of [`SectionWriter::finish`], from wherever it was when its process was killed.
fn resume_finishing(
    writer: &SectionWriter,
    table: &SpoolTable,
    beside: &Siblings,
    unsaved: Vec<UnsavedEvents>,
) -> Result<Recovered, WriteError> {
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
    let written = Written { file_size: end, data_size };
    Ok(Recovered::Finished { written, dropped: 0, missing, unsaved })
}

/// Place and form of what follows in an unfinished file: new sections go after the table of spools, which is the last thing that counts.
#[derive(Clone)]
pub(super) struct Continuation {
    abi: Abi,
    codec: Codec,
    pos: u64,
    first_options: u64,
    options: Vec<(OptionId, Vec<u8>)>,
}

impl Continuation {
    pub(super) fn of(trace: &Trace) -> Result<Continuation, WriteError> {
        const TABLE_TO_END: u64 = 6 + 6 + 8; // its header, and the DONE option that ends the section
        let table = trace.option(OptionId::RTRACE_SPOOLS);
        let pos = table.map_or(0, |o| o.offset.saturating_add(o.data.len() as u64).saturating_add(TABLE_TO_END));
        let keep = |option: &&RawOption| match option.id {
            OptionId::BUFFER | OptionId::RTRACE_SPOOLS | OptionId::RTRACE_SUMS => false,
            OptionId::RTRACE_UNSAVED => UnsavedEvents::read(option, trace.abi).is_err(), // else `marks_of` has it
            _ => true,
        };
        let options = trace.options.iter().filter(keep).map(|o| (o.id, o.data.clone())).collect();
        let first_options = trace.prefix.options.map(|o| o.0).ok_or(FileError::Version("6".to_owned()))?;
        Ok(Continuation { abi: trace.prefix.abi, codec: trace.prefix.codec, pos, first_options, options })
    }
}

impl SectionWriter {
    /// Goes on with `file`, which says what the one of `continuation` says.
    pub(super) fn resume(file: File, lock: FileLock, continuation: Continuation) -> SectionWriter {
        let Continuation { abi, codec, pos, first_options, options } = continuation;
        SectionWriter { file, abi, codec, pos, first_options, options, table: None, _lock: lock }
    }

    fn put_marks(&mut self, marks: &[UnsavedEvents]) {
        for mark in marks {
            let data = mark.write(self.abi);
            self.option(OptionId::RTRACE_UNSAVED, data);
        }
    }

    /// Notes the CPUs whose oldest events a flight recorder gave up.
    fn put_shortened(&mut self, trace: &Trace, entries: &[SpoolEntry]) {
        for buffer in &trace.buffers {
            let mut shortened: Vec<CpuId> =
                entries.iter().filter(|entry| entry.buffer == buffer.name).map(|entry| entry.cpu).collect();
            if !shortened.is_empty() {
                shortened.sort_unstable();
                let coverage = Coverage { shortened, ..trace.coverage(buffer) };
                let text = [coverage.to_text(&buffer.name).as_bytes(), b"\0"].concat();
                self.option(OptionId::RTRACE_COVERAGE, text);
            }
        }
    }

    /// [`SectionWriter::publish`] with marks that no later options have.
    fn publish_with(&mut self, marks: &[UnsavedEvents], table: &SpoolTable) -> Result<(), WriteError> {
        let without = self.options.len();
        self.put_marks(marks);
        let published = self.publish(table);
        self.options.truncate(without);
        published
    }
}

impl Trace {
    /// Sets how much is stored of a CPU of a buffer, both by their numbers.
    fn set_size(&mut self, buffer: usize, cpu: usize, size: u64) {
        if let Some(data) = self.buffers.get_mut(buffer).and_then(|buffer| buffer.cpus.get_mut(cpu)) {
            data.size = size;
        }
    }

    /// Number of bytes of a CPU's data before a torn end, and number of its sound chunks; `None` if there is no such
    /// buffer or CPU. A torn end is the sub-buffer or the chunk that was being written: damage before it is among those
    /// bytes.
    fn without_torn_end(&self, buffer: usize, cpu: usize) -> Result<Option<(u64, u32)>, FileError> {
        let Some(buffer) = self.buffers.get(buffer) else { return Ok(None) };
        let Some(data) = buffer.cpus.get(cpu) else { return Ok(None) };
        if data.layout == DataLayout::Pages || self.prefix.codec == Codec::None {
            let torn = data.size.checked_rem(buffer.page_size as u64).unwrap_or_default();
            return Ok(Some((data.size.saturating_sub(torn), 0)));
        }
        let mut chunks = self.chunks(buffer, cpu, &mut |_| {}); // recovering reports it
        // All bytes of the last one may be allocated, but not written.
        while let Some(last) = chunks.last() {
            if self.unpacks(buffer, cpu, last) {
                break;
            }
            chunks.pop();
        }
        let end = chunks.last().map_or(COUNT, Chunk::end).min(data.size);
        let (end, more) = self.sound_after(buffer, cpu, end);
        Ok(Some((end, more.saturating_add(chunks.len() as u32))))
    }
}
