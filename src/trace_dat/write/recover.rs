//! What a killed recorder left behind, turned into a trace file.

use super::assemble::{finish_move, move_into};
use super::sections::FileLock;
use super::segments::join_segments;
use super::{FinishedSpool, WriteError, Writer, Written};
use crate::trace_dat::{ChunkIndex, Codec, DataLayout, FileError, OptionId, SpoolTable, Trace};
use std::fs::File;
use std::io;
use std::path::Path;

/// What stands before the chunks of a spool: their number, or 0.
const COUNT: u64 = size_of::<u32>() as u64;

/// What [`recover`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// Nothing: the recording was finished.
    WasComplete,
    /// Its spools, up to the last whole chunk of each, are now in the file.
    Finished {
        /// The file.
        written: Written,
        /// Bytes of torn chunks that were dropped.
        dropped: u64,
    },
}

/// Finishes the unfinished recording at `path`, whose spools lie beside it.
///
/// # Errors
/// [`WriteError::Busy`] if its recorder lives. After any other [`WriteError`] it can be called again.
pub fn recover(path: &Path) -> Result<Recovered, WriteError> {
    let opened = |source| WriteError::Write { what: "the recording", source };
    let file = File::options().read(true).write(true).open(path).map_err(WriteError::Open)?;
    let held = FileLock::take(&file)?;
    let mut trace = Trace::open(file.try_clone().map_err(opened)?)?;
    let Some(table) = trace.spools.clone() else {
        remove_leftovers(path);
        return Ok(Recovered::WasComplete);
    };
    let dir = path.parent().unwrap_or(Path::new(""));
    let writer = Writer::resume(file, held, &trace)?;
    if table.finishing {
        let finished = resume_finishing(&writer, &table, dir)?;
        remove_leftovers(path);
        return Ok(finished);
    }
    let count = if trace.prefix.codec == Codec::None { 0 } else { COUNT };
    for entry in &table.entries {
        let path = dir.join(&entry.file);
        join_segments(&path, count).map_err(|source| WriteError::Spool { path, source })?;
    }
    trace
        .attach_spools(|name| match File::open(dir.join(name)) {
            Ok(spool) => Ok(Some(Box::new(spool))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        })
        .map_err(opened)?;
    let mut spools = Vec::new();
    let mut dropped = 0;
    for entry in &table.entries {
        let Some((buffer, cpu)) = trace.buffers.iter().find_map(|b| {
            let cpu = b.cpus.iter().position(|c| c.cpu == entry.cpu)?;
            (b.name == entry.buffer).then_some((b, cpu))
        }) else {
            continue;
        };
        let (size, chunks) = trace.sound_prefix(buffer, cpu)?;
        dropped += buffer.cpus[cpu].size - size.min(buffer.cpus[cpu].size);
        spools.push(FinishedSpool {
            entry: entry.clone(),
            path: dir.join(&entry.file),
            size,
            chunks,
            index: ChunkIndex::default(),
        });
    }
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
    let comms = dir.join(&table.comms);
    if !table.comms.is_empty()
        && let Ok(learnt) = std::fs::read(&comms)
    {
        let whole = learnt.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let mut text = trace.saved_cmdlines.clone();
        text.extend_from_slice(&learnt[..whole]);
        writer.saved_cmdlines(&text)?;
    }
    let written = writer.finish(&buffers, &spools)?;
    for entry in &table.entries {
        let _ = std::fs::remove_file(dir.join(&entry.file)); // the empty ones are not the writer's
    }
    if !table.comms.is_empty() {
        let _ = std::fs::remove_file(comms);
    }
    Ok(Recovered::Finished { written, dropped })
}

/// Removes what a recorder killed after its last write to the file had still to remove: the emptied spools, and the
/// names learnt, which are in the file. So is what one leaves that was killed before its file named the spools. A spool
/// that holds more than the place for its number of chunks stays.
fn remove_leftovers(path: &Path) {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else { return };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let spool = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_suffix(".spool"));
        let done = |spool: &str| spool == ".comms" || entry.metadata().is_ok_and(|metadata| metadata.len() <= COUNT);
        if spool.is_some_and(|spool| spool.starts_with('.') && done(spool)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The second half of [`Writer::finish`], from wherever it was when its process was killed.
fn resume_finishing(writer: &Writer, table: &SpoolTable, dir: &Path) -> Result<Recovered, WriteError> {
    let len = writer.file.metadata().map_err(|source| WriteError::Write { what: "the recording", source })?.len();
    let mut end = writer.pos.max(len);
    let mut data_size = 0;
    for entry in &table.entries {
        let path = dir.join(&entry.file);
        match move_into(&writer.file, entry.target, &path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(WriteError::Spool { path, source: e }),
            _ => {}
        }
        end = end.max(entry.target.0 + entry.target.1);
        data_size += entry.target.1;
    }
    finish_move(writer, table, end)?;
    for entry in &table.entries {
        let _ = std::fs::remove_file(dir.join(&entry.file)); // empty by now
    }
    Ok(Recovered::Finished { written: Written { file_size: end, data_size }, dropped: 0 })
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
