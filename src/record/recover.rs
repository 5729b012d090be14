//! Recovers a recording whose recorder was killed: its spools, and what is still in its ring buffers.
//!
//! The journal of the killed recorder says which instances belong to the file. What the file itself says of the tracing
//! directory is not believed: anybody may have made it.

use super::chunk::{Compression, chunk_size};
use super::comms::with_saved;
use super::drain::{Drain, Progress};
use super::error::in_full;
use super::spool::Spool;
use super::worker::Worker;
use crate::trace_dat::write::{SoundSpool, Unfinished, recover_with};
use crate::trace_dat::{ChunkScan, Codec, Recovered, Trace, WriteError};
use crate::tracefs::{Error, Instance, Journal, Orphan, RecordedBuffer, Recording, Tracefs, find_orphans};
use nix::sys::eventfd::EventFd;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;

/// What became of the ring buffers of a killed recorder.
#[derive(Debug, Default)]
pub struct Rings {
    /// Bytes of sub-buffers that were moved into the file.
    pub bytes: u64,
    /// Events in them; `None` if a sub-buffer is damaged.
    pub events: Option<u64>,
    /// Events that the recorder had taken out of the ring buffers and that are in no spool: its unfinished chunks, and what a
    /// flight recorder discarded. `None` if that is not known, as for an instance that was there before.
    pub missing: Option<u64>,
    /// What could not be taken. The ring buffers stay as they are then, until `reset --stale`.
    pub failures: Vec<String>,
    /// Whether tracing was put back as it was before the recording.
    pub put_back: bool,
}

/// Finishes the recording at `path` with what is in its spools and in its ring buffers, then puts tracing back. The ring
/// buffers are found by the journals in `journals`; `None` if no journal of a killed process is about this file.
///
/// # Errors
/// As [`recover_with`].
pub fn recover(
    path: &Path,
    journals: &Path,
    known: impl FnOnce() -> Result<Tracefs, Error>,
) -> Result<(Recovered, Option<Rings>), WriteError> {
    let Some(orphan) = orphan_of(path, journals) else {
        return recover_with(path, |_| Vec::new()).map(|recovered| (recovered, None));
    };
    let mut rings = Rings { events: Some(0), missing: Some(0), ..Rings::default() };
    let tracefs = match known().and_then(|known| orphan.open_tracefs(&known)) {
        Ok(tracefs) => tracefs,
        Err(error) => {
            rings.failures.push(in_full(&error));
            return recover_with(path, |_| Vec::new()).map(|recovered| (recovered, Some(rings)));
        }
    };
    let recovered = recover_with(path, |unfinished| match orphan.recording() {
        Some(recording) if unfinished.file.metadata().is_ok_and(|file| recording.is_of(&file)) => {
            drain_all(&tracefs, &orphan, recording, unfinished, &mut rings)
        }
        _ => Vec::new(),
    })?;
    if rings.failures.is_empty() {
        match orphan.undo(&tracefs, None) {
            Ok(()) => rings.put_back = true,
            Err(error) => rings.failures.push(error.to_string()),
        }
    }
    Ok((recovered, Some(rings)))
}

/// The recording that the killed process of `orphan` left unfinished, if it is still in its place: [`recover`] finishes it.
pub fn left_unfinished(orphan: &Orphan) -> Option<&Recording> {
    let recording = orphan.recording().filter(|recording| recording.is_in_place())?;
    let trace = Trace::open(File::open(&recording.path).ok()?).ok()?;
    trace.spools.is_some().then_some(recording)
}

/// The journal of the killed process that recorded to the file at `path`.
fn orphan_of(path: &Path, journals: &Path) -> Option<Orphan> {
    let file = fs::metadata(path).ok()?;
    let is_of_it = |orphan: &Orphan| orphan.recording().is_some_and(|recording| recording.is_of(&file));
    find_orphans(journals).orphans.into_iter().find(is_of_it)
}

/// Drains every ring of `recording` into its spool; returns the names of tasks that the kernel knows.
fn drain_all(
    tracefs: &Tracefs,
    orphan: &Orphan,
    recording: &Recording,
    unfinished: Unfinished<'_>,
    rings: &mut Rings,
) -> Vec<u8> {
    let compression = match unfinished.trace.prefix.codec {
        Codec::None => Compression::None,
        Codec::Zstd => Compression::default(),
        Codec::Zlib => Compression::Zlib(1),
    };
    let mut spools = unfinished.spools;
    for buffer in &recording.buffers {
        let of_buffer: Vec<SoundSpool> = spools.extract_if(.., |spool| spool.entry.buffer == buffer.name).collect();
        let created = buffer.instance.as_deref().is_some_and(|name| orphan.instances().contains(&name));
        rings.missing = match created {
            true => rings.missing.zip(missing(tracefs, buffer, unfinished.trace)).map(|(sum, n)| sum + n),
            false => None,
        };
        if let Err(error) = drain_buffer(tracefs, buffer, of_buffer, compression, rings) {
            rings.failures.push(error);
        }
    }
    let mut names = Vec::new();
    for (pid, comm) in with_saved(Vec::new(), &tracefs.saved_cmdlines().unwrap_or_default()) {
        comm.write_line(pid, &mut names);
    }
    names
}

/// How many events the killed recorder took out of the rings of `buffer` that are not in its spools.
fn missing(tracefs: &Tracefs, buffer: &RecordedBuffer, trace: &Trace) -> Option<u64> {
    let instance = tracefs.instance(buffer.instance.as_deref()?).ok()?;
    let (_, header_page) = tracefs.header_page().ok()?;
    let data = trace.buffers.iter().find(|data| data.name == buffer.name)?;
    let mut sum = 0;
    for (at, cpu) in data.cpus.iter().enumerate() {
        let mut scan = ChunkScan::new(&header_page, data.page_size);
        let (mut pages, mut chunk, mut stored) = (trace.raw_pages(data, at), Vec::new(), 0);
        while pages.next(&mut chunk).ok()? {
            scan.look(&chunk);
            stored += scan.take(0)?.events?;
        }
        sum += instance.cpu_stats(cpu.cpu).ok()?.read.saturating_sub(stored);
    }
    Some(sum)
}

/// Switches the instance of `buffer` off and drains the rings that have a spool.
fn drain_buffer(
    tracefs: &Tracefs,
    buffer: &RecordedBuffer,
    spools: Vec<SoundSpool>,
    compression: Compression,
    rings: &mut Rings,
) -> Result<(), String> {
    let said = |error: Error| in_full(&error);
    let instance = match &buffer.instance {
        Some(name) => tracefs.instance(name).map_err(said)?,
        None => tracefs.top(),
    };
    let sub_buffer = instance.sub_buffer_size().map_err(said)?;
    let clock = instance.trace_clock().map_err(said)?.current;
    if spools.iter().any(|spool| spool.entry.page_size as usize != sub_buffer || spool.entry.clock != clock) {
        let name = instance.name().map_or("the top level".to_owned(), |name| format!("instance {name}"));
        return Err(format!("{name} has another clock or sub-buffer size by now"));
    }
    Journal::in_memory(tracefs).stop_for_good(&instance).map_err(said)?;
    let (_, header_page) = tracefs.header_page().map_err(said)?;
    let drain = Drain {
        compression,
        scan: Some(ChunkScan::new(&header_page, sub_buffer)),
        ..Drain::new(sub_buffer, chunk_size(sub_buffer, spools.len(), None))
    };
    spools.into_iter().try_for_each(|spool| drain_ring(&instance, spool, drain, rings))
}

/// Moves what is in the ring of one CPU to the end of its spool.
fn drain_ring(instance: &Instance, spool: SoundSpool, drain: Drain, rings: &mut Rings) -> Result<(), String> {
    let cpu = spool.entry.cpu;
    let pipe = instance.trace_pipe_raw(cpu);
    let ring = File::open(&pipe).map_err(|error| format!("failed to open {}: {error}", pipe.display()))?;
    let resumed =
        Spool::resume(spool.file, spool.entry.file.into(), drain.compression != Compression::None, spool.size);
    let stop = EventFd::from_value(1).map_err(|errno| errno.to_string())?;
    let progress = Progress::default();
    let worker = Worker::new(cpu, ring, resumed, drain, &progress).map_err(|error| error.to_string())?;
    // A thread of its own, since a worker changes the priority of its thread.
    let drained = thread::scope(|scope| scope.spawn(|| worker.run(stop.as_fd())).join());
    let drained = drained.map_err(|_| format!("the thread that drains cpu {cpu} panicked"))?;
    rings.bytes += drained.tally.bytes - drained.tally.bytes_discarded;
    rings.events = rings.events.zip(drained.tally.events).map(|(sum, n)| sum + n - drained.tally.events_discarded);
    drained.error.map_or(Ok(()), |error| Err(error.to_string()))
}
