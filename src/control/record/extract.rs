//! The contents of a ring as a trace.dat: a stopped buffer, a snapshot, a boot's remains.
//! A trace.dat that says all of a kernel and holds no event: what is missing in the bare per-CPU files that a killed
//! `trace-cmd record` leaves behind, or that were copied from `trace_pipe_raw`.

use super::chunk::chunk_size;
use super::comms::with_saved;
use super::drain::{Drain, Progress};
use super::draining::Draining;
use super::error::RecordError;
use super::metadata::{AtTheEnd, Formats, KernelMetadata, mark_offline, marks, uname, with_nul};
use super::offline::online_cpus;
use super::output::{ClockFacts, Output, clocks, trace_id};
use super::plan::Plan;
use super::setup::SetUpBuffer;
use super::worker::{Drained, Worker, WorkerError};
use crate::base::abi::{Abi, Endian};
use crate::base::safe_file::FileOwner;
use crate::base::units::CpuId;
use crate::control::tracefs::{Instance, Tracefs};
use crate::file::trace_dat::write::NewFile;
use crate::file::trace_dat::{ChunkScan, Codec, Compression, OptionId, SectionWriter, WriteError};
use crate::kernel::btf::Enumerators;
use nix::sys::eventfd::EventFd;
use std::fs::File;
use std::path::Path;
use std::thread;

/// One of an instance's two sets of ring buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// The one that events go to.
    Live,
    /// The spare one (`CONFIG_TRACER_SNAPSHOT`).
    Snapshot,
}

/// The stored data.
#[derive(Debug)]
pub struct Extracted {
    /// Size of the file, in bytes.
    pub file_size: u64,
    /// Bytes of sub-buffers.
    pub raw: u64,
    /// Failures to read or write; everything else was stored.
    pub failures: Vec<String>,
}

/// Moves what is in the rings of `instances` (or of some of their CPUs) to a new trace.dat at `output`. One alone is its top
/// buffer; several keep their names, and the top level, if it is among them, comes first. Reading consumes: the rings are
/// empty afterwards. A live ring must be off, or this may never end. `date` is the wall clock's microseconds when the trace
/// clock was zero ([`wall_clock_at_zero`](super::wall_clock_at_zero())). The file is given to `owner`, if its directory is theirs.
///
/// # Errors
/// [`RecordError`]. Then there is no file; what was read by then is lost.
pub fn extract(
    instances: &[Instance],
    ring: Ring,
    cpus: Option<&[CpuId]>,
    output: &Path,
    compression: Compression,
    date: Option<u64>,
    owner: Option<FileOwner>,
) -> Result<Extracted, RecordError> {
    let mut buffers = Vec::new();
    for instance in instances {
        let name = if instances.len() == 1 { "" } else { instance.name().unwrap_or_default() };
        let mut buffer = SetUpBuffer::as_it_is(instance, name)?;
        buffer.counted = ring == Ring::Live;
        if let Some(cpus) = cpus {
            buffer.cpus.retain(|(cpu, _)| cpus.contains(cpu));
        }
        buffers.push(buffer);
    }
    let tracefs = instances.first().ok_or(super::PlanError::NoEvents)?.tracefs();
    let mut output_file = Output::create(output)?;
    // All are opened before the first event is taken out of any.
    let mut rings = Vec::new();
    for buffer in &buffers {
        let mut of_buffer = Vec::new();
        for &(cpu, _) in &buffer.cpus {
            let path = match ring {
                Ring::Live => buffer.instance.trace_pipe_raw(cpu),
                Ring::Snapshot => buffer.instance.snapshot_raw(cpu),
            };
            let file = File::open(path).map_err(|e| WorkerError::Ring(cpu, e))?;
            of_buffer.push((cpu, file, output_file.spool(buffer, cpu, compression, None)?));
        }
        rings.push(of_buffer);
    }
    let plan = Plan::empty(output, compression);
    output_file.move_former_aside()?;
    let begun = output_file.begin(tracefs, &plan, &buffers, ClockFacts { date, tsc: None })?;
    let (writer, symbols_error) = begun.write(tracefs.kallsyms());
    let progress = Progress::default();
    let online = online_cpus();
    let mut drained: Vec<Drained> = Vec::new();
    let (_, header_page) = tracefs.header_page()?;
    for (buffer, rings) in buffers.iter().zip(rings) {
        let scan = Some(ChunkScan::new(&header_page, buffer.sub_buffer));
        let chunk = chunk_size(buffer.sub_buffer, rings.len(), None);
        let drain = Drain { compression, scan, ..Drain::new(buffer.sub_buffer, chunk) };
        let workers = rings.into_iter().map(|(cpu, file, spool)| Worker::new(cpu, file, spool, drain, &progress));
        drained.extend(drain_all(workers.collect::<Result<_, _>>()?)?);
    }
    output_file.keep_files();
    output_file.resume(writer);
    let raw = drained.iter().map(|d| d.tally.bytes).sum();
    let errors = drained.iter().filter_map(|d| d.error.as_ref().map(ToString::to_string));
    let failures = symbols_error.iter().map(ToString::to_string).chain(errors).collect();
    let lost: Vec<_> = (buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|_| &buffer.name)).zip(&drained))
        .flat_map(|(buffer, drained)| marks(buffer, drained, 0, drained.error.is_some()))
        .collect();
    let comms = with_saved(Vec::new(), &tracefs.saved_cmdlines()?);
    let mut drained = vec![drained];
    let end = AtTheEnd::read(tracefs, &buffers, &mark_offline(&mut drained, online.as_ref()));
    let spools = vec![drained.into_iter().flatten().map(|d| d.spool).collect()];
    let file_size = output_file.finish(&buffers, end, (spools, &lost), (&comms, &[]))?;
    owner.map_or(Ok(()), |owner| output_file.give(owner))?;
    Ok(Extracted { file_size, raw, failures })
}

/// Lets all workers take what is there.
fn drain_all(workers: Vec<Worker<'_>>) -> Result<Vec<Drained>, RecordError> {
    // There is nothing to wait for: stopped from the start, a worker takes what is there.
    let stop = EventFd::from_value(1).map_err(|e| RecordError::Start(e.into()))?;
    thread::scope(|scope| {
        let draining = Draining::start(scope, workers, &stop, None).map_err(RecordError::Start)?;
        Ok(draining.finish(None, || ()))
    })
}

/// Writes to `file`, which is empty and lies at `path`, what a recording of all events at the top level would say of the
/// kernel now, and of the tasks it saw last; `kallsyms` are its symbols. Gives the file's size in bytes.
///
/// Of a copy of another machine's tracing directory, `events/` suffices. Clock, tasks and CPUs are noted if the copy has them;
/// the running kernel's name and types are not, and it is taken for one of byte order `endian`.
///
/// # Errors
/// [`RecordError::Tracefs`], [`RecordError::TraceFile`].
pub fn header(tracefs: &Tracefs, kallsyms: &[u8], endian: Endian, file: File, path: &Path) -> Result<u64, RecordError> {
    let top = tracefs.top();
    let is_live = tracefs.is_live();
    let mut metadata = KernelMetadata::read(tracefs, None, Formats::default())?;
    if !is_live {
        metadata.enumerators = Enumerators::default();
    }
    let clock = if is_live || top.has_trace_clock() { Some(top.trace_clock()?) } else { None };
    let sub_buffer = top.sub_buffer_size()?;
    let header = tracefs.header_page()?.1;
    let abi = if is_live { Abi::HOST } else { header.abi(endian) };
    let cpus = if is_live || top.has("per_cpu") { Some(top.cpus()?.len()) } else { None };
    let mut names = Vec::new();
    for (pid, comm) in with_saved(Vec::new(), &tracefs.saved_cmdlines()?) {
        comm.write_line(pid, &mut names);
    }
    let write = || -> Result<u64, WriteError> {
        let mut writer = SectionWriter::create(file, abi, sub_buffer as u32, Codec::Zstd)?;
        metadata.write(&mut writer)?;
        writer.kallsyms(kallsyms)?;
        writer.saved_cmdlines(&names)?;
        if let Some(clock) = &clock {
            writer.option(OptionId::TRACECLOCK, clocks(clock).as_bytes());
        }
        if is_live {
            writer.option(OptionId::UNAME, with_nul(&uname()));
        }
        writer.option(OptionId::VERSION, with_nul(concat!("rtrace ", env!("CARGO_PKG_VERSION"))));
        writer.option_u64(OptionId::TRACEID, trace_id());
        if let Some(cpus) = cpus {
            writer.option_u32(OptionId::CPUCOUNT, cpus as u32);
        }
        NewFile::from_writer(writer, header)?.finish()
    };
    write().map_err(|source| RecordError::TraceFile { path: path.to_owned(), source: Box::new(source) })
}
