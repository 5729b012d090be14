//! The file and the spools of a recording that arrives, from its description to the finished file.
//! The first part of a trace file, as trace-cmd's senders send it: everything but the buffers.

use super::data::{DataSocket, Phase};
use crate::base::abi::Abi;
use crate::base::safe_file::PRIVATE;
use crate::base::units::{CpuId, counted, grouped};
use crate::control::network::transport::Host;
use crate::control::network::wire::RingCount;
use crate::control::record::{Budget, Compression, Drain, Fed, Feed, Progress, Spool, chunk_size};
use crate::file::trace_dat::{
    ChunkScan, FinishedSpool, LossCause, OptionId, SectionWriter, SpoolEntry, SpoolTable, Trace, UnsavedEvents,
    WriteError, spool_name,
};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;

/// A data connection's result.
#[derive(Debug)]
pub(in crate::control::network) struct ConnectionResult {
    /// Spool of the CPU.
    pub(in crate::control::network) fed: Fed,
    wrong: Option<String>,
    /// Events lost on the way, of which the sub-buffers that came say so.
    noted: u64,
    /// Events lost after them, if that is known.
    after: Option<u64>,
}

impl ConnectionResult {
    /// Holds what came against what was `sent`, in sub-buffers of `sub_buffer` bytes. Gives what is stored.
    pub(in crate::control::network) fn compare(&mut self, sent: RingCount, sub_buffer: u32) -> RingCount {
        let (tally, size) = (&self.fed.tally, u64::from(sub_buffer).max(1));
        let lost = sent.sub_buffers.saturating_sub(tally.bytes / size);
        if lost > 0 {
            let came = tally.events.unwrap_or(0);
            let events = sent.events.saturating_sub(came);
            let (lost, of) = (grouped(lost), counted(sent.sub_buffers, "sub-buffer"));
            let events_lost = counted(events, "event");
            self.wrong.get_or_insert_with(|| format!("{lost} of {of} ({events_lost}) were lost on the way"));
            self.after = tally.events.map(|_| events.saturating_sub(self.noted));
        }
        RingCount {
            cpu: sent.cpu,
            sub_buffers: (tally.bytes - tally.bytes_discarded) / size,
            events: tally.events.map_or(0, |events| events - tally.events_discarded),
        }
    }

    /// Says that its sender did not tell how much it sent.
    pub(in crate::control::network) fn lacks_count(&mut self) {
        self.wrong.get_or_insert_with(|| "its sender did not say how much it sent".to_owned());
    }
}

/// A recording on its way.
#[derive(Clone, Debug)]
pub(in crate::control::network) struct Incoming {
    /// The file.
    pub(in crate::control::network) path: PathBuf,
    /// From where.
    pub(in crate::control::network) peer: Host,
    pub(in crate::control::network) cpus: u32,
    /// Size of a sub-buffer, in bytes.
    pub(in crate::control::network) page_size: u32,
    /// Limit of the data, in bytes.
    pub(in crate::control::network) max_size: Option<u64>,
}

/// A recording that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::control::network) struct Finished {
    /// Size of the file, in bytes.
    pub(in crate::control::network) size: u64,
    /// Events that came, as far as they were counted.
    pub(in crate::control::network) events: Option<u64>,
    /// The reason why it is incomplete, if it is.
    pub(in crate::control::network) incomplete: Option<String>,
}

/// Chunks are in this machine's byte order, so a recording in the other one stays unpacked.
fn compression(abi: Abi) -> Compression {
    if abi.endian == Abi::HOST.endian { Compression::default() } else { Compression::None }
}

impl Incoming {
    /// The file's name.
    pub(in crate::control::network) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(in crate::control::network) fn progress(&self) -> Progress {
        Progress { budget: Budget::new(self.max_size, None, None), ..Progress::default() }
    }

    pub(in crate::control::network) fn table(&self, clock: &str) -> SpoolTable {
        let name = self.name();
        let entry = |cpu: u32| SpoolEntry {
            buffer: String::new(),
            clock: clock.to_owned(),
            page_size: self.page_size,
            cpu: CpuId(cpu),
            file: spool_name(&name, "", CpuId(cpu)),
            target: (0, 0),
        };
        SpoolTable { entries: (0..self.cpus).map(entry).collect(), ..SpoolTable::default() }
    }

    /// Makes the spools of `table`, for data of `abi`.
    pub(in crate::control::network) fn spools(&self, table: &SpoolTable, abi: Abi) -> io::Result<Vec<Spool>> {
        let chunked = compression(abi) != Compression::None;
        let mut spools = Vec::new();
        for entry in &table.entries {
            let path = self.path.with_file_name(&entry.file);
            match Spool::create(&path, chunked) {
                Ok(spool) => spools.push(spool),
                Err(error) => {
                    if error.kind() != io::ErrorKind::AlreadyExists {
                        let _ = fs::remove_file(path);
                    }
                    spools.into_iter().for_each(Spool::remove);
                    return Err(error);
                }
            }
        }
        Ok(spools)
    }

    /// Begins the file with its description, which names its spools.
    pub(in crate::control::network) fn begin(
        &self,
        file: File,
        trace: &Trace,
        table: &SpoolTable,
    ) -> Result<SectionWriter, WriteError> {
        let mut writer = SectionWriter::copy_facts(file, trace, compression(trace.prefix.abi).codec())?;
        writer.publish(table)?;
        Ok(writer)
    }

    /// A scan of its sub-buffers, which counts events.
    pub(in crate::control::network) fn scan(&self, trace: &Trace) -> ChunkScan {
        ChunkScan::new(&trace.header_page, self.page_size as usize)
    }

    /// Starts a thread per data connection.
    #[expect(clippy::too_many_arguments, reason = "all of a session, which has no other use for them together")]
    pub(in crate::control::network) fn drain<'scope, 'env>(
        &'env self,
        scope: &'scope thread::Scope<'scope, 'env>,
        sockets: Vec<DataSocket>,
        spools: Vec<Spool>,
        abi: Abi,
        scan: Option<ChunkScan>,
        phase: &'env Phase,
        progress: &'env Progress,
    ) -> io::Result<Vec<thread::ScopedJoinHandle<'scope, ConnectionResult>>> {
        let sub_buffer = self.page_size as usize;
        let chunk = chunk_size(sub_buffer, sockets.len(), None);
        let drain = Drain { compression: compression(abi), scan, ..Drain::new(sub_buffer, chunk) };
        let mut threads = Vec::new();
        for (socket, spool) in sockets.into_iter().zip(spools) {
            let mut feed = Feed::new(spool, &drain, progress)?;
            threads.push(thread::Builder::new().name("rtrace/data".to_owned()).spawn_scoped(scope, move || {
                let drained = socket.drain(&mut feed, &self.peer, sub_buffer, phase);
                let (noted, wrong) = match drained {
                    Ok(noted) => (noted, None),
                    Err(error) => (0, Some(error.to_string())),
                };
                ConnectionResult { fed: feed.done(), wrong, noted, after: None }
            })?);
        }
        Ok(threads)
    }

    /// Completes the file, and says how it went.
    pub(in crate::control::network) fn finish(
        &self,
        mut writer: SectionWriter,
        trace: &Trace,
        table: &SpoolTable,
        fed: Vec<ConnectionResult>,
        mut why: Option<String>,
    ) -> Finished {
        let (mut events, mut finished, cut_short) = (Some(0), Vec::new(), why.is_some());
        if fed.len() < table.entries.len() {
            // Its threads could not be started; what came of others lies in their spools.
            return Finished { size: size_of(&self.path), events: None, incomplete: why };
        }
        for (entry, ConnectionResult { fed, wrong, after, .. }) in table.entries.iter().zip(fed) {
            let Fed { spool, tally, torn, failure } = fed;
            events = events.zip(tally.events).map(|(sum, events): (u64, u64)| sum + events - tally.events_discarded);
            let discarded = tally.bytes_discarded > 0;
            let lacks = match (&failure, wrong, torn) {
                (Some(failure), ..) => Some(format!("cpu {}: {failure}", entry.cpu)),
                (None, Some(wrong), _) => Some(format!("cpu {}: {wrong}", entry.cpu)),
                (None, None, 1..) => Some(format!("cpu {}: its data ends within a sub-buffer", entry.cpu)),
                (None, None, 0) if discarded => Some("the file is as large as --max-size allows".to_owned()),
                (None, None, 0) => None,
            };
            if lacks.is_some() || cut_short {
                let (buffer, cpu) = (entry.buffer.clone(), entry.cpu);
                // All others are noted where they are missing.
                let events = after.filter(|_| !cut_short && failure.is_none() && torn == 0 && !discarded);
                if events != Some(0) {
                    let mark = UnsavedEvents { buffer, cpu, events, cause: LossCause::NOT_WRITTEN };
                    writer.option(OptionId::RTRACE_UNSAVED, mark.write(trace.prefix.abi));
                }
            }
            why = why.or(lacks);
            let path = self.path.with_file_name(&entry.file);
            match spool.into_counts() {
                Ok((size, chunks, index)) => {
                    finished.push(FinishedSpool { entry: entry.clone(), path, size, chunks, index });
                }
                Err(error) => why = why.or(Some(format!("failed to complete a spool: {error}"))),
            }
        }
        let places = [(String::new(), trace.clock(), self.page_size)];
        let size = match writer.finish(&places, &finished) {
            Ok(written) => written.file_size,
            Err(error) => {
                why = Some(format!("{}; `rtrace recover` completes it", full(&error)));
                size_of(&self.path)
            }
        };
        Finished { size, events, incomplete: why }
    }
}

fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// The results of the data connections. A thread's panic becomes ours.
pub(in crate::control::network) fn collect(
    threads: Vec<thread::ScopedJoinHandle<'_, ConnectionResult>>,
) -> Vec<ConnectionResult> {
    let join = |thread: thread::ScopedJoinHandle<'_, ConnectionResult>| {
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    threads.into_iter().map(join).collect()
}

/// An error with its causes.
pub(in crate::control::network) fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        if !text.contains(&next.to_string()) {
            text = format!("{text}: {next}");
        }
        cause = next.source();
    }
    text
}

/// Limit of it, in bytes: formats and symbols uncompressed are some 20 MB.
const MOST: u64 = 256 << 20;

/// Metadata on its way, in a file without a name.
pub(in crate::control::network) struct IncomingMetadata {
    file: File,
    len: u64,
    most: u64,
}

impl IncomingMetadata {
    /// Begins in the directory of `beside`, with at most `most` bytes.
    pub(in crate::control::network) fn new(beside: &Path, most: Option<u64>) -> io::Result<Self> {
        let path = with_suffix(beside, ".metadata");
        let file = new_private(&path)?;
        std::fs::remove_file(&path)?;
        Ok(IncomingMetadata { file, len: 0, most: most.unwrap_or(MOST).min(MOST) })
    }

    /// Adds `bytes`.
    pub(in crate::control::network) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len = self.len.saturating_add(bytes.len() as u64);
        if self.len > self.most {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than allowed"));
        }
        self.file.write_all(bytes)
    }

    /// The same file, to which what comes later can be added.
    pub(in crate::control::network) fn twin(&self) -> io::Result<Self> {
        Ok(IncomingMetadata { file: self.file.try_clone()?, len: self.len, most: self.most })
    }

    /// True if nothing came.
    pub(in crate::control::network) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The metadata, parsed. Version 6 is completed with what its sender leaves to the listener: of V1 from the number of CPUs on
    /// (`v1_cpus`), of V3 from the tables of the data on.
    pub(in crate::control::network) fn read(mut self, v1_cpus: Option<u32>) -> Result<Trace, WriteError> {
        let written = |source| WriteError::Write { what: "the metadata", source };
        let mut head = [0; 13];
        let is_v6 = std::os::unix::fs::FileExt::read_exact_at(&self.file, &mut head, 0).is_ok() && head[10] == b'6';
        if is_v6 {
            let big = head[12] == 1;
            let number = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
            let mut end = Vec::new();
            if let Some(cpus) = v1_cpus {
                end.extend(number(cpus));
                end.extend_from_slice(b"options  \0\0\0");
            }
            end.extend_from_slice(b"flyrecord\0");
            // No data of any CPU, and no clock beside the option's. Surplus bytes are not read.
            end.resize(end.len() + 8192 * 16 + 8, 0);
            self.file.write_all(&end).map_err(written)?;
        }
        let trace = Trace::open(self.file)?;
        // Symbols are read when they are wanted: now.
        let _ = trace.kallsyms.get();
        Ok(trace)
    }
}

/// `path` with a suffix.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Creates a file that must not exist, for reading and writing.
pub(in crate::control::network) fn new_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE).open(path)
}
