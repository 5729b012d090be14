//! Recovers a recording whose recorder was killed: its spools, and what is still in its ring buffers.
//!
//! The journal of the killed recorder says which instances belong to the file. The file's own words about the tracing
//! directory are not believed: anybody may have made it.

use super::chunk::chunk_size;
use super::comms::with_saved;
use super::drain::{Drain, Progress};
use super::error::in_full;
use super::spool::Spool;
use super::worker::Worker;
use crate::base::safe_file::{FileOwner, give};
use crate::base::units::{CpuId, Pid};
use crate::control::tracefs::{
    Error, Instance, Journal, JournalledRecording, Orphan, RecordedBuffer, Tracefs, find_orphans_within,
};
use crate::file::ring_buffer::Lost;
use crate::file::trace_dat::write::{Added, SoundSpool, Unfinished, recover_with};
use crate::file::trace_dat::{ChunkScan, Codec, Compression, LossCause, Recovered, Trace, UnsavedEvents, WriteError};
use nix::sys::eventfd::EventFd;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

/// Commands that look at a journal are done with it in milliseconds; one that recovers from it may take longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The result for the ring buffers of a killed recorder.
#[derive(Debug, Default)]
pub struct Rings {
    /// Bytes of sub-buffers that were moved into the file.
    pub bytes: u64,
    /// Events in them; `None` if a sub-buffer is damaged.
    pub events: Option<u64>,
    /// Events that the recorder had taken out of the ring buffers and that are in no spool: its unfinished chunks, and what a
    /// flight recorder discarded. `None` if that is not known.
    pub missing: Option<u64>,
    /// Events that were overwritten or refused because a ring was full, as the kernel counted them since the recording began;
    /// `None` of an instance that was there before. The file's marks of losses have them.
    pub overrun: Option<u64>,
    /// Failures to read. The ring buffers stay as they are then, until `reset --stale`.
    pub failures: Vec<String>,
    /// True if tracing was put back as it was before the recording.
    pub put_back: bool,
}

/// Finishes the recording at `path` with what is in its spools and in its ring buffers, then puts tracing back. The ring
/// buffers are found by the journals in `journals`; `None` if no journal of a killed process is about this file. The file is
/// given to `owner`, if its directory is theirs.
///
/// # Errors
/// As [`recover_with`].
pub fn recover(
    path: &Path,
    journals: &Path,
    owner: Option<FileOwner>,
    known: impl FnOnce() -> Result<Tracefs, Error>,
) -> Result<(Recovered, Option<Rings>), WriteError> {
    let Some((orphan, others)) = orphans_of(path, journals) else {
        return recover_for(path, owner, without_rings).map(|recovered| (recovered, None));
    };
    let mut rings = Rings { events: Some(0), missing: Some(0), overrun: Some(0), ..Rings::default() };
    let made: Vec<String> = orphan.instances().iter().map(|name| (*name).to_owned()).collect();
    let tracefs = match known().and_then(|known| orphan.open_tracefs(&known)) {
        Ok(tracefs) => tracefs,
        Err(error) => {
            rings.failures.push(in_full(&error));
            return recover_for(path, owner, without_rings).map(|recovered| (recovered, Some(rings)));
        }
    };
    let recovered = recover_for(path, owner, |unfinished| match orphan.recording() {
        Some(recording) if unfinished.file.metadata().is_ok_and(|file| recording.is_of(&file)) => {
            drain_all(&tracefs, (recording, &made), unfinished, &mut rings)
        }
        _ => without_rings(unfinished),
    })?;
    if rings.failures.is_empty() {
        let undone = others.into_iter().chain([orphan]).map(|orphan| orphan.undo(&tracefs, None));
        rings.failures = undone.filter_map(Result::err).map(|error| error.to_string()).collect();
        rings.put_back = rings.failures.is_empty();
    }
    Ok((recovered, Some(rings)))
}

/// [`recover_with`], and the finished file given to `owner`.
fn recover_for(
    path: &Path,
    owner: Option<FileOwner>,
    add: impl FnOnce(Unfinished<'_>) -> Added,
) -> Result<Recovered, WriteError> {
    let mut finished = None;
    let recovered = recover_with(path, |unfinished| {
        finished = unfinished.file.try_clone().ok();
        add(unfinished)
    })?;
    if let (Some(owner), Some(file)) = (owner, finished) {
        give(&file, path, owner).map_err(|source| WriteError::Write { what: "the recording's owner", source })?;
    }
    Ok(recovered)
}

/// Nothing is known of its ring buffers, unless its recorder noted what it lacks.
fn without_rings(unfinished: Unfinished<'_>) -> Added {
    Added { comms: Vec::new(), unsaved: unfinished.unaccounted() }
}

/// The recording that the killed process of `orphan` left unfinished, if it is still in its place: [`recover`] finishes it.
pub fn left_unfinished(orphan: &Orphan) -> Option<&JournalledRecording> {
    let recording = orphan.recording().filter(|recording| recording.is_in_place())?;
    let trace = Trace::open(File::open(&recording.path).ok()?).ok()?;
    trace.spools.is_some().then_some(recording)
}

/// The journal of the killed process that recorded to the file at `path`, and those of what it had set up beside the
/// recording, as the clock that it compared.
fn orphans_of(path: &Path, journals: &Path) -> Option<(Orphan, Vec<Orphan>)> {
    let file = fs::metadata(path).ok()?;
    let mut orphans = find_orphans_within(journals, PATIENCE).orphans;
    let is_of_it = |orphan: &Orphan| orphan.recording().is_some_and(|recording| recording.is_of(&file));
    let found = orphans.iter().position(is_of_it)?;
    let orphan = orphans.swap_remove(found);
    let is_beside = |other: &Orphan| {
        let facts = |orphan: &Orphan| (orphan.pid(), orphan.command().to_owned(), orphan.tracefs().to_owned());
        other.recording().is_none() && facts(other) == facts(&orphan)
    };
    orphans.retain(is_beside);
    Some((orphan, orphans))
}

/// Drains every ring of `recording`, which had `made` some of its instances, into its spool; returns the names of tasks that the kernel knows, and how many events
/// neither ring nor spool has.
fn drain_all(
    tracefs: &Tracefs,
    (recording, made): (&JournalledRecording, &[String]),
    unfinished: Unfinished<'_>,
    rings: &mut Rings,
) -> Added {
    let compression = match unfinished.trace.prefix.codec {
        Codec::None => Compression::None,
        Codec::Zstd => Compression::default(),
        Codec::Zlib => Compression::Zlib(1),
    };
    let mut added = Added::default();
    let mut spools = unfinished.spools;
    for buffer in &recording.buffers {
        let of_buffer: Vec<SoundSpool> = spools.extract_if(.., |spool| spool.entry.buffer == buffer.name).collect();
        let cpus: Vec<CpuId> = of_buffer.iter().map(|spool| spool.entry.cpu).collect();
        let unsaved =
            |cpu, events| UnsavedEvents { buffer: buffer.name.clone(), cpu, events, cause: LossCause::KILLED };
        let missing = missing(tracefs, buffer, unfinished.trace);
        rings.missing = rings.missing.zip(missing.as_ref()).map(|(sum, of)| sum + of.values().sum::<u64>());
        let mut gaps = Vec::new();
        for spool in &of_buffer {
            let cpu = spool.entry.cpu;
            let lost = match missing.as_ref().map(|missing| missing.get(&cpu).copied().unwrap_or(0)) {
                None => Lost::Unknown,
                Some(0) => Lost::None,
                // Events that a flight recorder discarded are among them.
                Some(_) if spool.lacks_oldest => Lost::Unknown,
                Some(events) => Lost::Count(events),
            };
            match lost {
                Lost::None => added.unsaved.push(unsaved(cpu, Some(0))),
                Lost::Count(events) => added.unsaved.push(unsaved(cpu, Some(events))),
                Lost::Unknown => added.unsaved.push(unsaved(cpu, None)),
            }
            gaps.push(lost);
        }
        let is_new = buffer.instance.as_ref().is_some_and(|name| made.contains(name));
        let overrun = || {
            cpus.iter()
                .map(|cpu| instance_of(tracefs, buffer).ok()?.cpu_stats(*cpu).ok())
                .map(|stats| stats.map(|stats| stats.overrun + stats.commit_overrun + stats.dropped))
                .sum::<Option<u64>>()
        };
        if let Err(error) = drain_buffer(tracefs, buffer, of_buffer.into_iter().zip(gaps), &cpus, compression, rings) {
            rings.failures.push(error);
            added.unsaved.retain(|unsaved| unsaved.buffer != buffer.name);
            added.unsaved.extend(cpus.iter().map(|cpu| unsaved(*cpu, None)));
        }
        // Tracing is off by now.
        rings.overrun = rings.overrun.zip(is_new.then(overrun).flatten()).map(|(sum, of)| sum + of);
    }
    for (pid, comm) in with_saved(Vec::new(), &tracefs.saved_cmdlines().unwrap_or_default()) {
        comm.write_line(pid, &mut added.comms);
    }
    added
}

/// Number of events that the killed recorder took out of the rings of `buffer` and that are not in its spools, by CPU.
/// `None` if the kernel's counters or the spools do not say.
fn missing(tracefs: &Tracefs, buffer: &RecordedBuffer, trace: &Trace) -> Option<BTreeMap<CpuId, u64>> {
    let instance = instance_of(tracefs, buffer).ok()?;
    let (_, header_page) = tracefs.header_page().ok()?;
    let data = trace.buffers.iter().find(|data| data.name == buffer.name)?;
    let mut missing = BTreeMap::new();
    for (at, cpu) in data.cpus.iter().enumerate() {
        let mut scan = ChunkScan::new(&header_page, data.page_size);
        let (mut pages, mut chunk, mut stored) = (trace.raw_pages(data, at), Vec::new(), 0);
        while pages.next(&mut chunk).ok()? {
            scan.look(&chunk);
            stored += scan.take(0)?.events?;
        }
        let taken = instance.cpu_stats(cpu.cpu).ok()?.read.saturating_sub(buffer.read_before(cpu.cpu));
        missing.insert(cpu.cpu, taken.saturating_sub(stored));
    }
    Some(missing)
}

fn instance_of(tracefs: &Tracefs, buffer: &RecordedBuffer) -> Result<Instance, Error> {
    match &buffer.instance {
        Some(name) => tracefs.instance(name),
        None => Ok(tracefs.top()),
    }
}

/// Switches the instance of `buffer` off and drains the rings of `cpus`, each into its spool, before which events may be
/// lost. Rings that another process reads are its own: nothing is taken from them and nothing is switched off.
fn drain_buffer(
    tracefs: &Tracefs,
    buffer: &RecordedBuffer,
    spools: impl IntoIterator<Item = (SoundSpool, Lost)>,
    cpus: &[CpuId],
    compression: Compression,
    rings: &mut Rings,
) -> Result<(), String> {
    let said = |error: Error| in_full(&error);
    let instance = instance_of(tracefs, buffer).map_err(said)?;
    let name = instance.name().map_or("the top level".to_owned(), |name| format!("instance {name}"));
    if let Some(RingReader { pid, comm }) = reader_of(&instance, cpus) {
        return Err(format!("process {pid} ({comm}) reads the rings of {name}: what they hold is left to it"));
    }
    let sub_buffer = instance.sub_buffer_size().map_err(said)?;
    let clock = instance.trace_clock().map_err(said)?.current;
    let spools: Vec<(SoundSpool, Lost)> = spools.into_iter().collect();
    let differs = |spool: &SoundSpool| spool.entry.page_size as usize != sub_buffer || spool.entry.clock != clock;
    if spools.iter().any(|(spool, _)| differs(spool)) {
        return Err(format!("{name} has another clock or sub-buffer size by now"));
    }
    Journal::in_memory(tracefs).stop_for_good(&instance).map_err(said)?;
    let (_, header_page) = tracefs.header_page().map_err(said)?;
    let drain = Drain {
        compression,
        scan: Some(ChunkScan::new(&header_page, sub_buffer)),
        ..Drain::new(sub_buffer, chunk_size(sub_buffer, spools.len(), None))
    };
    spools
        .into_iter()
        .try_for_each(|(spool, lost_before)| drain_ring(&instance, spool, Drain { lost_before, ..drain }, rings))
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

// Other processes that read a ring buffer: what one of them takes is missing for all others.

/// A process that holds a ring buffer's `trace_pipe` or `trace_pipe_raw` open.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RingReader {
    pid: Pid,
    /// Its name (`/proc/PID/comm`), for messages.
    comm: String,
}

/// The first process but this one that has the ring of one of `cpus` of `instance` open, as far as /proc shows processes
/// and their descriptors to this one.
fn reader_of(instance: &Instance, cpus: &[CpuId]) -> Option<RingReader> {
    let pipes: Vec<(u64, u64)> =
        instance.consuming_files(cpus).iter().filter_map(|path| inode_of(&fs::metadata(path))).collect();
    let own = std::process::id();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|pid: &u32| *pid != own);
    pids.filter(|pid| has_open(*pid, &pipes)).map(|pid| RingReader { pid: Pid(pid as i32), comm: comm_of(pid) }).next()
}

/// True if the process `pid` has one of `inodes` open. Descriptors belong to the process, so its threads need no look.
fn has_open(pid: u32, inodes: &[(u64, u64)]) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    // Follows the link to the open file itself, whatever path that has.
    descriptors.filter_map(|fd| inode_of(&fs::metadata(fd.path()))).any(|inode| inodes.contains(&inode))
}

fn inode_of(metadata: &std::io::Result<fs::Metadata>) -> Option<(u64, u64)> {
    metadata.as_ref().ok().map(|file| (file.dev(), file.ino()))
}

fn comm_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}
